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
            If a fleet does not settle, the exit code is 1, the smallest script that shows it is \
            written to a file, and the command that repeats it is printed. At every fourth seed the \
            replicas also have rows.
            """)

    @Option(help: "The number of fleets.")
    var seeds = 1_000

    @Option(help: "The number of replicas in each fleet.")
    var replicas = 3

    @Option(help: "The most minutes; fewer fleets run if the time is too short.")
    var minutes: Double?

    @Option(help: "The first of the successive seeds; random by default.")
    var seed: UInt64?

    @Option(help: "The most steps of a fleet; half as many on average.")
    var steps = 200

    @Option(help: "Only repeats the script in the file of a finding.")
    var script: String?

    @Flag(help: "The replicas of the script have rows.")
    var rows = false

    @Option(help: "The directory for the files of findings.")
    var findings = ".build/simulate"

    func validate() throws {
        guard seeds >= 1, replicas >= 1, steps >= 1 else {
            throw ValidationError("seeds, replicas and steps must be 1 or more")
        }
    }

    func run() async throws {
        if let script { return try await repeatScript(script) }
        let first = seed ?? .random(in: 0...UInt64(UInt32.max))
        print("fleets of \(replicas) replicas, starting at seed \(first)")
        let (plain, stored) = (fleets(of: Counters.self), fleets(of: StoredFleet.self))
        let runs = FleetRuns(
            seeds: first..<first + UInt64(seeds), durationMax: minutes.map { .seconds($0 * 60) }
        ) { seed in
            Self.hasRows(seed) ? await stored.run(seed: seed) : await plain.run(seed: seed)
        }
        let (totals, failed) = await runs.run()
        print(totals.text)
        guard let failed else { return }
        if Self.hasRows(failed.seed) {
            try await report(failed, fleets(of: StoredFleet.self), isOfRows: true)
        } else {
            try await report(failed, fleets(of: Counters.self), isOfRows: false)
        }
    }

    private func repeatScript(_ path: String) async throws {
        let recorded = try RecordedFleet(json: try Self.text(at: path))
        if rows {
            try await repeated(recorded, of: StoredFleet.self)
        } else {
            try await repeated(recorded, of: Counters.self)
        }
    }

    /// Returns the text of a finding's file, which may be a device without an end.
    private static func text(at path: String) throws -> String {
        let bytesMax = 64 << 20
        let handle = try FileHandle(forReadingFrom: URL(filePath: path))
        defer { try? handle.close() }
        var data = Data()
        while let piece = try handle.read(upToCount: 1 << 16), !piece.isEmpty {
            data += piece
            guard data.count <= bytesMax else {
                throw ValidationError(
                    "\(path) has more than \(bytesMax) bytes; give the file of a finding")
            }
        }
        return String(decoding: data, as: UTF8.self)
    }

    private func repeated<P: Projection>(
        _ recorded: RecordedFleet, of projection: P.Type
    ) async throws where P.Event == Counters.Event {
        let simulation = Simulation(
            of: projection, events: Self.events, replicas: recorded.replicas,
            stepsMax: recorded.stepsMax)
        let run = await simulation.run(choices: recorded.choices, isTracing: true)
        guard let finding = await simulation.finding(in: run, candidatesMax: 0) else {
            print("the fleet settles: \(run.operations) operations")
            return
        }
        print(finding)
        throw ExitCode(1)
    }

    /// Shrinks a failed run, writes it to a file, and prints the command that repeats it.
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
        print("to repeat it: Tools/simulate \(isOfRows ? "--rows " : "")--script \(file.path)")
        throw ExitCode(1)
    }

    /// Replicas that also have the counters as rows, which are compared with the counters in
    /// memory.
    private typealias StoredFleet = RowsInMemory<StoredCounters>

    private static func hasRows(_ seed: UInt64) -> Bool { seed % 4 == 0 }

    private func fleets<P: Projection>(of projection: P.Type) -> Simulation<P>
    where P.Event == Counters.Event {
        Simulation(of: projection, events: Self.events, replicas: replicas, stepsMax: steps)
    }

    /// Events. Some apply only after others.
    private static let events = Generator<Counters.Event>.oneOf(
        .making(Counters.Event.added, names, .integers(in: 0...9)),
        .making(Counters.Event.spent, names, .integers(in: 0...9)),
        .making(Counters.Event.reset, names))

    private static let names = Generator<String>.element(of: ["a", "b", "c"])
}
