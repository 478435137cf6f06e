import Foldback
import TestSupport
import Testing

/// Question: do the limits of queue and transaction count commands and bytes, and not requests (L3)?
///
/// One request can have 512 answers. If it counted as one command, a transaction would be unbounded.
@Suite struct QueueLimitTests {
    private static func queue() -> RequestQueue { RequestQueue(path: "log", clock: { 0 }) }

    private static func answers(_ count: Int, bytes: Int = 0) -> Request {
        let commands = (0..<count).map { number in
            Command.acknowledge(IntentNumber(UInt64(number + 1)), position: nil, replacement: nil)
        }
        return Request(.answers(commands, from: nil), bytes: bytes)
    }

    /// Offers requests until the queue is full, and returns how many it took.
    private static func fill(_ queue: RequestQueue, _ make: () -> Request) -> Int {
        var count = 0
        while case .queued = queue.offer(make()) { count += 1 }
        return count
    }

    @Test func `L3: answers fill the queue and its transactions by their number`() {
        let queue = Self.queue()
        let count = Self.fill(queue) { Self.answers(Limits.answersCountMax) }
        #expect(count == Limits.queueCountMax / Limits.answersCountMax)
        let perTransaction = Limits.commitCountMax / Limits.answersCountMax
        for _ in 0..<count / perTransaction { #expect(queue.next()?.count == perTransaction) }
        queue.close()
        #expect(queue.next() == nil)
    }

    @Test func `L3: bytes fill the queue and its transactions`() {
        let queue = Self.queue()
        let bytes = Limits.commitBytesMax / 4
        let count = Self.fill(queue) { Self.answers(1, bytes: bytes) }
        #expect(count == Limits.queueBytesMax / bytes)
        for _ in 0..<count / 4 { #expect(queue.next()?.count == 4) }
        queue.close()
        #expect(queue.next() == nil)
    }

    @Test func `L3: a caller that comes after close is refused, and the queued commands end`()
        async throws
    {
        let storage = TestStorage()
        let store = try await storage.store(Board.self)
        storage.holdWrites()
        let queued = try await store.enqueue(.set("a", 1))
        await storage.waitUntilHeld()
        async let end: Void = store.close()
        // A flush is queued until the queue is closed.
        var refused: CommandError?
        while refused == nil {
            refused = await error { () throws(CommandError) in
                _ = try await store.core.runner.submit(.sync, bytes: 0)
            }
        }
        let late = await error { () throws(CommandError) in
            try await store.record(.set("a", 2))
        }
        for error in [refused, late] {
            guard case .log(.closed) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        storage.releaseWrites()
        #expect(try await queued.receipt().number == 1)
        await end
        #expect(storage.writeSizes == [1])
    }
}
