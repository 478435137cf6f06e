#if ReplayTool
    import ArgumentParser
    import Foldback
    import Foundation

    struct Minimise<Tool: ReplayTool>: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "minimise",
                abstract: "Finds the smallest history that still fails; changes nothing.",
                discussion: """
                    What fails is a history with a state that is not as expected, or one for which a command fails. The \
                    command gets a history as `export --as ndjson` prints it, in a file whose path is in \
                    $HISTORY, and exits with 0 where all is well, 125 where it cannot tell, and 1 to 127 where it \
                    fails. What is printed is the smallest history for which it fails, or with --as test a Swift \
                    Testing case of it. Exit code 1 where the whole log does not fail.

                    Examples:
                      \(Tool.name) minimise feed.log --expect '/post/likes >= 0' --as test -o Tests/FeedTests
                      \(Tool.name) minimise feed.log --run './check.sh "$HISTORY"' > small.ndjson
                    """)
        }

        @OptionGroup var log: LogArgument

        @Option(help: "PLACE OP LITERAL, as for first-break.")
        var expect: String?

        @Option(name: .customLong("run"), help: "A command, run by sh.")
        var command: String?

        @Option(help: "How many histories are tried.")
        var tries: Int = 5_000

        @Option(name: .customLong("as"), help: "ndjson or test.")
        var form = ExportForm.ndjson

        @Option(name: .shortAndLong, help: "The directory of the test.")
        var output: String = "."

        @OptionGroup var projection: ProjectionOption

        @Flag(help: "The same: a history is JSON lines.")
        var json = false

        func validate() throws {
            guard (expect == nil) != (command == nil) else {
                throw ValidationError("give one of --expect and --run")
            }
        }

        func run() async throws {
            let expectation = try expect.map { try Expectation($0) }
            let file = FileManager.default.temporaryDirectory
                .appending(path: "foldback-\(UUID().uuidString).ndjson")
            defer { try? FileManager.default.removeItem(at: file) }
            let command = command ?? ""
            let view = try Tool.projection(named: projection.name).view
            let found = try await view.minimised(
                try log.reader(), tries: max(1, tries), expectation
            ) { history in
                try Data(history.utf8).write(to: file)
                let status = try Subprocess.run(
                    command, input: [], environment: ["HISTORY": file.path])
                guard 0...127 ~= status else {
                    throw StreamFailure("the command ended with status \(status): \(command)")
                }
                return status != 0 && status != 125
            }
            guard let found else {
                try? FileHandle.standardError.write(
                    contentsOf: Data("the whole log does not fail\n".utf8))
                throw ExitCode(1)
            }
            switch form {
            case .ndjson, .bundle: try Output.write(found.history)
            case .test:
                let name = log.directory.deletingPathExtension().lastPathComponent
                try TestCase(
                    name: "\(name)-small", history: found.history, view: view,
                    expectation: expectation
                ).write(into: URL(filePath: output))
            }
            let end = found.isWhole ? "" : "; more tries may find a smaller one"
            try? FileHandle.standardError.write(
                contentsOf: Data(
                    "\(found.entryCount) of \(found.entryCountBefore) entries, \(found.tried) tries\(end)\n"
                        .utf8))
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
