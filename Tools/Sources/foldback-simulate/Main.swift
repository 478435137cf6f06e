import ArgumentParser
import Foldback
import FoldbackExamples
import FoldbackTesting
import Foundation

@main
struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "foldback-simulate",
        abstract: "Runs fleets of replicas and their authority in virtual time.",
        discussion: """
            Example: Tools/simulate --seeds 1000 --replicas 5
            Exit code 1 where a fleet does not settle; the smallest script that shows it is written to a file,
            and the command that repeats it is printed. Every fourth seed has replicas with rows beside.
            """)

    @Option(help: "How many fleets.")
    var seeds = 1_000

    @Option(help: "Replicas in each.")
    var replicas = 3

    @Option(help: "Ends after so many minutes, with fewer fleets.")
    var minutes: Double?

    @Option(help: "The first seed; the others follow. One by chance where it is not given.")
    var seed: UInt64?

    @Option(help: "What happens in a fleet at most; half of it on average.")
    var steps = 200

    @Option(help: "Repeats what a finding was written to, and nothing else.")
    var script: String?

    @Flag(help: "The script is of replicas with rows.")
    var rows = false

    @Option(help: "Where findings are written.")
    var findings = ".build/simulate"

    func validate() throws {
        guard seeds >= 1, replicas >= 1, steps >= 1 else {
            throw ValidationError("there must be 1 or more of seeds, replicas and steps")
        }
    }

    func run() async throws {
        if let script { return try await repeatScript(script) }
        let first = seed ?? .random(in: 0...UInt64(UInt32.max))
        print("fleets of \(replicas) replicas from seed \(first) on")
        let (plain, stored) = (fleets(of: Counters.self), fleets(of: StoredFleet.self))
        let campaign = FleetRuns(
            seeds: first..<first + UInt64(seeds), durationMax: minutes.map { .seconds($0 * 60) }
        ) { seed in
            Self.hasRows(seed) ? await stored.run(seed: seed) : await plain.run(seed: seed)
        }
        let (totals, failed) = await campaign.run()
        print(totals.text)
        guard let failed else { return }
        if Self.hasRows(failed.seed) {
            try await report(failed, fleets(of: StoredFleet.self), isOfRows: true)
        } else {
            try await report(failed, fleets(of: Counters.self), isOfRows: false)
        }
    }

    private func repeatScript(_ path: String) async throws {
        let recorded = try RecordedFleet(json: try String(contentsOfFile: path, encoding: .utf8))
        if rows {
            try await repeated(recorded, of: StoredFleet.self)
        } else {
            try await repeated(recorded, of: Counters.self)
        }
    }

    private func repeated<P: Projection>(
        _ recorded: RecordedFleet, of projection: P.Type
    ) async throws where P.Event == Counters.Event {
        let simulation = Simulation(
            of: projection, events: Self.events, replicas: recorded.replicas,
            stepsMax: recorded.stepsMax)
        let run = await simulation.run(choices: recorded.choices, isTracing: true)
        guard let finding = await simulation.finding(in: run, candidatesMax: 0) else {
            print("everything settles: \(run.operations) operations")
            return
        }
        print(finding)
        throw ExitCode(1)
    }

    /// Shrinks what a run has found, and says how to repeat it.
    private func report<P: Projection>(
        _ failed: (seed: UInt64, run: SimulationRun), _ simulation: Simulation<P>, isOfRows: Bool
    ) async throws {
        guard let finding = await simulation.finding(in: failed.run, candidatesMax: 3_000) else {
            return
        }
        print("seed \(failed.seed)\n\(finding)")
        let folder = URL(filePath: findings, directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "seed-\(failed.seed).json")
        try finding.ndjson.write(to: file, atomically: true, encoding: .utf8)
        print("again: Tools/simulate \(isOfRows ? "--rows " : "")--script \(file.path)")
        throw ExitCode(1)
    }

    /// Replicas that have counters as rows too, compared with those in memory.
    private typealias StoredFleet = RowsInMemory<StoredCounters>

    private static func hasRows(_ seed: UInt64) -> Bool { seed % 4 == 0 }

    private func fleets<P: Projection>(of projection: P.Type) -> Simulation<P>
    where P.Event == Counters.Event {
        Simulation(of: projection, events: Self.events, replicas: replicas, stepsMax: steps)
    }

    /// What some can do only after others did.
    private static let events = Generator<Counters.Event>.oneOf(
        .making(Counters.Event.added, names, .integers(in: 0...9)),
        .making(Counters.Event.spent, names, .integers(in: 0...9)),
        .making(Counters.Event.reset, names))

    private static let names = Generator<String>.element(of: ["a", "b", "c"])
}
