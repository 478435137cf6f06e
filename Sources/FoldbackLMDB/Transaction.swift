import CLMDB

/// A snapshot of the last commit, for as long as it lives; ends when it goes out of scope.
package struct ReadTransaction: ~Copyable {
    fileprivate let handle: OpaquePointer

    init(begunIn environment: OpaquePointer) throws(LMDBError) {
        handle = try begun(in: environment, flags: UInt32(MDB_RDONLY), as: .beginRead)
    }

    deinit { mdb_txn_abort(handle) }

    /// Ends it as LMDB wants the first use of a table ended: aborted instead, the table's handle would
    /// be closed again (lmdb.h, mdb_dbi_open).
    consuming func end() {
        let handle = self.handle
        discard self
        mdb_txn_commit(handle)
    }

    /// Whether nothing was ever put into the environment.
    package borrowing func isEmptyEnvironment() throws(LMDBError) -> Bool {
        var main = MDB_dbi()
        var stat = MDB_stat()
        try check(mdb_dbi_open(handle, nil, 0, &main), .openTable, nil)
        try check(mdb_stat(handle, main, &stat), .inspect, nil)
        return stat.ms_entries == 0
    }

    /// The table, or nil if there is none of that name yet.
    package borrowing func table<Key>(
        _ name: String, of: Key.Type = Key.self
    ) throws(LMDBError) -> Table<Key>? {
        do { return try openTable(name, flags: 0, in: handle) } catch {
            guard error.cause == .notFound else { throw error }
            return nil
        }
    }

    /// Calls `body` with the value's bytes, which it must not keep; nil if the key is not there.
    package borrowing func get<Key, R>(
        _ table: Table<Key>, _ key: Key, _ body: (RawSpan) -> R
    ) throws(LMDBError) -> R? {
        try value(of: key, in: table, handle, body)
    }

    /// Calls `body` with each pair from `start` on, in order of key, until it answers false. The
    /// bytes must not be kept.
    package borrowing func scan<Key>(
        _ table: Table<Key>, from start: Key? = nil, _ body: (Key, RawSpan) -> Bool
    ) throws(LMDBError) {
        try walk(table, from: start, handle, body)
    }

    package borrowing func count<Key>(of table: Table<Key>) throws(LMDBError) -> Int {
        var stat = MDB_stat()
        try check(mdb_stat(handle, table.handle, &stat), .inspect, table.name)
        return stat.ms_entries
    }
}

/// The one transaction that may write; aborted unless it is committed. It belongs to the thread that
/// began it (lmdb.h, mdb_txn_begin).
package struct WriteTransaction: ~Copyable {
    fileprivate let handle: OpaquePointer

    init(begunIn environment: OpaquePointer) throws(LMDBError) {
        handle = try begun(in: environment, flags: 0, as: .beginWrite)
    }

    deinit { mdb_txn_abort(handle) }

    /// Makes everything written visible, and durable as the environment's flags have it.
    ///
    /// Also a failed commit ends the transaction: LMDB has freed it by then (mdb.c 0.9.24,
    /// mdb_txn_commit), so it is not aborted again.
    package consuming func commit() throws(LMDBError) {
        let handle = self.handle
        discard self
        try check(mdb_txn_commit(handle), .commit, nil)
    }

    /// The table, made if it is not there.
    package borrowing func table<Key>(
        _ name: String, of: Key.Type = Key.self
    ) throws(LMDBError) -> Table<Key> {
        try openTable(name, flags: UInt32(MDB_CREATE), in: handle)
    }

    package borrowing func put<Key>(
        _ value: [UInt8], at key: Key, in table: Table<Key>
    ) throws(LMDBError) {
        try store(value, key, table, flags: 0)
    }

    /// Puts behind the last key. `.keyExists` if the key is not beyond it: the counter that gave it
    /// is broken (L1).
    package borrowing func append<Key>(
        _ value: [UInt8], at key: Key, to table: Table<Key>
    ) throws(LMDBError) {
        try store(value, key, table, flags: UInt32(MDB_APPEND))
    }

    /// Deletes the pair; false if there was none.
    package borrowing func delete<Key>(
        _ key: Key, from table: Table<Key>
    ) throws(LMDBError) -> Bool {
        let code = key.withKeyBytes { bytes in
            var key = MDB_val(reading: bytes)
            return mdb_del(handle, table.handle, &key, nil)
        }
        if code == MDB_NOTFOUND { return false }
        try check(code, .delete, table.name)
        return true
    }

    private borrowing func store<Key>(
        _ value: [UInt8], _ key: Key, _ table: Table<Key>, flags: UInt32
    ) throws(LMDBError) {
        let code = key.withKeyBytes { bytes in
            value.withUnsafeBytes { value in
                var key = MDB_val(reading: bytes)
                var value = MDB_val(reading: value)
                return mdb_put(handle, table.handle, &key, &value, flags)
            }
        }
        try check(code, .put, table.name)
    }
}

// MARK: What both kinds of transaction do

private func begun(
    in environment: OpaquePointer, flags: UInt32, as operation: LMDBError.Operation
) throws(LMDBError) -> OpaquePointer {
    var handle: OpaquePointer?
    try check(mdb_txn_begin(environment, nil, flags, &handle), operation, nil)
    guard let handle else { throw LMDBError(operation, .unknown(0)) }
    return handle
}

private func openTable<Key>(
    _ name: String, flags: UInt32, in transaction: OpaquePointer
) throws(LMDBError) -> Table<Key> {
    var handle = MDB_dbi()
    try check(mdb_dbi_open(transaction, name, flags, &handle), .openTable, name)
    return Table(name: name, handle: handle)
}

private func value<Key, R>(
    of key: Key, in table: Table<Key>, _ transaction: OpaquePointer, _ body: (RawSpan) -> R
) throws(LMDBError) -> R? {
    var value = MDB_val()
    let code = key.withKeyBytes { bytes in
        var key = MDB_val(reading: bytes)
        return mdb_get(transaction, table.handle, &key, &value)
    }
    if code == MDB_NOTFOUND { return nil }
    try check(code, .get, table.name)
    return body(value.bytes.bytes)
}

private func walk<Key>(
    _ table: Table<Key>, from start: Key?, _ transaction: OpaquePointer,
    _ body: (Key, RawSpan) -> Bool
) throws(LMDBError) {
    var cursor: OpaquePointer?
    try check(mdb_cursor_open(transaction, table.handle, &cursor), .scan, table.name)
    defer { mdb_cursor_close(cursor) }
    var key = MDB_val()
    var value = MDB_val()
    // LMDB reads the start key before it overwrites `key` with the place in the map.
    var code =
        start?.withKeyBytes { bytes in
            key = MDB_val(reading: bytes)
            return mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
        } ?? mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
    while code == MDB_SUCCESS {
        guard body(Key(keyBytes: key.bytes), value.bytes.bytes) else { return }
        code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
    }
    guard code == MDB_NOTFOUND else { throw LMDBError(.scan, table: table.name, code: code) }
}

private func check(
    _ code: Int32, _ operation: LMDBError.Operation, _ table: String?
) throws(LMDBError) {
    guard code == MDB_SUCCESS else { throw LMDBError(operation, table: table, code: code) }
}

extension MDB_val {
    /// LMDB takes a mutable pointer and does not write through it (lmdb.h, mdb_put and mdb_get).
    fileprivate init(reading bytes: UnsafeRawBufferPointer) {
        self.init(
            mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }

    fileprivate var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: mv_data, count: mv_size)
    }
}
