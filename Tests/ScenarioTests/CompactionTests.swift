import Foldback
import FoldbackHistory
import FoldbackTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Question: does a log go on after a compaction as if it had all of its entries (C1 to C9)?
@Suite struct CompactionTests {
    private let directory = TemporaryDirectory()

    /// The property: a log that is compacted at random shows after each command, and at each entry that it
    /// has, the same as a reference that never compacts. Only reads before the base differ: they throw.
    @Test(arguments: LogKind.allCases)
    func `C2, C3, C7: a compacted log shows the same as the reference model`(kind: LogKind)
        async throws
    {
        let first = testSeed("compaction, \(kind)", variable: "COMPACTION_SEED")
        var (compactions, lost) = (0, 0)
        // Of this seed, a later redo belongs to a group that was removed.
        let found: [UInt64] = [8_600_464_348_382_720_523]
        for seed in found + (first..<first + TestEffort.value(quick: 12, full: 600)) {
            var run = CompactedRun(kind, seed: seed)
            let failure =
                switch seed % 3 {
                case 0: try await run.failure(Board.self, rows: [])
                case 1:
                    try await run.failure(
                        Board.self, rows: [AdditionalProjection(RowBoard.self)])
                default: try await run.failure(RowBoard.self, rows: [])
                }
            try #require(failure == nil, "seed \(seed): \(failure ?? "")")
            compactions += run.compactionCount
            lost += run.lostCount
        }
        print("\(compactions) compactions of \(kind) logs; \(lost) commands needed what is gone")
        #expect(compactions > 0)
    }

    // MARK: Examples

    private func open(
        _ kind: LogKind = .downlink, sources: LogSources = .counting()
    ) async throws(LogError) -> Store<Board> {
        try await Store.open(
            at: directory.log, Board.self, confirmedBy: kind, durability: .relaxed,
            checkpoints: .eager, replica: .exactly(ReplicaID("me")!), sources: sources)
    }

    private func compact(
        keeping window: HistoryWindow, archive: URL? = nil, forgetting names: Set<String> = [],
        sources: LogSources = .counting()
    ) async throws(LogError) -> Compaction {
        try await Store.compact(
            at: directory.log, Board.self, keeping: window, archive: archive, forgetting: names,
            sources: sources)
    }

    /// A log of 100 confirmed events, with intent 1 pending and intent 2 rejected.
    private func makeLog() async throws {
        let store = try await open()
        try await store.record(.set("mine", 1))
        try await store.record(.set("refused", 1))
        try await store.reject(2, message: "no")
        for position in 1...97 {
            let event = ConfirmedEvent(
                position: Position(UInt64(position)), event: Move.set("a", position))
            try await store.confirm([event], through: event.position)
        }
        await store.close()
    }

    @Test func `C1, C4, C8: what is left of a compacted log, and what says that it is gone`()
        async throws
    {
        try await makeLog()
        let done = try await compact(keeping: .entries(10))
        #expect(done.base == 90 && done.removed == 90 && done.held == [])
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == ["log"])
        let store = try await open()
        let status = store.status
        #expect(status.base == 90 && status.sequence == 100 && status.entryCount == 10)
        #expect(store.view.cells == ["a": 97, "mine": 1])
        #expect(store.rejections == [2])
        #expect(try store.intent(2).rejection?.message == "no")
        #expect(try store.entries(from: 91, countMax: 100).count == 10)
        #expect(try await store.snapshot(at: 90).confirmed.cells == ["a": 87])
        let past = await error { () throws(LogError) in _ = try await store.snapshot(at: 89) }
        guard case .compacted(directory.log.path, through: 90) = past else {
            Issue.record("\(String(describing: past))")
            return
        }
        let entries = await error { () throws(LogError) in
            _ = try store.entries(from: 1, countMax: 1)
        }
        guard case .compacted = entries else {
            Issue.record("\(String(describing: entries))")
            return
        }
        // A late answer finds the event of the old intent.
        try await store.acknowledge(2, position: 200)
        #expect(store.view.cells == ["a": 97, "mine": 1, "refused": 1])
        #expect(try await store.verify().findings == [])
        await store.close()
        let reader = try LogReader(at: directory.log)
        #expect(try reader.verify(Board.self).findings == [])
        #expect(try reader.status().base == 90)
        reader.close()
    }

    /// Folds a log, or verifies it.
    private static func findings(
        in log: LosingLog, _ verifies: Bool
    ) throws(LogError) -> [Verification.Finding] {
        let codec = AppCodec(codec: Board.codec)
        guard verifies else {
            _ = try LogFold.folded(log, ProjectionSet(Board.self, []), codec: codec)
            return []
        }
        var verifier = try Verifier(log, ProjectionSet(Board.self, []), codec: codec)
        return try verifier.verification().findings
    }

    /// A reader in another process said "damaged" because a compaction had replaced the file.
    ///
    /// Property: if the file is replaced before any read of a compacted log, folding and verifying it say so.
    @Test func `C1, L6: a compacted log that is replaced during a read is not called damaged`()
        async throws
    {
        try await makeLog()
        _ = try await compact(keeping: .entries(10))
        let log = try LMDBLog.openReadOnly(directory.log.path)
        defer { log.close() }
        for verifies in [false, true] {
            var count = 0
            while true {
                let losing = LosingLog(log, after: count)
                do throws(LogError) {
                    #expect(try Self.findings(in: losing, verifies) == [], "after \(count) reads")
                    #expect(!losing.isLost, "after \(count) reads")
                    break
                } catch {
                    guard case .storage(let failure) = error, failure.reason == .fileLost else {
                        Issue.record("after \(count) reads: \(error)")
                        return
                    }
                    count += 1
                }
            }
            #expect(count > 3)
        }
    }

    @Test func `C9: the archive is the old log, and compactions follow each other`() async throws {
        try await makeLog()
        let archive = directory.url.appending(path: "old", directoryHint: .isDirectory)
        #expect(try await compact(keeping: .entries(50), archive: archive).base == 50)
        #expect(try await compact(keeping: .entries(50), archive: archive).removed == 0)
        #expect(try await compact(keeping: .entries(20), archive: archive).base == 80)
        let names = try FileManager.default.contentsOfDirectory(atPath: archive.path).sorted()
        #expect(names == ["log-1-50", "log-51-80"])
        let whole = try LogReader(at: archive.appending(path: "log-1-50"))
        #expect(try whole.history().count == 100)
        whole.close()
        let part = try LogReader(at: archive.appending(path: "log-51-80"))
        #expect(try part.status().base == 50)
        #expect(try part.verify(Board.self).findings == [])
        part.close()
    }

    @Test func `C5: a window of days, and a log that nobody else has`() async throws {
        let day: Int64 = 86_400_000
        let clock = ManualClockSource(day * 1_000)
        var store = try await open(.acknowledgement, sources: clock.sources)
        for number in 1...10 {
            clock.advance(by: day)
            try await store.record(.set("a", number))
        }
        await store.close()
        let refused = await error { () throws(LogError) in
            _ = try await compact(keeping: .days(3), sources: clock.sources)
        }
        guard case .needsArchive = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        let archive = directory.url.appending(path: "old", directoryHint: .isDirectory)
        let done = try await compact(keeping: .days(3), archive: archive, sources: clock.sources)
        #expect(done.base == 6)
        store = try await open(.acknowledgement, sources: clock.sources)
        #expect(store.view.cells == ["a": 10])
        #expect(store.status.pendingCount == 10)
        for number in 1...10 { try await store.acknowledge(IntentNumber(UInt64(number))) }
        #expect(store.confirmed.cells == ["a": 10])
        await store.close()
    }

    @Test func `C6: a projection that is left out, or that the base lacks, is named`() async throws
    {
        try await makeLog()
        let both = try await Store.open(
            at: directory.log, Board.self, also: [AdditionalProjection(RowBoard.self)],
            conflicts: .perProjection, confirmedBy: .downlink, durability: .relaxed)
        await both.close()
        let lacking = await error { () throws(LogError) in
            _ = try await compact(keeping: .entries(10), sources: .system)
        }
        guard case .lacksProjections(_, names: ["TestSupport.RowBoard"]) = lacking else {
            Issue.record("\(String(describing: lacking))")
            return
        }
        _ = try await compact(
            keeping: .entries(10), forgetting: ["TestSupport.RowBoard"], sources: .system)
        let store = try await open()
        #expect(store.view.cells == ["a": 97, "mine": 1])
        await store.close()
        // A projection that is new to the log needs what is gone.
        let new = await error { () throws(LogError) in
            _ = try await Store.open(
                at: directory.log, Board.self, also: [AdditionalProjection(SloppyBoard.self)],
                confirmedBy: .downlink, durability: .relaxed)
        }
        guard case .needsHistory(_, let names, base: 90) = new else {
            Issue.record("\(String(describing: new))")
            return
        }
        #expect(names == ["TestSupport.SloppyBoard version 1"])
    }

    /// The codec of the state forgets a count, and the next event depends on it. No store has noticed,
    /// because none has begun at a checkpoint.
    @Test func `C7: a base that loses something is found before anything is removed`() async throws
    {
        let store = try await Store.open(
            at: directory.log, Forgetful.self, confirmedBy: .downlink, durability: .relaxed,
            checkpoints: .manual)
        for position in 1...20 {
            let event = ConfirmedEvent(
                position: Position(UInt64(position)), event: Move.set("a", position))
            try await store.confirm([event], through: event.position)
        }
        await store.close()
        let refused = await error { () throws(LogError) in
            _ = try await Store.compact(
                at: directory.log, Forgetful.self, keeping: .entries(5), sources: .system)
        }
        guard case .notProven(directory.log.path, _) = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        let reader = try LogReader(at: directory.log)
        #expect(try reader.status().base == 0 && reader.history().count == 20)
        reader.close()
    }

    /// An attempt is kept beside the entries, and it forbids to withdraw (F7).
    @Test func `C7: what a store notes between the proof and the exchange is not lost`()
        async throws
    {
        try await makeLog()
        let left = directory.url.appending(path: "log.compacted", directoryHint: .isDirectory)
        // The compacted form of a moment ago.
        let copy = directory.url.appending(path: "copy", directoryHint: .isDirectory)
        try FileManager.default.copyItem(at: directory.log, to: copy)
        _ = try await Store.compact(
            at: copy, Board.self, keeping: .entries(10), sources: .counting())
        try FileManager.default.moveItem(at: copy, to: left)
        let store = try await open()
        let attempt = Attempt(count: 1, startedAt: Timestamp(millisecondsSince1970: 1))
        _ = try await store.recordAttempts([1: attempt], flushes: true)
        await store.close()
        let refused = await error { () throws(LogError) in
            try CompactedLog.replace(
                logAt: directory.log.path, through: 100, from: 0, to: 90, archive: nil)
        }
        guard case .locked = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(try await compact(keeping: .entries(10)).base == 90)
        let again = try await open()
        #expect(again.attempts[1]?.count == 1)
        await again.close()
    }

    @Test func `C4, F21: what was recorded together can be retried and undone together`()
        async throws
    {
        let store = try await open()
        let receipts = try await store.record(contentsOf: [
            .set("x", 1), .set("y", 1), .set("z", 1),
        ])
        for (place, receipt) in receipts.prefix(2).enumerated() {
            let position = Position(UInt64(place + 1))
            try await store.acknowledge(receipt.number, position: position)
            try await store.confirm([], through: position)
        }
        try await store.reject(receipts[2].number, message: "no")
        for position in 3...40 {
            let event = ConfirmedEvent(
                position: Position(UInt64(position)), event: Move.set("a", position))
            try await store.confirm([event], through: event.position)
        }
        await store.close()
        #expect(try await compact(keeping: .entries(5)).removed > 20)
        let again = try await open()
        #expect(try await again.retry(all: receipts[2].number).count == 1)
        // The server said that the effects of the others are in what was fetched.
        #expect(again.view.cells == ["z": 1, "a": 40])
        #expect(try await again.receipt(for: receipts[0].number).answer().content == .confirmed)
        await again.close()
    }

    @Test func `C9: an archive that goes on is another replica, and is never overwritten`()
        async throws
    {
        try await makeLog()
        let archive = directory.url.appending(path: "old", directoryHint: .isDirectory)
        let taken = archive.appending(path: "log-1-90", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: taken, withIntermediateDirectories: true)
        let refused = await error { () throws(LogError) in
            _ = try await compact(keeping: .entries(10), archive: archive)
        }
        guard case .storage = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        try FileManager.default.removeItem(at: taken)
        _ = try await compact(keeping: .entries(10), archive: archive)
        let old = try await Store.open(
            at: taken, Board.self, confirmedBy: .downlink, durability: .relaxed)
        #expect(old.status.sequence == 100 && old.status.base == 0)
        #expect(old.status.replica != ReplicaID("me"))
        await #expect(throws: CommandError.self) { try await old.withdraw(1) }
        await old.close()
    }

    @Test func `BK7: a wipe removes what a compaction left beside the log`() async throws {
        try await makeLog()
        let left = directory.url.appending(path: "log.compacted", directoryHint: .isDirectory)
        try FileManager.default.copyItem(at: directory.log, to: left)
        try await Store<Board>.wipe(at: directory.log, discardingPending: true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == [])
    }
}

/// A clock that tests set.
private final class ManualClockSource: Sendable {
    private let now: Counter

    init(_ start: Int64) { now = Counter(start) }

    func advance(by milliseconds: Int64) { now.add(milliseconds) }

    var sources: LogSources {
        LogSources(
            now: { [now] in Timestamp(millisecondsSince1970: now.value) },
            freshReplica: { ReplicaID("fresh")! })
    }

    private final class Counter: Sendable {
        private let count: Mutex<Int64>

        init(_ start: Int64) { count = Mutex(start) }

        var value: Int64 { count.withLock { $0 } }

        func add(_ amount: Int64) { count.withLock { $0 += amount } }
    }
}

/// The life of one log that is compacted.
private struct CompactedRun {
    private let kind: LogKind
    private let seed: UInt64
    private let policy: ConflictPolicy
    private var reference: ReferenceBoards
    private let directory = TemporaryDirectory()
    private(set) var compactionCount = 0
    /// The commands that needed an entry which is gone.
    private(set) var lostCount = 0

    init(_ kind: LogKind, seed: UInt64) {
        self.kind = kind
        self.seed = seed
        let isShared = seed / 8 % 2 == 0
        policy = isShared ? .shared : .perProjection
        reference = ReferenceBoards(kind, isShared: isShared)
    }

    /// Where the store differs from the reference; nil if it never does.
    mutating func failure<P: BoardFold>(
        _ board: P.Type, rows: [AdditionalProjection<Move>]
    ) async throws -> String? {
        var random = SeededGenerator(seed: seed)
        var script = try RandomHistory.script(kind, steps: 60, using: &random)
        if !(board is any Undoable.Type) { script.leaveOutUndo() }
        let also = [AdditionalProjection(SloppyBoard.self)] + rows
        func open() async throws -> Store<P> {
            try await Engine.lmdb.store(board, kind, in: directory, also: also, conflicts: policy)
        }
        var store = try await open()
        var numbers = ScriptNumbers()
        for (index, step) in script.steps.enumerated() {
            let place = "step \(index + 1), \(step)"
            let command = numbers.command(for: step)
            if let command, try store.isAnswerToRemoved(command) {
                numbers.note(nil, of: step)
                lostCount += 1
            } else if let command {
                let result = await store.carryOut(command)
                var next = reference
                let expected = next.carryOut(command)
                // What needs an entry that is gone changes nothing.
                if result == .removed, result != expected {
                    numbers.note(result, of: step)
                    lostCount += 1
                } else {
                    numbers.note(expected, of: step)
                    reference = next
                    guard result == expected else { return "\(place): \(result), not \(expected)" }
                }
            } else {
                numbers.note(nil, of: step)
            }
            if index % 7 == 6 {
                await store.close()
                let archive = directory.url.appending(
                    path: "old", directoryHint: .isDirectory)
                let done = try await Store.compact(
                    at: directory.log, board, also: also,
                    keeping: .entries(Int.random(in: 1...30, using: &random)), archive: archive,
                    sources: .counting())
                if done.removed > 0 { compactionCount += 1 }
                store = try await open()
            }
            if let difference = try store.difference(
                from: reference.now, reference.facts.count, hasRows: !rows.isEmpty)
            {
                return "after \(place), base \(store.status.base): \(difference)"
            }
        }
        let verification = try await store.verify()
        guard verification.isSound else { return "\(verification.findings)" }
        let difference = try await pastDifference(of: store)
        await store.close()
        return difference
    }

    private func pastDifference<P: BoardFold>(of store: Store<P>) async throws -> String? {
        let base = store.status.base
        for sequence in 0...reference.facts.count {
            let past = LogSequence(UInt64(sequence))
            guard P.self == Board.self || policy == .perProjection else { continue }
            let board: SeenBoard
            do throws(LogError) {
                board = SeenBoard(try await store.snapshot(of: Board.self, at: past))
            } catch {
                switch error {
                case .compacted where past < base: continue
                // The log has rows, and no state of the board.
                case .needsHistory where P.self != Board.self: continue
                default: throw error
                }
            }
            guard past >= base else { return "a view at \(past), before base \(base)" }
            let expected = reference.board.state(at: sequence)
            if let difference = board.difference(from: expected, sequence) {
                return "view at \(sequence), base \(base): \(difference)"
            }
        }
        return nil
    }
}

/// A log whose file is replaced after so many reads.
private final class LosingLog: ForwardingLog {
    let log: LMDBLog
    private let left: Mutex<Int>
    var isLost: Bool { left.withLock { $0 < 0 } }

    init(_ log: LMDBLog, after count: Int) {
        self.log = log
        left = Mutex(count)
    }

    func read(_ body: (any StorageSnapshot) -> Void) throws(LogError) {
        let isThere = left.withLock { left in
            left -= 1
            return left >= 0
        }
        guard isThere else {
            throw .storage(
                StorageFailure(
                    path: path, reason: .fileLost, detail: "on purpose",
                    leavesOutcomeUnknown: false))
        }
        try log.read(body)
    }
}
