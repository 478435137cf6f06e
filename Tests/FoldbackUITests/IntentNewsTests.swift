import Foldback
import FoldbackUI
import Observation
import TestSupport
import Testing

/// Born from an article whose model calls one block with the prediction, and then again with the
/// answer or the error (001:40).
@MainActor @Suite struct IntentNewsTests {
    private static let me = ReplicaID("me")!

    /// Everything that a view of one person sees and hears, in order.
    @MainActor private final class Screen {
        let store = Store.inMemory(
            People.self, confirmedBy: .acknowledgement, replica: ReplicaID("me"))
        let model: OptimisticModel<People>
        private(set) var lines: [String] = []
        private let list: ListModel<String, Person>
        /// The list that is in the lines.
        private var seen = ListSnapshot<String, Person>()

        init() {
            let model = OptimisticModel(store, sources: Frames().sources)
            self.model = model
            list = ListModel<String, Person>(of: model) { list, people in
                list.section("people")
                list.items(people.people.values.sorted { $0.name < $1.name })
            }
            follow()
        }

        private func follow() {
            withObservationTracking {
                _ = list.snapshot
            } onChange: { [weak self] in
                // The observers are called before the change.
                MainActor.assumeIsolated {
                    self?.look()
                    self?.follow()
                }
            }
        }

        /// Adds the list as it is now, if it is not in the lines.
        private func look() {
            guard list.snapshot != seen else { return }
            seen = list.snapshot
            for row in seen.sections.flatMap(\.rows) { tell(row) }
        }

        private func tell(_ row: ListSnapshot<String, Person>.Row) {
            guard let person = row.content else { return }
            let status = row.status.worst.map(\.word) ?? "settled"
            lines.append(
                "view: \(person.isFollowed ? "following" : "not following") \(person.name),"
                    + " \(person.followers) followers, \(status)")
        }

        /// Follows mia, and hears everything until the server's answer was told.
        func follow(_ answer: (IntentNumber) async throws -> Void) async throws -> [String] {
            let loaded = try await model.perform(
                .loaded(Person(name: "mia", followers: 9)), from: .app)
            try await store.acknowledge(loaded.number)
            await until { self.model.status(of: "mia") == .settled }
            let start = model.revision
            look()
            lines = []
            let receipt = try await model.perform(
                .following("mia", true), from: .user(origin: "follow"))
            look()
            lines.append("perform returns")
            try await answer(receipt.number)
            for try await news in model.news(after: start) {
                look()
                let shown = model.view.people["mia"]?.followers ?? 0
                lines.append("news: \(words(news)), view has \(shown) followers")
                break
            }
            return lines
        }

        private func words(_ news: AnsweredIntent<People.Event>) -> String {
            switch news.answer.content {
            case .accepted: "accepted"
            case .confirmed: news.replacement == nil ? "confirmed" : "confirmed and replaced"
            case .rejected(let rejection): "rejected (\(rejection.message))"
            case .withdrawn: "withdrawn"
            }
        }
    }

    @Test func `U27: the article's first flow is prediction, then the real object`()
        async throws
    {
        let screen = Screen()
        let lines = try await screen.follow { number in
            let mia = Person(name: "mia", followers: 12, isFollowed: true)
            try await screen.store.acknowledge(number, replacement: .loaded(mia))
        }
        #expect(
            lines == [
                "view: following mia, 10 followers, pending",
                "perform returns",
                "view: following mia, 12 followers, settled",
                "news: confirmed and replaced, view has 12 followers",
            ])
    }

    @Test func `U27: the article's second flow is prediction, then the original, then the error`()
        async throws
    {
        let screen = Screen()
        let lines = try await screen.follow { number in
            try await screen.store.reject(number, message: "mia is private")
        }
        #expect(
            lines == [
                "view: following mia, 10 followers, pending",
                "perform returns",
                "view: not following mia, 9 followers, rejected",
                "news: rejected (mia is private), view has 9 followers",
            ])
    }

    @Test func `U27: news come after a view that has them, also before the next frame`()
        async throws
    {
        let store = Store.board()
        let frames = Frames(held: true)
        let model = OptimisticModel(store, sources: frames.sources)
        // In the end, the model waits for the next frame.
        while !frames.isWaiting {
            try await store.record(.set("a", 1))
            await Task.yield()
        }
        let receipt = try await store.record(.set("b", 1))
        try await store.reject(receipt.number, message: "no")
        var told: [String] = []
        for try await news in model.news(after: receipt.sequence) {
            told.append("\(news.answer.content.state)")
            #expect(model.revision == news.answer.sequence)
            #expect(model.status(of: "b").worst?.word == "rejected")
            break
        }
        #expect(told == ["rejected"])
        frames.begin()
    }

    @Test func `U27: each answer comes once and in log order, also after a restart`() async throws {
        let directory = TemporaryDirectory()
        func open() async throws -> Store<Board> {
            try await Store.open(
                at: directory.url.appending(path: "log"), Board.self, confirmedBy: .downlink,
                durability: .relaxed, replica: .exactly(Self.me))
        }
        var told: [String] = []
        var kept: LogSequence = 0
        var store = try await open()
        for value in 1...6 { try await store.record(.set("a", value)) }
        try await store.reject(4, message: "no")
        try await store.acknowledge(1, position: 1)
        _ = try await store.confirm([
            ConfirmedEvent(position: 2, event: .set("b", 1), origin: id(2)),
            ConfirmedEvent(position: 2, event: .set("b", 2), origin: id(3)),
        ])
        var model = OptimisticModel(store, sources: Frames().sources)
        for try await news in model.news(after: kept) {
            told.append("\(news.answer.intent) \(news.answer.content.state) at \(model.revision)")
            kept = news.continueAfter
            // The process dies between two answers of one entry.
            if told.count == 4 { break }
        }
        await store.close()

        store = try await open()
        model = OptimisticModel(store, sources: Frames().sources)
        try await store.withdraw(5)
        for try await news in model.news(after: kept) {
            told.append("\(news.answer.intent) \(news.answer.content.state) at \(model.revision)")
            if told.count == 8 { await store.close() }
        }
        #expect(
            told == [
                "4 rejected at 9", "1 accepted at 9", "1 confirmed at 9", "2 confirmed at 9",
                "1 confirmed at 10", "2 confirmed at 10", "3 confirmed at 10", "5 withdrawn at 10",
            ])
    }

    private func id(_ number: IntentNumber) -> IntentID {
        IntentID(replica: Self.me, number: number)
    }
}
