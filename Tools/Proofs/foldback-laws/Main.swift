import ArgumentParser
import Foldback
import FoldbackTesting

@main
struct Laws: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "foldback-laws",
        abstract: "Checks every law on \(Example.all.count) example projections.",
        discussion: """
            Example: foldback-laws --seconds 120
            The exit code is 1 if a law does not hold. A run that checks less than it should says so \
            on standard error.
            """)

    @Option(help: "Seconds for all projections together.")
    var seconds = 120.0

    @Option(help: "Histories of each projection; by default as many as the time allows.")
    var scripts: Int?

    @Flag(help: "Exit with 1 also if a run checks less than it should.")
    var complete = false

    @Option(help: "Only this projection: \(Example.all.map(\.name).joined(separator: ", ")).")
    var projection: Example?

    @Option(help: "Only this law, like P4.")
    var law: Law?

    @Option(help: "A seed that makes the same histories again.")
    var seed: UInt64?

    func validate() throws {
        guard scripts ?? 1 >= 1 else { throw ValidationError("scripts must be 1 or more") }
    }

    func run() async throws {
        let examples = projection.map { [$0] } ?? Example.all
        var effort = Effort.lasting(.seconds(seconds / Double(examples.count)))
        if let scripts { effort.scriptsMax = scripts }
        var isClean = true
        for example in examples {
            let report = await example.report(law.map { [$0] } ?? example.laws, effort, seed)
            print(report)
            isClean = isClean && report.isClean && (report.isComplete || !complete)
        }
        if !isClean { throw ExitCode(1) }
    }
}

extension Example: ExpressibleByArgument {
    init?(argument: String) {
        guard let example = Self.all.first(where: { $0.name == argument }) else { return nil }
        self = example
    }
}

extension Law: @retroactive ExpressibleByArgument {}
