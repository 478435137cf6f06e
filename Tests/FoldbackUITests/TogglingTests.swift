import Foldback
import FoldbackUI
import TestSupport
import Testing

/// Born from a follow button that turned back when the answer to an earlier tap arrived.
@MainActor @Suite struct TogglingTests {
    private static let mia = Person(name: "mia", followers: 9)

    private func store() async throws -> Store<People> {
        let store = Store.inMemory(People.self, confirmedBy: .acknowledgement)
        try await store.confirmLoaded(Self.mia)
        return store
    }

    /// An answer of the server to one of the intents.
    private struct Answer {
        let index: Int
        let isAccepted: Bool
    }

    /// Every order of answers to `count` intents, each accepted or rejected.
    private func answers(to indexes: [Int]) -> [[Answer]] {
        guard !indexes.isEmpty else { return [[]] }
        return indexes.flatMap { index in
            answers(to: indexes.filter { $0 != index }).flatMap { rest in
                [true, false].map { [Answer(index: index, isAccepted: $0)] + rest }
            }
        }
    }

    @Test func `#6: opposite intents in flight show the fold of what is left, in any order`()
        async throws
    {
        let events: [People.Event] = [true, false, true].map { .following("mia", $0) }
        let orders = answers(to: Array(events.indices))
        #expect(orders.count == 48)
        for order in orders {
            let store = try await store()
            let model = OptimisticModel(store, sources: Frames().sources)
            var receipts: [Receipt] = []
            for event in events { receipts.append(try await model.perform(event)) }
            var (confirmed, open) = ([People.Event.loaded(Self.mia)], Array(events.indices))
            for answer in order {
                let number = receipts[answer.index].number
                open.removeAll { $0 == answer.index }
                if answer.isAccepted {
                    confirmed.append(events[answer.index])
                    try await store.acknowledge(number)
                } else {
                    try await store.reject(number, message: "no")
                }
                await until { model.revision == store.status.sequence }
                #expect(model.confirmed == People(confirmed))
                #expect(model.view == People(confirmed + open.map { events[$0] }))
            }
            await store.close()
        }
    }

    @Test func `#31: answers to earlier taps do not turn back a later tap`() async throws {
        for count in 1...8 {
            let store = try await store()
            let model = OptimisticModel(store, sources: Frames().sources)
            let followers = model.select { $0.people["mia"]?.followers }
            var receipts: [Receipt] = []
            for tap in 1...count {
                receipts.append(try await model.perform(.following("mia", tap % 2 == 1)))
            }
            let last = followers.value
            #expect(last == (count % 2 == 1 ? 10 : 9))
            let changes = Notifications { _ = followers.value }
            for receipt in receipts {
                #expect(model.status(of: "mia").worst == .pending)
                try await store.acknowledge(receipt.number)
                await until { model.revision == store.status.sequence }
                #expect(followers.value == last)
            }
            #expect(model.status(of: "mia") == .settled)
            #expect(model.confirmed == model.view)
            #expect(changes.count == 0)
            await store.close()
        }
    }
}

extension People {
    /// The fold of events that all apply.
    fileprivate init(_ events: [Event]) {
        self.init()
        for (index, event) in events.enumerated() {
            let id = IntentID(replica: ReplicaID("fold")!, number: IntentNumber(UInt64(index + 1)))
            try? apply(event, EventContext(.intent(id)))
        }
    }
}
