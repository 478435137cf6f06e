import Foldback
import Synchronization
import Testing

/// Question: which run of an outbox may send, when one is canceled at any moment? It comes from an
/// app that canceled a run and started the next one, and trapped.
@Suite struct RunGateTests {
    /// The number of runs that are inside.
    private final class Inside: Sendable {
        private let count = Mutex(0)

        @discardableResult
        func change(by difference: Int) -> Int {
            count.withLock { count in
                count += difference
                return count
            }
        }
    }

    private static func entry(_ gate: RunGate, _ run: RunGate.Run) async -> String {
        "\(await gate.enter(run))"
    }

    @Test func `S4: a run is refused while another goes on, and enters after it has left`() async {
        let gate = RunGate()
        let (first, second, third) = (gate.newRun(), gate.newRun(), gate.newRun())
        #expect(await Self.entry(gate, first) == "entered")
        #expect(await Self.entry(gate, second) == "refused")
        gate.leave(second)
        #expect(await Self.entry(gate, third) == "refused")
        gate.leave(first)
        let fourth = gate.newRun()
        #expect(await Self.entry(gate, fourth) == "entered")
    }

    @Test func `S4: a run waits for a run that has ended, until it has left`() async {
        let gate = RunGate()
        let (first, second) = (gate.newRun(), gate.newRun())
        #expect(await Self.entry(gate, first) == "entered")
        gate.end(first)
        async let waiting = Self.entry(gate, second)
        for _ in 0..<10 { await Task.yield() }
        gate.leave(first)
        #expect(await waiting == "entered")
    }

    @Test func `S4: a substitute waits for a run, and a run waits for a substitute`() async {
        let gate = RunGate()
        let (first, second) = (gate.newRun(), gate.newRun(isSubstitute: true))
        let third = gate.newRun()
        #expect(await Self.entry(gate, first) == "entered")
        async let waiting = Self.entry(gate, second)
        for _ in 0..<10 { await Task.yield() }
        gate.leave(first)
        #expect(await waiting == "entered")
        async let next = Self.entry(gate, third)
        for _ in 0..<10 { await Task.yield() }
        gate.leave(second)
        #expect(await next == "entered")
    }

    @Test func `S4: a run that ends while it waits returns, and the next run waits`() async {
        let gate = RunGate()
        let (first, second, third) = (gate.newRun(), gate.newRun(), gate.newRun())
        #expect(await Self.entry(gate, first) == "entered")
        gate.end(first)
        async let ended = Self.entry(gate, second)
        gate.end(second)
        #expect(await ended == "ended")
        gate.leave(second)
        async let waiting = Self.entry(gate, third)
        gate.leave(first)
        #expect(await waiting == "entered")
    }

    @Test func `S4: a run that ended before it came is not let in`() async {
        let gate = RunGate()
        let (first, second) = (gate.newRun(), gate.newRun())
        gate.end(first)
        #expect(await Self.entry(gate, first) == "ended")
        #expect(await Self.entry(gate, second) == "entered")
        gate.leave(first)
    }

    /// Every third run is a substitute, as of a drain.
    @Test func `S4: one of many runs is inside, whenever they are canceled`() async {
        let gate = RunGate()
        let inside = Inside()
        for seed in 0..<40 as Range<Int> {
            await withDiscardingTaskGroup { group in
                for index in 0..<8 {
                    group.addTask {
                        let run = gate.newRun(isSubstitute: index % 3 == 0)
                        defer { gate.leave(run) }
                        await withTaskCancellationHandler {
                            guard case .entered = await gate.enter(run) else { return }
                            #expect(inside.change(by: 1) == 1)
                            for _ in 0..<(seed + index) % 5 { await Task.yield() }
                            if index % 2 == 0 { gate.end(run) }
                            await Task.yield()
                            inside.change(by: -1)
                        } onCancel: {
                            gate.end(run)
                        }
                    }
                }
                for _ in 0..<seed % 7 { await Task.yield() }
                group.cancelAll()
            }
        }
        #expect(inside.change(by: 0) == 0)
        let last = gate.newRun()
        #expect(await Self.entry(gate, last) == "entered")
    }
}
