import FoldbackCollections
import Synchronization

/// A log in memory, which ends with the process, for previews and app tests. It stores the same
/// bytes as a log on disk, so tests with it cover everything except the disk.
package final class MemoryLog: LogStorage {
    package let path: String
    package let header: LogHeader
    package let hasGaps: Bool
    private let tables: Mutex<MemoryTables>
    private let closed = Mutex(false)

    /// Creates a log with the tables that another log had committed.
    package init(_ rows: MemoryRows) {
        path = "(in memory)"
        header = rows.header
        hasGaps = false
        tables = Mutex(rows.tables)
    }

    /// Creates an empty log.
    ///
    /// - Parameters:
    ///   - replicas: The replicas whose records the log can hold.
    ///   - hasGaps: Whether sequences may be left out.
    package init(
        kind: LogKind, replicas: ReplicaTable, path: String = "(in memory)", hasGaps: Bool = false
    ) {
        self.path = path
        header = LogHeader(kind: kind, replicas: replicas, file: .none)
        self.hasGaps = hasGaps
        tables = Mutex(MemoryTables())
    }

    package convenience init(kind: LogKind, replica: ReplicaID) {
        self.init(kind: kind, replicas: ReplicaTable([replica]))
    }

    /// The tables as of the last commit, also in a closed log. O(1).
    package var rows: MemoryRows { MemoryRows(header: header, tables: tables.withLock { $0 }) }

    /// The size of the records, in bytes.
    package var usedBytes: Int { tables.withLock { $0.recordBytes } }
    package var oldestReadNanoseconds: UInt64 { 0 }
    package var isRelaxed: Bool { false }

    package func requireUsable() throws(LogError) {
        guard !closed.withLock({ $0 }) else { throw .closed(path: path) }
    }

    package func read(_ body: (any StorageSnapshot) -> Void) throws(LogError) {
        try requireUsable()
        body(tables.withLock { $0 })
    }

    /// Returns a copy of the table. No read is held, because only the writer changes the tables.
    package func openForWriting(_ table: LogTable) -> any StorageTable {
        tables.withLock { $0[table] }
    }

    package func endReadingForWriting() {}

    /// A log in memory has no pages.
    package func requireSoundPages() {}

    package func write(_ writes: [TableWrite]) throws(StorageFailure) {
        tables.withLock { tables in
            for write in writes { tables.perform(write) }
        }
    }

    package func sync() throws(StorageFailure) {}

    package func damagedPages() throws(LogError) -> [(page: UInt64, what: String)] { [] }

    package func close() { closed.withLock { $0 = true } }
}

/// The committed tables of a log in memory, as a value. A test keeps the value to simulate the end
/// of the process, and creates a log with it to simulate the restart.
package struct MemoryRows: Sendable {
    package let header: LogHeader
    fileprivate let tables: MemoryTables
}

/// All tables of a log. Copying them is O(1).
private struct MemoryTables: StorageSnapshot, Sendable {
    /// The tables, indexed by raw value.
    private var tables = LogTable.allCases.map { _ in MemoryTable() }
    private(set) var recordBytes = 0

    subscript(table: LogTable) -> MemoryTable { tables[table.rawValue] }

    func open(_ table: LogTable) -> any StorageTable { self[table] }

    func count(of table: LogTable) -> Int { self[table].values.count }

    mutating func perform(_ write: TableWrite) {
        if write.table == .entries {
            let last = self[.entries].values.last
            precondition(
                last.map { $0.key < write.key } ?? true,
                "L1: the sequence counter is broken: \(write.key) is not after the last key")
            recordBytes += write.value?.count ?? 0
        }
        tables[write.table.rawValue].values[write.key] = write.value  // mutant: record-write
    }
}

/// One table in memory.
struct MemoryTable: StorageTable, Sendable {
    fileprivate var values = SortedMap<LogKey, [UInt8]>()

    init() {}

    func get(_ key: LogKey) -> FoundValue? { values[key].map { .memory($0) } }

    func scan(_ range: ScanRange, _ body: (LogKey, FoundValue) -> Bool) {
        switch range {
        case .forwards(let start):
            for (key, value) in values.from(start) {
                guard body(key, .memory(value)) else { return }
            }
        case .backwards(let end):
            var next = values.last(before: end)
            while let (key, value) = next {
                guard body(key, .memory(value)) else { return }
                next = values.last(before: key)
            }
        }
    }

    func lastKey() -> LogKey? { values.last?.key }
}
