import CLMDB
import Synchronization

extension Environment {
    /// Runs `body` on a snapshot of the last commit.
    ///
    /// `body` must not keep the transaction or any bytes of it. Keep it short: while it runs, it
    /// takes a reader slot, and LMDB cannot reuse the pages that later commits free. May be called
    /// from any thread; blocks while the map is being moved.
    /// - Throws: what `body` throws; `.usedAfterFork`, `.closed`, `.damagedPage`, or another error
    ///   of beginning a read.
    package func read<R>(
        _ body: (borrowing ReadTransaction) throws(LMDBError) -> R
    ) throws(LMDBError) -> R {
        let share = try entered()
        defer { share?.leave() }
        let (transaction, snapshot) = try begunReading()
        defer { gate.leave() }
        do throws(LMDBError) {
            // The transaction ends with this value, before the thread leaves the gate.
            return try body(ReadTransaction(transaction, snapshot))
        } catch {
            throw classified(error)
        }
    }

    /// Returns whether a process has the environment in `directory` open for writing, and which
    /// process. Creates and changes nothing.
    package static func writer(in directory: String) -> (isThere: Bool, process: Int32?) {
        WriterLock.presentHolder(in: directory)
    }

    /// Returns a share of a log without a writer, which the caller leaves after the read. Returns
    /// nil if LMDB's lock file protects the read.
    private func entered() throws(LMDBError) -> SharedReadLock? {
        guard isReadOnly else { return nil }
        while let share {
            do throws(LMDBError) {
                if try share.enter() { return share }
                try followWriter()
            } catch {
                throw classified(error)
            }
        }
        return nil
    }

    /// Enters the gate and begins a read. The caller ends the transaction, and leaves the gate
    /// after that.
    func begunReading() throws(LMDBError) -> (OpaquePointer, CommitSnapshot) {
        try requireSameProcess(.beginRead)
        while true {
            try gate.enter()
            do throws(LMDBError) {
                // LMDB reads its map, which may end before the file does.
                try isReadOnly ? file.requirePresent(.beginRead) : file.requireWhole(.beginRead)
                return try beginReading()
            } catch {
                gate.leave()
                guard error.cause == .mapResized else { throw classified(error) }
                try followGrowth()
            }
        }
    }

    /// Enlarges the map after another process made the file larger than the map (lmdb.h,
    /// mdb_txn_begin).
    private func followGrowth() throws(LMDBError) {
        try resizeMap(to: max(mapSizeBytes, 2 * FileStatus(of: file.descriptor).bytes))
    }

    /// Begins a transaction, and returns it with the commit that it reads.
    ///
    /// Other commits may overwrite that commit's meta page before this reads it. Then this begins a
    /// new transaction, on a later commit. LMDB overwrites a meta page only after a later commit.
    /// So if the same commit is missing twice, the file is damaged, or another program wrote to it.
    private func beginReading() throws(LMDBError) -> (OpaquePointer, CommitSnapshot) {
        var lastMissing: UInt64?
        while true {
            let transaction = try begun(UInt32(MDB_RDONLY), .beginRead)
            let number = UInt64(mdb_txn_id(transaction))
            do throws(LMDBError) {
                if let snapshot = try self.snapshot(of: number) { return (transaction, snapshot) }
                guard lastMissing != number else { throw missing(number) }
                lastMissing = number
            } catch {
                mdb_txn_abort(transaction)
                throw error
            }
            mdb_txn_abort(transaction)
        }
    }

    /// The error for a commit that the file lacks. Only a writer knows that it was there.
    private func missing(_ commit: UInt64) -> LMDBError {
        guard isReadOnly else { return LMDBError(.beginRead, .writtenByOthers) }
        return LMDBError(.beginRead, .damagedPage(commit % 2, "it does not name commit \(commit)"))
    }

    func begun(
        _ flags: UInt32, _ operation: LMDBError.Operation
    ) throws(LMDBError) -> OpaquePointer {
        var transaction: OpaquePointer?
        try check(mdb_txn_begin(handle, nil, flags, &transaction), operation, nil)
        guard let transaction else { throw LMDBError(operation, .unknown(0)) }
        return transaction
    }

    /// Returns commit `number`; nil if its meta page has been overwritten.
    func snapshot(of number: UInt64) throws(LMDBError) -> CommitSnapshot? {
        var map = self.pages.withLock { $0 }
        guard let snapshot = try CommitSnapshot(of: number, in: map) else { return nil }
        // If the page was damaged while the file is open, the last page can be any number.
        let pages = min(snapshot.meta.lastPage, UInt64(Int.max / snapshot.pageSize - 1))
        let end = (Int(pages) + 1) * snapshot.pageSize
        guard !map.reaches(end) else { return snapshot }
        map = try PageMap(file, bytesMin: end)
        self.pages.withLock { $0 = map }
        return CommitSnapshot(map: map, pageSize: snapshot.pageSize, meta: snapshot.meta)
    }

    // MARK: Damage

    /// Checks the tables that opening did not check, so that LMDB can write to the file: no free page
    /// is in use (``StructureCheck``).
    ///
    /// Checks once. A second call, and each write, have the result of the first. For the thread that
    /// writes.
    /// - Throws: an error of `.checkPages` with `.damagedPage`; then no write can succeed. An error
    ///   of beginning a read; then nothing was checked.
    /// - Complexity: O(n) in branch pages and free pages.
    package func requireSoundStructure() throws(LMDBError) {
        try read { transaction throws(LMDBError) in
            do throws(PageDamage) {
                try writeGuard.requireSoundStructure(of: transaction.snapshot)
            } catch {
                throw LMDBError(.checkPages, error)
            }
        }
    }

    /// Checks the pages that opening does not leave for later (``Options/tablesCheckedLater``).
    /// - Throws: `.damagedPage`.
    func requireSoundOutline() throws(LMDBError) {
        let skipped = options.tablesCheckedLater
        guard !skipped.isEmpty else {
            do throws(LMDBError) { return try requireSoundStructure() } catch {
                throw LMDBError(.openEnvironment, error.cause)
            }
        }
        let findings = try read { $0.structureCheck(.tables(except: skipped)).findings }
        if let first = findings.first { throw LMDBError(.openEnvironment, first) }
    }

    /// Returns the damaged pages of the file: at most 100 that forbid writing, and at most 100
    /// harmless ones.
    ///
    /// - Complexity: O(n) in pages.
    package func damagedPages() throws(LMDBError) -> [(page: UInt64, what: String)] {
        let check = try read { $0.structureCheck(.everything) }
        return (check.findings + check.blemishes).map { ($0.page, $0.what) }
    }
}
