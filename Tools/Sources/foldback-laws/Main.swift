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
            The exit code is 1 if a law does not hold.
            """)

    @Option(help: "Seconds for all projections together.")
    var seconds = 120.0

    @Option(help: "Only this projection: \(Example.all.map(\.name).joined(separator: ", ")).")
    var projection: Example?

    @Option(help: "Only this law, like P4.")
    var law: Law?

    @Option(help: "A seed that makes the same histories again.")
    var seed: UInt64?

    func run() async throws {
        let examples = projection.map { [$0] } ?? Example.all
        let laws = law.map { [$0] } ?? Set(Law.allCases)
        let effort = Effort.lasting(.seconds(seconds / Double(examples.count)))
        var isClean = true
        for example in examples {
            let report = await example.report(laws, effort, seed)
            print(report)
            isClean = isClean && report.isClean
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
