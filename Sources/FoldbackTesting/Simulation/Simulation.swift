import Foldback
import FoldbackSync

/// Many replicas and one authority, run from one seed in virtual time: real stores, outboxes and
/// downlinks, a link with every kind of fault, and processes that crash.
///
/// Once the faults have healed, every intent is settled exactly once at the authority, every
/// replica's confirmed state and view are the authority's, and nothing is pending (``Law/p15``).
///
/// ```swift
/// let simulation = Simulation(of: Likes.self, events: events, replicas: 5, stepsMax: 100)
/// let run = await simulation.run(seed: 7)
/// if let finding = await simulation.finding(in: run, candidatesMax: 3_000) { print(finding) }
/// ```
/// The same seed leads to the same run, down to the order of all tasks, with the same version of
/// this package.
public struct Simulation<P: Projection>: Sendable {
    typealias Script = FleetScript<P.Event>

    private let replicas: Int
    private let stepsMax: Int
    private let scripts: Generator<Script>
    private let authority: @Sendable (InProcessAuthority<P>) -> any Authority<P.Event>

    /// - Parameters:
    ///   - projection: the projection of the stores and the authority.
    ///   - events: generates the events of users. Events that often touch the same things find
    ///     more.
    ///   - replicas: 1 or more.
    ///   - stepsMax: steps of one run at most; then everything heals.
    public init(of projection: P.Type, events: Generator<P.Event>, replicas: Int, stepsMax: Int) {
        self.init(events: events, replicas: replicas, stepsMax: stepsMax) { $0 }
    }

    /// - Parameter authority: wraps the honest authority, to break it on purpose.
    package init(
        events: Generator<P.Event>, replicas: Int, stepsMax: Int,
        authority: @escaping @Sendable (InProcessAuthority<P>) -> any Authority<P.Event>
    ) {
        self.replicas = replicas
        self.stepsMax = stepsMax
        scripts = events.fleets(members: replicas, stepsMax: stepsMax)
        self.authority = authority
    }

    // MARK: Running

    /// Runs a random script.
    ///
    /// - Parameters:
    ///   - seed: any number; the same seed leads to the same run.
    ///   - isTracing: whether the run has a trace.
    public nonisolated(nonsending) func run(
        seed: UInt64, isTracing: Bool = false
    ) async -> SimulationRun {
        var choices = Choices(seed: seed)
        return await run(&choices, isTracing)
    }

    /// Repeats a run from its ``SimulationRun/choices``.
    public nonisolated(nonsending) func run(
        choices: [UInt64], isTracing: Bool = false
    ) async -> SimulationRun {
        var choices = Choices(replaying: choices)
        return await run(&choices, isTracing)
    }

    private nonisolated(nonsending) func run(
        _ choices: inout Choices, _ isTracing: Bool
    ) async -> SimulationRun {
        guard let script = try? scripts.generate(from: &choices) else {
            return SimulationRun(choices.recording)
        }
        let fleet = Fleet<P>(script, isTracing: isTracing, authority: authority)
        await fleet.run()
        await fleet.check()
        return SimulationRun(
            choices.recording, fleet.shared.notes.content, script.lines,
            stepCount: script.steps.count, onDisk: script.members.filter(\.isOnDisk).count,
            lasted: fleet.shared.time.passed)
    }

    // MARK: Finding

    /// The finding of a run, shrunk to a small script that still shows it; nil if the run broke
    /// nothing.
    ///
    /// - Parameters:
    ///   - run: a run of this simulation.
    ///   - candidatesMax: how many smaller scripts are tried; 0 reports the run as it is.
    ///   - runsTried: the number of runs so far, for the report.
    public nonisolated(nonsending) func finding(
        in run: SimulationRun, candidatesMax: Int, runsTried: Int = 1
    ) async -> Finding? {
        guard let violation = run.violation else { return nil }
        let result = await Shrinker(candidatesMax: candidatesMax).shrink(
            run.recording, failing: violation.manner
        ) { choices in
            let candidate = await self.run(&choices, false)
            guard candidate.isComplete else { return .discarded }
            return candidate.violation.map { .fails($0.manner) } ?? .passes
        }
        let smallest = await self.run(choices: result.smallest.values, isTracing: true)
        let shrinking: Finding.Shrinking =
            switch result.ending {
            case _ where candidatesMax == 0: .given
            case .minimalForThesePasses: .minimalForThesePasses(candidates: result.candidates)
            case .stoppedByBudget: .stoppedByBudget(candidates: result.candidates)
            }
        // A nondeterministic failure may not show again.
        let shown = smallest.violation == nil ? run : smallest
        return Finding(
            smallest.violation ?? violation, shown, recorded(shown), P.self, shrinking,
            runsTried: runsTried)
    }

    /// The choices of a run, for a file.
    private func recorded(_ run: SimulationRun) -> RecordedFleet {
        RecordedFleet(replicas: replicas, stepsMax: stepsMax, choices: run.choices)
    }
}
