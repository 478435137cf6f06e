import FoldbackTesting
import Foundation
import Synchronization

/// Runs fleets from successive seeds, one for each processor at a time, until a fleet does not
/// settle.
final class FleetRuns: Sendable {
    private struct State {
        var next: UInt64
        var totals = Totals()
        /// The failed run with the lowest seed.
        var failed: (seed: UInt64, run: SimulationRun)?
        var shown = Duration.zero
    }

    private let fleet: @Sendable (_ seed: UInt64) async -> SimulationRun
    private let seeds: Range<UInt64>
    private let durationMax: Duration?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - durationMax: The time after which no fleet starts.
    ///   - fleet: Runs the fleet of a seed.
    init(
        seeds: Range<UInt64>, durationMax: Duration?,
        _ fleet: @escaping @Sendable (_ seed: UInt64) async -> SimulationRun
    ) {
        self.fleet = fleet
        self.seeds = seeds
        self.durationMax = durationMax
        state = Mutex(State(next: seeds.lowerBound))
    }

    func run() async -> (Totals, failed: (seed: UInt64, run: SimulationRun)?) {
        let start = ContinuousClock.now
        await withTaskGroup { group in
            for _ in 0..<ProcessInfo.processInfo.activeProcessorCount {
                group.addTask { await self.work(since: start) }
            }
        }
        Progress.end()
        let (totals, failed) = state.withLock { ($0.totals, $0.failed) }
        if failed == nil, totals.runs < seeds.count {
            Progress.note("checked only \(totals.runs) of \(seeds.count) fleets: the time is over")
        }
        return (totals, failed)
    }

    private func work(since start: ContinuousClock.Instant) async {
        while let seed = state.withLock({ next(&$0, start) }) {
            let run = await fleet(seed)
            state.withLock { note(run, seed, &$0, start) }
        }
    }

    private func next(_ state: inout State, _ start: ContinuousClock.Instant) -> UInt64? {
        let isOver = durationMax.map { ContinuousClock.now - start >= $0 } ?? false
        guard !isOver, state.failed == nil, state.next < seeds.upperBound else { return nil }
        defer { state.next += 1 }
        return state.next
    }

    private func note(
        _ run: SimulationRun, _ seed: UInt64, _ state: inout State,
        _ start: ContinuousClock.Instant
    ) {
        if run.isComplete { state.totals.add(run) }
        state.totals.elapsed = ContinuousClock.now - start
        if !run.isClean, seed <= state.failed?.seed ?? .max { state.failed = (seed, run) }
        if state.totals.elapsed - state.shown >= Progress.interval {
            state.shown = state.totals.elapsed
            Progress.show("\(state.totals.line) of \(seeds.count)")
        }
    }
}

/// One line on standard error, rewritten on a terminal. Elsewhere a new line is written every 10
/// seconds.
private enum Progress {
    private static let isTerminal = isatty(STDERR_FILENO) == 1

    static var interval: Duration { isTerminal ? .milliseconds(200) : .seconds(10) }

    static func show(_ line: String) {
        let text = isTerminal ? "\r\u{1b}[K\(line)" : "\(line)\n"
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    static func note(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data("\(line)\n".utf8))
    }

    static func end() {
        if isTerminal { show("") }
    }
}
