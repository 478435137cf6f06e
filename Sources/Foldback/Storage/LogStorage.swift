/// Keeps a log's tables of bytes: LMDB, or memory. The rest of the store does not know which.
///
/// ```
///  Store, Fold     records, settlements, attempts, checkpoints, rows
///  extensions      keys, formats, checksums, bounded pieces
///  LogStorage      get, scan and write over tables of bytes
/// ```
///
/// Written from one place at a time, and read from any task. Reading may block on the disk.
package protocol LogStorage: AnyObject, Sendable {
    var path: String { get }
    var header: LogHeader { get }
    /// Bytes that the log takes on disk.
    var usedBytes: Int { get }
    /// How long the oldest read has been going on, in nanoseconds (L8).
    var oldestReadNanoseconds: UInt64 { get }
    /// Whether a power cut may undo the last commit until ``sync()`` has returned (L2).
    var isRelaxed: Bool { get }
    /// Whether entries may have been taken out, as from a minimised history: sequences and numbers then rise with
    /// gaps. A store's log never has gaps.
    var hasGaps: Bool { get }

    /// Throws where the store must not be used: closed, or in a forked child.
    func requireUsable() throws(FoldbackError)

    /// Calls `body` once with a snapshot of the last commit, which it must not keep. Keep it short (L8).
    func read(_ body: (any StorageSnapshot) -> Void) throws(FoldbackError)

    /// A table for the writer, which decides on it. What the writer opens shows one commit until
    /// ``endReadingForWriting()``, and is used on its thread alone.
    func openForWriting(_ table: LogTable) throws(FoldbackError) -> any StorageTable

    /// Ends what ``openForWriting(_:)`` began. A read that is held must end before ``write(_:)-([TableWrite])``.
    func endReadingForWriting()

    /// Carries out all writes in their order, or none (L4); returns when they are as durable as the store is.
    func write(_ writes: [TableWrite]) throws(StorageFailure)

    /// Makes durable what relaxed commits have written.
    func sync() throws(StorageFailure)

    /// What is wrong with the file's pages; nothing where there is no file.
    func damagedPages() throws(FoldbackError) -> [(page: UInt64, what: String)]

    func close()
}

/// One commit of a log, while it is being read.
package protocol StorageSnapshot {
    /// A table to be read while the snapshot is.
    func open(_ table: LogTable) throws(FoldbackError) -> any StorageTable

    /// How many keys the table has, as the storage counts them without reading them.
    func count(of table: LogTable) throws(FoldbackError) -> Int
}

/// One table of a commit, while it is being read. A table that the log does not have yet is empty.
package protocol StorageTable {
    /// The value at the key; nil if there is none.
    func get(_ key: LogKey) throws(FoldbackError) -> FoundValue?

    /// Calls `body` with each key and its value, in the order that `range` says, until it returns false.
    func scan(
        _ range: ScanRange, _ body: (LogKey, FoundValue) -> Bool
    ) throws(FoldbackError)

    /// The last key, without its value; nil if the table is empty.
    func lastKey() throws(FoldbackError) -> LogKey?
}

/// Where a scan begins, and in which order it goes on.
package enum ScanRange: Sendable {
    /// Ascending, from the first key that is not before this one.
    case forwards(from: LogKey)
    /// Descending, from the last key before this one; nil: from the last of all.
    case backwards(before: LogKey?)
}

extension LogStorage {
    package var hasGaps: Bool { false }

    package func write(_ batch: WriteBatch) throws(StorageFailure) { try write(batch.writes) }

    /// Calls `body` with a snapshot of the last commit, and returns what became of it.
    func reading<R, E: Error>(
        _ body: (any StorageSnapshot) throws(E) -> R
    ) throws(FoldbackError) -> Result<R, E> {
        var result: Result<R, E>?
        try read { snapshot in
            do throws(E) { result = .success(try body(snapshot)) } catch {
                result = .failure(error)
            }
        }
        guard let result else { preconditionFailure("a read ended without a result") }
        return result
    }

    /// The same for one table.
    func reading<R>(
        _ table: LogTable, _ body: (any StorageTable) throws(FoldbackError) -> R
    ) throws(FoldbackError) -> R {
        try reading { snapshot throws(FoldbackError) in try body(try snapshot.open(table)) }.get()
    }
}
