// Table `projections`: the key is the number of a stored projection, the value is its header.

/// The header of a stored projection's rows. It names the projection that made the rows, and the
/// entry up to which they are folded.
package struct StoredRowsHeader: Equatable, Sendable {
    /// The readable formats of this header. Format 1 lacks the format of the events. Before format 3,
    /// the rows have no notes. Code that reads format 3 ignores what follows its fields.
    private static let formats: ClosedRange<UInt8> = 1...3
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
    /// Whether the codec that read the events noted the members that it did not read.
    package let hasNotes: Bool
    /// The first entry after which the log has the conflicts of each entry up to `sequence`, as
    /// ``ConflictNote``; nil if it has none.
    package let conflictsFrom: LogSequence?

    package init(
        number: UInt32, identity: ProjectionIdentity, schema: String, format: EventFormat,
        sequence: LogSequence, hasNotes: Bool = true, conflictsFrom: LogSequence? = nil
    ) {
        self.hasNotes = hasNotes
        self.conflictsFrom = conflictsFrom
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
        writer.fixed(UInt8(hasNotes ? 1 : 0))
        if let conflictsFrom { writer.fixed(conflictsFrom.value) }
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
        hasNotes = format > 2 ? try reader.fixed(UInt8.self) != 0 : false
        conflictsFrom =
            format > 2 && !reader.isAtEnd ? LogSequence(try reader.fixed()) : nil
    }
}

// MARK: Read

extension LogStorage {
    /// Returns the rows of table `projections`, not verified.
    package func projectionHeaders()
        throws(LogError) -> [(number: UInt32, bytes: [UInt8])]
    { try all(of: .projections) }

    /// Returns a header for all rows of the log, by number. Rows whose header is missing or damaged
    /// get an unknown header.
    ///
    /// - Throws: `.newerFormat` if a header has a newer format; `.damaged` if the numbers of the
    ///   rows cannot be read; `.storage`.
    package func allStoredRows() throws(LogError) -> [StoredRowsHeader] {
        var headers: [UInt32: StoredRowsHeader] = [:]
        for number in try rowNumbers() { headers[number] = .unknown(number) }
        for (number, bytes) in try projectionHeaders() {
            do throws(FormatError) {
                headers[number] = try StoredRowsHeader(decoding: bytes, of: number)
            } catch {
                guard case .damaged = error else {
                    throw LogError(
                        error, at: "\(path), stored projection \(number)", sequence: nil)
                }
                headers[number] = .unknown(number)
            }
        }
        return headers.values.sorted { $0.number < $1.number }
    }

    /// Returns the headers of the stored projections, by number.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, naming the stored projection; `.closed`, `.storage`.
    package func storedRows() throws(LogError) -> [StoredRowsHeader] {
        var headers: [StoredRowsHeader] = []
        for (number, bytes) in try projectionHeaders() {
            do throws(FormatError) {
                headers.append(try StoredRowsHeader(decoding: bytes, of: number))
            } catch {
                throw LogError(
                    error, at: "\(path), stored projection \(number)", sequence: nil)
            }
        }
        return headers
    }
}

// MARK: Write

extension WriteBatch {
    package mutating func writeHeader(_ header: StoredRowsHeader) {
        projections.append(
            TableWrite(.projections, .number(UInt64(header.number)), header.encoded))
    }

    package mutating func removeHeader(of number: UInt32) {
        projections.append(TableWrite(.projections, .number(UInt64(number)), nil))
    }
}
