#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory
    import Foundation

    struct Verify<Tool: ReplayTool>: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "verify",
                abstract:
                    "Checks a whole log: pages, entries, verdicts, checkpoints, rows.",
                discussion: """
                    The command folds the log from its first entry, and compares checkpoints and rows \
                    with the result. It compares states and rows only of this tool's projections, and \
                    names the others. It prints one line for each thing that is wrong, with its place. \
                    The exit code is 1 if something is wrong.

                    A compacted log begins at states whose entries were removed. With --archive, the \
                    command folds the removed entries as well, and compares these states, too.

                    Example: \(Tool.name) verify a.log
                    """)
        }

        @OptionGroup var log: DirectoryArgument

        @Option(
            help: ArgumentHelp(
                "The folder that compactions have moved the log's removed entries to.",
                valueName: "folder"))
        var archive: String?

        @OptionGroup var projection: ProjectionOption

        @Flag(help: "One JSON object for each thing that is wrong, then one for the whole log.")
        var json = false

        func run() throws {
            let verification = try verification()
            try Output.write(json ? verification.json : verification.text)
            if !verification.isSound { throw ExitCode(1) }
        }

        /// Returns the verification. Damage that keeps the log from opening is a finding as well.
        ///
        /// - Throws: errors that are not damage, such as a missing log.
        private func verification() throws -> Verification {
            let view = try Tool.projection(named: projection.name).view
            do {
                let reader = try LogReader(
                    at: log.directory,
                    archive: archive.map { URL(filePath: $0, directoryHint: .isDirectory) })
                defer { reader.close() }
                return try Progress.run("folding") { try view.verification(reader) }
            } catch let error as LogError {
                guard let verification = Verification(error) else { throw error }
                return verification
            }
        }
    }

    extension Verification {
        fileprivate var text: String {
            let end =
                isSound
                ? "sound: \(entriesFolded) entries folded, \(checkpointsCompared) checkpoints compared"
                : "not sound: \(findings.count) \(findings.count == 1 ? "thing is" : "things are") wrong"
            let silent = notCompared.map { "not compared: \($0)".visible }
            return (findings.map { "\($0)".visible } + silent + [end]).joined(separator: "\n")
                + "\n"
        }

        fileprivate var json: String {
            let end: JSON = [
                "sound": .bool(isSound), "entries": .integer(Int64(entriesFolded)),
                "checkpoints": .integer(Int64(checkpointsCompared)),
            ]
            let findings = findings.map { finding -> JSON in
                ["place": .string("\(finding.place)"), "what": .string(finding.what)]
            }
            return (findings + [end]).map { String(decoding: $0.printed, as: UTF8.self) + "\n" }
                .joined()
        }
    }
#endif
