import Foundation

/// One section of the run.
struct Benchmark: Sendable {
    let title: String
    let run: @Sendable (Workbench) async throws -> [Measurement]

    static let all = [
        Benchmark(title: "Recording, durable") { bench in
            let loads = RecordingLoads(.durable, bench)
            return try await loads.measurements(rounds: bench.isFull ? 15 : 7)
                + loads.allocations()
        },
        Benchmark(title: "Recording, relaxed") { bench in
            try await RecordingLoads(.relaxed, bench).measurements(rounds: bench.isFull ? 15 : 5)
        },
        Benchmark(title: "Settling") { try await SettlingLoads(bench: $0).measurements() },
        Benchmark(title: "Draining") { try await DrainingLoads(bench: $0).measurements() },
        Benchmark(title: "Lanes") { try await LaneLoads(bench: $0).measurements() },
        Benchmark(title: "Answers") { try await AnswerCosts(bench: $0).measurements() },
        Benchmark(title: "Shared conflicts") {
            try await ConflictCosts(bench: $0).measurements()
        },
        Benchmark(title: "Opening") { try await Openings(bench: $0).measurements() },
        Benchmark(title: "Backlog") { try await Backlogs(bench: $0).measurements() },
        Benchmark(title: "Years") { try await YearCosts(bench: $0).measurements() },
        Benchmark(title: "App") { try await AppCosts(bench: $0).measurements() },
        Benchmark(title: "Server") { try await ServerCosts(bench: $0).measurements() },
        Benchmark(title: "The past") { try await Histories(bench: $0).measurements() },
        Benchmark(title: "Replaying") { try await Replays(bench: $0).measurements() },
        Benchmark(title: "Codecs") { _ in try CodecCosts().measurements() },
        Benchmark(title: "Documents") { try DocumentCosts(bench: $0).measurements() },
        Benchmark(title: "Publishing") { try await Publishing(bench: $0).measurements() },
        Benchmark(title: "Rows: answers") { try await RowAnswerCosts(bench: $0).measurements() },
        Benchmark(title: "Rows: opening") { try await RowOpenings(bench: $0).measurements() },
        Benchmark(title: "Rows: reading") { try await RowReads(bench: $0).measurements() },
        Benchmark(title: "UI: lists") { try ListCosts(bench: $0).measurements() },
        Benchmark(title: "UI: lists of models") {
            try await ListModelCosts(bench: $0).measurements()
        },
        Benchmark(title: "UI: adopting") { try await AdoptionCosts(bench: $0).measurements() },
        Benchmark(title: "UI: performing") { try await PerformCosts(bench: $0).measurements() },
        Benchmark(title: "UI: commits at full speed") {
            try await CommitStorms(bench: $0).measurements()
        },
        Benchmark(title: "UI: statuses") { try await StatusCosts(bench: $0).measurements() },
        Benchmark(title: "UI: pages") { try await PageCosts(bench: $0).measurements() },
        Benchmark(title: "UI: idle") { try await IdleCosts(bench: $0).measurements() },
        Benchmark(title: "UI: a browser") { try await BrowserCosts(bench: $0).measurements() },
    ]
}

@main
enum Main {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        do {
            if arguments.first == OpeningProcess.command {
                try await OpeningProcess.run(arguments.dropFirst())
            } else if arguments.first == OpeningProcess.rowsCommand {
                try await OpeningProcess.runOnRows(arguments.dropFirst())
            } else if arguments.first == OpeningProcess.todosCommand {
                try await OpeningProcess.runOnTodos(arguments.dropFirst())
            } else if arguments.first == SpaceProcess.command {
                try await SpaceProcess.run(arguments.dropFirst())
            } else if arguments.first == SpaceProcess.spacesCommand {
                try await SpaceProcess.runOnMany(arguments.dropFirst())
            } else if arguments.first == BacklogProcess.command {
                try await BacklogProcess.run(arguments.dropFirst())
            } else {
                try await run(try Options(arguments))
            }
        } catch {
            writeError("foldback-bench: \(error)")
            exit(error is WrongUse ? 2 : 1)
        }
    }

    private static func run(_ options: Options) async throws {
        let pictures = Pictures(options)
        if let file = options.from { return try pictures.draw(file: file) }
        let sections = try await measure(options)
        let kept = try pictures.keep(sections)
        print(options.isJSON ? try sections.json() : sections.table)
        try pictures.draw(kept)
    }

    private static func measure(_ options: Options) async throws -> [Section] {
        let chosen = Benchmark.all.filter { benchmark in
            options.only.map { benchmark.title.lowercased().contains($0.lowercased()) } ?? true
        }
        guard !chosen.isEmpty else {
            throw WrongUse(reason: "no section's name contains \(options.only ?? "")")
        }
        let clock = ContinuousClock()
        let start = clock.now
        let bench = try Workbench(options)
        let machine = bench.machine.measurement
        var sections: [Section] = []
        do {
            for benchmark in chosen {
                writeError(benchmark.title)
                let figures = try await benchmark.run(bench)
                sections.append(Section(title: benchmark.title, measurements: figures))
            }
        } catch {
            try? bench.clear()
            throw error
        }
        try bench.clear()
        let whole = Measurement(
            name: "the whole run", value: (clock.now - start) / .seconds(1), unit: "s", n: 1)
        sections.insert(Section(title: "Machine", measurements: [machine, whole]), at: 0)
        return sections
    }
}
