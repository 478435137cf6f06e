/// The bytes of a stored projection's row in the table `rows`: the row, then a checksum (L5).
///
/// The row's key is part of the checksum, so a row under another row's key is detected.
package enum StoredRow {
    private static let checksumBytes = 8
    /// The prefix of the faults' keys, after each place in a schema.
    private static let faults: [UInt8] = [0xFF, 0xFF]

    /// Returns the row with its checksum.
    package static func sealed(_ bytes: [UInt8], at key: KeyBytes) -> [UInt8] {
        var sealed: [UInt8] = []
        sealed.reserveCapacity(bytes.count + checksumBytes)
        sealed.append(contentsOf: bytes)
        let checksum = Checksum.of(bytes.span.bytes, seed: key.seed)
        withUnsafeBytes(of: checksum.littleEndian) { sealed.append(contentsOf: $0) }
        return sealed
    }

    /// Returns the number of the row's own bytes, without the checksum.
    ///
    /// - Throws: `.damaged` if the checksum does not match.
    package static func opened(_ sealed: RawSpan, at key: KeyBytes) throws(FormatError) -> Int {
        let count = sealed.byteCount - checksumBytes
        guard count >= 0 else {
            throw .damaged("it has \(sealed.byteCount) bytes, less than a checksum")
        }
        let kept = sealed.unsafeLoadUnaligned(fromByteOffset: count, as: UInt64.self)
        guard
            UInt64(littleEndian: kept)
                == Checksum.of(sealed.extracting(first: count), seed: key.seed)
        else { throw .damaged("its checksum does not fit its bytes") }
        return count
    }

    /// Returns the number of the projection that has the row; nil if the key is too short.
    package static func number(of key: KeyBytes) -> UInt32? {
        guard key.bytes.count >= prefixBytes else { return nil }
        return key.bytes.prefix(prefixBytes).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The bytes of the projection's number in a key.
    package static let prefixBytes = 4

    /// Returns the prefix of all keys of a projection.
    package static func prefix(of number: UInt32) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    /// Returns the key of a fault. Faults are after the projection's rows, in the order of their
    /// entries.
    package static func faultKey(_ number: UInt32, _ index: Int) -> KeyBytes {
        KeyBytes(faultPrefix(number) + withUnsafeBytes(of: UInt64(index).bigEndian) { Array($0) })
    }

    package static func faultPrefix(_ number: UInt32) -> [UInt8] { prefix(of: number) + faults }
}

/// A stored projection's row in the table `projections`, under its number. It names the projection
/// that made the rows, and the entry up to which they are folded.
package struct StoredRowsHeader: Equatable, Sendable {
    /// The readable formats of this header. Format 1 lacks the format of the events.
    private static let formats: ClosedRange<UInt8> = 1...2
    /// A schema that no projection has. It marks rows that are being removed.
    private static let schemaOfDropped = "being removed"

    package let number: UInt32
    package let identity: ProjectionIdentity
    /// The text that describes the tables and indexes.
    package let schema: String
    /// The format of the store's codec; `.none` if unknown. Another codec makes other rows of the
    /// same entries.
    package let format: EventFormat
    /// The entry up to which the rows are folded.
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

    /// The header while the rows are being removed.
    package var dropped: StoredRowsHeader {
        StoredRowsHeader(
            number: number, identity: identity, schema: Self.schemaOfDropped, format: .none,
            sequence: 0)
    }

    package var isDropped: Bool { schema == Self.schemaOfDropped }

    /// Returns a header for rows whose header is missing or damaged.
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

/// The rows, faults and header of one stored projection that one transaction writes.
package struct RowBatch: Sendable {
    package let rows: [(key: KeyBytes, value: RowValue)]
    package let faults: [Fault]
    /// The number of faults before these.
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
