import Foldback
import Synchronization
import TestSupport
import Testing

/// Born from marks that stayed "not sent yet" during attempts, because an attempt publishes no state.
@Suite struct ListeningTests {
    /// What listeners heard, in order.
    private final class Calls: Sendable {
        private let words = Mutex<[String]>([])

        func add(_ word: String) { words.withLock { $0.append(word) } }

        /// Returns what was heard since the last call.
        func take() -> [String] {
            words.withLock { words in
                defer { words = [] }
                return words
            }
        }
    }

    private let storage = TestStorage()
    private let calls = Calls()
    private let attempt = Attempt(count: 1, startedAt: Timestamp(millisecondsSince1970: 5))

    /// Listens to a store, and notes what has changed since the last call.
    private func listen(to store: Store<Board>) -> Listening {
        let last = Mutex(store.core.published)
        return store.listen { [calls, core = store.core] isClosed in
            let published = core.published
            let before = last.withLock { last in
                defer { last = published }
                return last
            }
            if published.sequence != before.sequence { calls.add("entry") }
            if published.attempts.keys != before.attempts.keys { calls.add("attempts") }
            if published.latched != before.latched { calls.add("latched") }
            if isClosed { calls.add("closed") }
        }
    }

    @Test func `a listener hears of entries, of attempts, and of the end`() async throws {
        let store = try await storage.store(Board.self)
        let listening = listen(to: store)
        try await store.record(.set("a", 1))
        #expect(calls.take() == ["entry"])
        _ = try await store.recordAttempts([1: attempt], flushes: false)
        #expect(calls.take() == ["attempts"])
        try await store.acknowledge(1)
        #expect(calls.take() == ["entry", "attempts"])
        await store.close()
        #expect(calls.take() == ["closed"])
        withExtendedLifetime(listening) {}
    }

    @Test func `a listener hears that the store was latched`() async throws {
        let store = try await storage.store(Board.self)
        let listening = listen(to: store)
        storage.failWrites(leavingOutcomeUnknown: true)
        await #expect(throws: CommandError.self) { try await store.record(.set("a", 1)) }
        #expect(calls.take() == ["latched"])
        storage.failWrites(leavingOutcomeUnknown: nil)
        await #expect(throws: CommandError.self) { try await store.record(.set("a", 2)) }
        #expect(calls.take() == [])
        withExtendedLifetime(listening) {}
        await store.close()
    }

    @Test func `a listener that was released hears nothing`() async throws {
        let store = try await storage.store(Board.self)
        var listening: Listening? = listen(to: store)
        try await store.record(.set("a", 1))
        #expect(calls.take() == ["entry"])
        withExtendedLifetime(listening) {}
        listening = nil
        _ = try await store.recordAttempts([1: attempt], flushes: false)
        try await store.record(.set("a", 2))
        storage.failWrites(leavingOutcomeUnknown: true)
        await #expect(throws: CommandError.self) { try await store.record(.set("a", 3)) }
        await store.close()
        #expect(calls.take() == [])
    }

    @Test func `a listener of a closed store hears at once that it is closed`() async throws {
        let store = try await storage.store(Board.self)
        await store.close()
        let listening = listen(to: store)
        #expect(calls.take() == ["closed"])
        withExtendedLifetime(listening) {}
    }
}
