#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory
    import Foundation

    enum MinimizeForm: String, ExpressibleByArgument, CaseIterable {
        case ndjson
        case test
    }

    struct Minimize<Tool: ReplayTool>: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "minimize",
                abstract: "Finds a small history that still fails.",
                discussion: """
                    A history fails if one of its states does not meet the expectation, or if the \
                    command fails for it. The command gets a history, as `export --as ndjson` \
                    prints it, in a file whose path is in $HISTORY. It exits with 0 if the history \
                    is good, 125 if it cannot tell, and 1 to 124 if the history fails. The output \
                    is the smallest failing history found, or with --as test a Swift Testing case \
                    for it. Exit code 1 if the whole log does not fail, 125 if the command cannot \
                    tell for the whole log.

                    Examples:
                      \(Tool.name) minimize feed.log --expect '/post/likes >= 0' --as test -o Tests/FeedTests
                      \(Tool.name) minimize feed.log --run './check.sh "$HISTORY"' > small.ndjson
                    """,
                aliases: ["minimise"])
        }

        @OptionGroup var log: LogArgument

        @Option(help: "An expectation PLACE OP LITERAL, as for first-break.")
        var expect: String?

        @Option(name: .customLong("run"), help: "A command, run by sh.")
        var command: String?

        @Option(help: "The maximum number of histories to try.")
        var tries: Int = 5_000

        @Option(name: .customLong("as"), help: "ndjson or test.")
        var form = MinimizeForm.ndjson

        @Option(
            name: .shortAndLong,
            help:
                "The file to write, by default standard output; for a test the directory, by default this one."
        )
        var output: String?

        @OptionGroup var projection: ProjectionOption

        @Flag(help: "No effect: a history is always JSON lines.")
        var json = false

        func validate() throws {
            guard (expect == nil) != (command == nil) else {
                throw ValidationError("give one of --expect and --run")
            }
            guard tries >= 1 else {
                throw ValidationError("--tries must be at least 1, not \(tries)")
            }
            _ = try expect.map { try StateExpectation(argument: $0) }
        }

        func run() async throws {
            let expectation = try expect.map { try StateExpectation(argument: $0) }
            let view = try Tool.projection(named: projection.name).view
            if let path = output ?? (form == .test ? "." : nil) {
                try SparedLog(log).requireSpared(by: path)
            }
            let found = try await found(view, expectation)
            try write(found, view, expectation)
            let end = found.isWhole ? "" : "; more tries may find a smaller one"
            Output.note(
                "\(found.entryCount) of \(found.entryCountBefore) entries, \(found.tried) tries\(end)"
            )
        }

        private func found(
            _ view: any ReplayedView, _ expectation: StateExpectation?
        ) async throws -> SmallHistory {
            let command = command ?? ""
            // The first history that is tried is the whole log.
            var ofWhole: StateCheck?
            let reader = try log.reader(seenBy: view)
            let file = try VanishingFile()
            defer { file.remove() }
            let progress = Progress("trying histories", of: UInt64(tries))
            defer { progress.end() }
            let found = try await view.minimized(reader, tries: tries, expectation, progress) {
                history in
                try file.write(Array(history.utf8))
                let environment = ["HISTORY": file.path]
                let verdict = try Subprocess.verdict(command, environment: environment)
                ofWhole = ofWhole ?? verdict
                return verdict == .bad
            }
            progress.end()
            if let found { return found }
            guard ofWhole == .inconclusive else {
                Output.note("the whole log does not fail")
                throw ExitCode(1)
            }
            Output.note("the command cannot tell for the whole log")
            throw ExitCode(125)
        }

        private func write(
            _ found: SmallHistory, _ view: any ReplayedView, _ expectation: StateExpectation?
        ) throws {
            switch (form, output) {
            case (.ndjson, nil): try Output.write(found.history)
            case (.ndjson, let output?):
                try Output.writing(to: output, sparing: SparedLog(log)) {
                    try $0(Array(found.history.utf8))
                }
            case (.test, let output):
                try TestCase(
                    name: "\(log.name)-small", history: found.history, view: view,
                    expectation: expectation
                ).write(into: URL(filePath: output ?? "."), sparing: SparedLog(log))
            }
        }
    }

    struct SmallHistory {
        let history: String
        let entryCount: Int
        let entryCountBefore: Int
        let tried: Int
        let isWhole: Bool
    }
#endif
