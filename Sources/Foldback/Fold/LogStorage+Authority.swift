/// What the log knows of its authority.
extension LogStorage {
    /// Returns the lineage of the authority that the log has answers from; nil if none was named
    /// yet.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    package func lineage() throws(FoldbackError) -> Lineage? {
        try row(Lineage.key, "lineage") { bytes throws(FormatError) in
            try Lineage(decoding: bytes)
        }
    }

    /// Returns the finding that the authority has lost events; nil if it was not made.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    package func lostData() throws(FoldbackError) -> LostData? {
        try row(LostData.key, "superseded") { bytes throws(FormatError) in
            try LostData(decoding: bytes)
        }
    }

    private func row<R>(
        _ key: KeyBytes, _ name: String, _ decode: ([UInt8]) throws(FormatError) -> R
    ) throws(FoldbackError) -> R? {
        let found = try reading(.log) { table throws(FoldbackError) in
            try table.get(.bytes(key))?.array
        }
        guard let found else { return nil }
        do throws(FormatError) { return try decode(found) } catch {
            throw FoldbackError(error, at: "\(path), table log, \(name)", sequence: nil)
        }
    }
}
