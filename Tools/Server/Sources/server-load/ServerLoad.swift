import ArgumentParser
import Foundation

/// Measures `foldback-server` under load, beside HTTP that decides nothing, or over PostgreSQL.
@main
struct ServerLoad: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "server-load",
        abstract: """
            Measures a server of documents under load, beside HTTP that decides nothing; or servers \
            over PostgreSQL, beside plain INSERT statements.
            """,
        subcommands: [Measure.self, NothingServer.self, PollsProcess.self],
        defaultSubcommand: Measure.self)
}

struct Measure: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measures. This is the default.", shouldDisplay: false)

    @Option(help: "The folder for all data, on the disk to measure. It must not exist.")
    var directory: String

    @Option(help: "The rounds of each load.")
    var rounds = 5

    @Option(help: "The seconds of a round.")
    var seconds = 2.0

    @Option(help: "Measures servers over PostgreSQL, which this script runs: Tools/Server/cluster.")
    var postgres: String?

    @Option(help: "The effects that a device or a new server catches up with.")
    var effects: Int?

    @Option(help: "The long polls that wait at once.")
    var polls = 10_000

    @Option(help: "Measures only this part; may be there several times.")
    var only: [Part] = []

    enum Part: String, CaseIterable, ExpressibleByArgument {
        case devices
        case propagation
        case polls
        case catchUp = "catch-up"
        case groups
        case copy
        case promotion

        static let embedded: [Part] = [.devices, .propagation, .polls, .catchUp]
        static let shared: [Part] = [
            .devices, .groups, .propagation, .copy, .polls, .catchUp, .promotion,
        ]
    }

    func validate() throws {
        let parts = postgres == nil ? Part.embedded : Part.shared
        if let part = only.first(where: { !parts.contains($0) }) {
            throw ValidationError("\(part.rawValue) is not a part of this run")
        }
        guard 1...99 ~= rounds, seconds > 0 else {
            throw ValidationError("rounds and their seconds must be positive")
        }
    }

    @Flag(help: "Prints JSON objects {name, value, unit, n, note}.")
    var json = false

    @Option(help: "The folder that keeps the run, for the charts of Tools/bench --from.")
    var keep: String?

    func run() async throws {
        let place = URL(filePath: directory, directoryHint: .isDirectory)
        guard !FileManager.default.fileExists(atPath: place.path) else {
            throw ValidationError("\(directory) exists")
        }
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        let machine = Machine(measuring: place).measurement
        let disk = try Loads.disk(place)
        let figures =
            if let postgres { try await shared(postgres, place) } else { try await embedded(place) }
        let title = postgres == nil ? "Server over HTTP" : "Servers over PostgreSQL"
        let sections = [
            Section(title: "Machine", measurements: [machine]),
            Section(title: title, measurements: disk + figures),
        ]
        if let keep {
            try Self.keep(sections, in: URL(filePath: keep, directoryHint: .isDirectory))
        }
        print(json ? try sections.json() : sections.table)
    }

    private func isChosen(_ part: Part) -> Bool { only.isEmpty || only.contains(part) }

    private func embedded(_ place: URL) async throws -> [Measurement] {
        let loads = Loads(
            directory: place, rounds: rounds, time: .seconds(seconds),
            deciding: try LoadedServer(.deciding, in: place),
            nothing: try LoadedServer(.nothing, in: place))
        var figures: [Measurement] = []
        if isChosen(.devices) { figures += try loads.devices() }
        if isChosen(.propagation) { figures += try loads.propagation() }
        if isChosen(.polls) { figures += try loads.waitingPolls(polls) }
        if isChosen(.catchUp) { figures += try await loads.catchUp(effects ?? 1_000_000) }
        return figures
    }

    private func shared(_ script: String, _ place: URL) async throws -> [Measurement] {
        let cluster = try Cluster(script, in: place.appending(path: "cluster"))
        let loads = try SharedLoads(
            directory: place, rounds: rounds, time: .seconds(seconds), cluster: cluster)
        var figures: [Measurement] = []
        // The table is empty when its size is measured.
        if isChosen(.groups) { figures += try loads.groups() }
        if isChosen(.devices) { figures += try loads.devices() }
        if isChosen(.propagation) { figures += try loads.propagation() }
        if isChosen(.copy) { figures += try loads.copy(effects ?? 100_000) }
        let one = Loads(
            directory: place, rounds: rounds, time: .seconds(seconds), deciding: loads.servers[0],
            nothing: try LoadedServer(.nothing, in: place))
        if isChosen(.polls) { figures += try one.waitingPolls(polls) }
        if isChosen(.catchUp) { figures += try await one.catchUp(effects ?? 1_000_000) }
        if isChosen(.promotion) { figures += try loads.promotion() }
        return figures
    }

    private static func keep(_ sections: [Section], in folder: URL) throws {
        let figures = sections.flatMap { section in
            section.measurements.map {
                BenchmarkFigure(
                    section: section.title, name: $0.name, value: $0.value, unit: $0.unit,
                    n: $0.n, note: $0.note)
            }
        }
        note("kept as \(try BenchmarkRuns(in: folder).keep(figures, at: Date()))")
    }
}

/// Writes a line of progress to standard error.
func note(_ line: String) { FileHandle.standardError.write(Data("\(line)\n".utf8)) }
