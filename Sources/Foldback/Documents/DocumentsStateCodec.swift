import HashTreeCollections

/// The state codec of ``Documents``: the count, then each document's key and JSON with their
/// lengths, in any order.
struct DocumentsStateCodec: StateCodec {
    func encode(_ state: Documents) throws -> [UInt8] {
        var writer = ByteWriter()
        writer.variable(UInt64(state.byKey.count))
        for (key, document) in state.byKey {
            writer.sized(key.string)
            writer.sized(document.encoded)
        }
        return writer.bytes
    }

    func decode(_ bytes: RawSpan) throws -> Documents {
        var reader = ByteReader(unsealed: bytes.withUnsafeBytes { Array($0) })
        var byKey: TreeDictionary<ExactString, JSON> = [:]
        for _ in 0..<(try reader.variable()) {
            let key = ExactString(try reader.sizedString())
            byKey[key] = try JSON(parsing: try reader.sized())
        }
        return Documents(byKey: byKey)
    }
}
