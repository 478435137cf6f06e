import CLMDB

/// A snapshot of the last commit. It ends when this value goes out of scope.
///
/// LMDB's transaction keeps LMDB from reusing the snapshot's pages. ``TreePath`` reads the pages
/// and checks each number in them (Page.swift).
package struct ReadTransaction: ~Copyable {
    private let handle: OpaquePointer
    /// The commit that is read; it must not be kept longer than the transaction.
    package let snapshot: CommitSnapshot

    init(_ handle: OpaquePointer, _ snapshot: CommitSnapshot) {
        self.handle = handle
        self.snapshot = snapshot
    }

    deinit { mdb_txn_abort(handle) }

    /// Returns whether the environment has no tables.
    package borrowing func isEmptyEnvironment() -> Bool { snapshot.main.root == nil }

    /// Returns the table for reading; nil if no table of that name exists yet.
    package borrowing func table<Key>(
        _ name: String, of: Key.Type = Key.self
    ) throws(LMDBError) -> Table<Key>? {
        try snapshot.tree(name, .openTable).map { _ in Table(name: name, handle: nil) }
    }

    /// Calls `body` with the value's bytes and returns its result; nil if the key is not in the
    /// table. `body` must not keep the bytes.
    package borrowing func get<Key, R>(
        _ table: Table<Key>, _ key: Key, _ body: (RawSpan) -> R
    ) throws(LMDBError) -> R? {
        try snapshot.get(table, key, body)
    }

    /// Calls `body` with each pair from `start` on, in order of key, until `body` returns false.
    /// `body` must not keep the bytes.
    package borrowing func scan<Key>(
        _ table: Table<Key>, from start: Key? = nil, _ body: (Key, RawSpan) -> Bool
    ) throws(LMDBError) {
        try snapshot.scan(table, from: start, body)
    }

    /// Returns the number of pairs in the table, as LMDB counts them.
    package borrowing func count<Key>(of table: Table<Key>) throws(LMDBError) -> Int {
        try snapshot.count(of: table)
    }

    /// Checks the file's pages. The result lists the damage.
    borrowing func structureCheck(_ scope: StructureCheck.Scope) -> StructureCheck {
        StructureCheck(snapshot, scope)
    }
}

/// The only transaction that may write. It is aborted unless it is committed.
///
/// It belongs to the thread that began it (lmdb.h, mdb_txn_begin). Before LMDB reads a page for a
/// change, ``WriteGuard`` has checked the page.
package struct WriteTransaction: ~Copyable {
    private let handle: OpaquePointer
    /// Unowned, because a struct with a counted reference could not be discarded in ``commit()``.
    /// The environment owns the guard and outlives its transactions.
    private let pages: Unmanaged<WriteGuard>

    init(_ handle: OpaquePointer, _ pages: WriteGuard) {
        self.handle = handle
        self.pages = Unmanaged.passUnretained(pages)
    }

    deinit { mdb_txn_abort(handle) }

    /// The number of the commit that this transaction makes, if it changes anything.
    var number: UInt64 { UInt64(mdb_txn_id(handle)) }

    /// Commits the transaction. Its changes are visible on return, and durable as the environment's
    /// flags say.
    ///
    /// A failed commit ends the transaction too. LMDB has freed it then (mdb.c 0.9.24,
    /// mdb_txn_commit), so it is not aborted again.
    /// - Throws: the error of the commit; see ``LMDBError/leavesOutcomeUnknown``.
    package consuming func commit() throws(LMDBError) {
        let handle = self.handle
        discard self
        try check(mdb_txn_commit(handle), .commit, nil)
    }

    /// Returns the table for writing, and creates it if it does not exist.
    package borrowing func table<Key>(
        _ name: String, of: Key.Type = Key.self
    ) throws(LMDBError) -> Table<Key> {
        // LMDB reads the list of tables, which opening has checked.
        if try !isListed(name) { try requireSoundStructure() }
        var table = MDB_dbi()
        try check(mdb_dbi_open(handle, name, UInt32(MDB_CREATE), &table), .openTable, name)
        return Table(name: name, handle: table)
    }

    /// Puts a pair, and replaces the value if the key exists.
    package borrowing func put<Key>(
        _ value: [UInt8], at key: Key, in table: Table<Key>
    ) throws(LMDBError) {
        try checkingPages(.put, table, key) { pages, key throws(PageDamage) in
            try pages.requirePath(to: key, in: table.name)
        }
        let code = key.withKeyBytes { bytes in
            value.withUnsafeBytes { value in
                var key = MDB_val(reading: bytes)
                var value = MDB_val(reading: value)
                return mdb_put(handle, table.writable, &key, &value, 0)
            }
        }
        try check(code, .put, table.name)
        pages.takeUnretainedValue().noteChange()
    }

    /// Puts a pair after the last key of a table whose keys are numbers.
    ///
    /// - Throws: `.keyExists` if `number` is not after the last key. Then the caller's counter is
    ///   wrong (L1).
    package borrowing func append<Key>(
        _ value: UnsafeRawBufferPointer, at number: UInt64, to table: Table<Key>
    ) throws(LMDBError) {
        try requireSoundStructure()
        let pages = pages.takeUnretainedValue()
        do throws(PageDamage) { try pages.requireEdge(of: table.name) } catch {
            throw LMDBError(.put, table: table.name, error)
        }
        let code = withUnsafeBytes(of: number.bigEndian) { key in
            var key = MDB_val(reading: key)
            var value = MDB_val(reading: value)
            return mdb_put(handle, table.writable, &key, &value, UInt32(MDB_APPEND))
        }
        try check(code, .put, table.name)
        pages.noteChange()
    }

    /// Deletes the pair at `key` and returns true; returns false if there was none.
    package borrowing func delete<Key>(
        _ key: Key, from table: Table<Key>
    ) throws(LMDBError) -> Bool {
        try checkingPages(.delete, table, key) { pages, key throws(PageDamage) in
            try pages.requireNeighbors(of: key, in: table.name)
        }
        let code = key.withKeyBytes { bytes in
            var key = MDB_val(reading: bytes)
            return mdb_del(handle, table.writable, &key, nil)
        }
        if code == MDB_NOTFOUND { return false }
        try check(code, .delete, table.name)
        pages.takeUnretainedValue().noteChange()
        return true
    }

    private borrowing func isListed(_ table: String) throws(LMDBError) -> Bool {
        do throws(PageDamage) {
            return try pages.takeUnretainedValue().isListed(table)
        } catch {
            throw LMDBError(.openTable, table: table, error)
        }
    }

    /// Checks all pages before the first change, because LMDB overwrites pages that are listed as
    /// free.
    private borrowing func requireSoundStructure() throws(LMDBError) {
        do throws(PageDamage) {
            try pages.takeUnretainedValue().requireSoundStructure()
        } catch {
            throw LMDBError(.checkPages, error)
        }
    }

    private borrowing func checkingPages<Key>(
        _ operation: LMDBError.Operation, _ table: Table<Key>, _ key: Key,
        _ body: (WriteGuard, UnsafeRawBufferPointer) throws(PageDamage) -> Void
    ) throws(LMDBError) {
        try requireSoundStructure()  // mutant: page-check
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
    /// A value for LMDB to read. LMDB takes a mutable pointer but does not write through it
    /// (lmdb.h, mdb_put and mdb_get).
    fileprivate init(reading bytes: UnsafeRawBufferPointer) {
        self.init(
            mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }
}
