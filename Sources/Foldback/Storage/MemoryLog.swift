import Synchronization

/// A log that is gone with the process: for previews and app tests. It keeps the same bytes as a log on
/// disk, so everything except the disk is tried.
package final class MemoryLog: LogStorage {
    package let path: String
    package let header: LogHeader
    package let hasGaps: Bool
    private let tables: Mutex<MemoryTables>
    private let closed = Mutex(false)

    /// A log of what another log had committed.
    package init(_ rows: MemoryRows) {
        path = "(in memory)"
        header = rows.header
        hasGaps = false
        tables = Mutex(rows.tables)
    }

    /// An empty log.
    ///
    /// - Parameters:
    ///   - replicas: whose records the log is to have.
    ///   - hasGaps: whether sequences may be left out.
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

    /// All that is committed now, also in a closed log. O(1).
    package var rows: MemoryRows { MemoryRows(header: header, tables: tables.withLock { $0 }) }

    /// Bytes of the records.
    package var usedBytes: Int { tables.withLock { $0.recordBytes } }
    package var oldestReadNanoseconds: UInt64 { 0 }
    package var isRelaxed: Bool { false }

    package func requireUsable() throws(FoldbackError) {
        guard !closed.withLock({ $0 }) else { throw .closed(path: path) }
    }

    package func read(_ body: (any StorageSnapshot) -> Void) throws(FoldbackError) {
        try requireUsable()
        body(tables.withLock { $0 })
    }

    /// Nothing has to be held: only the writer, who reads, changes the tables.
    package func openForWriting(_ table: LogTable) -> any StorageTable {
        tables.withLock { $0[table] }
    }

    package func endReadingForWriting() {}

    package func write(_ writes: [TableWrite]) throws(StorageFailure) {
        tables.withLock { tables in
            for write in writes { tables.perform(write) }
        }
    }

    package func sync() throws(StorageFailure) {}

    package func damagedPages() throws(FoldbackError) -> [(page: UInt64, what: String)] { [] }

    package func close() { closed.withLock { $0 = true } }
}

/// What a log in memory has committed, as one value: keeping it is what a disk does when the process
/// dies, and opening a log of it is the restart.
package struct MemoryRows: Sendable {
    package let header: LogHeader
    fileprivate let tables: MemoryTables
}

/// All tables of a log. Copying them is O(1).
private struct MemoryTables: StorageSnapshot, Sendable {
    /// By the tables' raw values.
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
                "L1: the sequence counter is broken: \(write.key) comes after the last")
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
