import Foldback
import TestSupport
import Testing

/// Born from a review: a task that began to wait for an answer after its publication, and before its
/// delivery, was never woken again.
@Suite(.timeLimit(.minutes(10))) struct PublicationTests {
    /// Waits until other tasks have had some turns. Beside many other tests, a turn takes long.
    private static func yield() async { for _ in 0..<20 { await Task.yield() } }

    @Test func `F15: a wait that begins between publication and delivery sees the next answer`()
        async throws
    {
        let store = Store.inMemory(Board.self, confirmedBy: .downlink)
        let receipt = try await store.record(.set("a", 1))
        try await store.acknowledge(receipt.number, position: 1)
        let publication = store.core.publication
        let waiting = Task { try await receipt.settlement() }
        await Self.yield()
        // The delivery of the acknowledgement, as late as it can be.
        publication.deliver([receipt.number])
        await Self.yield()
        try await store.confirm([
            ConfirmedEvent(position: 1, event: .set("a", 1), origin: receipt.id)
        ])
        #expect(try await waiting.value.content == .confirmed)
    }

    @Test func `a wait ends when the store is closed, also after an earlier delivery`() async throws
    {
        let store = Store.inMemory(Board.self, confirmedBy: .downlink)
        let receipt = try await store.record(.set("a", 1))
        try await store.acknowledge(receipt.number, position: 1)
        let waiting = Task { try await receipt.settlement() }
        await Self.yield()
        store.core.publication.deliver([receipt.number])
        await store.close()
        await #expect(throws: LogError.self) { try await waiting.value }
    }

    @Test func `a canceled reader of views gets no more snapshots`() async throws {
        let store = Store.inMemory(Board.self, confirmedBy: .acknowledgement)
        let reading = Task {
            var count = 0
            for await _ in store.views {
                count += 1
                // The reader is slower than the commits.
                try await store.record(.set("a", count))
                if count == 3 { withUnsafeCurrentTask { $0?.cancel() } }
                if count == 10 { break }
            }
            return count
        }
        #expect(try await reading.value == 3)
    }
}
