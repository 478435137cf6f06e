import Foldback
import FoldbackHistory
import FoldbackLMDB
import Foundation
import TestSupport
import Testing

/// Question: what does a sender need to know after a restart, and what may that cost a log that has
/// no sender?
@Suite struct AttemptTests {
    let directory = TemporaryDirectory()

    private static func time(_ milliseconds: Int64) -> Timestamp {
        Timestamp(millisecondsSince1970: milliseconds)
    }

    private static let once = Attempt(count: 1, startedAt: time(10))
    private static let failed = Attempt(
        count: 7, startedAt: time(-3), failure: .init(at: time(5), reason: "no n\u{e9}twork"),
        next: time(99))
    private static let halved = Attempt(
        count: 9, startedAt: time(7), failure: failed.failure,
        suspicion: .init(failures: 2, intentsMax: 300, quarantine: nil))
    private static let quarantined = Attempt(
        count: 11, startedAt: time(8), failure: .init(at: time(9), reason: "no network"),
        next: time(3_600_009),
        suspicion: .init(
            failures: 9, intentsMax: 1, quarantine: .init(since: time(6), reason: "HTTP 500")))

    private func open() async throws(LogError) -> Store<Board> {
        try await Store.open(
            at: directory.log, Board.self, confirmedBy: .downlink, durability: .relaxed,
            checkpoints: .manual, replica: .exactly(ReplicaID("me")!), sources: .counting())
    }

    private func change(_ number: UInt64, to bytes: [UInt8]) throws {
        let environment = try Environment.open(directory.log.path)
        defer { environment.close() }
        try environment.write { transaction throws(LMDBError) in
            let table: Table<UInt64> = try transaction.table("attempts")
            try transaction.put(bytes, at: number, in: table)
        }
    }

    // MARK: Beside the log

    @Test(arguments: Engine.allCases)
    func `F1: an attempt changes neither sequence nor view nor chain`(engine: Engine) async throws {
        let store = try await engine.store(Board.self, .downlink, in: directory)
        _ = try await store.record(.set("a", 1))
        let before = store.core.published
        #expect(try await store.recordAttempts([1: Self.once], flushes: true) == [1])
        #expect(store.attempts == [1: Self.once])
        #expect(store.attempt(of: 1) == Self.once)
        let after = store.core.published
        #expect(after.sequence == before.sequence && after.chain == before.chain)
        #expect(try await store.verify().isSound)
        await store.close()
        #expect(store.attempts == [1: Self.once])
    }

    @Test(arguments: Engine.allCases)
    func `an answered intent loses its attempt and takes no new attempt`(
        engine: Engine
    ) async throws {
        let store = try await engine.store(Board.self, .downlink, in: directory)
        for key in ["a", "b", "c", "d", "e"] { _ = try await store.record(.set(key, 1)) }
        try await store.withdraw(5)
        let all = Dictionary(uniqueKeysWithValues: (1...6).map { (IntentNumber($0), Self.failed) })
        #expect(try await store.recordAttempts(all, flushes: false) == [1, 2, 3, 4])
        try await store.acknowledge(1, position: 9)
        try await store.reject(2, message: "no")
        let origin = IntentID(replica: ReplicaID("me")!, number: 3)
        try await store.confirm(
            [ConfirmedEvent(position: 1, event: .set("c", 1), origin: origin)])
        #expect(store.attempts == [4: Self.failed])
        #expect(try store.core.storage.attempts().keys == [4])
        #expect(
            try await store.recordAttempts([1: Self.once, 4: Self.once], flushes: false) == [4])
        #expect(store.attempts == [4: Self.once])
        await store.close()
    }

    @Test func `an attempt and its answer in one transaction leave no attempt`() async throws {
        let store = try await Engine.lmdb.store(Board.self, .downlink, in: directory)
        _ = try await store.record(.set("a", 1))
        let (requests, _) = await store.core.runner.submit(contentsOf: [
            (.recordAttempts([1: Self.once], flushes: false), 0),
            (.command(.reject(1, Rejection(message: "no")), isForced: true), 0),
        ])
        for request in requests { _ = try await request.outcome() }
        #expect(store.attempts.isEmpty)
        #expect(try store.core.storage.attempts().isEmpty)
        await store.close()
    }

    @Test(arguments: Engine.allCases)
    func `F7: an intent that may have left the device cannot be withdrawn`(engine: Engine)
        async throws
    {
        let store = try await engine.store(Board.self, .downlink, in: directory)
        for key in ["a", "b"] { _ = try await store.record(.set(key, 1)) }
        _ = try await store.recordAttempts([1: Self.once], flushes: false)
        let refused = await error { () throws(CommandError) in try await store.withdraw(1) }
        guard case .mayHaveLeft(1) = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect("\(refused!)".contains("may have reached the server"))
        try await store.withdraw(2)
        #expect(store.view.cells == ["a": 1])
        await store.close()
    }

    @Test(arguments: Engine.allCases)
    func `F19: an intent that may have left can be abandoned, and loses its attempt`(
        engine: Engine
    ) async throws {
        let store = try await engine.store(Board.self, .downlink, in: directory)
        for key in ["a", "b"] { _ = try await store.record(.set(key, 1)) }
        _ = try await store.recordAttempts([1: Self.quarantined], flushes: false)
        let sequence = try await store.abandon(1)
        #expect(sequence == 3 && store.attempts.isEmpty)
        #expect(store.view.cells == ["b": 1])
        #expect(try store.intent(1).state == .withdrawn)
        let entries = try store.entries(from: 3, countMax: 1)
        guard case .changed(1, .abandoned) = entries.first?.content else {
            Issue.record("\(entries)")
            return
        }
        // The authority has it after all (F7).
        try await store.acknowledge(1, position: 2)
        #expect(store.view.cells == ["a": 1, "b": 1])
        #expect(try await store.verify().isSound)
        await store.close()
    }

    @Test(arguments: [true, false])
    func `L2: recording an attempt flushes only if the caller asks for it`(flushes: Bool)
        async throws
    {
        let storage = TestStorage()
        let core = try StoreCore(
            on: storage, codec: AppCodec(codec: Board.codec),
            projections: ProjectionSet(Board.self),
            clock: LogSources.counting().now, policy: .manual, hasThread: false)
        let store = Store<Board>(core: core)
        _ = try await store.record(.set("a", 1))
        #expect(try await store.recordAttempts([1: Self.once], flushes: flushes) == [1])
        #expect(storage.syncCount == (flushes ? 1 : 0))
        await store.close()
    }

    // MARK: On disk

    @Test func `attempts survive reopening, and a log reader sees them`() async throws {
        var store = try await open()
        for key in ["a", "b", "c"] { _ = try await store.record(.set(key, 1)) }
        _ = try await store.recordAttempts([1: Self.once, 3: Self.failed], flushes: true)
        await store.close()
        let reader = try LogReader(at: directory.log)
        #expect(try reader.attempts() == [1: Self.once, 3: Self.failed])
        #expect(try reader.verify(Board.self).isSound)
        reader.close()
        store = try await open()
        #expect(store.attempts == [1: Self.once, 3: Self.failed])
        await store.close()
    }

    /// An older Foldback that does not know attempts leaves such a table after an answer.
    @Test func `an attempt of a settled or unknown intent is hidden and is not damage`()
        async throws
    {
        var store = try await open()
        _ = try await store.record(.set("a", 1))
        try await store.reject(1, message: "no")
        await store.close()
        try change(1, to: Self.once.encoded(for: 1))
        try change(44, to: Self.once.encoded(for: 44))
        store = try await open()
        #expect(store.attempts.isEmpty)
        #expect(try await store.verify().isSound)
        await store.close()
    }

    @Test func `a log without an attempts table can be read and written`() async throws {
        let store = try await open()
        _ = try await store.record(.set("a", 1))
        await store.close()
        let old = directory.url.appending(path: "old", directoryHint: .isDirectory)
        try copyTables(to: old.path)
        let reader = try LogReader(at: old)
        #expect(try reader.attempts().isEmpty)
        #expect(try reader.verify(Board.self).isSound)
        reader.close()
        let reopened = try await Store.open(
            at: old, Board.self, confirmedBy: .downlink, durability: .relaxed)
        #expect(try await reopened.recordAttempts([1: Self.once], flushes: true) == [1])
        #expect(reopened.view.cells == ["a": 1])
        await reopened.close()
    }

    /// Copies the header and the entries, and creates an empty table of verdicts, but no other
    /// table.
    private func copyTables(to path: String) throws {
        let source = try Environment.open(directory.log.path)
        defer { source.close() }
        let target = try Environment.open(path)
        defer { target.close() }
        var header: [UInt8] = []
        var entries: [(UInt64, [UInt8])] = []
        try source.read { transaction throws(LMDBError) in
            let log: Table<String> = try transaction.table("log")!
            header = try transaction.get(log, LogHeader.key) { Array(copying: $0) }!
            try transaction.scan(try transaction.table("entries")!, from: UInt64(0)) {
                entries.append(($0, Array(copying: $1)))
                return true
            }
        }
        try target.write { [header, entries] transaction throws(LMDBError) in
            let log: Table<String> = try transaction.table("log")
            let table: Table<UInt64> = try transaction.table("entries")
            let _: Table<UInt64> = try transaction.table("verdicts")
            try transaction.put(header, at: LogHeader.key, in: log)
            for (key, bytes) in entries { try transaction.put(bytes, at: key, in: table) }
        }
    }

    @Test func `opening and verify name a damaged attempt`() async throws {
        let store = try await open()
        for key in ["a", "b"] { _ = try await store.record(.set(key, 1)) }
        _ = try await store.recordAttempts([1: Self.once, 2: Self.failed], flushes: true)
        await store.close()
        // Correct bytes under the wrong key are damage too.
        try change(2, to: Self.failed.encoded(for: 1))
        let refused = await error { () throws(LogError) in try await open() }
        guard case .damaged(let path, _, _) = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(path.contains("attempts, intent 2"))
        let reader = try LogReader(at: directory.log)
        #expect(try reader.verify(Board.self).findings.map(\.place) == [.attempt(2)])
        reader.close()
    }

    // MARK: Bytes

    @Test func `an attempt reads back as it was written, and changed bytes are an error`() throws {
        for attempt in [Self.once, Self.failed, Self.halved, Self.quarantined] {
            let bytes = attempt.encoded(for: 5)
            #expect(bytes[0] == (attempt.suspicion == .none ? 1 : 2))
            #expect(try Attempt(decoding: bytes, for: 5) == attempt)
            for place in bytes.indices {
                var other = bytes
                other[place] ^= 0x10
                #expect(throws: FormatError.self) { try Attempt(decoding: other, for: 5) }
            }
        }
    }

    @Test func `attempt rows have the bytes of their article`() throws {
        // The rest of each row is a checksum.
        #expect(Self.once.encoded(for: 5).prefix(11) == [1, 0, 1, 10, 0, 0, 0, 0, 0, 0, 0])
        let halved = Self.halved.encoded(for: 5)
        #expect(halved.prefix(3) == [2, 1, 9])
        #expect(halved.dropLast(8).suffix(3) == [2, 0xAC, 2])
        let quarantined = Self.quarantined.encoded(for: 5)
        #expect(quarantined.prefix(3) == [2, 11, 11])
        let fault: [UInt8] = [9, 1, 6, 0, 0, 0, 0, 0, 0, 0, 8] + Array("HTTP 500".utf8)
        #expect(quarantined.dropLast(8).suffix(19) == fault[...])
    }

    /// Flags 4 (held) and 16 are for later code.
    @Test(arguments: [4, 16] as [UInt8])
    func `L5: a suspicion with an unknown flag, and a plain row that is quarantined, are newer`(
        flag: UInt8
    ) throws {
        for (bytes, flag) in [
            (Self.quarantined.encoded(for: 5), flag), (Self.once.encoded(for: 5), 8),
        ] {
            var writer = ByteWriter()
            var other = Array(bytes.dropLast(8))
            other[1] |= flag
            writer.raw(other)
            _ = writer.seal(seed: 5)
            let sealed = writer.bytes
            #expect {
                try Attempt(decoding: sealed, for: 5)
            } throws: { error in
                if case .newer = error as? FormatError { true } else { false }
            }
        }
    }

    @Test func `a long failure reason is cut between two Unicode scalars`() {
        let reason = String(repeating: "\u{e9}", count: 600)
        let failure = Attempt.Failure(at: Self.time(0), reason: reason + "x")
        #expect(failure.reason == String(repeating: "\u{e9}", count: 512))
        #expect("ab\u{e9}".cut(toBytes: 3) == "ab")
        #expect("ab".cut(toBytes: 2) == "ab")
    }

    // MARK: For simulations

    @Test func `a store in memory reopens with exactly the committed rows`()
        async throws
    {
        let first = try await Engine.memory.store(Board.self, .downlink, in: directory)
        _ = try await first.record(.set("a", 1))
        _ = try await first.record(.set("b", 1))
        try await first.reject(2, message: "no")
        _ = try await first.recordAttempts([1: Self.failed], flushes: false)
        let rows = try #require(first.memoryRows)
        _ = try await first.record(.set("late", 1))
        let second = try Store.inMemory(Board.self, reopening: rows, sources: .counting())
        #expect(second.view.cells == ["a": 1])
        #expect(second.rejections == [2])
        #expect(second.attempts == [1: Self.failed])
        #expect(try await second.record(.set("c", 1)).id.description == "me.3")
        #expect(try await second.verify().isSound)
        #expect(first.view.cells == ["a": 1, "late": 1])
        await first.close()
        #expect(first.memoryRows != nil)
        await second.close()
    }

    @Test func `a store without a thread writes a log on disk`() async throws {
        func open() throws(LogError) -> Store<Board> {
            try Store.openWithoutThread(
                at: directory.log, Board.self, confirmedBy: .downlink, durability: .relaxed,
                replica: .exactly(ReplicaID("me")!), sources: .counting())
        }
        let first = try open()
        _ = try await first.record(.set("a", 1))
        _ = try await first.recordAttempts([1: Self.once], flushes: true)
        await first.close()
        let second = try open()
        #expect(second.view.cells == ["a": 1])
        #expect(second.attempts == [1: Self.once])
        await second.close()
    }
}
