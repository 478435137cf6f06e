/// Rows of stored projections as table `rows` has them: the row's bytes, then a checksum that its key goes
/// into, so that a row in another's place is noticed (L5).
package enum StoredRow {
    private static let checksumBytes = 8
    /// Behind every place in a schema.
    private static let faults: [UInt8] = [0xFF, 0xFF]

    package static func sealed(_ bytes: [UInt8], at key: KeyBytes) -> [UInt8] {
        var sealed: [UInt8] = []
        sealed.reserveCapacity(bytes.count + checksumBytes)
        sealed.append(contentsOf: bytes)
        let checksum = Checksum.of(bytes.span.bytes, seed: seed(of: key))
        withUnsafeBytes(of: checksum.littleEndian) { sealed.append(contentsOf: $0) }
        return sealed
    }

    /// How many of the bytes are the row's.
    package static func opened(_ sealed: RawSpan, at key: KeyBytes) throws(FormatError) -> Int {
        let count = sealed.byteCount - checksumBytes
        guard count >= 0 else {
            throw .damaged("it has \(sealed.byteCount) bytes, less than a checksum")
        }
        let kept = sealed.unsafeLoadUnaligned(fromByteOffset: count, as: UInt64.self)
        guard
            UInt64(littleEndian: kept)
                == Checksum.of(sealed.extracting(first: count), seed: seed(of: key))
        else { throw .damaged("its checksum does not fit its bytes") }
        return count
    }

    private static func seed(of key: KeyBytes) -> UInt64 {
        Checksum.of(key.bytes.span.bytes, seed: 0)
    }

    /// The projection's number.
    package static let prefixBytes = 4

    /// What all keys of a projection begin with.
    package static func prefix(of number: UInt32) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    /// Faults lie behind the projection's rows, by the order in which they came.
    package static func faultKey(_ number: UInt32, _ index: Int) -> KeyBytes {
        KeyBytes(faultPrefix(number) + withUnsafeBytes(of: UInt64(index).bigEndian) { Array($0) })
    }

    package static func faultPrefix(_ number: UInt32) -> [UInt8] { prefix(of: number) + faults }
}

/// A stored projection as table `projections` has it under its number: whose rows these are, and up to
/// which entry they stand.
package struct StoredRowsHeader: Equatable, Sendable {
    private static let format: UInt8 = 1

    package let number: UInt32
    package let identity: ProjectionIdentity
    /// The tables and indexes in words.
    package let schema: String
    package let sequence: LogSequence

    package init(
        number: UInt32, identity: ProjectionIdentity, schema: String, sequence: LogSequence
    ) {
        self.number = number
        self.identity = identity
        self.schema = schema
        self.sequence = sequence
    }

    /// The same while the rows are being removed: of a schema that nobody has.
    package var dropped: StoredRowsHeader {
        StoredRowsHeader(number: number, identity: identity, schema: "being removed", sequence: 0)
    }

    /// Of rows whose header cannot be read.
    static func unknown(_ number: UInt32) -> StoredRowsHeader {
        StoredRowsHeader(
            number: number, identity: ProjectionIdentity(name: ExactString(""), version: 0),
            schema: "", sequence: 0)
    }

    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.fixed(Self.format)
        writer.fixed(sequence.value)
        writer.fixed(identity.version)
        writer.sized(identity.name.string)
        writer.sized(schema)
        _ = writer.seal(seed: UInt64(number))
        return writer.bytes
    }

    package init(decoding bytes: [UInt8], of number: UInt32) throws(FormatError) {
        var reader = try ByteReader(sealed: bytes, seed: UInt64(number))
        let format = try reader.fixed(UInt8.self)
        guard format == Self.format else { throw .newer("stored rows of format \(format)") }
        self.number = number
        sequence = LogSequence(try reader.fixed())
        let version: UInt32 = try reader.fixed()
        identity = ProjectionIdentity(
            name: ExactString(try reader.sizedString()), version: version)
        schema = try reader.sizedString()
    }
}

/// What a transaction writes of one stored projection.
package struct RowBatch: Sendable {
    package let rows: [(key: KeyBytes, value: RowValue)]
    package let faults: [Fault]
    /// How many faults there were before these.
    package let firstFault: Int
    package let header: StoredRowsHeader

    package init(
        rows: [(key: KeyBytes, value: RowValue)], faults: [Fault], firstFault: Int,
        header: StoredRowsHeader
    ) {
        self.rows = rows
        self.faults = faults
        self.firstFault = firstFault
        self.header = header
    }
}
