import Foldback
import FoldbackSync
import FoldbackTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// These tests come from an app whose development server lost its data at each restart: its intents
/// counted as confirmed, and no server had them.
///
/// Property: nothing counts as confirmed that the present authority does not have (N6). Continuing
/// on a new log loses no intent and sends none twice.
@Suite struct SupersededTests {
    private let directory = TemporaryDirectory()

    private static let policy = SyncPolicy(
        intentsPerRequestMax: 3, requestsMax: 1, backoffMin: .seconds(1), backoffMax: .seconds(8),
        delayMax: .seconds(60))

    private static func lineage(_ name: String) -> Lineage { Lineage(name)! }

    @Sendable private static func open(_ url: URL) async throws(LogError) -> Store<Board> {
        try await Store.open(
            at: url, Board.self, confirmedBy: .downlink, durability: .relaxed)
    }

    private static func event(_ position: UInt64, _ move: Move) -> ConfirmedEvent<Move> {
        ConfirmedEvent(position: Position(position), event: move)
    }

    /// Returns a store that has fetched `count` events of an authority, and the authority.
    private func synced(
        _ count: Int, lineage: String = "first"
    ) async throws -> (Store<Board>, InProcessAuthority<Board>) {
        let authority = InProcessAuthority(Board.self, lineage: Self.lineage(lineage))
        for number in 1...count {
            let id = IntentID(
                replica: ReplicaID("other")!, number: IntentNumber(UInt64(number)))
            _ = try await authority.submit([Submission(id: id, event: .set("k\(number)", number))])
        }
        let store = try await Self.open(directory.log)
        _ = try await Downlink(store, from: authority, policy: Self.policy).fetch()
        return (store, authority)
    }

    // MARK: The log

    @Test func `N6: the log keeps the first lineage, and refuses the answers of all others`()
        async throws
    {
        let other = Self.lineage("other")
        var store = try await Self.open(directory.log)
        #expect(store.syncPoint == SyncPoint(lineage: nil, through: 0))
        try await store.confirm([Self.event(1, .set("a", 1))], from: Self.lineage("first"))
        for _ in 1...2 {
            #expect(store.syncPoint == SyncPoint(lineage: Self.lineage("first"), through: 1))
            #expect(store.status.lineage == Self.lineage("first"))
            let before = store.status.sequence
            let number = try await store.record(.set("b", 1)).number
            await expectSuperseded(0) {
                try await store.confirm([Self.event(9, .set("a", 9))], from: other)
            }
            await expectSuperseded(0) {
                try await store.acknowledge(
                    contentsOf: [Acknowledgement(number, position: 1)], from: other)
            }
            await expectSuperseded(0) {
                try await store.reject(number, message: "no", from: other)
            }
            #expect(store.status.sequence == before.next)
            #expect(store.snapshot.pending == [number])
            try await store.withdraw(number)
            #expect(try await store.verify().findings == [])
            await store.close()
            store = try await Self.open(directory.log)
        }
        await store.close()
    }

    @Test func `N6: an answer that is refused notes no lineage`() async throws {
        let store = try await Self.open(directory.log)
        await #expect(throws: CommandError.self) {
            try await store.reject(7, message: "no", from: Self.lineage("first"))
        }
        #expect(store.syncPoint.lineage == nil)
        try await store.confirm([], through: 1, from: Self.lineage("second"))
        #expect(store.syncPoint.lineage == Self.lineage("second"))
        await store.close()
    }

    @Test func `N6: a damaged lineage is an error, and a newer format is refused`() async throws {
        let store = Store.inMemory(
            Board.self, confirmedBy: .downlink, replica: ReplicaID("me"), sources: .counting())
        try await store.confirm([], through: 3, from: Self.lineage("first"))
        let rows = try #require(store.memoryRows)
        for (bytes, isDamage) in [([1, 2, 3] as [UInt8], true), (Self.newer, false)] {
            let log = MemoryLog(rows)
            try log.write([TableWrite(.log, .bytes(Lineage.key), bytes)])
            let error = #expect(throws: LogError.self) { try log.lineage() }
            switch error {
            case .damaged?: #expect(isDamage)
            case .newerFormat?: #expect(!isDamage)
            default: Issue.record("\(String(describing: error))")
            }
        }
    }

    private static var newer: [UInt8] { newerRow(Lineage.key) }

    private static func newerRow(_ key: KeyBytes) -> [UInt8] {
        var writer = ByteWriter()
        writer.fixed(UInt8(2))
        _ = writer.seal(seed: key.bytes.withUnsafeBytes { Checksum.of($0, seed: 0) })
        return writer.bytes
    }

    @Test func `N6: a damaged row of continued logs is found, and a newer format is refused`()
        async throws
    {
        let key = ContinuedIntents.key
        let span = ContinuedIntents.Span(replica: try #require(ReplicaID("a")), first: 1, next: 4)
        let intents = ContinuedIntents([span])
        #expect(try ContinuedIntents(decoding: intents.encoded) == intents)
        let later = ContinuedIntents.Span(replica: try #require(ReplicaID("b")), first: 1, next: 3)
        var both = ContinuedIntents([span, later])
        let (old, new) = (
            IntentID(replica: span.replica, number: 3), IntentID(replica: later.replica, number: 2)
        )
        both.note(old, againAs: new)
        both.note(old, againAs: IntentID(replica: later.replica, number: 9))
        #expect(try ContinuedIntents(decoding: both.encoded) == both)
        #expect(both.allIDs(of: [old]) == [old, new] && both.allIDs(of: [new]) == [new])
        #expect(
            [0, 1, 3, 4].map { intents.has(IntentID(replica: span.replica, number: $0)) }
                == [false, true, true, false])
        let store = Store.inMemory(
            Board.self, confirmedBy: .downlink, replica: ReplicaID("me"), sources: .counting())
        try await store.record(.set("a", 1))
        let rows = try #require(store.memoryRows)
        for (bytes, isDamage) in [([1, 2, 3] as [UInt8], true), (Self.newerRow(key), false)] {
            let log = MemoryLog(rows)
            try log.write([TableWrite(.log, .bytes(key), bytes)])
            let error = #expect(throws: LogError.self) { try log.continuedIntents() }
            switch error {
            case .damaged?: #expect(isDamage)
            case .newerFormat?: #expect(!isDamage)
            default: Issue.record("\(String(describing: error))")
            }
            let reopened = try Store.inMemory(
                Board.self, reopening: log.rows, sources: .counting())
            #expect(reopened.snapshot.pending == [1])
            if isDamage { #expect(try await reopened.verify().findings.count == 1) }
        }
    }

    // MARK: The outbox and the downlink

    @Test(arguments: [true, false])
    func `N6: a server that lost its data supersedes the log, and confirms nothing`(
        answersNothing: Bool
    ) async throws {
        let (store, _) = try await synced(6)
        try await store.record(.set("mine", 1))
        // The server restarts with empty data, and names another lineage.
        let empty = InProcessAuthority(Board.self, lineage: Self.lineage("second"))
        let server: any Authority<Move> =
            answersNothing ? StubAuthority([], lineage: Self.lineage("second")) : empty
        let outbox = Outbox(store, to: server, policy: Self.policy)
        await expectSuperseded(0) { try await outbox.run() }
        #expect(outbox.status.pause == .superseded(shared: 0))
        await expectSuperseded(0) {
            _ = try await Downlink(store, from: empty, policy: Self.policy).fetch()
        }
        #expect(store.snapshot.pending == [1])
        #expect(store.status.through == 6)
        #expect(empty.events.isEmpty)
        await store.close()
    }

    @Test func `N6: a head below the request's position supersedes the log`() async throws {
        let (store, _) = try await synced(6)
        try await store.record(.set("mine", 1))
        let lineage = Self.lineage("first")
        let sequence = store.status.sequence
        let server = StubAuthority<Move>(
            [], pages: [Changes(events: [], through: 4, hasMore: false, head: 4)],
            lineage: lineage, head: 4)
        let outbox = Outbox(store, to: server, policy: Self.policy)
        await expectSuperseded(4) { try await outbox.run() }
        #expect(outbox.status.pause == .superseded(shared: 4))
        await expectSuperseded(4) {
            _ = try await Downlink(store, from: server, policy: Self.policy).fetch()
        }
        #expect(store.status.sequence == sequence && store.snapshot.pending == [1])
        await store.close()
    }

    @Test func `the error says how to continue`() {
        let text = "\(CommandError.superseded(shared: 0))"
        #expect(text.contains("continueOnNewLog") && text.contains("nothing was recorded"))
    }

    // MARK: Continuing

    @Test func `N6: unsettled intents continue on a new log in the same place`() async throws {
        let (store, _) = try await synced(2)
        try await store.record(.set("known", 1))
        try await store.record(.set("lost", 2), info: ["screen": "feed"])
        try await store.record(.claim("quiet"), confirmOnly: true)
        try await store.record(.set("accepted", 4))
        try await store.acknowledge(4, position: 99)
        try await store.record(.add("nowhere", 1), force: true)
        let me = store.status.replica
        // The restored server has the first intent, and not the others.
        let restored = InProcessAuthority(Board.self, lineage: Self.lineage("second"))
        let first = IntentID(replica: me, number: 1)
        _ = try await restored.submit([Submission(id: first, event: .set("known", 1))])

        _ = store.noteSuperseded(shared: 0)
        let next = try await store.continuedLog(
            from: restored, policy: Self.policy, opening: Self.open)
        #expect(next.status.path == store.status.path && next.status.replica != me)
        #expect(next.syncPoint == SyncPoint(lineage: Self.lineage("second"), through: 1))
        #expect(next.overlay.map(\.once) == ["2", "3", "4", "5"].map { "\(me).\($0)" })
        #expect(next.overlay.map(\.isConfirmOnly) == [false, true, false, false])
        #expect(next.overlay.first?.info == ["screen": "feed"])
        #expect(next.overlay.map(\.state) == [.pending, .pending, .pending, .pending])
        #expect(next.view.cells == ["known": 1, "lost": 2, "accepted": 4])
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).count == 2)
        try await next.exchangeAll(with: restored, policy: Self.policy)
        #expect(next.view == restored.state && next.overlay.isEmpty)
        #expect(restored.events.compactMap(\.origin).count == restored.events.count)
        #expect(try await next.verify().findings == [])
        await next.close()
    }

    @Test func `N6: an event that this code cannot read continues byte for byte`() async throws {
        let old = Store.inMemory(
            Board.self, confirmedBy: .downlink, replica: ReplicaID("me"), sources: .counting())
        try await old.record(.set("a", 10))
        try await old.record(.set("b", 1))
        let bytes = try #require(old.pendingIntent(1)).recorded.payload.bytes
        let rows = try #require(old.memoryRows)
        let blind = try Store.inMemory(
            ShortSightedBoard.self, reopening: rows, sources: .counting())
        let next = Store.inMemory(
            ShortSightedBoard.self, confirmedBy: .downlink, replica: ReplicaID("next"),
            sources: .counting())
        let brought = try await next.bring(.pending, from: blind)
        #expect(brought.pending == 2)
        #expect(next.view.value("b") == 1)
        let payload = try #require(next.core.published.overlay[1]).payload
        #expect(payload.isUnreadable && payload.bytes == bytes)
    }

    @Test func `N6: an interrupted call is continued, and corrects what it finds`() async throws {
        let (store, _) = try await synced(1)
        try await store.record(.set("a", 1))
        try await store.record(.set("b", 2))
        let me = store.status.replica
        let server = InProcessAuthority(Board.self, lineage: Self.lineage("second"))
        // The interrupted call: it has carried both intents, and has not exchanged the logs.
        let beside = try await Self.open(
            URL(filePath: SuccessorLog.path(of: store.status.path)))
        _ = try await beside.bring(
            .pending, of: try SupersededWork(of: store), from: store, isFilling: true)
        await beside.close()
        // Since then, the server got the first intent, and the second one was rejected.
        let first = IntentID(replica: me, number: 1)
        _ = try await server.submit([Submission(id: first, event: .set("a", 1))])
        try await store.reject(2, message: "no")
        try await store.record(.set("c", 3))
        _ = store.noteSuperseded(shared: 0)
        let next = try await store.continuedLog(
            from: server, policy: Self.policy, opening: Self.open)
        #expect(next.overlay.map(\.once) == ["\(me).3"])
        #expect(next.view.cells == ["a": 1, "c": 3])
        await next.close()
    }

    @Test func `N6: a new log that was begun with another server is begun again`() async throws {
        let (store, _) = try await synced(1)
        try await store.record(.set("a", 1))
        let beside = try await Self.open(
            URL(filePath: SuccessorLog.path(of: store.status.path)))
        try await beside.confirm(
            [Self.event(1, .set("stale", 1))], from: Self.lineage("second"))
        await beside.close()
        let server = InProcessAuthority(Board.self, lineage: Self.lineage("third"))
        _ = store.noteSuperseded(shared: 0)
        let next = try await store.continuedLog(
            from: server, policy: Self.policy, opening: Self.open)
        #expect(next.view.cells == ["a": 1])
        await next.close()
    }

    @Test func `N6: if fetching fails, the superseded log stays as it was`() async throws {
        let (store, _) = try await synced(1)
        try await store.record(.set("a", 1))
        let server = FaultyAuthority(InProcessAuthority(Board.self)) { _ in .unauthenticated }
        _ = store.noteSuperseded(shared: 0)
        let result = try await store.continueOnNewLog(
            from: server, policy: Self.policy, bringing: .pending, opening: Self.open)
        guard case .failed(.unauthenticated) = result else {
            Issue.record("\(result)")
            return
        }
        try await store.record(.set("b", 2))
        #expect(store.snapshot.pending == [1, 2])
        await store.close()
    }

    @Test func `N6: another lineage shares nothing, whatever its head is`() async throws {
        let (store, _) = try await synced(6)
        try await store.record(.set("mine", 1))
        let server = StubAuthority<Move>([], lineage: Self.lineage("second"), head: 4)
        await expectSuperseded(0) {
            try await Outbox(store, to: server, policy: Self.policy).run()
        }
        await expectSuperseded(0) {
            _ = try await Downlink(store, from: server, policy: Self.policy).fetch()
        }
        await store.close()
    }

    @Test func `N6: a log that acknowledgements confirm is not continued`() async throws {
        let store = Store.inMemory(
            Board.self, confirmedBy: .acknowledgement, replica: ReplicaID("me"),
            sources: .counting())
        try await store.record(.set("a", 1))
        _ = store.noteSuperseded(shared: 0)
        let server = InProcessAuthority(Board.self, lineage: Self.lineage("second"))
        do {
            _ = try await store.continueOnNewLog(
                from: server, policy: Self.policy, bringing: .pending, opening: Self.open)
            Issue.record("nothing was thrown")
        } catch SyncError.log(.kindDiffers) {
            #expect(store.snapshot.pending == [1])
        }
    }

    @Test func `N6: an outbox and a continuation exclude each other`() async throws {
        let time = VirtualTime()
        try await time.run {
            let store = Store.inMemory(
                Board.self, confirmedBy: .downlink, replica: ReplicaID("me"), sources: .counting())
            let server = InProcessAuthority(Board.self, lineage: Self.lineage("second"))
            let outbox = Outbox(store, to: server, policy: Self.policy, sources: time.sources)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await outbox.run() }
                try await time.wait { outbox.status.pause == nil }
                do {
                    _ = try await store.continueOnNewLog(
                        from: server, policy: Self.policy, bringing: .pending,
                        sources: time.sources, opening: Self.open)
                    Issue.record("nothing was thrown")
                } catch SyncError.alreadyRunning {
                    group.cancelAll()
                }
            }
        }
    }

    /// An app whose developer switches between two servers. Its replicas' names have spaces.
    @Test func `N6: an intent that continued twice is known by each of its ids`() async throws {
        let first = InProcessAuthority(Board.self, lineage: Self.lineage("first"))
        let open = { @Sendable (url: URL) async throws(LogError) -> Store<Board> in
            try await Store.open(
                at: url, Board.self, confirmedBy: .downlink, durability: .relaxed,
                replica: .named("my phone"))
        }
        let store = try await open(directory.log)
        try await store.confirm([], through: 0, from: Self.lineage("first"))
        try await store.record(.set("a", 1))
        let id = IntentID(replica: store.status.replica, number: 1)
        // The first server got the intent, and its answer was lost.
        _ = try await first.submit([Submission(id: id, event: .set("a", 1))])
        var now = store
        for server in [InProcessAuthority(Board.self, lineage: Self.lineage("second")), first] {
            _ = now.noteSuperseded(shared: 0)
            now = try await now.continuedLog(from: server, policy: Self.policy, opening: open)
        }
        #expect(now.overlay.isEmpty && now.view == first.state)
        await now.close()
    }

    @Test func `N6: a log that is not superseded is not continued`() async throws {
        let (store, authority) = try await synced(2)
        try await store.record(.set("a", 1))
        for isNoted in [false, true] {
            if isNoted { _ = store.noteSuperseded(shared: 0) }
            let result = try await store.continueOnNewLog(
                from: authority, policy: Self.policy, bringing: .pending, opening: Self.open)
            guard case .notSuperseded = result else {
                Issue.record("\(result)")
                return
            }
            #expect(store.snapshot.pending == [1])
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == ["log"])
        }
        await store.close()
    }

    /// A server whose backup kept the lineage: the head is as high as before, with other events.
    @Test func `N6: a log whose events the server replaced is continued`() async throws {
        let (store, _) = try await synced(3)
        try await store.record(.set("mine", 1))
        let server = InProcessAuthority(Board.self, lineage: Self.lineage("first"))
        await expectSuperseded(0) {
            _ = try await Downlink(store, from: server, policy: Self.policy).fetch()
        }
        for number in 1...4 as ClosedRange<UInt64> {
            let id = IntentID(replica: ReplicaID("third")!, number: IntentNumber(number))
            _ = try await server.submit([Submission(id: id, event: .set("new", Int(number)))])
        }
        let next = try await store.continuedLog(
            from: server, policy: Self.policy, opening: Self.open)
        #expect(next.view.cells == ["new": 4, "mine": 1])
        await next.close()
    }

    @Test func `N6: a store that was continued is not continued again`() async throws {
        let (store, _) = try await synced(1)
        try await store.record(.set("a", 1))
        _ = store.noteSuperseded(shared: 0)
        let server = InProcessAuthority(Board.self, lineage: Self.lineage("second"))
        let next = try await store.continuedLog(
            from: server, policy: Self.policy, opening: Self.open)
        do {
            _ = try await store.continueOnNewLog(
                from: server, policy: Self.policy, bringing: .pending, opening: Self.open)
            Issue.record("nothing was thrown")
        } catch SyncError.log(.closed) {
            #expect(next.snapshot.pending == [1])
        }
        await next.close()
    }

    /// The pending intent and the confirmed one are both older than the base.
    @Test(arguments: [WorkToBring.pending, .pendingAndConfirmed])
    func `N6, C4: a compacted log is continued, and counts what it cannot bring`(
        _ choice: WorkToBring
    ) async throws {
        var (store, authority) = try await synced(3)
        let mine = try await store.record(.set("mine", 1))
        try await store.record(.set("waiting", 1))
        let sent = Submission(id: mine.id, event: Move.set("mine", 1))
        _ = try await authority.submit([sent])
        for number in 4...8 as ClosedRange<UInt64> {
            let id = IntentID(replica: ReplicaID("other")!, number: IntentNumber(number))
            _ = try await authority.submit([Submission(id: id, event: .set("k", 1))])
            _ = try await Downlink(store, from: authority, policy: Self.policy).fetch()
        }
        await store.close()
        let done = try await Store.compact(
            at: directory.log, Board.self, keeping: .entries(2))
        #expect(done.removed > 5)
        store = try await Self.open(directory.log)
        #expect(store.snapshot.pending == [2])
        let second = InProcessAuthority(Board.self, lineage: Self.lineage("second"))
        await expectSuperseded(0) {
            _ = try await Downlink(store, from: second, policy: Self.policy).fetch()
        }
        let result = try await store.continueOnNewLog(
            from: second, policy: Self.policy, bringing: choice, opening: Self.open)
        guard case .continued(let next, let brought) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(next.view.cells == ["waiting": 1])
        #expect(brought.pending == 1 && brought.confirmed == 0 && brought.unknown == 1)
        try await next.record(.set("more", 1))
        await next.close()
        // Bringing again reads the whole log, so the log stays whole as long as a log is kept.
        let held = try await Store.compact(at: directory.log, Board.self, keeping: .entries(1))
        #expect(held.removed == 0 && held.held.count == 1)
    }

    @Test func `BK7: wiping a log also removes its unfinished successor`() async throws {
        let store = try await Self.open(directory.log)
        let beside = try await Self.open(URL(filePath: SuccessorLog.path(of: store.status.path)))
        await beside.close()
        await store.close()
        try await Store<Board>.wipe(at: directory.log)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == [])
    }
}

/// Expects that `body` throws `.superseded` with this position.
private func expectSuperseded(
    _ shared: Position, _ body: () async throws -> Void,
    sourceLocation: SourceLocation = #_sourceLocation
) async {
    do {
        try await body()
        Issue.record("nothing was thrown", sourceLocation: sourceLocation)
    } catch {
        switch error {
        case SyncError.superseded(let found), CommandError.superseded(let found):
            #expect(found == shared, sourceLocation: sourceLocation)
        default: Issue.record("\(error)", sourceLocation: sourceLocation)
        }
    }
}

/// A board whose code cannot read values of two digits.
struct ShortSightedBoard: Projection {
    static var codec: any EventCodec<Move> { ShortSightedCodec() }
    private var board = Board()

    func value(_ cell: String) -> Int? { board.cells[cell] }

    mutating func apply(_ move: Move, _ context: EventContext) throws {
        try board.apply(move, context)
    }
}
