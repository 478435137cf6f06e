import CLMDB
import Foundation

/// What each table of a closed log takes in its file. Plain LMDB reads it.
struct TablePages {
    /// The bytes of each table's pages, by its name.
    private(set) var bytes: [String: Int] = [:]
    /// The number of rows of each table.
    private(set) var counts: [String: Int] = [:]
    /// The bytes of the values in table `entries` and in table `kept`, without keys.
    private(set) var recordBytes = 0
    /// The bytes of the file.
    let fileBytes: Int

    private static let tables = [
        "entries", "verdicts", "attempts", "checkpoints", "projections", "rows", "registered",
        "kept", "log",
    ]

    init(at log: URL) throws {
        fileBytes = try log.bytesOfFile
        var created: OpaquePointer?
        try check(mdb_env_create(&created))
        guard let environment = created else { throw RawFailure(code: ENOMEM) }
        defer { mdb_env_close(environment) }
        try check(mdb_env_set_maxdbs(environment, 16))
        let flags = UInt32(MDB_NOTLS | MDB_RDONLY | MDB_NOLOCK)
        try check(mdb_env_open(environment, log.path, flags, 0o600))
        let transaction = try RawLMDB.begun(in: environment, flags: UInt32(MDB_RDONLY))
        defer { mdb_txn_abort(transaction) }
        for name in Self.tables {
            var table = MDB_dbi()
            guard mdb_dbi_open(transaction, name, 0, &table) == MDB_SUCCESS else { continue }
            var found = MDB_stat()
            try check(mdb_stat(transaction, table, &found))
            let pages = found.ms_branch_pages + found.ms_leaf_pages + found.ms_overflow_pages
            bytes[name] = pages * Int(found.ms_psize)
            counts[name] = found.ms_entries
            if name == "entries" || name == "kept" {
                recordBytes += try Self.valueBytes(of: table, in: transaction)
            }
        }
    }

    private static func valueBytes(of table: MDB_dbi, in transaction: OpaquePointer) throws -> Int {
        var opened: OpaquePointer?
        try check(mdb_cursor_open(transaction, table, &opened))
        guard let cursor = opened else { throw RawFailure(code: ENOMEM) }
        defer { mdb_cursor_close(cursor) }
        var (key, value) = (MDB_val(), MDB_val())
        var sum = 0
        while mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == MDB_SUCCESS { sum += value.mv_size }
        return sum
    }

    /// The file's bytes without those of the verdict rows, for each byte of a record that remains.
    var bytesOfRecordByte: Double {
        Double(fileBytes - (bytes["verdicts"] ?? 0)) / Double(max(1, recordBytes))
    }

    /// The tables that take the most.
    var words: String {
        let largest = bytes.sorted { $0.value > $1.value }.prefix(4).map { name, bytes in
            "\(name) \((Double(bytes) / 1_000_000).text)"
        }
        return "MB of pages: \(largest.joined(separator: ", ")); records "
            + "\((Double(recordBytes) / 1_000_000).text) MB"
    }
}

extension URL {
    /// The size of the file of the log in this directory.
    var bytesOfFile: Int {
        get throws {
            let path = appending(path: "data.mdb").path
            return try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        }
    }

    /// The same in millions of bytes.
    var megabytesOfFile: Double { get throws { Double(try bytesOfFile) / 1_000_000 } }
}
