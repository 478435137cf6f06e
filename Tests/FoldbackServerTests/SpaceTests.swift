import Foldback
import FoldbackServer
import FoldbackSync
import FoldbackTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Question: does a space decide each intent once, in one order, and keep what it has answered?
@Suite struct SpaceTests {
    private let directory = TemporaryDirectory()

    private func open(_ rules: BoardRules = BoardRules()) async throws -> Space<BoardRules> {
        try await Space.open(at: directory.url, rules: rules)
    }

    @Test func `N1: a space decides by the app's rules and its own apply`() async throws {
        let space = try await open()
        let ann = space.authority(for: .ann)
        let answer = try await ann.submit([
            sent(1, .set("a", 1)), sent(2, .set("no", 1)), sent(3, .set("double", 2)),
            sent(4, .set("nothing", 1)), sent(5, .add("absent", 1)), sent(6, .add("a", 1)),
        ])
        #expect(answer[id(1)] == .accepted(position: 2, replacement: nil))
        #expect(answer[id(2)] == .rejected(Rejection(code: "no", message: "never")))
        guard case .accepted(2, .recorded(let bytes)) = answer[id(3)] else {
            Issue.record("\(answer)")
            return
        }
        #expect(try Board.codec.encode(.set("double", 4)) == bytes.bytes)
        #expect(answer[id(4)] == .accepted(position: 2, replacement: nil))
        #expect(
            answer[id(5)] == .rejected(Rejection(code: "inapplicable", message: "absent is absent"))
        )
        #expect(answer[id(6)] == .accepted(position: 2, replacement: nil))
        #expect(answer.head == 2 && answer.lineage == space.lineage)
        #expect(space.store.view.state.cells == ["a": 2, "double": 4])
        await space.close()
    }

    @Test func `N4: a repeated intent gets its first verdict, also after a restart`() async throws {
        let intents = [
            sent(1, .set("a", 1)), sent(2, .set("no", 1)), sent(3, .set("double", 2)),
            sent(4, .set("nothing", 1)), sent(5, .add("absent", 1)),
        ]
        let space = try await open()
        let first = try await space.authority(for: .ann).submit(intents)
        _ = try await space.authority(for: .ann).submit([sent(6, .set("absent", 1))])
        let again = try await space.authority(for: .ann).submit(intents)
        #expect(again.byIntent == first.byIntent)
        let other = try await space.authority(for: .ann).submit([sent(2, .set("a", 9))])
        guard case .rejected(let rejection) = other[id(2)] else {
            Issue.record("\(other)")
            return
        }
        #expect(rejection.code == "id-reused")
        await space.close()
        let reopened = try await open()
        let later = try await reopened.authority(for: .ann).submit(intents)
        #expect(later.byIntent == first.byIntent && later.lineage == first.lineage)
        #expect(reopened.store.view.state.cells == ["a": 1, "double": 4, "absent": 1])
        #expect(try await reopened.store.verify().isSound)
        await reopened.close()
    }

    @Test func `N4: a request with an id twice, or out of order, is refused whole`() async throws {
        let space = await Space.inMemory(rules: BoardRules())
        for numbers in [[1, 1], [2, 1]] as [[UInt64]] {
            let intents = numbers.map { sent($0, .set("a", Int($0))) }
            await #expect(throws: AuthorityFailure.self) {
                try await space.authority(for: .ann).submit(intents)
            }
        }
        #expect(space.store.view.state.cells.isEmpty)
    }

    @Test func `N5: the first postponed intent ends its request, and nothing is kept of it`()
        async throws
    {
        let space = await Space.inMemory(rules: BoardRules())
        let answer = try await space.authority(for: .ann).submit([
            sent(1, .set("a", 1)), sent(2, .set("later", 1)), sent(3, .set("a", 3)),
        ])
        #expect(answer[id(2)] == .later(after: .seconds(5), reason: "not now"))
        #expect(answer.byIntent.count == 2)
        #expect(space.store.view.state.cells == ["a": 1])
    }

    @Test func `N5: a postponed intent holds up no other lane of its request`() async throws {
        let space = await Space.inMemory(rules: BoardRules())
        let answer = try await space.authority(for: .ann).submit([
            sent(1, .set("later", 1), lane: 0), sent(2, .set("a", 2), lane: 1),
            sent(3, .set("b", 3), lane: 0), sent(4, .set("no", 4), lane: 1),
            sent(5, .set("c", 5), lane: 1), sent(6, .set("d", 6), lane: 2),
        ])
        #expect(Set(answer.byIntent.keys) == Set([1, 2, 4, 5, 6].map { id($0) }))
        #expect(space.store.view.state.cells == ["a": 2, "c": 5, "d": 6])
    }

    /// Keeps the time that it is given in an event.
    private final class TimedRules: Rules {
        let callCount = Mutex(0)

        func decide(
            _ intent: Submission<Move>, by account: Account, on board: Board, at time: Timestamp
        ) -> Ruling<Move> {
            callCount.withLock { $0 += 1 }
            return .reword(.set("time", Int(time.millisecondsSince1970)))
        }

        func access(of account: Account, to space: SpaceName) async -> Bool { true }
    }

    @Test func `N7: rules get the server's time, and replay asks no rules`() async throws {
        let rules = TimedRules()
        var sources = SyncSources.system
        sources.now = { Timestamp(millisecondsSince1970: 77) }
        let space = try await Space.open(at: directory.url, rules: rules, sources: sources)
        // The device's clock says 1970.
        _ = try await space.authority(for: .ann).submit([sent(1, .set("a", 1))])
        #expect(space.store.view.state.cells == ["time": 77])
        await space.close()
        sources.now = { Timestamp(millisecondsSince1970: 99) }
        let reopened = try await Space.open(at: directory.url, rules: rules, sources: sources)
        #expect(try await reopened.store.verify().isSound)
        _ = try await reopened.authority(for: .ann).submit([sent(1, .set("a", 1))])
        #expect(reopened.store.view.state.cells == ["time": 77])
        #expect(rules.callCount.withLock { $0 } == 1)
        await reopened.close()
    }

    @Test func `N8: an account sees its own effects, and others what the rules show`() async throws
    {
        let space = await Space.inMemory(rules: BoardRules())
        _ = try await space.authority(for: .ann).submit([
            sent(1, .set("secret", 1)), sent(2, .set("a", 1)),
        ])
        let own = try await space.authority(for: .ann).changes(after: 0)
        let other = try await space.authority(for: .ben).changes(after: 0)
        #expect(own.events.map(\.origin) == [id(1), id(2)])
        #expect(other.events.map(\.origin) == [id(2)])
        #expect(own.through == 2 && other.through == 2 && !other.hasMore)
    }

    @Test func `N10: a replica belongs to the account that used it first`() async throws {
        let space = try await open()
        _ = try await space.authority(for: .ann).submit([sent(1, .set("a", 1))])
        func refused(_ space: Space<BoardRules>) async {
            await #expect(throws: AuthorityFailure.self) {
                try await space.authority(for: .ben).submit([sent(2, .set("a", 2))])
            }
        }
        await refused(space)
        await space.close()
        let reopened = try await open(BoardRules(refused: ["cem"]))
        await refused(reopened)
        let own = IntentID(replica: reopened.store.status.replica, number: 1)
        await #expect(throws: AuthorityFailure.self) {
            try await reopened.authority(for: .ben).submit([
                Submission(id: own, event: .set("a", 3))
            ])
        }
        await #expect(throws: AuthorityFailure.self) {
            try await reopened.authority(for: Account("cem")!).changes(after: 0)
        }
        #expect(reopened.store.view.state.cells == ["a": 1])
        await reopened.close()
    }

    @Test func `N10: of two accounts that use a new replica at once, one gets it`() async throws {
        for _ in 0..<20 {
            let space = await Space.inMemory(rules: BoardRules())
            let answers = await withTaskGroup(of: Verdicts<Move>?.self) { group in
                for (account, value) in [(Account.ann, 1), (.ben, 2)] {
                    group.addTask {
                        try? await space.authority(for: account).submit([sent(1, .set("a", value))])
                    }
                }
                return await group.reduce(into: [Verdicts<Move>]()) { answers, answer in
                    if let answer { answers.append(answer) }
                }
            }
            #expect(answers.map(\.byIntent.count) == [1])
            #expect(space.head == 2)
        }
    }

    @Test func `N6: a copy has a new lineage, unless it is adopted`() async throws {
        let space = try await open()
        let lineage = space.lineage
        let answer = try await space.authority(for: .ann).submit([sent(1, .set("a", 1))])
        await space.close()
        for isAdopted in [true, false] {
            let copy = TemporaryDirectory()
            try FileManager.default.removeItem(at: copy.url)
            try FileManager.default.copyItem(at: directory.url, to: copy.url)
            let restored = try await Space.open(
                at: copy.url, rules: BoardRules(), adopting: isAdopted)
            #expect((restored.lineage == lineage) == isAdopted)
            let again = try await restored.authority(for: .ann).submit([sent(1, .set("a", 1))])
            #expect(again.byIntent == answer.byIntent)
            let device = SyncPoint(lineage: lineage, through: 2)
            if isAdopted {
                #expect(try await restored.authority(for: .ann).changes(after: device).through == 3)
            } else {
                await #expect(throws: AuthorityFailure.superseded(shared: 0)) {
                    try await restored.authority(for: .ann).changes(after: device)
                }
            }
            await restored.close()
            let reopened = try await Space.open(at: copy.url, rules: BoardRules())
            #expect(reopened.lineage == restored.lineage)
            await reopened.close()
        }
    }

    @Test func `N11: requests that wait share groups, and each group is one position`() async throws
    {
        let space = try await open()
        let answers = try await withThrowingTaskGroup(of: Verdicts<Move>.self) { group in
            for device in 1...40 {
                group.addTask {
                    try await space.authority(for: .ann).submit(
                        (1...20).map { sent($0, .set("d\(device)", Int($0)), of: "\(device)") })
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.allSatisfy { $0.byIntent.count == 20 })
        #expect(space.store.view.state.cells.count == 40)
        #expect(space.head.value < 41)
        var (events, through) = ([] as [IntentID?], 0 as Position)
        while true {
            let page = try await space.authority(for: .ben).changes(after: through)
            #expect(page.events.count <= 256)
            events += page.events.map(\.origin)
            through = page.through
            if !page.hasMore { break }
        }
        #expect(events.count == 800 && Set(events).count == 800 && through == space.head)
        await space.close()
    }

    @Test func `a canceled request holds up no other`() async throws {
        let space = try await open()
        for round in 1...20 {
            let tasks = (1...8).map { device in
                Task {
                    try await space.authority(for: .ann).submit([
                        sent(UInt64(round), .set("d\(device)", round), of: "\(device)")
                    ])
                }
            }
            tasks.prefix(4).forEach { $0.cancel() }
            for task in tasks.dropFirst(4) { #expect(try await task.value.byIntent.count == 1) }
            for task in tasks { _ = await task.result }
        }
        for device in 5...8 { #expect(space.store.view.state.cells["d\(device)"] == 20) }
        await space.close()
    }

    @Test func `a long poll ends with the first event that it shows, or with the space`()
        async throws
    {
        let space = try await open()
        let device = SyncPoint(lineage: nil, through: space.head)
        let poll = Task {
            try await space.authority(for: .ben).changes(after: device, waiting: .seconds(50))
        }
        _ = try await space.authority(for: .ann).submit([sent(1, .set("secret", 1))])
        _ = try await space.authority(for: .ann).submit([sent(2, .set("a", 1))])
        let page = try await poll.value
        #expect(page.events.map(\.origin) == [id(2)])
        let last = Task {
            try await space.authority(for: .ben).changes(
                after: SyncPoint(lineage: nil, through: page.through), waiting: .seconds(50))
        }
        await space.close()
        await #expect(throws: AuthorityFailure.self) { try await last.value }
    }

    @Test func `an outbox and a downlink work against a space`() async throws {
        let space = try await open()
        let stores = ["a", "b"].map { name in
            Store.inMemory(Board.self, confirmedBy: .downlink, replica: ReplicaID(name)!)
        }
        for (number, store) in stores.enumerated() {
            _ = try await store.record(.set("x\(number)", 1))
            _ = try await store.record(.set("double", 1 + number))
            _ = try await store.record(.set("no", 1))
            _ = try await store.record(.set("nothing", 1))
            let authority = space.authority(for: .ann)
            let outbox = Outbox(store, to: authority, policy: .ordered)
            let sending = Task { try await outbox.run() }
            while store.status.pendingCount > 0 { try await Task.sleep(for: .milliseconds(5)) }
            sending.cancel()
            try await sending.value
        }
        for store in stores {
            let downlink = Downlink(store, from: space.authority(for: .ann), policy: .ordered)
            _ = try await downlink.fetch()
            #expect(store.overlay.isEmpty && store.rejections.count == 1)
            #expect(store.view == space.store.view.state)
        }
        #expect(space.store.view.state.cells == ["x0": 1, "x1": 1, "double": 4])
        await space.close()
    }
}
