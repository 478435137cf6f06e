import Foldback
import Foundation
import TestSupport
import Testing

/// Question: does the fold keep its rules? Random tests also check the rules, but do
/// not explain them.
///
/// Each rule has an example here, over both engines, with the state in memory and as rows.
@Suite struct FoldRuleTests {
    let directory = TemporaryDirectory()

    @Test(arguments: Engine.allCases, BoardKeeper.allCases)
    func `F1: folding the same entries again returns the same view`(
        engine: Engine, keeper: BoardKeeper
    ) async throws {
        func check<P: BoardFold>(_ board: P.Type) async throws {
            let store = try await engine.store(board, .downlink, in: directory)
            _ = try await store.record(.claim("a"))
            try await store.confirm([ConfirmedEvent(position: 3, event: .claim("b"))])
            let now = try store.seen()
            let foldedAgain = try await store.snapshot(of: Board.self, at: now.sequence)
            #expect(foldedAgain.view == now.view)
            #expect(foldedAgain.confirmed == now.confirmed)
            await store.close()
        }
        try await check(keeper.type)
    }

    @Test(arguments: Engine.allCases, BoardKeeper.allCases)
    func `F2: one source confirms, and the other source is an error`(
        engine: Engine, keeper: BoardKeeper
    ) async throws {
        func check<P: BoardFold>(_ board: P.Type) async throws {
            let store = try await engine.store(board, .acknowledgement, in: directory)
            let receipt = try await store.record(.set("a", 1))
            let batch = await error { () throws(CommandError) in
                try await store.confirm([ConfirmedEvent(position: 1, event: .set("b", 1))])
            }
            let position = await error { () throws(CommandError) in
                try await store.acknowledge(receipt.number, position: 4)
            }
            #expect(batch?.isInvalidBatch == true)
            #expect(position?.isInvalidBatch == true)
            #expect(store.status.sequence == 1)
            await store.close()
        }
        try await check(keeper.type)
    }

    @Test(arguments: Engine.allCases, BoardKeeper.allCases)
    func `F3: a position at or below through confirms at once and applies nothing`(
        engine: Engine, keeper: BoardKeeper
    ) async throws {
        func check<P: BoardFold>(_ board: P.Type) async throws {
            let store = try await engine.store(board, .downlink, in: directory)
            let receipt = try await store.record(.set("a", 1))
            try await store.confirm([ConfirmedEvent(position: 5, event: .set("a", 9))])
            try await store.acknowledge(receipt.number, position: 5)
            #expect(try store.seen().view.cells == ["a": 9])
            #expect(try store.intent(receipt.number).state == .confirmed)
            await store.close()
        }
        try await check(keeper.type)
    }

    @Test(arguments: Engine.allCases, BoardKeeper.allCases)
    func `F4: the server's words replace the prediction`(
        engine: Engine, keeper: BoardKeeper
    ) async throws {
        func check<P: BoardFold>(_ board: P.Type) async throws {
            let store = try await engine.store(board, .acknowledgement, in: directory)
            let receipt = try await store.record(.set("a", 1))
            try await store.acknowledge(receipt.number, replacement: .set("a", 2))
            #expect(try store.seen().confirmed.cells == ["a": 2])
            #expect(try store.seen().view == store.seen().confirmed)
            await store.close()
        }
        try await check(keeper.type)
    }

    @Test(arguments: Engine.allCases, BoardKeeper.allCases)
    func `F5: a batch with position 0, or with through below its events, is refused`(
        engine: Engine, keeper: BoardKeeper
    ) async throws {
        func check<P: BoardFold>(_ board: P.Type) async throws {
            let store = try await engine.store(board, .downlink, in: directory)
            let events = [ConfirmedEvent(position: 5, event: Move.set("a", 1))]
            let low = await error { () throws(CommandError) in
                try await store.confirm(events, through: 4)
            }
            let zero = await error { () throws(CommandError) in
                try await store.confirm([ConfirmedEvent(position: 0, event: .set("a", 1))])
            }
            #expect(low?.isInvalidBatch == true)
            #expect(zero?.isInvalidBatch == true)
            #expect(try await store.confirm(events, through: 9) == .confirmed(1, through: 9))
            await store.close()
        }
        try await check(keeper.type)
    }

    @Test(arguments: Engine.allCases, BoardKeeper.allCases)
    func `F6: a batch that changes nothing appends nothing`(
        engine: Engine, keeper: BoardKeeper
    ) async throws {
        func check<P: BoardFold>(_ board: P.Type) async throws {
            let store = try await engine.store(board, .downlink, in: directory)
            let events = [ConfirmedEvent(position: 2, event: Move.add("a", 1))]
            try await store.confirm(events, through: 4)
            #expect(try await store.confirm(events) == .ignored(through: 4))
            #expect(try await store.confirm([]) == .ignored(through: 4))
            #expect(try await store.confirm([], through: 5) == .confirmed(2, through: 5))
            let foreign = IntentID(replica: ReplicaID("me")!, number: 77)
            let unknown = [ConfirmedEvent(position: 6, event: Move.set("b", 1), origin: foreign)]
            #expect(try await store.confirm(unknown) == .confirmed(3, through: 6))
            #expect(try store.seen().view.cells == ["b": 1])
            await store.close()
        }
        try await check(keeper.type)
    }

    @Test(arguments: Engine.allCases, BoardKeeper.allCases)
    func `F6: after the last position, a batch still gets an answer`(
        engine: Engine, keeper: BoardKeeper
    ) async throws {
        func check<P: BoardFold>(_ board: P.Type) async throws {
            let store = try await engine.store(board, .downlink, in: directory)
            let last = Position(.max)
            let events = [ConfirmedEvent(position: last, event: Move.set("a", 1))]
            #expect(try await store.confirm(events) == .confirmed(1, through: last))
            #expect(try await store.confirm(events) == .ignored(through: last))
            #expect(try await store.confirm([], through: last) == .ignored(through: last))
            _ = try await store.record(.set("b", 1))
            #expect(try await store.confirm(events) == .ignored(through: last))
            #expect(try store.seen().confirmed.cells == ["a": 1])
            await store.close()
        }
        try await check(keeper.type)
    }

    @Test(arguments: Engine.allCases, BoardKeeper.allCases)
    func `F19: an abandoned intent leaves the view, and only an acceptance brings it back`(
        engine: Engine, keeper: BoardKeeper
    ) async throws {
        func check<P: BoardFold>(_ board: P.Type) async throws {
            let store = try await engine.store(board, .downlink, in: directory)
            for key in ["a", "b"] { _ = try await store.record(.set(key, 1)) }
            try await store.abandon(1)
            #expect(try store.seen().view.cells == ["b": 1])
            #expect(try await store.reject(1, message: "no") == .ignored(.withdrawn))
            let id = try store.intent(1).id
            try await store.confirm(
                [ConfirmedEvent(position: 1, event: .set("a", 1), origin: id)])
            #expect(try store.seen().view.cells == ["a": 1, "b": 1])
            #expect(try store.intent(1).state == .confirmed)
            await store.close()
        }
        try await check(keeper.type)
    }

    @Test(arguments: Engine.allCases, BoardKeeper.allCases)
    func `F7: an acknowledgement after a rejection is delivered as a second answer`(
        engine: Engine, keeper: BoardKeeper
    ) async throws {
        func check<P: BoardFold>(_ board: P.Type) async throws {
            let store = try await engine.store(board, .downlink, in: directory)
            let receipt = try await store.record(.set("a", 1))
            try await store.reject(receipt.number, code: "later", message: "no")
            try await store.acknowledge(receipt.number)
            try await store.confirm([
                ConfirmedEvent(position: 1, event: .set("a", 1), origin: receipt.id)
            ])
            var outcomes: [Answer.Content] = []
            for try await answer in store.answers(after: 0) {
                outcomes.append(answer.content)
                if answer.content == .confirmed { break }
            }
            let rejection = Rejection(code: "later", message: "no")
            #expect(outcomes == [.rejected(rejection), .accepted, .confirmed])
            #expect(store.rejections.isEmpty)
            await store.close()
        }
        try await check(keeper.type)
    }

    @Test(arguments: Engine.allCases, BoardKeeper.allCases)
    func `F8: answers may come in any order`(
        engine: Engine, keeper: BoardKeeper
    ) async throws {
        func check<P: BoardFold>(_ board: P.Type) async throws {
            let store = try await engine.store(board, .acknowledgement, in: directory)
            for value in 1...3 { _ = try await store.record(.set("a", value)) }
            try await store.acknowledge(3)
            #expect(try store.seen().confirmed.cells == ["a": 3])
            #expect(try store.seen().view.cells == ["a": 2])
            try await store.acknowledge(1)
            try await store.reject(2, message: "no")
            // The intents were confirmed in the order of their acknowledgements.
            #expect(try store.seen().view.cells == ["a": 1])
            await store.close()
        }
        try await check(keeper.type)
    }

    @Test(arguments: Engine.allCases, BoardKeeper.allCases)
    func `F10: a rejected intent leaves the view of a log in which it was never recorded`(
        engine: Engine, keeper: BoardKeeper
    ) async throws {
        func check<P: BoardFold>(_ board: P.Type) async throws {
            let store = try await engine.store(board, .downlink, in: directory)
            let other = try await Engine.memory.store(board, .downlink, in: directory)
            for move in [Move.set("a", 1), .add("a", 2), .claim("b"), .add("b", 3)] {
                _ = try await store.record(move)
            }
            try await store.reject(2, message: "no")
            // Intent numbers must be equal, so the other log withdraws intent 2 before it is
            // folded.
            _ = try await other.record(.set("a", 1))
            _ = try await other.record(.add("a", 2), confirmOnly: true)
            try await other.withdraw(2)
            _ = try await other.record(.claim("b"))
            _ = try await other.record(.add("b", 3))
            #expect(try store.seen().view == other.seen().view)
            await store.close()
        }
        try await check(keeper.type)
    }

    @Test(arguments: Engine.allCases, BoardKeeper.allCases)
    func `F9: recording is refused if any projection throws, and conflicts can be per projection`(
        engine: Engine, keeper: BoardKeeper
    ) async throws {
        func check<P: BoardFold>(_ board: P.Type) async throws {
            let also = [AdditionalProjection(SloppyBoard.self)]
            let store = try await engine.store(
                board, .downlink, in: directory, also: also, conflicts: .perProjection)
            _ = try await store.record(.set("a", 30))
            let refused = await error { () throws(CommandError) in
                try await store.record(.set("b", 30))
            }
            #expect(refused?.isInapplicable == true)
            #expect(try store.seen().view.cells == ["a": 30])
            _ = try await store.record(.set("b", 30), force: true)
            #expect(try store.seen().conflicted == [])
            #expect(store.projected(SloppyBoard.self).snapshot.conflicted == [2])
            #expect(store.projected(SloppyBoard.self).snapshot.conflict(of: 2) == "the sum is 60")
            #expect(store.projected(SloppyBoard.self).view.sum == 30)
            await store.close()
        }
        try await check(keeper.type)
    }

    @Test(arguments: Engine.allCases, BoardKeeper.allCases)
    func `F11: every past sequence can be seen, and a future sequence is an error`(
        engine: Engine, keeper: BoardKeeper
    ) async throws {
        func check<P: BoardFold>(_ board: P.Type) async throws {
            let store = try await engine.store(board, .acknowledgement, in: directory)
            for value in 1...3 { _ = try await store.record(.set("a", value)) }
            #expect(try await store.snapshot(of: Board.self, at: 0).view.cells == [:])
            #expect(try await store.snapshot(of: Board.self, at: 2).view.cells == ["a": 2])
            let beyond = await error { () throws(LogError) in
                try await store.snapshot(of: Board.self, at: 4)
            }
            guard case .beyondEnd(4, last: 3) = beyond else {
                Issue.record("\(String(describing: beyond))")
                return
            }
            await store.close()
        }
        try await check(keeper.type)
    }

    @Test func `F12: a context creates the same id everywhere, and no other context creates it`() {
        let me = ReplicaID("me")!
        let intent = EventContext(.intent(IntentID(replica: me, number: 7)))
        #expect(intent.id() == "me.7.0")
        #expect(intent.id(2) == "me.7.2")
        #expect(EventContext(.position(7)).id() == "@7.0")
        let trap = IntentID(replica: ReplicaID("me.7")!, number: 0)
        #expect(EventContext(.intent(trap)).id() != intent.id())
    }

    @Test(arguments: Engine.allCases, BoardKeeper.allCases)
    func `F12: prediction and confirmation create the same id`(
        engine: Engine, keeper: BoardKeeper
    ) async throws {
        func check<P: BoardFold>(_ board: P.Type) async throws {
            let store = try await engine.store(board, .downlink, in: directory)
            let receipt = try await store.record(.claim("a"))
            let predicted = try store.seen().view
            try await store.confirm([
                ConfirmedEvent(position: 9, event: .claim("a"), origin: receipt.id)
            ])
            #expect(try store.seen().confirmed == predicted)
            await store.close()
        }
        try await check(keeper.type)
    }

    @Test(arguments: Engine.allCases, BoardKeeper.allCases)
    func `F13: a confirm-only intent is listed, and folded only once confirmed`(
        engine: Engine, keeper: BoardKeeper
    ) async throws {
        func check<P: BoardFold>(_ board: P.Type) async throws {
            let store = try await engine.store(board, .acknowledgement, in: directory)
            let receipt = try await store.record(.add("nowhere", 1), confirmOnly: true)
            #expect(try store.seen().view.cells == [:])
            #expect(store.overlay.map(\.isConfirmOnly) == [true])
            #expect(try store.seen().conflicted == [])
            try await store.acknowledge(receipt.number, replacement: .set("nowhere", 1))
            #expect(try store.seen().view.cells == ["nowhere": 1])
            await store.close()
        }
        try await check(keeper.type)
    }

    /// Found by the random test: the savepoint of an intent that was never folded remained after
    /// the intent had left.
    @Test(arguments: Engine.allCases, BoardKeeper.allCases)
    func `F13: a rejection rolls back the view after newer confirm-only intents left`(
        engine: Engine, keeper: BoardKeeper
    ) async throws {
        func check<P: BoardFold>(_ board: P.Type) async throws {
            let store = try await engine.store(board, .downlink, in: directory)
            for value in 1...3 { _ = try await store.record(.set("k\(value)", value)) }
            for value in 4...6 {
                _ = try await store.record(.set("k\(value)", value), confirmOnly: true)
            }
            for number in [6, 5, 4] as [IntentNumber] { try await store.withdraw(number) }
            try await store.reject(3, message: "no")
            _ = try await store.record(.set("k7", 7))
            try await store.reject(7, message: "no")
            #expect(try store.seen().view.cells == ["k1": 1, "k2": 2])
            await store.close()
        }
        try await check(keeper.type)
    }

    /// Found by the random test: a savepoint from before the confirmed intent remained after the
    /// fast-forward.
    @Test(arguments: Engine.allCases, BoardKeeper.allCases)
    func `F13: a fast-forward can pass an older confirm-only intent`(
        engine: Engine, keeper: BoardKeeper
    ) async throws {
        func check<P: BoardFold>(_ board: P.Type) async throws {
            let store = try await engine.store(board, .acknowledgement, in: directory)
            _ = try await store.record(.set("later", 1), confirmOnly: true)
            for value in 2...40 { _ = try await store.record(.set("k", value)) }
            _ = try await store.record(.add("k", 1))
            try await store.acknowledge(2)
            for number in (3...41 as ClosedRange<UInt64>).reversed() {
                try await store.reject(IntentNumber(number), message: "no")
            }
            #expect(try store.seen().view.cells == ["k": 2])
            await store.close()
        }
        try await check(keeper.type)
    }

    @Test(arguments: Engine.allCases, BoardKeeper.allCases)
    func `F14: a retry keeps the terms of the old intent, including its once key`(
        engine: Engine, keeper: BoardKeeper
    ) async throws {
        func check<P: BoardFold>(_ board: P.Type) async throws {
            let store = try await engine.store(board, .downlink, in: directory)
            let first = try await store.record(
                .set("a", 1), confirmOnly: true, once: "k", info: ["who": "user"])
            try await store.reject(first.number, message: "no")
            let second = try await store.retry(first.number)
            let status = try store.intent(second.number)
            #expect(status.retries == first.number)
            #expect(status.isConfirmOnly)
            #expect(status.info == ["who": "user"])
            #expect(try await store.record(.set("a", 1), once: "k").number == second.number)
            await store.close()
        }
        try await check(keeper.type)
    }

    @Test(arguments: Engine.allCases, BoardKeeper.allCases)
    func `F14: an edited retry records the new event under the old terms, in one entry`(
        engine: Engine, keeper: BoardKeeper
    ) async throws {
        func check<P: BoardFold>(_ board: P.Type) async throws {
            let store = try await engine.store(board, .downlink, in: directory)
            let first = try await store.record(.set("a", 1), once: "k", info: ["who": "user"])
            try await store.reject(first.number, message: "too small")
            let second = try await store.retry(first.number, with: .set("a", 2))
            #expect(second.sequence == 3)
            #expect(!second.isJoined)
            let status = try store.intent(second.number)
            #expect(status.event == .set("a", 2))
            #expect(status.retries == first.number)
            #expect(status.info == ["who": "user"])
            #expect(try store.intent(first.number).event == .set("a", 1))
            #expect(try store.intent(first.number).isDismissed)
            #expect(store.rejections.isEmpty)
            #expect(try await store.record(.set("a", 9), once: "k").number == second.number)
            let again = await error { () throws(CommandError) in
                try await store.retry(first.number, with: .set("a", 3))
            }
            guard case .notRejected(1, state: .rejected, isDismissed: true) = again else {
                Issue.record("\(String(describing: again))")
                return
            }
            #expect(store.status.sequence == 3)
            await store.close()
        }
        try await check(keeper.type)
    }

    @Test(arguments: Engine.allCases, BoardKeeper.allCases)
    func `F9, F14: an edited event that does not apply leaves the rejection listed`(
        engine: Engine, keeper: BoardKeeper
    ) async throws {
        func check<P: BoardFold>(_ board: P.Type) async throws {
            let store = try await engine.store(board, .downlink, in: directory)
            let first = try await store.record(.set("a", 1))
            try await store.reject(first.number, message: "no")
            let refused = await error { () throws(CommandError) in
                try await store.retry(first.number, with: .add("b", 1))
            }
            guard case .inapplicable = refused else {
                Issue.record("\(String(describing: refused))")
                return
            }
            #expect(store.rejections == [first.number])
            #expect(store.status.sequence == 2)
            let forced = try await store.retry(
                first.number, with: .add("b", 1), force: true)
            #expect(try store.intent(forced.number).retries == first.number)
            await store.close()
        }
        try await check(keeper.type)
    }

    @Test(arguments: Engine.allCases, BoardKeeper.allCases)
    func `F14: a retry joins the intent that uses its once key, and dismisses the rejection`(
        engine: Engine, keeper: BoardKeeper
    ) async throws {
        func check<P: BoardFold>(_ board: P.Type) async throws {
            let store = try await engine.store(board, .downlink, in: directory)
            let first = try await store.record(.set("a", 1), once: "k")
            try await store.reject(first.number, message: "no")
            let second = try await store.record(.set("a", 2), once: "k")
            let retried = try await store.retry(first.number)
            #expect(retried.isJoined)
            #expect(retried.number == second.number)
            #expect(retried.sequence == 4)
            #expect(store.rejections.isEmpty)
            #expect(store.overlay.count == 1)
            await store.close()
        }
        try await check(keeper.type)
    }

    @Test(arguments: Engine.allCases, BoardKeeper.allCases)
    func `an intent's answer and info survive reopening`(
        engine: Engine, keeper: BoardKeeper
    ) async throws {
        func check<P: BoardFold>(_ board: P.Type) async throws {
            var store = try await engine.store(board, .downlink, in: directory)
            let first = try await store.record(.set("a", 1), once: "k", info: ["at": "feed/7"])
            try await store.reject(first.number, code: "rude", message: "be nice")
            let recordedAt = try store.intent(first.number).recordedAt
            #expect(recordedAt.millisecondsSince1970 > 1_795_209_600_000)
            if engine == .lmdb {
                await store.close()
                store = try await engine.store(board, .downlink, in: directory)
            }
            let status = try store.intent(first.number)
            #expect(status.state == .rejected)
            #expect(status.rejection == Rejection(code: "rude", message: "be nice"))
            #expect(status.info == ["at": "feed/7"])
            #expect(status.once == "k")
            #expect(status.recordedAt == recordedAt)
            #expect(try await store.receipt(for: first.number).answer().sequence == 2)
            await store.close()
        }
        try await check(keeper.type)
    }

    @Test(arguments: Engine.allCases)
    func `the overlay lists the intents that touch a row`(engine: Engine) async throws {
        let store = try await engine.store(RowBoard.self, .downlink, in: directory)
        _ = try await store.record(.set("a", 1))
        _ = try await store.record(.set("b", 1))
        _ = try await store.record(.add("none", 1), force: true)
        let third = try await store.record(.set("c", 1))
        func touching(_ key: String) throws -> [IntentNumber] {
            try store.read { try $0.overlay(touching: key, in: RowBoard.cells) }
        }
        #expect(try touching("c") == [4])
        try await store.acknowledge(third.number, replacement: .set("a", 2))
        #expect(try touching("a") == [1, 4])
        #expect(try touching("c") == [])
        // Intent 3 read this row and is conflicted because the row is absent.
        #expect(try touching("none") == [3])
        try await store.reject(1, message: "no")
        #expect(try touching("a") == [4])
        await store.close()
    }

    @Test(arguments: Engine.allCases)
    func `the overlay lists the intents that touch a key`(engine: Engine) async throws {
        let store = try await engine.store(Board.self, .downlink, in: directory)
        _ = try await store.record(.set("a", 1))
        _ = try await store.record(.set("b", 1))
        let third = try await store.record(.set("c", 1))
        try await store.acknowledge(third.number, replacement: .set("a", 2))
        #expect(store.overlay(touching: "a").map(\.number) == [1, 3])
        #expect(store.overlay(touching: "c").map(\.number) == [])
        #expect(store.overlay.last?.event == .set("a", 2))
        #expect(store.overlay.last?.state == .accepted)
        await store.close()
    }
}

extension CommandError {
    var isInvalidBatch: Bool { if case .invalidBatch = self { true } else { false } }
    var isInapplicable: Bool { if case .inapplicable = self { true } else { false } }
    var isCancelled: Bool { if case .log(.cancelled) = self { true } else { false } }
    var isClosed: Bool { if case .log(.closed) = self { true } else { false } }
}

extension LogError {
    var isCancelled: Bool { if case .cancelled = self { true } else { false } }
    var isClosed: Bool { if case .closed = self { true } else { false } }
}
