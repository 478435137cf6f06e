import FoldbackTesting
import Synchronization
import Testing

/// If a run in virtual time were not the same each time, no finding of a simulation could be repeated.
@Suite struct VirtualTimeTests {
    private final class Names: Sendable {
        let all = Mutex<[Int]>([])
    }

    /// Starts tasks that wait for the same times, and returns the order in which they continue.
    private func order(_ seed: UInt64) async throws -> [Int] {
        let time = VirtualTime(order: seed)
        let names = Names()
        try await time.run {
            await withDiscardingTaskGroup { group in
                for name in 0..<20 {
                    group.addTask {
                        await time.sleep(.seconds(3_600 * (1 + name % 2)))
                        await Task.yield()
                        names.all.withLock { $0.append(name) }
                    }
                }
            }
            #expect(time.passed == .seconds(7_200))
        }
        return names.all.withLock { $0 }
    }

    @Test func `sleeping tasks wake in order, and in the same order each time`() async throws {
        let expected = Array(stride(from: 0, to: 20, by: 2)) + Array(stride(from: 1, to: 20, by: 2))
        #expect(try await order(0) == expected)
        let randomOrder = try await order(7)
        #expect(try await order(7) == randomOrder)
        #expect(try await order(8) != randomOrder)
        #expect(randomOrder.prefix(10).sorted() == Array(expected.prefix(10)))
    }

    @Test func `a sleep that is cancelled ends at once`() async throws {
        let time = VirtualTime()
        try await time.run {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await time.sleep(.seconds(100)) }
                await time.sleep(.seconds(1))
                group.cancelAll()
                await group.waitForAll()
                await time.sleep(.seconds(1))
            }
            #expect(time.passed == .seconds(2))
        }
    }

    @Test func `a run that can never continue ends with an error`() async throws {
        let time = VirtualTime()
        let isCancelled = Mutex(false)
        await #expect(throws: VirtualTime.Halt.stuck) {
            try await time.run {
                let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
                for await _ in stream {}
                isCancelled.withLock { $0 = Task.isCancelled }
                continuation.finish()
            }
        }
        #expect(isCancelled.withLock { $0 })
    }

    @Test func `an endless run ends after its limit of jobs`() async throws {
        let time = VirtualTime(jobsMax: 1_000)
        await #expect(throws: VirtualTime.Halt.endless(jobs: 1_000)) {
            try await time.run {
                while !Task.isCancelled { await time.sleep(.seconds(1)) }
            }
        }
    }
}
