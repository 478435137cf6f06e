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

    /// Of the projection that has the row; nil: the key is too short to be a row's.
    package static func number(of key: KeyBytes) -> UInt32? {
        guard key.bytes.count >= prefixBytes else { return nil }
        return key.bytes.prefix(prefixBytes).reduce(0) { $0 << 8 | UInt32($1) }
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
    /// Format 1 has no format of events.
    private static let formats: ClosedRange<UInt8> = 1...2
    /// Of a schema that nobody has.
    private static let schemaOfDropped = "being removed"

    package let number: UInt32
    package let identity: ProjectionIdentity
    /// The tables and indexes in words.
    package let schema: String
    /// Of the store's codec: another one makes other rows of the same entries. None where it is not known.
    package let format: EventFormat
    package let sequence: LogSequence

    package init(
        number: UInt32, identity: ProjectionIdentity, schema: String, format: EventFormat,
        sequence: LogSequence
    ) {
        self.number = number
        self.identity = identity
        self.schema = schema
        self.format = format
        self.sequence = sequence
    }

    /// The same while the rows are being removed.
    package var dropped: StoredRowsHeader {
        StoredRowsHeader(
            number: number, identity: identity, schema: Self.schemaOfDropped, format: .none,
            sequence: 0)
    }

    package var isDropped: Bool { schema == Self.schemaOfDropped }

    /// Of rows whose header is missing, or damaged.
    package static func unknown(_ number: UInt32) -> StoredRowsHeader {
        StoredRowsHeader(
            number: number, identity: ProjectionIdentity(name: ExactString(""), version: 0),
            schema: "", format: .none, sequence: 0)
    }

    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.fixed(Self.formats.upperBound)
        writer.fixed(sequence.value)
        writer.fixed(format.codec)
        writer.fixed(format.version)
        writer.fixed(identity.version)
        writer.sized(identity.name.string)
        writer.sized(schema)
        _ = writer.seal(seed: UInt64(number))
        return writer.bytes
    }

    package init(decoding bytes: [UInt8], of number: UInt32) throws(FormatError) {
        var reader = try ByteReader(sealed: bytes, seed: UInt64(number))
        let format = try reader.fixed(UInt8.self)
        guard Self.formats.contains(format) else {
            throw .newer("stored rows of format \(format)")
        }
        self.number = number
        sequence = LogSequence(try reader.fixed())
        self.format =
            format == 1
            ? .none : EventFormat(codec: try reader.fixed(), version: try reader.fixed())
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
