import CLMDB
import Synchronization

extension Environment {
    /// Runs `body` on a snapshot of the last commit. Nothing that `body` is given may leave it.
    ///
    /// Costs a reader slot while it runs, and pages that commits free meanwhile cannot be reused: keep
    /// it short. May block while the map is being moved.
    package func read<R>(
        _ body: (borrowing ReadTransaction) throws(LMDBError) -> R
    ) throws(LMDBError) -> R {
        let share = try entered()
        defer { share?.leave() }
        let (transaction, snapshot) = try begunReading()
        defer { gate.leave() }
        do throws(LMDBError) {
            // The transaction ends with this value, before its thread leaves the gate.
            return try body(ReadTransaction(transaction, snapshot))
        } catch {
            throw classified(error)
        }
    }

    /// A share of a log that nobody writes, to be left behind the read; nil where LMDB's lock file does.
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

    /// Begins a read that its caller ends, and leaves the gate behind.
    func begunReading() throws(LMDBError) -> (OpaquePointer, CommitSnapshot) {
        try requireSameProcess(.beginRead)
        while true {
            try gate.enter()
            do throws(LMDBError) { return try beginReading() } catch {
                gate.leave()
                guard error.cause == .mapResized else { throw classified(error) }
                try followGrowth()
            }
        }
    }

    /// Another process made the file larger than our map (lmdb.h, mdb_txn_begin).
    private func followGrowth() throws(LMDBError) {
        let file = try Platform.fileSize("\(directory)/data.mdb") ?? 0
        try resizeMap(to: max(mapSizeBytes, 2 * Int(file)))
    }

    /// A transaction, and the commit that it stands on.
    ///
    /// Where commits go by so fast that the snapshot's meta page was written over before it was looked
    /// at, the next one is taken. LMDB writes over it only behind a later commit, so the same one gone
    /// twice was never there.
    private func beginReading() throws(LMDBError) -> (OpaquePointer, CommitSnapshot) {
        var gone: UInt64?
        while true {
            let transaction = try begun(UInt32(MDB_RDONLY), .beginRead)
            let number = UInt64(mdb_txn_id(transaction))
            do throws(LMDBError) {
                if let snapshot = try self.snapshot(of: number) { return (transaction, snapshot) }
                guard gone != number else { throw Self.missing(number, .beginRead) }
                gone = number
            } catch {
                mdb_txn_abort(transaction)
                throw error
            }
            mdb_txn_abort(transaction)
        }
    }

    static func missing(
        _ commit: UInt64, _ operation: LMDBError.Operation
    ) -> LMDBError {
        LMDBError(operation, .damagedPage(commit % 2, "it does not name commit \(commit)"))
    }

    func begun(
        _ flags: UInt32, _ operation: LMDBError.Operation
    ) throws(LMDBError) -> OpaquePointer {
        var transaction: OpaquePointer?
        try check(mdb_txn_begin(handle, nil, flags, &transaction), operation, nil)
        guard let transaction else { throw LMDBError(operation, .unknown(0)) }
        return transaction
    }

    /// The commit of that number; nil where its meta page has been written over.
    func snapshot(of number: UInt64) throws(LMDBError) -> CommitSnapshot? {
        var map = self.pages.withLock { $0 }
        guard let snapshot = try CommitSnapshot(of: number, in: map) else { return nil }
        // Damaged while the file is open, it could name any page.
        let pages = min(snapshot.meta.lastPage, UInt64(Int.max / snapshot.pageSize - 1))
        let end = (Int(pages) + 1) * snapshot.pageSize
        guard !map.reaches(end) else { return snapshot }
        map = try PageMap("\(directory)/data.mdb", bytesMin: end)
        self.pages.withLock { $0 = map }
        return CommitSnapshot(map: map, pageSize: snapshot.pageSize, meta: snapshot.meta)
    }

    // MARK: Damage

    /// Before anything is written: pages that are said to be free are in no use.
    func requireSoundStructure() throws(LMDBError) {
        let findings = try read { $0.structureCheck(isWhole: false).findings }
        if let first = findings.first { throw LMDBError(.openEnvironment, first) }
    }

    /// What is wrong with the file's pages; at most 100 findings.
    ///
    /// - Complexity: O(n) in pages.
    package func damagedPages() throws(LMDBError) -> [(page: UInt64, what: String)] {
        let check = try read { $0.structureCheck(isWhole: true) }
        return (check.findings + check.blemishes).map { ($0.page, $0.what) }
    }
}
