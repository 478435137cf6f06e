import CLMDB

/// A snapshot of the last commit, for as long as it lives; ends when it goes out of scope.
///
/// LMDB's transaction keeps the snapshot's pages from being used again; they are read by ``TreePath``,
/// which believes nothing (``PageMap``).
package struct ReadTransaction: ~Copyable {
    private let handle: OpaquePointer
    /// The commit that is read; it must not be kept longer than the transaction.
    package let snapshot: CommitSnapshot

    init(_ handle: OpaquePointer, _ snapshot: CommitSnapshot) {
        self.handle = handle
        self.snapshot = snapshot
    }

    deinit { mdb_txn_abort(handle) }

    /// Whether nothing was ever put into the environment.
    package borrowing func isEmptyEnvironment() -> Bool { snapshot.main.root == nil }

    /// The table, or nil if there is none of that name yet. It can only be read.
    package borrowing func table<Key>(
        _ name: String, of: Key.Type = Key.self
    ) throws(LMDBError) -> Table<Key>? {
        try snapshot.tree(name, .openTable).map { _ in Table(name: name, handle: nil) }
    }

    /// Calls `body` with the value's bytes, which it must not keep; nil if the key is not there.
    package borrowing func get<Key, R>(
        _ table: Table<Key>, _ key: Key, _ body: (RawSpan) -> R
    ) throws(LMDBError) -> R? {
        try snapshot.get(table, key, body)
    }

    /// Calls `body` with each pair from `start` on, in order of key, until it answers false. The bytes must
    /// not be kept.
    package borrowing func scan<Key>(
        _ table: Table<Key>, from start: Key? = nil, _ body: (Key, RawSpan) -> Bool
    ) throws(LMDBError) {
        try snapshot.scan(table, from: start, body)
    }

    package borrowing func count<Key>(of table: Table<Key>) throws(LMDBError) -> Int {
        try snapshot.count(of: table)
    }

    /// What is wrong with the file's pages.
    borrowing func structureCheck(isWhole: Bool) -> StructureCheck {
        StructureCheck(snapshot, isWhole: isWhole)
    }
}

/// The one transaction that may write; aborted unless it is committed. It belongs to the thread that
/// began it (lmdb.h, mdb_txn_begin).
package struct WriteTransaction: ~Copyable {
    private let handle: OpaquePointer
    /// Every page that LMDB is about to read has been looked at. The environment's, which outlives its
    /// transactions; a counted reference could not be discarded.
    private let pages: Unmanaged<WriteGuard>

    init(_ handle: OpaquePointer, _ pages: WriteGuard) {
        self.handle = handle
        self.pages = Unmanaged.passUnretained(pages)
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
        var table = MDB_dbi()
        try check(mdb_dbi_open(handle, name, UInt32(MDB_CREATE), &table), .openTable, name)
        return Table(name: name, handle: table)
    }

    package borrowing func put<Key>(
        _ value: [UInt8], at key: Key, in table: Table<Key>
    ) throws(LMDBError) {
        try looking(.put, table, key) { pages, key throws(PageDamage) in
            try pages.requirePath(to: key, in: table.name)
        }
        try store(value, key, table, flags: 0)
    }

    /// Puts behind the last key. `.keyExists` if the key is not beyond it: the counter that gave it
    /// is broken (L1).
    package borrowing func append<Key>(
        _ value: [UInt8], at key: Key, to table: Table<Key>
    ) throws(LMDBError) {
        try looking(.put, table, key) { pages, _ throws(PageDamage) in
            try pages.requireEdge(of: table.name)
        }
        try store(value, key, table, flags: UInt32(MDB_APPEND))
    }

    /// Deletes the pair; false if there was none.
    package borrowing func delete<Key>(
        _ key: Key, from table: Table<Key>
    ) throws(LMDBError) -> Bool {
        try looking(.delete, table, key) { pages, key throws(PageDamage) in
            try pages.requireNeighbours(of: key, in: table.name)
        }
        let code = key.withKeyBytes { bytes in
            var key = MDB_val(reading: bytes)
            return mdb_del(handle, table.writable, &key, nil)
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
                return mdb_put(handle, table.writable, &key, &value, flags)
            }
        }
        try check(code, .put, table.name)
    }

    private borrowing func looking<Key>(
        _ operation: LMDBError.Operation, _ table: Table<Key>, _ key: Key,
        _ body: (WriteGuard, UnsafeRawBufferPointer) throws(PageDamage) -> Void
    ) throws(LMDBError) {
        let pages = pages.takeUnretainedValue()
        do throws(PageDamage) {
            try key.withKeyBytes { key throws(PageDamage) in try body(pages, key) }
        } catch {
            throw LMDBError(operation, table: table.name, error)
        }
    }
}

func check(
    _ code: Int32, _ operation: LMDBError.Operation, _ table: String?
) throws(LMDBError) {
    guard code == MDB_SUCCESS else { throw LMDBError(operation, table: table, code: code) }
}

extension LMDBError {
    init(_ operation: Operation, table: String? = nil, _ damage: PageDamage) {
        self.init(operation, table: table, .damagedPage(damage.page, damage.what))
    }
}

extension MDB_val {
    /// LMDB takes a mutable pointer and does not write through it (lmdb.h, mdb_put and mdb_get).
    fileprivate init(reading bytes: UnsafeRawBufferPointer) {
        self.init(
            mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }
}
