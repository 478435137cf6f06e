import Foldback
import FoldbackUI
import TestSupport
import Testing

/// Born from a rejection that came after a restart, when no view knew the button that began the
/// intent.
@MainActor @Suite struct InitiatorTests {
    private let directory = TemporaryDirectory()

    private func open() async throws -> Store<Board> {
        try await Store.open(
            at: directory.log, Board.self, confirmedBy: .acknowledgement, durability: .durable)
    }

    @Test func `#45: the control that began an intent is known after reopening`() async throws {
        let initiators: [Initiator] = [.user(origin: "like:button"), .user(), .app]
        var store = try await open()
        var model = OptimisticModel(store, sources: Frames().sources)
        for (index, initiator) in initiators.enumerated() {
            try await model.perform(.set("\(index)", 1), from: initiator)
        }
        await store.close()

        store = try await open()
        model = OptimisticModel(store, sources: Frames().sources)
        for number in 1...3 {
            try await store.reject(IntentNumber(UInt64(number)), message: "no \(number)")
        }
        let kept = try (1...3).map { try store.intent(IntentNumber($0)).info }
        #expect(kept.map { Initiator(info: $0) } == initiators)
        var answered: [Initiator] = []
        for try await news in model.news(after: 0) {
            answered.append(news.initiator)
            if answered.count == 3 { break }
        }
        #expect(answered == initiators)
        await store.close()
    }

    @Test func `U15: a rejection after reopening is announced if a person began the intent`()
        async throws
    {
        var store = try await open()
        try await OptimisticModel(store, sources: Frames().sources).perform(
            .set("a", 1), from: .app)
        try await OptimisticModel(store, sources: Frames().sources).perform(
            .set("b", 1), from: .user(origin: "b"))
        await store.close()

        store = try await open()
        let model = OptimisticModel(store, sources: Frames().sources)
        try await store.reject(1, message: "not a")
        try await store.reject(2, message: "not b")
        var cues = model.cues.makeAsyncIterator()
        let recovery = Recovery(reason: "not b")
        #expect(
            await cues.next() == .announce(.ended(.sending, .failed(recovery)), .assertive))
        await store.close()
    }
}
