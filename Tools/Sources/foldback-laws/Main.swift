import ArgumentParser
import Foldback
import FoldbackTesting

@main
struct Laws: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "foldback-laws",
        abstract: "Checks every law on five projections.",
        discussion: """
            Example: foldback-laws --seconds 120
            Exit code 1 where a law does not hold.
            """)

    @Option(help: "Seconds for all of them together.")
    var seconds = 120.0

    @Option(help: "Only this projection: documents, feed, counters, text or messages.")
    var projection: Example?

    @Option(help: "Only this law, like P4.")
    var law: Law?

    @Option(help: "Makes the same histories again.")
    var seed: UInt64?

    func run() async throws {
        let examples = projection.map { [$0] } ?? Example.allCases
        let laws = law.map { [$0] } ?? Set(Law.allCases)
        let effort = Effort.lasting(.seconds(seconds / Double(examples.count)))
        var isClean = true
        for example in examples {
            let report = await example.report(laws, effort, seed: seed)
            print(report)
            isClean = isClean && report.isClean
        }
        if !isClean { throw ExitCode(1) }
    }
}

extension Example: ExpressibleByArgument {}
extension Law: @retroactive ExpressibleByArgument {}
