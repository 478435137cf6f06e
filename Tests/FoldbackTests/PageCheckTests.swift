import Foldback
import FoldbackHistory
import FoldbackLMDB
import Foundation
import TestSupport
import Testing

/// Failure: opening a log of 10,000,000 entries took 16 ms, because it checked all pages.
///
/// Property: a store that reads no rows checks large tables after opening. If the check finds damage,
/// reads are right or throw, each command is the error that opening would have thrown, and no byte of
/// the file changes (L5, L6).
@Suite struct PageCheckTests {
    private let directory = TemporaryDirectory()
    private var dataFile: URL { directory.log.appending(path: "data.mdb") }

    /// Makes a log with enough entries for two levels of pages, and one rejected intent.
    private func makeLog(_ keeper: BoardKeeper = .memory) async throws {
        let store = try await keeper.open(at: directory.log, replica: "me")
        let info = ["text": String(repeating: "x", count: 200)]
        for number in 1...60 { _ = try await store.record(.set("a", number), info: info) }
        try await store.reject(60)
        await store.close()
    }

    /// Makes a log whose list of free pages names a leaf of its entries, and returns its bytes.
    private func makeDamagedLog(_ keeper: BoardKeeper) async throws -> Data {
        try await makeLog(keeper)
        var pages = try DamagedPages(of: dataFile)
        try pages.listLeafAsFree(of: "entries")
        return try Data(contentsOf: dataFile)
    }

    private func isPageDamage(_ error: (any Error)?) -> Bool {
        guard
            case .damaged(directory.log.path, sequence: nil, let reason)? = Self.logError(error)
        else { return false }
        return reason.contains("is free, and used or free elsewhere")
    }

    // MARK: Damage that only the check sees

    @Test func `L5: a store on damaged free pages reads, and refuses each command without a write`()
        async throws
    {
        let before = try await makeDamagedLog(.memory)
        let store = try await BoardKeeper.memory.open(at: directory.log)
        #expect(try store.cells == ["a": 59])
        for _ in 1...2 {
            let refused = await error { () throws(CommandError) in
                try await store.record(.set("d", 1))
            }
            #expect(isPageDamage(refused), "\(String(describing: refused))")
        }
        let checkpoint = await error { () throws(LogError) in try await store.checkpoint() }
        #expect(isPageDamage(checkpoint))
        #expect(isPageDamage(store.core.published.syncObstacle))
        #expect(try store.cells == ["a": 59])
        #expect(try store.entries(from: 1, countMax: 100).count == 61)
        #expect(try store.intent(7).state == .pending)
        // The settlement can be from an old page.
        #expect(isPageDamage(await error { () throws(LogError) in try store.intent(60) }))
        #expect(try await store.seen(at: 3).view.cells == ["a": 3])
        #expect(try await !store.verify().findings.isEmpty)
        await store.close()
        #expect(try Data(contentsOf: dataFile) == before)
    }

    @Test func `L5: opening throws before it reads rows of a log with damaged free pages`()
        async throws
    {
        let before = try await makeDamagedLog(.rows)
        let refused = await error { () throws(LogError) in
            try await BoardKeeper.rows.open(at: directory.log)
        }
        #expect(isPageDamage(refused), "\(String(describing: refused))")
        let kept = await error { () throws(LogError) in
            try await LogDirectory(at: directory.log).discardRows()
        }
        #expect(isPageDamage(kept), "\(String(describing: kept))")
        #expect(try Data(contentsOf: dataFile) == before)
    }

    @Test func `L5: opening throws before it writes to a log with damaged free pages`()
        async throws
    {
        let before = try await makeDamagedLog(.memory)
        // Another projection is registered.
        let registering = await error { () throws(LogError) in
            try await Store.open(
                at: directory.log, Board.self, also: [AdditionalProjection(MoveCount.self)],
                confirmedBy: .downlink, durability: .durable)
        }
        #expect(isPageDamage(registering), "\(String(describing: registering))")
        #expect(try Data(contentsOf: dataFile) == before)
        // A copy gets a fresh replica id.
        try before.write(to: dataFile, options: .atomic)
        let copied = await error { () throws(LogError) in
            try await BoardKeeper.memory.open(at: directory.log)
        }
        #expect(isPageDamage(copied), "\(String(describing: copied))")
        #expect(try Data(contentsOf: dataFile) == before)
    }

    @Test func `a log with damaged free pages can be wiped`() async throws {
        _ = try await makeDamagedLog(.memory)
        let store = try await BoardKeeper.memory.open(at: directory.log)
        await store.close()
        try await Store<Board>.wipe(at: directory.log, discardingPending: true)
        #expect(!FileManager.default.fileExists(atPath: directory.log.path))
    }

    // MARK: While the check runs

    @Test func `a command waits for the check, and a read does not`() async throws {
        let gate = CheckGate()
        try await makeLog()
        let store = try await heldStore(gate)
        await gate.waitUntilHeld()
        let queued = try await store.enqueue(.set("d", 1))
        #expect(store.view.cells == ["a": 59])
        gate.release()
        _ = try await queued.receipt()
        #expect(store.view.cells["d"] == 1)
        await store.close()
    }

    @Test func `commands that wait for the check are carried out in their order`() async throws {
        let gate = CheckGate()
        try await makeLog()
        let store = try await heldStore(gate)
        await gate.waitUntilHeld()
        let first = try await store.enqueue(.set("d", 1))
        let second = try await store.enqueue(.set("d", 2))
        #expect(store.status.sequence == 61)
        gate.release()
        #expect(try await [first.receipt().number, second.receipt().number] == [61, 62])
        #expect(store.view.cells["d"] == 2)
        await store.close()
    }

    @Test func `L5: commands that wait for the check are refused if it finds damage`()
        async throws
    {
        let gate = CheckGate()
        let before = try await makeDamagedLog(.memory)
        let store = try await heldStore(gate)
        await gate.waitUntilHeld()
        let queued = [try await store.enqueue(.set("d", 1)), try await store.enqueue(.set("d", 2))]
        let attempt = Attempt(count: 1, startedAt: Timestamp(millisecondsSince1970: 10))
        async let attempted = error { () throws(LogError) in
            try await store.recordAttempts([1: attempt], flushes: true)
        }
        gate.release()
        for command in queued {
            let refused = await error { () throws(CommandError) in try await command.receipt() }
            #expect(isPageDamage(refused), "\(String(describing: refused))")
        }
        #expect(isPageDamage(await attempted))
        #expect(store.attempts.isEmpty)
        await store.close()
        #expect(try Data(contentsOf: dataFile) == before)
    }

    @Test func `while the check runs, the store can be read and verified`() async throws {
        let gate = CheckGate()
        try await makeLog()
        let store = try await heldStore(gate)
        await gate.waitUntilHeld()
        #expect(try store.entries(from: 1, countMax: 100).count == 61)
        #expect(try await store.seen(at: 3).view.cells == ["a": 3])
        #expect(try await store.verify().isSound)
        gate.release()
        await store.close()
    }

    @Test func `a reader of damaged free pages reads and reports, and takes part in no check`()
        async throws
    {
        let before = try await makeDamagedLog(.memory)
        let reader = try LogReader(at: directory.log)
        #expect(try reader.entries(from: 1, countMax: 100).count == 61)
        #expect(try !reader.verify(Board.self).findings.isEmpty)
        reader.close()
        #expect(try Data(contentsOf: dataFile) == before)
    }

    @Test func `a read of a settlement waits for the check, and a receipt does not`()
        async throws
    {
        let gate = CheckGate()
        _ = try await makeDamagedLog(.memory)
        let store = try await heldStore(gate)
        await gate.waitUntilHeld()
        #expect(try store.receipt(for: 60).number == 60)
        #expect(try store.rejectedIntent(60, at: 61).recorded.number == 60)
        async let refused = Platform.onThread { () -> LogError? in
            do throws(LogError) {
                _ = try store.intent(60)
                return nil
            } catch {
                return error
            }
        }
        #expect(try store.intent(7).state == .pending)
        gate.release()
        #expect(isPageDamage(await refused))
        await store.close()
    }

    // MARK: A check that cannot read the file

    private func isFailedCheck(_ error: (any Error)?) -> Bool {
        guard case .storage(CheckGate.failure)? = Self.logError(error) else { return false }
        return true
    }

    /// The log's own error, which a read throws and a command has.
    private static func logError(_ error: (any Error)?) -> LogError? {
        if case CommandError.log(let error)? = error { error } else { error as? LogError }
    }

    /// A check that failed for the moment was final for readers, and commands were decided on
    /// unchecked pages.
    @Test func `L5: a check that cannot read the file is tried again before the next command`()
        async throws
    {
        let gate = CheckGate(failures: 2)
        try await makeLog()
        let store = try await heldStore(gate)
        gate.release()
        let refused = await error { () throws(CommandError) in
            try await store.record(.set("d", 1))
        }
        #expect(isFailedCheck(refused), "\(String(describing: refused))")
        #expect(store.view.cells == ["a": 59] && store.status.sequence == 61)
        _ = try await store.record(.set("d", 2))
        #expect(store.view.cells["d"] == 2)
        #expect(try store.intent(60).state == .rejected)
        await store.close()
    }

    @Test func `L5: damage that only the second check finds refuses each command`() async throws {
        let gate = CheckGate(failures: 1)
        let before = try await makeDamagedLog(.memory)
        let store = try await heldStore(gate)
        gate.release()
        let unread = await error { () throws(LogError) in try store.intent(60) }
        #expect(isFailedCheck(unread), "\(String(describing: unread))")
        for _ in 1...2 {
            let refused = await error { () throws(CommandError) in
                try await store.record(.set("d", 1))
            }
            #expect(isPageDamage(refused), "\(String(describing: refused))")
        }
        #expect(isPageDamage(await error { () throws(LogError) in try store.intent(60) }))
        await store.close()
        #expect(try Data(contentsOf: dataFile) == before)
    }

    @Test func `L8: while the check runs, the log cannot be opened or wiped`() async throws {
        let gate = CheckGate()
        try await makeLog()
        let store = try await heldStore(gate)
        await gate.waitUntilHeld()
        let second = await error { () throws(LogError) in
            try await BoardKeeper.memory.open(at: directory.log)
        }
        let wiped = await error { () throws(LogError) in
            try await Store<Board>.wipe(at: directory.log, discardingPending: true)
        }
        for refused in [second, wiped] {
            guard case .locked(_, holder: .thisProcess)? = refused else {
                Issue.record("\(String(describing: refused))")
                return
            }
        }
        gate.release()
        await store.close()
        await (try BoardKeeper.memory.open(at: directory.log)).close()
        try await Store<Board>.wipe(at: directory.log, discardingPending: true)
    }

    @Test func `a store that is closed while the check runs closes its log after it`()
        async throws
    {
        let gate = CheckGate()
        weak var freed: LMDBLog?
        do {
            try await makeLog()
            let store = try await heldStore(gate)
            freed = (store.core.storage as? HeldCheckLog)?.log
            await gate.waitUntilHeld()
            async let end: Void = store.close()
            // A flush waits in the queue until the queue is closed, and writes nothing.
            while await isQueued(.sync, in: store) {}
            #expect(throws: Never.self) { try freed?.requireUsable() }
            gate.release()
            await end
        }
        await expectFreed { freed }
    }

    @Test func `a store that is released while the check runs closes its log after it`()
        async throws
    {
        let gate = CheckGate()
        weak var freed: LMDBLog?
        do {
            try await makeLog()
            let store = try await heldStore(gate)
            freed = (store.core.storage as? HeldCheckLog)?.log
            await gate.waitUntilHeld()
        }
        #expect(freed != nil)
        gate.release()
        await expectFreed { freed }
    }

    private nonisolated(nonsending) func isQueued(
        _ work: Request.Work, in store: Store<Board>
    ) async -> Bool {
        do throws(CommandError) {
            _ = try await store.core.runner.submit(work, bytes: 0)
            return true
        } catch {
            return false
        }
    }

    /// Waits until the log is freed, and opens it again. The writer's thread keeps the log until the
    /// thread ends.
    private func expectFreed(_ log: () -> LMDBLog?) async {
        for _ in 0..<100_000 where log() != nil { await Task.yield() }
        #expect(log() == nil)
        let again = await error { () throws(LogError) in
            await (try BoardKeeper.memory.open(at: directory.log)).close()
        }
        #expect(again == nil)
    }

    /// Opens a store on the log. Its check ends when the gate is released.
    private func heldStore(_ gate: CheckGate) async throws -> Store<Board> {
        let path = directory.log.path
        var options = Environment.Options()
        options.tablesCheckedLater = LogTable.checkedAfterOpening
        let core = try await StoreCore.open(
            codec: AppCodec(codec: Board.codec), projections: ProjectionSet(Board.self),
            clock: LogSources.counting().now, policy: .manual
        ) { [options] () throws(LogError) in
            HeldCheckLog(
                try LMDBLog.open(
                    path, kind: nil, newKind: .downlink, replica: .random, options: options,
                    freshReplica: LogSources.system.freshReplica), gate)
        }
        return Store(core: core)
    }
}

/// A second value on the events of ``Board``.
private struct MoveCount: Projection, Equatable {
    private var count = 0

    init() {}

    static var codec: any EventCodec<Move> { Board.codec }

    mutating func apply(_ move: Move, _ context: EventContext) { count += 1 }
}

/// Holds the check of a log's pages, and lets the first checks fail.
private final class CheckGate: Sendable {
    static let failure = StorageFailure(
        path: "log", reason: .tooManyReaders, detail: "all slots are taken",
        leavesOutcomeUnknown: false)

    private struct State {
        var isHeld = false
        var isReleased = false
        var failures: Int
    }

    private let state: Monitor<State>

    /// - Parameter failures: the number of checks that cannot read the file.
    init(failures: Int = 0) { state = Monitor(State(failures: failures)) }

    func pass() throws(StorageFailure) {
        state.withLock { $0.isHeld = true }
        _ = state.wait { $0.isReleased ? () : nil }
        let fails = state.withLock { state in
            state.failures -= 1
            return state.failures >= 0
        }
        if fails { throw Self.failure }
    }

    /// Waits without blocking a thread of Swift's pool.
    func waitUntilHeld() async {
        while !state.withLock({ $0.isHeld }) { await Task.yield() }
    }

    func release() {
        state.withLock { $0.isReleased = true }
        state.wakeAll()
    }
}

/// A log on disk whose check of pages waits for a gate.
private final class HeldCheckLog: ForwardingLog {
    let log: LMDBLog
    private let gate: CheckGate

    init(_ log: LMDBLog, _ gate: CheckGate) {
        self.log = log
        self.gate = gate
    }

    func requireSoundPages() throws(StorageFailure) {
        try gate.pass()
        try log.requireSoundPages()
    }
}
