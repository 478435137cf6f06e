import CLMDB
import Synchronization

/// An LMDB environment: one log's file, opened by one process at a time for writing (L1, L8).
///
/// Reads may come from any thread, as scoped closures. Writes come from one thread, which owns the
/// transaction from begin to commit: LMDB's write lock belongs to the thread that took it (lmdb.h,
/// mdb_txn_begin). Flags are LMDB's defaults plus `MDB_NOTLS`, with `MDB_NOMETASYNC` for relaxed
/// durability; never `MDB_NOSYNC`, `MDB_WRITEMAP` or `MDB_MAPASYNC` (L2).
///
/// `@unchecked Sendable`: `handle` is an LMDB environment, which lmdb.h declares usable from several
/// threads; moving its map, opening it anew and closing it happen inside `gate.exclusively`, when no
/// transaction of this process is active. Everything else is immutable or guarded by the gate.
package final class Environment: @unchecked Sendable {
    private(set) var handle: OpaquePointer
    package let directory: String
    package let isReadOnly: Bool
    let gate = MapGate()
    private let options: Options
    private let claim: OpenDirectories.Key
    private let generation = ForkCount.generation
    private let held: Monitor<Held>
    private let sizes = Mutex(Sizes())
    let pages: Mutex<PageMap>
    /// Used inside a write transaction only, of which there is one at a time, on one thread.
    private let writeGuard: WriteGuard

    /// As the writer saw them last. LMDB's own figures lie in the map, which may be moving or gone.
    private struct Sizes {
        var map = 0
        var used = 0
        var writesSinceCheck = 0
    }

    private struct Held {
        var isOpen = true
        var lock: WriterLock?
        /// Of one that is read while nobody writes it.
        var share: SharedReadLock?
    }

    package struct Options: Sendable {
        /// `MDB_NOMETASYNC`: one flush a commit; a power cut may undo the last commit (L2).
        package var relaxed = false
        /// Where the map starts, in bytes; it grows by itself (L7).
        package var mapSizeBytes = 64 << 20
        package var tablesMax = 16
        /// The file that says that something was written here once: without it, a data file that holds
        /// nothing is one whose making was cut off; with it, it is damaged.
        package var evidenceName = "mark"
        /// How long growing waits for readers inside the map, in seconds.
        package var growthWaitMaxSeconds = 10

        package init() {}
    }

    init(
        handle: OpaquePointer, directory: String, isReadOnly: Bool, options: Options,
        claim: OpenDirectories.Key, lock: WriterLock?, share: SharedReadLock? = nil
    ) throws(LMDBError) {
        self.handle = handle
        self.directory = directory
        self.isReadOnly = isReadOnly
        self.options = options
        self.claim = claim
        self.held = Monitor(Held(lock: lock, share: share))
        do throws(LMDBError) {
            let map = try PageMap("\(directory)/data.mdb", bytesMin: options.mapSizeBytes)
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

    /// Gives LMDB's environment back; the directory stays claimed by whoever opens.
    func abandon() {
        held.withLock { $0.isOpen = false }
        mdb_env_close(handle)
    }

    /// Waits for reads that are going on, then closes; again: does nothing. In a forked child it does
    /// nothing at all, for the environment is the parent's.
    package func close() {
        guard generation == ForkCount.generation else { return }
        let wasOpen = held.withLock { held in
            defer { held.isOpen = false }
            return held.isOpen
        }
        guard wasOpen else { return }
        do {
            try gate.exclusively(closing: true, secondsMax: nil) { mdb_env_close(handle) }
        } catch {
            preconditionFailure("closing \(directory) from inside a read of it: \(error)")
        }
        held.withLock { held in
            held.lock = nil
            held.share = nil
        }
        OpenDirectories.release(claim)
    }

    // MARK: Writing

    /// Runs `body` in a write transaction and commits it. On a full map the map grows and `body` runs
    /// again from the start, so it must depend on nothing but its arguments (L7).
    ///
    /// - Parameter reserveBytes: about how much `body` adds; the map grows ahead of need by it.
    /// - Throws: what `body` throws, after which nothing is written; or an error of the commit, see
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
                try transaction.commit()
                noteSizes()
                return result
            } catch {
                guard error.cause == .mapFull else { throw classified(error) }
                freeDeadReaders()
                try resizeMap(to: mapSizeBytes * 2)
            }
        }
    }

    private func begunWriting() throws(LMDBError) -> WriteTransaction {
        let transaction = try begun(0, .beginWrite)
        do throws(LMDBError) {
            // Nobody else writes: the commit before is the newest.
            let last = UInt64(mdb_txn_id(transaction)) - 1
            guard let snapshot = try snapshot(of: last) else {
                throw Self.missing(last, .beginWrite)
            }
            writeGuard.begin(snapshot)
        } catch {
            mdb_txn_abort(transaction)
            throw error
        }
        return WriteTransaction(transaction, writeGuard)
    }

    /// Flushes what `.relaxed` commits may have left to the system (L2). Blocks.
    package func sync() throws(LMDBError) {
        try requireSameProcess(.sync)
        let code = mdb_env_sync(handle, 1)
        guard code == 0 else { throw classified(LMDBError(.sync, code: code)) }
    }

    // MARK: The map

    package var mapSizeBytes: Int { sizes.withLock { $0.map } }

    package var isRelaxed: Bool { options.relaxed }

    /// Bytes of the file that are in use or were, as of the last write; also there when it is closed.
    package var usedBytes: Int { sizes.withLock { $0.used } }

    /// Looked at while another process writes it, or has since it was opened.
    package var isBeingWritten: Bool { isReadOnly && share == nil }

    var share: SharedReadLock? { held.withLock { $0.share } }

    /// From now on with LMDB's lock file, for a process writes now: tables are read by their names, so nothing else
    /// changes.
    func followWriter() throws(LMDBError) {
        try gate.exclusively(secondsMax: nil) { () throws(LMDBError) in
            guard share != nil else { return }
            let writers = try Self.openedReadOnly(directory, isShared: false, options)
            mdb_env_close(handle)
            handle = writers
            held.withLock { $0.share = nil }
            noteSizes()
        }
    }

    /// How long the oldest read of this process has been going on, in nanoseconds; 0 with none (L8).
    package var oldestReadNanoseconds: UInt64 { gate.oldestReadNanoseconds }

    /// Only where the map cannot be moved: while opening, and on the writer's thread.
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

    /// Takes back the slots of processes that died while reading: pages freed since could never be used
    /// again (lmdb.h, caveats).
    func freeDeadReaders() {
        var dead: Int32 = 0
        if !isReadOnly { mdb_reader_check(handle, &dead) }
        sizes.withLock { $0.writesSinceCheck = 0 }
    }

    /// Before it is needed, and only if it costs no waiting: who needs it will wait.
    private func growAhead(of bytes: Int) {
        // Pages are copied on write and freed ones come back two commits later: twice the bytes.
        let need = usedBytes + 2 * bytes
        var larger = mapSizeBytes
        guard need > larger / 5 * 4 else { return }
        while need > larger / 5 * 4 { larger *= 2 }
        do { try resizeMap(to: larger, secondsMax: 0) } catch { return }
    }

    func resizeMap(to bytes: Int, secondsMax: Int? = nil) throws(LMDBError) {
        // LMDB gives the old map up before it asks for the new one, and has none if that fails.
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

    /// - Throws: `.closed`, `.usedAfterFork`.
    package func requireUsable() throws(LMDBError) {
        try requireSameProcess(.inspect)
        guard held.withLock({ held in held.isOpen }) else { throw LMDBError(.inspect, .closed) }
    }

    func requireSameProcess(_ operation: LMDBError.Operation) throws(LMDBError) {
        guard generation == ForkCount.generation else { throw LMDBError(operation, .usedAfterFork) }
    }

    func classified(_ error: LMDBError) -> LMDBError { error.classified(at: directory) }
}

extension LMDBError {
    /// The same error, with a full disk and a process's limit told apart (L6).
    func classified(at path: String) -> LMDBError {
        guard case .system(let code) = cause else { return self }
        if let limit = Platform.fileSizeLimit(errno: code, file: "\(path)/data.mdb") {
            return LMDBError(operation, table: table, .fileSizeLimit(bytes: limit))
        }
        guard let free = Platform.freeBytesIfFull(errno: code, at: path) else { return self }
        return LMDBError(operation, table: table, .diskFull(freeBytes: free))
    }
}
