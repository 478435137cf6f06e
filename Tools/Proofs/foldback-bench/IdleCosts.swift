import Foldback
import FoldbackUI
import Synchronization

/// Counts what models do while nothing happens, or nothing that they show, and measures the time of
/// a step of a wait.
struct IdleCosts: Sendable {
    let bench: Workbench

    private static let postCount = 1_000
    private static let commitCount = 1_000

    func measurements() async throws -> [Measurement] {
        try await bench.withLikes(ofPosts: Self.postCount) { store in
            try await idle(store) + unselected(store)
        } + waits()
    }

    private func count(_ name: String, _ value: Int, n: Int, note: String) -> Measurement {
        Measurement(name: name, value: Double(value), unit: "", n: n, note: note)
            .judged(by: .exactly(0))
    }

    // MARK: Nothing happens

    private func idle(_ store: Store<Likes>) async throws -> [Measurement] {
        let period = Duration.seconds(bench.isFull ? 10 : 2)
        bench.note("idle for \(period)")
        let sources = CountedSources()
        let models = try await IdleModels(store, sources)
        let before = (changes: await models.changes.count, sources: sources.count)
        // The tasks of the last frame may still run.
        try await Task.sleep(for: .milliseconds(100))
        let sleeps = Machine.mainThreadSleeps
        try await Task.sleep(for: period)
        let wakeUps = Machine.mainThreadSleeps.flatMap { after in sleeps.map { after - $0 } }
        let after = (changes: await models.changes.count, sources: sources.count)
        let note = "in \(period)"
        return [
            wakeUps.map { count("idle models, wake-ups of the main thread", $0, n: 1, note: note) },
            count("idle models, notifications", after.changes - before.changes, n: 1, note: note),
            count(
                "idle models, frames and timers", after.sources.begun - before.sources.begun,
                n: 1, note: note),
            count("idle models, timers that are set", after.sources.open, n: 1, note: note),
        ].compactMap { $0 }
    }

    /// Models that have shown something, with observers.
    @MainActor private final class IdleModels {
        let changes: ChangeCount
        private let model: OptimisticModel<Likes>
        private let progress: ProgressModel

        init(_ store: Store<Likes>, _ sources: CountedSources) async throws {
            let model = OptimisticModel(store, sources: sources.sources)
            let progress = ProgressModel(sources: sources.sources)
            (self.model, self.progress) = (model, progress)
            changes = ChangeCount {
                _ = (model.view, model.confirmed, model.rejections, model.condition)
                _ = (model.revision, model.status(of: 0), progress.appearance)
            }
            progress.start(Wait(.sending))
            let receipt = try await model.perform(.liked(0))
            try await store.acknowledge(receipt.number)
            progress.handle(.succeeded)
            while model.revision < store.status.sequence || sources.count.open > 0 {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    // MARK: Nothing that is selected changes

    @MainActor private func unselected(_ store: Store<Likes>) async throws -> [Measurement] {
        bench.note("commits that change nothing selected")
        let model = OptimisticModel(store)
        let selection = model.select { $0.counts[0] }
        let selected = ChangeCount { _ = selection.value }
        let status = ChangeCount { _ = model.status(of: 0) }
        await model.readUpdate()
        model.showUpdate()
        let before = (selected.count, status.count)
        for number in 0..<Self.commitCount {
            try await model.perform(.liked(1 + number % (Self.postCount - 1)))
        }
        let name = "commits that change nothing selected, notifications of"
        let note = "\(Self.commitCount.grouped) commits"
        return [
            count("\(name) a selection", selected.count - before.0, n: 1, note: note),
            count("\(name) an item's status", status.count - before.1, n: 1, note: note),
        ]
    }

    // MARK: Waits

    private func waits() -> [Measurement] {
        let bar = Wait(.sending, style: .bar)
        return [
            steps("a spinner", ProgressState(Wait(.sending), policy: ProgressPolicy(), at: .zero)),
            steps("a bar with an estimate", ProgressState(bar, policy: ProgressPolicy(), at: .zero))
            {
                $0.handle(.fraction(0.1 + 0.8 * $1), at: $2)
            },
        ]
    }

    /// Measures steps of 1 ms over 20 s.
    ///
    /// - Parameter input: called before every tenth step, with the share of steps so far. It is not
    ///   timed by itself.
    private func steps(
        _ name: String, _ start: ProgressState,
        _ input: (inout ProgressState, Double, Moment) -> [Cue] = { _, _, _ in [] }
    ) -> Measurement {
        let count = 20_000
        let rounds = (0..<(bench.isFull ? 31 : 11)).map { _ in
            var state = start
            var cueCount = 0
            var elapsed = Duration.zero
            let clock = ContinuousClock()
            for first in stride(from: 0, to: count, by: 10) {
                let now = Moment.zero.advanced(by: .milliseconds(first))
                cueCount += input(&state, Double(first) / Double(count), now).count
                elapsed += clock.measure {
                    for step in first..<first + 10 {
                        let moment = Moment.zero.advanced(by: .milliseconds(step))
                        cueCount += state.advance(to: moment).count
                    }
                }
            }
            precondition(cueCount > 0, "nothing was announced")
            return elapsed / .microseconds(1) / Double(count)
        }
        return rounds.measurement(
            "ProgressState.advance, \(name)", unit: "us", each: "rounds",
            samples: count * rounds.count
        ).judged(by: .atMost(1))
    }
}

/// The system's sources of time, with a count of their use.
private final class CountedSources: Sendable {
    private let calls = Mutex((begun: 0, open: 0))

    /// The frames and timers that were begun, and those of them that have not ended.
    var count: (begun: Int, open: Int) { calls.withLock { $0 } }

    var sources: UISources {
        let system = UISources.system
        return UISources(
            now: system.now,
            sleep: { moment in await self.counting { await system.sleep(moment) } },
            frame: { await self.counting { await system.frame() } })
    }

    private func counting(_ work: () async -> Void) async {
        calls.withLock { $0 = ($0.begun + 1, $0.open + 1) }
        await work()
        calls.withLock { $0.open -= 1 }
    }
}
