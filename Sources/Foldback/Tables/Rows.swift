// Table `rows`: the key is the number of a stored projection, a place in its schema and a key, the
// value is the row.

/// The bytes of a stored projection's row in the table `rows`: the row, then a checksum (L5).
///
/// The row's key is part of the checksum, so a row under another row's key is detected.
package enum StoredRow {
    private static let checksumBytes = 8
    /// The prefix of the faults' keys, after each place in a schema.
    private static let faults: [UInt8] = [0xFF, 0xFF]
    /// The prefix of the notes' keys, before the faults.
    private static let notes: [UInt8] = [0xFF, 0xFE]

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

    /// Returns the key of a note. Notes are between the projection's rows and its faults.
    static func noteKey(_ number: UInt32, _ index: Int) -> KeyBytes {
        KeyBytes(notePrefix(number) + withUnsafeBytes(of: UInt64(index).bigEndian) { Array($0) })
    }

    package static func notePrefix(_ number: UInt32) -> [UInt8] { prefix(of: number) + notes }
}

/// The rows, faults, notes and header of one stored projection that one transaction writes.
package struct RowBatch: Sendable {
    package let rows: [(key: KeyBytes, value: RowValue)]
    package let faults: [Fault]
    /// The number of faults before these.
    package let firstFault: Int
    package let notes: [RowNote]
    /// The number of notes before these.
    package let firstNote: Int
    package let header: StoredRowsHeader

    package init(
        rows: [(key: KeyBytes, value: RowValue)], faults: [Fault], firstFault: Int,
        notes: [RowNote], firstNote: Int, header: StoredRowsHeader
    ) {
        self.rows = rows
        self.faults = faults
        self.firstFault = firstFault
        self.notes = notes
        self.firstNote = firstNote
        self.header = header
    }
}

/// What a stored projection's rows say of members, as a row; see ``RowNotes``.
package enum RowNote: Sendable {
    case event(PartlyReadEvents.Note)
    /// The bytes of a row that had a new member, and the place of its table in the schema.
    case row([UInt8], place: Int)
}

extension RowNote {
    private static let version: UInt8 = 1

    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.fixed(Self.version)
        switch self {
        case .event(let note):
            writer.fixed(UInt8(0))
            writer.write(note)
        case .row(let bytes, let place):
            writer.fixed(UInt8(1))
            writer.fixed(UInt16(place))
            writer.raw(bytes)
        }
        return writer.bytes
    }

    init(decoding bytes: [UInt8]) throws(FormatError) {
        var reader = ByteReader(unsealed: bytes)
        let version = try reader.fixed(UInt8.self)
        guard version == Self.version else { throw .newer("a note of format \(version)") }
        switch try reader.fixed(UInt8.self) {
        case 0: self = .event(try reader.partlyReadNote())
        case 1:
            let place = try reader.fixed(UInt16.self)
            self = .row(reader.rest(), place: Int(place))
        case let kind: throw .newer("a note of kind \(kind)")
        }
    }
}

// MARK: Read

/// The confirmed rows of stored projections at one commit, valid during one read. Each read of a
/// row verifies the row's checksum (L5).
package final class StoredRows {
    /// The last entry's sequence.
    package let sequence: LogSequence
    private let rows: SealedRows
    private let headers: any StorageTable

    fileprivate init(
        _ snapshot: any StorageSnapshot, of log: any LogStorage
    ) throws(LogError) {
        sequence = try snapshot.lastSequence(after: log.baseSequence)
        rows = SealedRows(table: try snapshot.open(.rows), path: log.path)
        headers = try snapshot.open(.projections)
    }

    /// Creates an empty set of rows, for a projection that holds its rows itself.
    package init(emptyAt sequence: LogSequence) {
        self.sequence = sequence
        rows = SealedRows(table: MemoryTable(), path: "")
        headers = MemoryTable()
    }

    /// Returns the row's bytes, without the checksum; nil if the row does not exist.
    package func value(at key: KeyBytes) throws(LogError) -> FoundValue? {
        try rows.value(at: key)
    }

    /// Calls `body` with the rows of `span` in key order, or in reverse, until it returns false.
    package func scan(
        _ span: KeySpan, backwards: Bool, _ body: (KeyBytes, RawSpan) throws -> Bool
    ) throws { try rows.scan(span, backwards: backwards, body) }

    /// Returns the numbers of stored projections that have rows, with or without a header,
    /// ascending.
    ///
    /// - Throws: `FormatError.damaged` if a key is not a row's key; `LogError` if the read
    ///   fails.
    /// - Complexity: O(log n) in rows for each number.
    package func numbers() throws -> [UInt32] {
        var numbers: [UInt32] = []
        var start = KeyBytes([])
        while let key = try rows.firstKey(from: start) {
            guard let number = StoredRow.number(of: key) else {
                throw FormatError.damaged("a row's key has \(key.bytes.count) bytes")
            }
            numbers.append(number)
            guard number < .max else { break }
            start = KeyBytes(StoredRow.prefix(of: number + 1))
        }
        return numbers
    }

    /// Returns a stored projection's row of table `projections`, not verified; nil if there is
    /// none.
    package func header(of number: UInt32) throws(LogError) -> [UInt8]? {
        try headers.get(.number(UInt64(number)))?.array
    }
}

extension LogStorage {
    /// Calls `body` with the confirmed rows of the last commit. `body` must be short (L8).
    package func readRows<R>(_ body: (StoredRows) throws -> R) throws -> R {
        try requireUsable()
        return try reading { snapshot throws in
            try body(try StoredRows(snapshot, of: self))
        }.get()
    }

    /// Returns the first `countMax` keys of `span` at most, including the keys of damaged rows.
    package func rowKeys(
        in span: KeySpan, countMax: Int
    ) throws(LogError) -> [KeyBytes] {
        try reading(.rows) { table throws(LogError) in
            try table.keys(in: span, countMax: countMax)
        }
    }

    /// Returns the numbers of stored projections that have rows, ascending.
    func rowNumbers() throws(LogError) -> [UInt32] {
        do { return try readRows { try $0.numbers() } } catch {
            throw LogError(reading: error, at: path)
        }
    }

    /// Returns the faults of a stored projection, in the order of their entries.
    func faults(of number: UInt32) throws(LogError) -> [Fault] {
        var faults: [Fault] = []
        do {
            try readRows { rows in
                let span = KeySpan(prefix: StoredRow.faultPrefix(number))
                try rows.scan(span, backwards: false) { _, bytes in
                    faults.append(try Fault(decoding: [UInt8](copying: bytes)))
                    return true
                }
            }
        } catch let error as FormatError {
            throw LogError(
                error, at: "\(path), faults of stored projection \(number)", sequence: nil)
        } catch {
            throw LogError(reading: error, at: path)
        }
        return faults
    }

    /// Returns the notes of a stored projection.
    func notes(of number: UInt32) throws(LogError) -> [RowNote] {
        var notes: [RowNote] = []
        do {
            try readRows { rows in
                let span = KeySpan(prefix: StoredRow.notePrefix(number))
                try rows.scan(span, backwards: false) { _, bytes in
                    notes.append(try RowNote(decoding: [UInt8](copying: bytes)))
                    return true
                }
            }
        } catch let error as FormatError {
            throw LogError(
                error, at: "\(path), notes of stored projection \(number)", sequence: nil)
        } catch {
            throw LogError(reading: error, at: path)
        }
        return notes
    }

    // MARK: For the writer

    /// Returns the confirmed row at `key` in the last commit; nil if there is none. The writer
    /// reads the same commit until ``endReadingForWriting()``.
    package func rowForWriting(at key: KeyBytes) throws(LogError) -> [UInt8]? {
        try SealedRows(table: try openForWriting(.rows), path: path).value(at: key)?.array
    }

    /// Returns the keys of `span`, in order, in the commit that ``rowForWriting(at:)`` reads.
    package func rowKeysForWriting(in span: KeySpan) throws(LogError) -> [KeyBytes] {
        try openForWriting(.rows).keys(in: span, countMax: .max)
    }
}

extension StorageTable {
    fileprivate func keys(in span: KeySpan, countMax: Int) throws(LogError) -> [KeyBytes] {
        var keys: [KeyBytes] = []
        try scan(.forwards(from: .bytes(span.lower))) { key, _ in
            guard span.contains(key.bytes) else { return false }
            keys.append(key.bytes)
            return keys.count < countMax
        }
        return keys
    }
}

/// Table `rows`, whose values end with checksums. Reads verify and remove the checksum.
private struct SealedRows {
    let table: any StorageTable
    let path: String

    /// Returns the row's bytes, without the checksum; nil if there is none.
    func value(at key: KeyBytes) throws(LogError) -> FoundValue? {
        guard let sealed = try table.get(.bytes(key)) else { return nil }
        return sealed.prefix(try length(of: sealed, at: key))
    }

    func scan(
        _ span: KeySpan, backwards: Bool, _ body: (KeyBytes, RawSpan) throws -> Bool
    ) throws {
        var failure: (any Error)?
        let range: ScanRange =
            backwards
            ? .backwards(before: span.upper.map { .bytes($0) })
            : .forwards(from: .bytes(span.lower))
        try table.scan(range) { key, sealed in
            let key = key.bytes
            guard span.contains(key) else { return false }
            do {
                let count = try length(of: sealed, at: key)
                return try sealed.withSpan { try body(key, $0.extracting(first: count)) }
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }

    /// Returns the first key that is not before `start`, even if its row is damaged; nil if there
    /// is none.
    func firstKey(from start: KeyBytes) throws(LogError) -> KeyBytes? {
        var first: KeyBytes?
        try table.scan(.forwards(from: .bytes(start))) { key, _ in
            first = key.bytes
            return false
        }
        return first
    }

    /// Verifies the checksum, and returns the number of bytes before it.
    private func length(of sealed: FoundValue, at key: KeyBytes) throws(LogError) -> Int {
        do throws(FormatError) {
            return try sealed.withSpan { span throws(FormatError) in
                try StoredRow.opened(span, at: key)
            }
        } catch {
            throw LogError(error, at: path, row: key)
        }
    }
}

extension LogError {
    fileprivate init(_ error: FormatError, at path: String, row key: KeyBytes) {
        // The reason names the row, not the path, so that every place that shows reasons shows the
        // row.
        let row = "row \(key.bytes.hexadecimal)"
        switch error {
        case .damaged(let what):
            self = .damaged(path: path, sequence: nil, reason: "\(row): \(what)")
        case .newer(let found):
            self = .newerFormat(path: path, sequence: nil, found: "\(row): \(found)")
        }
    }
}

extension LogError {
    /// Creates the error for a failed read of rows. An error that is not a `LogError` becomes
    /// `.damaged`.
    package init(reading error: any Error, at path: String) {
        self =
            error as? LogError
            ?? .damaged(path: path, sequence: nil, reason: "its rows cannot be read: \(error)")
    }
}

// MARK: Write

extension WriteBatch {
    /// Adds the changes of a transaction to a stored projection: its rows, faults, notes and header. Adds
    /// the checksums.
    package mutating func writeRows(of batch: RowBatch) {
        for (key, value) in batch.rows {
            if let bytes = value.bytes {
                writeRow(StoredRow.sealed(bytes, at: key), at: key)
            } else {
                removeRow(at: key)
            }
        }
        for (index, fault) in batch.faults.enumerated() {
            let key = StoredRow.faultKey(batch.header.number, batch.firstFault + index)
            writeRow(StoredRow.sealed(fault.encoded, at: key), at: key)
        }
        for (index, note) in batch.notes.enumerated() {
            let key = StoredRow.noteKey(batch.header.number, batch.firstNote + index)
            writeRow(StoredRow.sealed(note.encoded, at: key), at: key)
        }
        writeHeader(batch.header)
    }

    /// Adds a row.
    ///
    /// - Parameter sealed: The row's bytes with the checksum.
    package mutating func writeRow(_ sealed: [UInt8], at key: KeyBytes) {
        rows.append(TableWrite(.rows, .bytes(key), sealed))
    }

    package mutating func removeRow(at key: KeyBytes) {
        rows.append(TableWrite(.rows, .bytes(key), nil))
    }
}

extension LogStorage {
    /// Removes rows, in bounded pieces. If the removal is interrupted, the next store that is
    /// opened with any stored projections removes the remaining rows.
    ///
    /// - Throws: `.storage`, `.closed`; the pieces before the failure are removed.
    package func dropRows(_ outdated: [StoredRowsHeader]) throws(LogError) {
        for header in outdated {
            let span = KeySpan(prefix: StoredRow.prefix(of: header.number))
            var isOver = false
            while !isOver {
                let keys = try rowKeys(in: span, countMax: Limits.rowDropCountMax)
                isOver = keys.count < Limits.rowDropCountMax
                var batch = WriteBatch()
                for key in keys { batch.removeRow(at: key) }
                // Mark the remainder incomplete, so that no store uses it.
                if isOver {
                    batch.removeHeader(of: header.number)
                } else {
                    batch.writeHeader(header.dropped)
                }
                do throws(StorageFailure) { try write(batch) } catch { throw error.unwritten }
            }
        }
    }
}

// MARK: Verify

extension LogStorage {
    /// Returns the numbers of stored projections that have rows and no header, ascending.
    func rowNumbersWithoutHeader() throws(LogError) -> [UInt32] {
        do {
            return try readRows { rows in
                try rows.numbers().filter { try rows.header(of: $0) == nil }
            }
        } catch {
            throw LogError(reading: error, at: path)
        }
    }

    /// Checks that each row of a stored projection can be read.
    func requireReadableRows(of number: UInt32) throws(LogError) {
        do {
            try readRows { rows in
                let span = KeySpan(prefix: StoredRow.prefix(of: number))
                try rows.scan(span, backwards: false) { _, _ in true }
            }
        } catch {
            throw LogError(reading: error, at: path)
        }
    }
}
