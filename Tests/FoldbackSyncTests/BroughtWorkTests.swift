import Foldback
import FoldbackSync
import FoldbackTesting
import Foundation
import TestSupport
import Testing

/// These tests come from an app whose server was restored from an older backup: one second later, the
/// device had deleted confirmed work that existed nowhere else.
///
/// Property: what the user did is in the new log or at the present authority, once (N6).
@Suite struct BroughtWorkTests {
    private let directory = TemporaryDirectory()

    private static let policy = SyncPolicy(
        intentsPerRequestMax: 3, requestsMax: 1, backoffMin: .seconds(1), backoffMax: .seconds(8),
        delayMax: .seconds(60))

    private static func lineage(_ name: String) -> Lineage { Lineage(name)! }

    private static func empty(_ name: String) -> InProcessAuthority<Board> {
        InProcessAuthority(Board.self, lineage: lineage(name))
    }

    @Sendable private static func open(_ url: URL) async throws(LogError) -> Store<Board> {
        try await Store.open(
            at: url, Board.self, confirmedBy: .downlink, durability: .relaxed)
    }

    /// Returns a store with this many confirmed intents, each of which sets a cell, and the
    /// authority that confirmed them.
    private func worked(
        _ count: Int
    ) async throws -> (Store<Board>, InProcessAuthority<Board>) {
        let authority = Self.empty("first")
        let store = try await Self.open(directory.log)
        for number in 1...count { try await store.record(.set("k\(number)", number)) }
        try await store.exchangeAll(with: authority, policy: Self.policy)
        #expect(store.overlay.isEmpty)
        return (store, authority)
    }

    private func continued(
        _ store: Store<Board>, from authority: any Authority<Move>, _ choice: WorkToBring,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> (store: Store<Board>, brought: BroughtWork) {
        _ = store.noteSuperseded(shared: 0)
        return try await store.continued(
            from: authority, bringing: choice, policy: Self.policy, opening: Self.open,
            sourceLocation: sourceLocation)
    }

    /// Returns the store of a copied log that went on under another id, and the authority. Each log
    /// has a confirmed intent of its own.
    private func copied() async throws -> (Store<Board>, InProcessAuthority<Board>) {
        let (store, server) = try await worked(1)
        await store.close()
        let copy = directory.url.appending(path: "copy", directoryHint: .isDirectory)
        try FileManager.default.copyItem(at: directory.log, to: copy)
        let first = try await Self.open(directory.log)
        try await first.record(.set("theirs", 2))
        try await first.exchangeAll(with: server, policy: Self.policy)
        await first.close()
        let second = try await Self.open(copy)
        try await second.record(.set("mine", 2))
        try await second.exchangeAll(with: server, policy: Self.policy)
        return (second, server)
    }

    /// Brings work to a new log beside the log, as a call that was cut off before the exchange.
    private func interrupt(_ store: Store<Board>, _ choice: WorkToBring) async throws {
        let beside = try await Self.open(URL(filePath: SuccessorLog.path(of: store.status.path)))
        let work = try SupersededWork(of: store)
        _ = try await beside.bring(choice, of: work, from: store, isFilling: true)
        await beside.close()
    }

    private func kept(_ brought: BroughtWork) async throws -> Store<Board> {
        try await Self.open(try #require(brought.keptLog))
    }

    // MARK: Confirmed work

    @Test func `N6: what a restored server lacks is sent again before what is pending`()
        async throws
    {
        let (store, first) = try await worked(5)
        try await store.record(.add("k5", 1), info: ["screen": "feed"])
        let me = store.status.replica
        let restored = first.copy(keeping: 2, lineage: Self.lineage("second"))
        let (next, brought) = try await continued(store, from: restored, .pendingAndConfirmed)
        #expect(brought.counts == [1, 3, 0, 3, 0])
        #expect(next.overlay.map(\.once) == [3, 4, 5, 6].map { "\(me).\($0)" })
        #expect(next.overlay.map(\.state) == [.pending, .pending, .pending, .pending])
        #expect(next.overlay.last?.info == ["screen": "feed"])
        #expect(next.view.cells == ["k1": 1, "k2": 2, "k3": 3, "k4": 4, "k5": 6])
        try await next.exchangeAll(with: restored, policy: Self.policy)
        #expect(next.view == restored.state && next.overlay.isEmpty)
        #expect(restored.events.count == 6)
        #expect(try await next.verify().findings == [])
        await next.close()
    }

    @Test func `N6: bringing confirmed work again doubles nothing, also what is settled`()
        async throws
    {
        let (store, first) = try await worked(4)
        try await store.record(.set("pending", 1))
        let restored = first.copy(keeping: 1, lineage: Self.lineage("second"))
        let (next, brought) = try await continued(store, from: restored, .pendingAndConfirmed)
        let old = try await kept(brought)
        for _ in 1...2 {
            let again = try await next.bring(.pendingAndConfirmed, from: old)
            #expect(again.counts.prefix(3) == [0, 0, 0])
            #expect(next.overlay.count == (again.lacking == 0 ? 0 : 4))
            try await next.exchangeAll(with: restored, policy: Self.policy)
        }
        let last = try await next.bring(.pendingAndConfirmed, from: old)
        #expect(last.counts == [0, 0, 0, 0, 0] && next.overlay.isEmpty)
        #expect(restored.events.count == 5)
        await old.close()
        await next.close()
    }

    @Test func `N6: an app asks its user, and brings confirmed work later`() async throws {
        let (store, first) = try await worked(3)
        try await store.record(.set("pending", 1))
        let restored = first.copy(keeping: 1, lineage: Self.lineage("second"))
        let (next, brought) = try await continued(store, from: restored, .pending)
        #expect(brought.counts == [1, 0, 0, 2, 0])
        try await next.exchangeAll(with: restored, policy: Self.policy)
        try await next.record(.set("later", 1))
        let old = try await kept(brought)
        #expect(try await next.bring(.pending, from: old).counts == [0, 0, 0, 2, 0])
        let found = try await next.bring(.pendingAndConfirmed, from: old)
        #expect(found.counts == [0, 2, 0, 2, 0])
        #expect(found.keptLog?.path == brought.keptLog?.path)
        try await next.exchangeAll(with: restored, policy: Self.policy)
        #expect(restored.state.cells == ["k1": 1, "k2": 2, "k3": 3, "pending": 1, "later": 1])
        #expect(restored.events.count == 5)
        await old.close()
        await next.close()
    }

    @Test func `N6: a second restored backup gets everything again, once`() async throws {
        let (store, first) = try await worked(3)
        var (now, server) = (store, first)
        for name in ["second", "third", "fourth"] {
            server = server.copy(keeping: 1, lineage: Self.lineage(name))
            now = try await continued(now, from: server, .pendingAndConfirmed).store
            try await now.exchangeAll(with: server, policy: Self.policy)
            #expect(server.events.count == 3)
            #expect(now.view.cells == ["k1": 1, "k2": 2, "k3": 3])
        }
        await now.close()
    }

    /// The second server still had the intent, so no new log had an entry of it.
    @Test
    func `N6: an intent that two servers had and the third has lost is brought from its event`()
        async throws
    {
        let (store, first) = try await worked(3)
        let me = store.status.replica
        let second = first.copy(keeping: 2, lineage: Self.lineage("second"))
        let (middle, less) = try await continued(store, from: second, .pendingAndConfirmed)
        #expect(less.counts == [0, 1, 0, 1, 0])
        try await middle.record(.set("middle", 1))
        try await middle.exchangeAll(with: second, policy: Self.policy)
        let third = Self.empty("third")
        let (next, brought) = try await continued(middle, from: third, .pendingAndConfirmed)
        #expect(brought.counts == [0, 4, 0, 4, 0])
        #expect(next.overlay.prefix(2).map(\.once) == ["\(me).1", "\(me).2"])
        #expect(next.overlay[2].once?.hasPrefix("\(me).3\n") == true)
        #expect(next.view.cells == ["k1": 1, "k2": 2, "k3": 3, "middle": 1])
        let old = try await kept(brought)
        #expect(try await next.bring(.pendingAndConfirmed, from: old).counts == [0, 0, 0, 4, 0])
        try await next.exchangeAll(with: third, policy: Self.policy)
        #expect(try await next.bring(.pendingAndConfirmed, from: old).counts == [0, 0, 0, 0, 0])
        #expect(third.events.count == 4)
        await old.close()
        let fourth = Self.empty("fourth")
        let (last, again) = try await continued(next, from: fourth, .pendingAndConfirmed)
        #expect(again.counts == [0, 4, 0, 4, 0] && last.view == next.view)
        #expect(try await last.verify().findings == [])
        await last.close()
    }

    /// No log between has an intent of its own, so only the row of each names the first log.
    @Test func `N6: the intents of a log are known through two logs that continue it`()
        async throws
    {
        let (store, first) = try await worked(2)
        let me = store.status.replica
        var now = store
        for name in ["second", "third"] {
            let server = first.copy(keeping: 2, lineage: Self.lineage(name))
            now = try await continued(now, from: server, .pendingAndConfirmed).store
            #expect(now.overlay.isEmpty)
        }
        let server = Self.empty("fourth")
        try await interrupt(now, .pendingAndConfirmed)
        let (next, brought) = try await continued(now, from: server, .pendingAndConfirmed)
        #expect(brought.counts == [0, 2, 0, 2, 0])
        #expect(next.overlay.map(\.once) == ["\(me).1", "\(me).2"])
        await next.close()
    }

    /// The third log has no entry of the first log's intents, and the server has them under the ids of
    /// the second log.
    @Test func `N6: an old kept log does not double what a later log has brought`() async throws {
        let (store, _) = try await worked(2)
        let second = Self.empty("second")
        let (middle, brought) = try await continued(store, from: second, .pendingAndConfirmed)
        try await middle.exchangeAll(with: second, policy: Self.policy)
        let third = second.copy(keeping: 2, lineage: Self.lineage("third"))
        let (last, _) = try await continued(middle, from: third, .pending)
        let oldest = try await kept(brought)
        let again = try await last.bring(.pendingAndConfirmed, from: oldest)
        #expect(again.counts == [0, 0, 0, 0, 0] && last.overlay.isEmpty)
        // The same the other way round: the first server is back, as it was.
        let fourth = Self.empty("fourth")
        _ = try await fourth.submit(
            (1...2).map { number in
                Submission(
                    id: IntentID(replica: oldest.status.replica, number: IntentNumber(number)),
                    event: .set("k\(number)", Int(number)))
            })
        let (now, lost) = try await continued(last, from: fourth, .pendingAndConfirmed)
        #expect(lost.counts == [0, 0, 0, 0, 0] && now.view.cells == ["k1": 1, "k2": 2])
        await oldest.close()
        await now.close()
    }

    /// The first server gets the intent late, under its first id, and the second log sends it again.
    @Test func `N6: an intent that is at the server under its earlier id is brought once`()
        async throws
    {
        let (store, first) = try await worked(1)
        try await store.record(.set("a", 1))
        let id = IntentID(replica: store.status.replica, number: 2)
        let second = first.copy(keeping: 1, lineage: Self.lineage("second"))
        let (middle, _) = try await continued(store, from: second, .pendingAndConfirmed)
        _ = try await second.submit([Submission(id: id, event: .set("a", 1))])
        _ = try await Downlink(middle, from: second, policy: Self.policy).fetch()
        #expect(middle.overlay.count == 1)
        let (next, brought) = try await continued(
            middle, from: Self.empty("third"), .pendingAndConfirmed)
        #expect(brought.counts == [1, 1, 0, 1, 0])
        #expect(next.view.cells == ["k1": 1, "a": 1] && next.overlay.count == 2)
        await next.close()
    }

    @Test func `N6: an intent of an earlier log that became two events is counted, not brought`()
        async throws
    {
        let (store, _) = try await worked(1)
        let id = IntentID(replica: store.status.replica, number: 1)
        let second: [ConfirmedEvent<Move>] = ["k1", "more"].enumerated().map { place, name in
            ConfirmedEvent(
                position: Position(UInt64(place + 1)), event: .set(name, 1), origin: id)
        }
        let middle = try await continued(store, from: Self.empty("second"), .pending).store
        try await middle.confirm(second, from: Self.lineage("second"))
        let (next, brought) = try await continued(
            middle, from: Self.empty("third"), .pendingAndConfirmed)
        #expect(brought.counts == [0, 0, 0, 1, 0] && next.overlay.isEmpty)
        await next.close()
    }

    @Test func `N6: a server without origins does not tell what it lacks`() async throws {
        let store = try await Self.open(directory.log)
        try await store.record(.set("a", 1))
        try await store.acknowledge(1, position: 1)
        try await store.confirm(
            [ConfirmedEvent(position: 1, event: .set("a", 1))], from: Self.lineage("first"))
        try await store.record(.set("b", 1))
        _ = store.noteSuperseded(shared: 0)
        let server = Self.empty("second")
        let refused = await syncError { () throws(SyncError) in
            _ = try await store.continueOnNewLog(
                from: server, policy: Self.policy, bringing: .pendingAndConfirmed,
                opening: Self.open)
        }
        guard case .originsUnknown = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(try directory.names == ["log"] && store.snapshot.pending == [2])
        let (next, brought) = try await continued(store, from: server, .pending)
        #expect(brought.counts == [1, 0, 0, 0, 1])
        let old = try await kept(brought)
        let again = await syncError { () throws(SyncError) in
            _ = try await next.bring(.pendingAndConfirmed, from: old)
        }
        guard case .originsUnknown = again else {
            Issue.record("\(String(describing: again))")
            return
        }
        #expect(next.overlay.count == 1)
        await old.close()
        await next.close()
    }

    @Test func `N6: a log in which nothing was confirmed has nothing to bring, and continues`()
        async throws
    {
        let store = try await Self.open(directory.log)
        try await store.confirm(
            [ConfirmedEvent(position: 1, event: .set("theirs", 1))], from: Self.lineage("first"))
        try await store.record(.set("a", 1))
        let (next, brought) = try await continued(
            store, from: Self.empty("second"), .pendingAndConfirmed)
        #expect(brought.counts == [1, 0, 0, 0, 0] && next.view.cells == ["a": 1])
        await next.close()
    }

    @Test func `N6: an intent that only through confirms is counted, not brought`() async throws {
        let (store, _) = try await worked(1)
        try await store.record(.set("silent", 1))
        try await store.acknowledge(2, position: 7)
        try await store.confirm([], through: 7, from: Self.lineage("first"))
        let (next, brought) = try await continued(
            store, from: Self.empty("second"), .pendingAndConfirmed)
        #expect(brought.counts == [0, 1, 0, 1, 1])
        #expect(next.view.cells == ["k1": 1])
        await next.close()
    }

    /// A copied log goes on under another id (L11), and gets the events of the first log too.
    @Test func `N6: L11: an intent of the log that a log was copied from is not its own`()
        async throws
    {
        let (second, _) = try await copied()
        #expect(second.view.cells == ["k1": 1, "theirs": 2, "mine": 2])
        let (next, brought) = try await continued(
            second, from: Self.empty("second"), .pendingAndConfirmed)
        #expect(brought.counts == [0, 2, 0, 2, 0])
        #expect(next.view.cells == ["k1": 1, "mine": 2])
        await next.close()
    }

    @Test func `N6: L11: an earlier log's id does not make another device's intents the user's`()
        async throws
    {
        let (second, server) = try await copied()
        let same = server.copy(keeping: 3, lineage: Self.lineage("same"))
        let middle = try await continued(second, from: same, .pendingAndConfirmed).store
        #expect(middle.view.cells == ["k1": 1, "theirs": 2, "mine": 2])
        let (next, brought) = try await continued(
            middle, from: Self.empty("second"), .pendingAndConfirmed)
        #expect(brought.counts == [0, 2, 0, 2, 0])
        #expect(next.view.cells == ["k1": 1, "mine": 2])
        await next.close()
    }

    @Test func `N6: an event that this code cannot read comes back byte for byte`() async throws {
        let old = Store.inMemory(
            Board.self, confirmedBy: .downlink, replica: ReplicaID("me"), sources: .counting())
        try await old.record(.set("a", 10))
        try await old.record(.set("b", 1))
        let bytes = try #require(old.pendingIntent(1)).recorded.payload.bytes
        let server = Self.empty("first")
        try await old.exchangeAll(with: server, policy: Self.policy)
        let blind = try Store.inMemory(
            ShortSightedBoard.self, reopening: try #require(old.memoryRows), sources: .counting())
        let next = Store.inMemory(
            ShortSightedBoard.self, confirmedBy: .downlink, replica: ReplicaID("next"),
            sources: .counting())
        #expect(try await next.bring(.pendingAndConfirmed, from: blind).counts == [0, 2, 0, 2, 0])
        let payload = try #require(next.core.published.overlay[1]).payload
        #expect(payload.isUnreadable && payload.bytes == bytes)
    }

    // MARK: Rejections

    @Test func `N6: a listed rejection comes along in one commit, and is never sent`()
        async throws
    {
        let (store, _) = try await worked(1)
        try await store.record(.set("refused", 1), info: ["screen": "feed"])
        try await store.record(.set("seen", 1))
        let rejection = Rejection(code: "no", message: "it is not yours")
        for number in [2, 3] as [IntentNumber] {
            try await store.reject(number, code: "no", message: "it is not yours")
        }
        try await store.dismiss(3)
        let me = store.status.replica
        let server = Self.empty("second")
        let (next, brought) = try await continued(store, from: server, .pending)
        #expect(brought.counts == [0, 0, 1, 1, 0])
        let intent = try next.intent(try #require(next.rejections.first))
        #expect(next.rejections.count == 1 && intent.rejection == rejection)
        #expect(intent.event == .set("refused", 1) && intent.once == "\(me).2")
        #expect(intent.info == ["screen": "feed"])
        #expect(next.overlay.isEmpty && next.view.cells.isEmpty)
        try await next.exchangeAll(with: server, policy: Self.policy)
        #expect(server.events.isEmpty)
        // The user can still change it and send it.
        try await next.retry(intent.id.number, with: .set("better", 2))
        try await next.exchangeAll(with: server, policy: Self.policy)
        #expect(server.state.cells == ["better": 2])
        let old = try await kept(brought)
        #expect(try await next.bring(.pending, from: old).counts == [0, 0, 0, 1, 0])
        #expect(next.rejections.isEmpty && next.overlay.isEmpty)
        await old.close()
        await next.close()
    }

    /// The log's kind is that of the storage for tests. Bringing does not depend on it.
    @Test func `N6: a rejected intent and its rejection are one transaction`() async throws {
        let storage = TestStorage()
        let next = try await storage.store(Board.self)
        let (store, _) = try await worked(1)
        try await store.record(.set("refused", 1))
        try await store.reject(2, message: "no")
        let work = try SupersededWork(of: store)
        _ = try await next.bring(.pending, of: work, from: store, isFilling: true)
        #expect(storage.writeSizes == [2])
        #expect(next.rejections == [1] && next.overlay.isEmpty)
        await store.close()
        await next.close()
    }

    @Test func `N6: F6: a rejected intent that a late event names is brought once`() async throws {
        let (store, _) = try await worked(1)
        try await store.record(.set("refused", 1))
        try await store.reject(2, message: "no")
        let id = IntentID(replica: store.status.replica, number: 2)
        try await store.confirm(
            [ConfirmedEvent(position: 1, event: .set("refused", 1), origin: id)], through: 9,
            from: Self.lineage("first"))
        let (next, brought) = try await continued(
            store, from: Self.empty("second"), .pendingAndConfirmed)
        #expect(brought.counts == [0, 1, 1, 1, 0])
        #expect(next.rejections.count == 1 && next.view.cells == ["k1": 1])
        await next.close()
    }

    @Test(arguments: [false, true])
    func `N6: a rejection that was dismissed meanwhile is dismissed in the new log`(
        isInUse: Bool
    ) async throws {
        let (store, _) = try await worked(1)
        try await store.record(.set("refused", 1))
        try await store.reject(2, message: "no")
        let server = Self.empty("second")
        if isInUse {
            let (next, brought) = try await continued(store, from: server, .pending)
            #expect(next.rejections.count == 1)
            let old = try await kept(brought)
            try await old.dismiss(2)
            _ = try await next.bring(.pending, from: old)
            #expect(next.rejections.isEmpty)
            await old.close()
            return await next.close()
        }
        try await interrupt(store, .pending)
        try await store.dismiss(2)
        let (next, brought) = try await continued(store, from: server, .pending)
        #expect(next.rejections.isEmpty && brought.rejections == 0)
        await next.close()
    }

    // MARK: Calls that were cut off

    @Test func `N6: an interrupted call that brought less is completed in order`() async throws {
        let (store, first) = try await worked(3)
        try await store.record(.set("pending", 1))
        try await store.record(.set("refused", 1))
        try await store.reject(5, message: "no")
        let me = store.status.replica
        try await interrupt(store, .pending)
        let restored = first.copy(keeping: 1, lineage: Self.lineage("second"))
        let (next, brought) = try await continued(store, from: restored, .pendingAndConfirmed)
        #expect(next.overlay.map(\.once) == [2, 3, 4].map { "\(me).\($0)" })
        #expect(next.rejections.count == 1)
        #expect(brought.counts == [1, 2, 1, 2, 0])
        await next.close()
    }

    @Test func `N6: an interrupted call that brought more is corrected`() async throws {
        let (store, _) = try await worked(2)
        try await store.record(.set("pending", 1))
        try await interrupt(store, .pendingAndConfirmed)
        let (next, brought) = try await continued(store, from: Self.empty("second"), .pending)
        #expect(next.view.cells == ["pending": 1])
        #expect(brought.counts == [1, 0, 0, 2, 0])
        await next.close()
    }

    /// The authority that answered late is the old one.
    @Test func `N6: an intent whose rejection was overridden meanwhile is brought`() async throws {
        let (store, _) = try await worked(1)
        try await store.record(.set("a", 1))
        try await store.reject(2, message: "no")
        try await interrupt(store, .pending)
        try await store.acknowledge(2, position: 99)
        let (next, brought) = try await continued(store, from: Self.empty("second"), .pending)
        #expect(next.view.cells == ["a": 1] && next.rejections.isEmpty)
        #expect(brought.counts == [1, 0, 0, 1, 0])
        await next.close()
    }

    // MARK: Drafts and undo

    private static let begun = Attempt(count: 1, startedAt: Timestamp(millisecondsSince1970: 1))

    @Test func `drafts, groups and undoings come along to the new log`() async throws {
        let (store, _) = try await worked(1)
        try await store.record(.set("draft", 1), replacing: "composer", held: true)
        try await store.record(contentsOf: [.set("a", 1), .set("b", 1)])
        _ = try await store.recordAttempts([3: Self.begun], flushes: false)
        try await store.undo(3)
        #expect(store.overlay.map(\.number) == [2, 3, 5])
        let (next, brought) = try await continued(store, from: Self.empty("second"), .pending)
        #expect(brought.counts == [3, 0, 0, 1, 0])
        #expect(next.status.heldCount == 1 && next.overlay[0].replacingKey == "composer")
        #expect(next.overlay.map(\.group) == [nil, 2, nil])
        #expect(next.overlay.map(\.undoes) == [nil, nil, 2])
        #expect(next.view.cells == ["draft": 1])
        // It stays undone, and can be edited.
        #expect(try await next.redo(2).withdrawn == [3])
        try await next.record(.set("draft", 2), replacing: "composer", held: true)
        #expect(next.view.cells == ["draft": 2, "a": 1])
        await next.close()
    }

    @Test func `what undoes an intent that stays behind stays behind`() async throws {
        let (store, _) = try await worked(2)
        try await store.undo(1)
        try await store.undo(2)
        let (next, brought) = try await continued(store, from: Self.empty("second"), .pending)
        #expect(next.overlay.isEmpty && brought.pending == 0)
        await next.close()
    }

    @Test func `a draft that was released meanwhile is released in the new log`() async throws {
        let (store, _) = try await worked(1)
        try await store.record(.set("a", 1), held: true)
        try await interrupt(store, .pending)
        try await store.release(2)
        let (next, _) = try await continued(store, from: Self.empty("second"), .pending)
        #expect(next.status.heldCount == 0 && next.status.pendingCount == 1)
        await next.close()
    }

    @Test func `an intent and what undoes it are brought again after a call that was cut off`()
        async throws
    {
        let (store, first) = try await worked(2)
        try await store.record(.set("a", 1))
        _ = try await store.recordAttempts([3: Self.begun], flushes: false)
        try await store.undo(3)
        try await interrupt(store, .pending)
        let restored = first.copy(keeping: 1, lineage: Self.lineage("second"))
        let (next, brought) = try await continued(store, from: restored, .pendingAndConfirmed)
        #expect(brought.pending == 2 && brought.confirmed == 1)
        #expect(next.view.cells == ["k1": 1, "k2": 2])
        await next.close()
    }

    @Test func `what was withdrawn and redone is brought`() async throws {
        let (store, _) = try await worked(1)
        try await store.record(.set("a", 1))
        try await store.undo(2)
        try await store.redo(2)
        let (next, brought) = try await continued(store, from: Self.empty("second"), .pending)
        #expect(brought.pending == 1 && next.view.cells == ["a": 1])
        await next.close()
    }

    @Test func `what undoes an intent that the authority has is sent to it`() async throws {
        let (store, first) = try await worked(2)
        try await store.undo(1)
        let restored = first.copy(keeping: 1, lineage: Self.lineage("second"))
        let (next, brought) = try await continued(store, from: restored, .pendingAndConfirmed)
        #expect(brought.counts == [1, 1, 0, 1, 0])
        #expect(next.view.cells == ["k2": 2])
        await next.close()
    }
}

extension BroughtWork {
    /// Pending, confirmed, rejections, lacking, unknown.
    fileprivate var counts: [Int] { [pending, confirmed, rejections, lacking, unknown] }
}

extension TemporaryDirectory {
    fileprivate var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
    }
}
