import CLMDB
import Synchronization

/// An LMDB environment: one log's file, open for writing in one process at a time (L1, L8).
///
/// Any thread may read, through scoped closures. One thread writes, and owns the transaction from
/// begin to commit: LMDB's write lock belongs to the thread that took it (lmdb.h, mdb_txn_begin).
/// The flags are LMDB's defaults plus `MDB_NOTLS`, and `MDB_NOMETASYNC` for relaxed durability.
/// They never include `MDB_NOSYNC`, `MDB_WRITEMAP` or `MDB_MAPASYNC` (L2).
///
/// `@unchecked Sendable`: `handle` is an LMDB environment, which lmdb.h allows several threads to
/// use. Its map is moved, and it is reopened or closed, only inside `gate.exclusively`, when no
/// transaction of this process is active. All other state is immutable, protected by a lock, or
/// used only inside the one write transaction.
package final class Environment: @unchecked Sendable {
    private(set) var handle: OpaquePointer
    package let directory: String
    package let isReadOnly: Bool
    let gate = MapGate()
    let options: Options
    /// The directory and the data file, as claimed in ``OpenFiles``.
    private let claims: [FileStatus.Identity]
    let file: DataFile
    private let generation = ForkCount.generation
    /// Each command asks this, so it takes no lock.
    private let isOpen = Atomic(true)
    private let held: Monitor<Held>
    /// Keeps the directory open, so that no new directory gets its inode while this claims it.
    private let anchor: SharedReadLock?
    private let sizes = Mutex(Sizes())
    let pages: Mutex<PageMap>
    /// Used only on the thread that writes: inside a write transaction, and for the check before it.
    let writeGuard: WriteGuard

    /// Sizes in bytes, as of the last write. LMDB keeps its own figures in the map, which may be
    /// moving or unmapped.
    private struct Sizes {
        var map = 0
        var used = 0
        var writesSinceCheck = 0
    }

    private struct Held {
        var lock: WriterLock?
        /// Set in a read-only environment as long as no process writes the log.
        var share: SharedReadLock?
    }

    package struct Options: Sendable {
        /// Whether to set `MDB_NOMETASYNC`: one flush for each commit. A power cut may undo the
        /// last commit (L2).
        package var relaxed = false
        /// The initial size of the map in bytes. The map grows automatically (L7).
        package var mapSizeBytes = 64 << 20
        package var tablesMax = 16
        /// The name of the file that proves that the log was once written: the marker file.
        ///
        /// If it exists, a data file without content is damaged. If not, the creation of the data
        /// file was interrupted.
        package var evidenceName = "mark"
        /// The large tables whose pages are not checked on opening, but before the first change.
        ///
        /// Until then, a read of them can return a row's earlier value from an old page, or no row.
        /// So their readers must notice that, or wait for ``Environment/requireSoundStructure()``.
        package var tablesCheckedLater: Set<String> = []
        /// The longest time that growing waits for readers to end, in seconds.
        package var growthWaitMaxSeconds = 10

        package init() {}
    }

    init(
        handle: OpaquePointer, directory: String, file: DataFile, isReadOnly: Bool,
        options: Options, claims: [FileStatus.Identity], lock: WriterLock?,
        share: SharedReadLock? = nil, anchor: SharedReadLock? = nil
    ) throws(LMDBError) {
        self.anchor = anchor
        self.handle = handle
        self.directory = directory
        self.file = file
        self.isReadOnly = isReadOnly
        self.options = options
        self.claims = claims
        self.held = Monitor(Held(lock: lock, share: share))
        do throws(LMDBError) {
            let map = try PageMap(file, bytesMin: options.mapSizeBytes)
            guard let snapshot = try CommitSnapshot.newest(in: map) else {
                throw LMDBError(.openEnvironment, .corrupted)
            }
            pages = Mutex(map)
            writeGuard = WriteGuard(snapshot)
        } catch {
            mdb_env_close(handle)
            throw error
        }
        noteSizes()
    }

    deinit { close() }

    /// Closes LMDB's environment during a failed open. The opening call still holds the claim on
    /// the directory.
    func abandon() {
        isOpen.store(false, ordering: .releasing)
        mdb_env_close(handle)
    }

    /// Waits for active reads to end, then closes the environment.
    ///
    /// A second call does nothing. In a forked child this does nothing, because the environment
    /// belongs to the parent. Traps if the calling thread is inside a read of this environment.
    package func close() {
        guard generation == ForkCount.generation else { return }
        let wasOpen = isOpen.exchange(false, ordering: .acquiringAndReleasing)
        guard wasOpen else { return }
        do {
            try gate.exclusively(closing: true, secondsMax: nil) { mdb_env_close(handle) }
        } catch {
            preconditionFailure("cannot close \(directory): \(error)")
        }
        held.withLock { held in
            held.lock = nil
            held.share = nil
        }
        OpenFiles.release(claims)
    }

    // MARK: Writing

    /// Runs `body` in a write transaction and commits it.
    ///
    /// If the map is full, the map grows and `body` runs again from the start. So `body` must
    /// depend only on its arguments (L7). For one thread at a time; blocks.
    ///
    /// Before it writes and after it has committed, it checks that the file is still the file at
    /// its path, and that nobody else has written to it: two system calls. Before the first change,
    /// it checks the tables that opening did not check, unless ``requireSoundStructure()`` was called.
    ///
    /// - Parameter reserveBytes: about how many bytes `body` adds. The map grows in advance by this
    ///   much.
    /// - Throws: what `body` throws; then nothing is written. `.fileLost` or `.writtenByOthers`;
    ///   then no later write can succeed. Or an error of the commit: see
    ///   ``LMDBError/leavesOutcomeUnknown``.
    package func write<R>(
        reserveBytes: Int = 0,
        _ body: (borrowing WriteTransaction) throws(LMDBError) -> R
    ) throws(LMDBError) -> R {
        try requireUsable()
        try gate.requireOutside(for: .beginWrite)
        growAhead(of: reserveBytes)
        while true {
            do {
                let transaction = try begunWriting()
                let result = try body(transaction)
                let number = transaction.number
                try transaction.commit()
                try requireCommitted(number)
                noteSizes()
                return result
            } catch {
                guard error.cause == .mapFull else { throw classified(error) }
                freeDeadReaders()
                try resizeMap(to: mapSizeBytes * 2)
            }
        }
    }

    /// Checks that commit `number`, which LMDB has made, is in the file at the path.
    ///
    /// - Throws: an error of `.verifyCommit`, which always leaves the outcome unknown: the commit
    ///   is in some file.
    private func requireCommitted(_ number: UInt64) throws(LMDBError) {
        do throws(LMDBError) {
            try file.requirePresent(.verifyCommit)
            try writeGuard.committed(try snapshot(of: number))
        } catch {
            throw LMDBError(.verifyCommit, error.cause)
        }
    }

    private func begunWriting() throws(LMDBError) -> WriteTransaction {
        try file.requirePresent(.beginWrite)
        let transaction = try begun(0, .beginWrite)
        do throws(LMDBError) {
            // No other transaction writes now, so the previous commit is the newest.
            let last = UInt64(mdb_txn_id(transaction)) - 1
            try writeGuard.begin(try snapshot(of: last))
        } catch {
            mdb_txn_abort(transaction)
            throw error
        }
        return WriteTransaction(transaction, writeGuard)
    }

    /// Flushes data that `.relaxed` commits may not have flushed (L2). Blocks. For the writer's
    /// thread only.
    package func sync() throws(LMDBError) {
        try requireSameProcess(.sync)
        let code = mdb_env_sync(handle, 1)
        guard code == 0 else { throw classified(LMDBError(.sync, code: code)) }
        do throws(LMDBError) {
            try file.requirePresent(.verifyCommit)
            try writeGuard.requireOwn(CommitSnapshot.newest(in: pages.withLock { $0 }))
        } catch {
            throw LMDBError(.verifyCommit, error.cause)
        }
    }

    // MARK: The map

    /// The size of the map in bytes, as of the last write or growth.
    package var mapSizeBytes: Int { sizes.withLock { $0.map } }

    /// Whether commits leave the meta page unflushed (L2).
    package var isRelaxed: Bool { options.relaxed }

    /// Bytes of the file that are or were in use, as of the last write. Available after closing
    /// too.
    package var usedBytes: Int { sizes.withLock { $0.used } }

    /// Whether this is read-only, and a process has opened the log for writing now or since this
    /// was opened.
    package var isBeingWritten: Bool { isReadOnly && share == nil }

    var share: SharedReadLock? { held.withLock { $0.share } }

    /// Reopens LMDB's environment with its lock file, because another process now writes the log.
    ///
    /// Tables are read by name, so no table handle becomes invalid. Does nothing if the writer was killed while
    /// it opened the log.
    func followWriter() throws(LMDBError) {
        try gate.exclusively(secondsMax: nil) { () throws(LMDBError) in
            guard share != nil else { return }
            guard let writers = try Self.openedBesideWriter(file, directory, options) else {
                return
            }
            mdb_env_close(handle)
            handle = writers
            held.withLock { $0.share = nil }
            noteSizes()
        }
    }

    /// The age of this process's oldest active read, in nanoseconds; 0 if there is none (L8).
    package var oldestReadNanoseconds: UInt64 { gate.oldestReadNanoseconds }

    /// Reads LMDB's sizes. Call this only while the map cannot move: during opening, inside
    /// `gate.exclusively`, and on the writer's thread.
    private func noteSizes() {
        var info = MDB_envinfo()
        var stat = MDB_stat()
        mdb_env_info(handle, &info)
        mdb_env_stat(handle, &stat)
        let isDue = sizes.withLock { sizes in
            sizes.map = info.me_mapsize
            sizes.used = (info.me_last_pgno + 1) * Int(stat.ms_psize)
            sizes.writesSinceCheck += 1
            return sizes.writesSinceCheck >= Self.writesPerReaderCheck
        }
        if isDue { freeDeadReaders() }
    }

    private static let writesPerReaderCheck = 256

    /// Frees the slots of processes that died during a read. Such a slot keeps LMDB from reusing
    /// pages that were freed after that read began (lmdb.h, caveats).
    func freeDeadReaders() {
        var dead: Int32 = 0
        if !isReadOnly { mdb_reader_check(handle, &dead) }
        sizes.withLock { $0.writesSinceCheck = 0 }
    }

    /// Grows the map before it is full, if no reader is active.
    ///
    /// This never waits for readers. If it fails, the write that fills the map waits instead.
    private func growAhead(of bytes: Int) {
        // LMDB copies pages on write and reuses freed pages two commits later, so reserve twice the
        // bytes.
        let need = usedBytes + 2 * bytes
        var larger = mapSizeBytes
        guard need > larger / 5 * 4 else { return }
        while need > larger / 5 * 4 { larger *= 2 }
        do { try resizeMap(to: larger, secondsMax: 0) } catch { return }
    }

    func resizeMap(to bytes: Int, secondsMax: Int? = nil) throws(LMDBError) {
        // LMDB unmaps the old map before it maps the new one. If that fails, it has no map.
        guard bytes == 0 || Platform.hasAddressSpace(bytes: bytes) else {
            throw LMDBError(.growMap, .noAddressSpace(bytes: bytes))
        }
        let secondsMax = secondsMax ?? options.growthWaitMaxSeconds
        try gate.exclusively(secondsMax: secondsMax) { () throws(LMDBError) in
            let code = mdb_env_set_mapsize(handle, bytes)
            guard code == 0 else { throw LMDBError(.growMap, code: code) }
            noteSizes()
        }
    }

    // MARK: Errors

    /// Checks that the environment is open and belongs to this process.
    /// - Throws: `.closed`, `.usedAfterFork`.
    package func requireUsable() throws(LMDBError) {
        try requireSameProcess(.inspect)
        guard isOpen.load(ordering: .acquiring) else { throw LMDBError(.inspect, .closed) }
    }

    func requireSameProcess(_ operation: LMDBError.Operation) throws(LMDBError) {
        guard generation == ForkCount.generation else { throw LMDBError(operation, .usedAfterFork) }
    }

    func classified(_ error: LMDBError) -> LMDBError { error.classified(at: directory) }
}

extension LMDBError {
    /// Returns this error. A system error becomes `.fileSizeLimit` or `.diskFull` if that is its
    /// cause (L6).
    func classified(at path: String) -> LMDBError {
        guard case .system(let code) = cause else { return self }
        if let limit = Platform.fileSizeLimit(errno: code, file: "\(path)/data.mdb") {
            return LMDBError(operation, table: table, .fileSizeLimit(bytes: limit))
        }
        guard let free = Platform.freeBytesIfFull(errno: code, at: path) else { return self }
        return LMDBError(operation, table: table, .diskFull(freeBytes: free))
    }
}
