import FoldbackLMDB

/// One commit of a log on disk, valid as long as its transaction.
struct LMDBSnapshot: StorageSnapshot {
    private let commit: CommitSnapshot
    private let tables: LMDBLog.Tables
    private let path: String

    init(_ commit: CommitSnapshot, _ tables: LMDBLog.Tables, _ path: String) {
        self.commit = commit
        self.tables = tables
        self.path = path
    }

    func open(_ table: LogTable) throws(LogError) -> any StorageTable {
        guard tables[table] != nil else { return MemoryTable() }
        return try LMDBTable(commit, table, tables, path)
    }

    func count(of table: LogTable) throws(LogError) -> Int {
        guard let table = tables[table] else { return 0 }
        do throws(LMDBError) { return try commit.count(of: table) } catch {
            throw LogError(error, at: path)
        }
    }
}

/// One table of a commit on disk, whose root is looked up once. It is a class, so that reading a
/// value does not copy the table's properties.
final class LMDBTable: StorageTable, Sendable {
    private let hasNumbers: Bool
    private let read: TableRead
    private let path: String

    /// - Precondition: The log has the table.
    init(
        _ commit: CommitSnapshot, _ table: LogTable, _ tables: LMDBLog.Tables, _ path: String
    ) throws(LogError) {
        guard let opened = tables[table] else { preconditionFailure("no table \(table)") }
        hasNumbers = table.keyBytes == 8
        self.path = path
        do throws(LMDBError) {
            read = try commit.opened(opened, keyBytes: table.keyBytes)
        } catch {
            throw LogError(error, at: path)
        }
    }

    func get(_ key: LogKey) throws(LogError) -> FoundValue? {
        let found: UnsafeRawBufferPointer?
        do throws(LMDBError) {
            // Switch here, so that reading a row, the most frequent read, needs only one closure.
            switch key {
            case .bytes(let key):
                found = try withBytes(of: key.bytes) { key throws(LMDBError) in
                    try read.value(at: key)
                }
            case .number(let number):
                found = try number.withKeyBytes { key throws(LMDBError) in
                    try read.value(at: key)
                }
            }
        } catch {
            throw LogError(error, at: path)
        }
        guard let found else { return nil }
        return .file(found)
    }

    func scan(
        _ range: ScanRange, _ body: (LogKey, FoundValue) -> Bool
    ) throws(LogError) {
        func visit(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
            body(LogKey(key, isNumber: hasNumbers), .file(value))
        }
        do throws(LMDBError) {
            switch range {
            case .forwards(let start):
                try start.withKeyBytes { start throws(LMDBError) in
                    try read.scan(from: start, visit)
                }
            case .backwards(let end?):
                try end.withKeyBytes { end throws(LMDBError) in
                    try read.scanBackwards(before: end, visit)
                }
            case .backwards(nil): try read.scanBackwards(before: nil, visit)
            }
        } catch {
            throw LogError(error, at: path)
        }
    }

    func lastKey() throws(LogError) -> LogKey? {
        do throws(LMDBError) {
            return try read.lastKey { LogKey($0, isNumber: hasNumbers) }
        } catch {
            throw LogError(error, at: path)
        }
    }
}

extension LogKey: TableKey {
    package func withKeyBytes<R, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        switch self {
        case .number(let number): try number.withKeyBytes(body)
        case .bytes(let key): try withBytes(of: key.bytes, body)
        }
    }

    package init?(keyBytes: UnsafeRawBufferPointer) { self = .bytes(KeyBytes(Array(keyBytes))) }

    /// Creates a key from a table's bytes, whose length the read has checked.
    fileprivate init(_ bytes: UnsafeRawBufferPointer, isNumber: Bool) {
        if isNumber, let number = UInt64(keyBytes: bytes) {
            self = .number(number)
        } else {
            self = .bytes(KeyBytes(Array(bytes)))
        }
    }
}
