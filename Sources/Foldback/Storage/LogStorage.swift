/// The storage of a log's tables: bytes under keys, in LMDB or in memory. Code above this protocol
/// does not depend on which one it is.
///
/// ```
///  Store, Fold     records, settlements, attempts, checkpoints, rows
///  Tables          for each table: keys, formats, checksums
///  LogStorage      get, scan and write over tables of bytes, in bounded pieces
/// ```
///
/// The storage neither interprets nor verifies values: encoding and checksums are above it.
///
/// Only one caller writes at a time. Any task may read. A read may block on the disk.
package protocol LogStorage: AnyObject, Sendable {
    var path: String { get }
    var header: LogHeader { get }
    /// Where a compacted log begins; nil if it has all of its entries.
    var base: LogBase? { get }
    /// The size of the log on disk, in bytes. For a log in memory, the size of its records.
    var usedBytes: Int { get }
    /// The age of the oldest open read, in nanoseconds; 0 if there is none (L8).
    var oldestReadNanoseconds: UInt64 { get }
    /// Whether a power cut may undo the last commit until ``sync()`` has returned (L2).
    var isRelaxed: Bool { get }
    /// Whether entries may be missing, as in a minimized history. Sequences and intent numbers then
    /// rise with gaps. A store's log never has gaps.
    var hasGaps: Bool { get }

    /// Checks that the log may be used.
    ///
    /// - Throws: `.closed` after ``close()``; `.usedAfterFork` in a forked child.
    func requireUsable() throws(LogError)

    /// Calls `body` once with a snapshot of the last commit. `body` must not keep the snapshot, and
    /// must be short (L8).
    func read(_ body: (any StorageSnapshot) -> Void) throws(LogError)

    /// Opens a table for the writer's decisions. All tables that it opens show the same commit
    /// until ``endReadingForWriting()``. Only the writer's thread may use them.
    func openForWriting(_ table: LogTable) throws(LogError) -> any StorageTable

    /// Ends the read that ``openForWriting(_:)`` began. That read must end before
    /// ``write(_:)-([TableWrite])``.
    func endReadingForWriting()

    /// Commits all writes in their order, or none (L4). Returns after the commit, which is as
    /// durable as ``isRelaxed`` says (L2).
    func write(_ writes: [TableWrite]) throws(StorageFailure)

    /// Commits the records and then the other writes, or none: the same as
    /// ``write(_:)-([TableWrite])`` with all of them.
    func write(_ records: RecordBuffer, _ others: [TableWrite]) throws(StorageFailure)

    /// Checks the pages of the file that opening did not check, so that no change can overwrite what
    /// is in use. Checks once; if nothing has called it, the first ``write(_:)-([TableWrite])`` checks.
    /// Only the writer's thread may call it.
    func requireSoundPages() throws(StorageFailure)

    /// Flushes the writes of relaxed commits to the disk.
    func sync() throws(StorageFailure)

    /// Returns the damaged pages of the file; empty if the log has no file.
    func damagedPages() throws(LogError) -> [(page: UInt64, what: String)]

    /// Closes the log. After that, ``requireUsable()`` and ``read(_:)`` throw `.closed`.
    func close()
}

/// One commit of a log, valid during one read.
package protocol StorageSnapshot {
    /// Opens a table, valid as long as the snapshot.
    func open(_ table: LogTable) throws(LogError) -> any StorageTable

    /// Returns the number of keys in the table, without reading them.
    func count(of table: LogTable) throws(LogError) -> Int
}

/// One table of a commit, valid during one read. A table that the log does not have yet is empty.
package protocol StorageTable {
    /// Returns the value at the key; nil if there is none.
    func get(_ key: LogKey) throws(LogError) -> FoundValue?

    /// Calls `body` with each key and its value, in the order of `range`, until it returns false.
    func scan(
        _ range: ScanRange, _ body: (LogKey, FoundValue) -> Bool
    ) throws(LogError)

    /// Returns the last key, without its value; nil if the table is empty.
    func lastKey() throws(LogError) -> LogKey?
}

/// The start and the direction of a scan.
package enum ScanRange: Sendable {
    /// Ascending, from the first key that is not before this one.
    case forwards(from: LogKey)
    /// Descending, from the last key before this one. With nil, from the table's last key.
    case backwards(before: LogKey?)
}

extension LogStorage {
    package var hasGaps: Bool { false }
    package var base: LogBase? { nil }

    package func write(
        _ records: RecordBuffer, _ others: [TableWrite]
    ) throws(StorageFailure) { try write(records.writes + others) }

    /// Calls `body` with a snapshot of the last commit, and returns its result or its error.
    func reading<R, E: Error>(
        _ body: (any StorageSnapshot) throws(E) -> R
    ) throws(LogError) -> Result<R, E> {
        var result: Result<R, E>?
        try read { snapshot in
            do throws(E) { result = .success(try body(snapshot)) } catch {
                result = .failure(error)
            }
        }
        guard let result else { preconditionFailure("a read ended without a result") }
        return result
    }

    /// Calls `body` with one table of the last commit, and returns its result.
    func reading<R>(
        _ table: LogTable, _ body: (any StorageTable) throws(LogError) -> R
    ) throws(LogError) -> R {
        try reading { snapshot throws(LogError) in try body(try snapshot.open(table)) }.get()
    }

    // MARK: Tables with numbers

    /// Returns the value at the key in the last commit; nil if there is none.
    func value(at key: LogKey, in table: LogTable) throws(LogError) -> [UInt8]? {
        try reading(table) { table throws(LogError) in try table.get(key)?.array }
    }

    /// Returns the rows from `start` on, in order of numbers: at most `countMax`, and a bounded
    /// number of bytes (L8).
    func piece<Number: LogNumber>(
        of table: LogTable, from start: Number, countMax: Int
    ) throws(LogError) -> [(Number, [UInt8])] {
        let countMax = min(countMax, Limits.readCountMax)
        guard countMax > 0 else { return [] }
        return try reading(table) { table throws(LogError) in
            var piece: [(Number, [UInt8])] = []
            var byteCount = 0
            try table.scan(.forwards(from: LogKey(start))) { key, value in
                let bytes = value.array
                piece.append((Number(key.number), bytes))
                byteCount += bytes.count
                return piece.count < countMax && byteCount < Limits.readBytesMax
            }
            return piece
        }
    }

    /// Calls `body` with each row of a table, in order of numbers. Reads bounded pieces (L8).
    func scan<Number: LogNumber>(
        _ table: LogTable, _ body: (Number, [UInt8]) throws(LogError) -> Void
    ) throws(LogError) {
        var next: Number = 0
        while true {
            let rows = try piece(of: table, from: next, countMax: Limits.readCountMax)
            for (number, bytes) in rows { try body(number, bytes) }
            guard let last = rows.last?.0, last.value < .max else { return }
            next = last.next
        }
    }

    /// Returns all rows of a table with few rows.
    func all(
        of table: LogTable
    ) throws(LogError) -> [(number: UInt32, bytes: [UInt8])] {
        try reading(table) { table throws(LogError) in
            var rows: [(number: UInt32, bytes: [UInt8])] = []
            try table.scan(.forwards(from: .number(0))) { key, value in
                rows.append((UInt32(clamping: key.number), value.array))
                return true
            }
            return rows
        }
    }
}
