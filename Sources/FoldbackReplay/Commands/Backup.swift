#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory
    import Foundation

    struct BackupCommand<Tool: ReplayTool>: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "backup",
                abstract: "Copies a log to a new directory, also while an app has it open.",
                discussion: """
                    The copy is a complete log in a compact file. It is checked before it gets its \
                    name, so the directory has a whole copy or what it had before. An earlier backup \
                    of the same log is replaced. A store that opens a backup takes a fresh replica id.

                    Example: \(Tool.name) backup feed.log feed.backup
                    """)
        }

        @OptionGroup var log: DirectoryArgument

        @Argument(help: ArgumentHelp("The directory of the copy.", valueName: "backup"))
        var directory: String

        @Flag(help: "One JSON object.")
        var json = false

        func run() async throws {
            let reader = try LogReader(at: log.directory)
            defer { reader.close() }
            let last = try await reader.backup(
                to: URL(filePath: directory, directoryHint: .isDirectory))
            let text =
                json
                ? String(decoding: (["sequence": .of(last)] as JSON).printed, as: UTF8.self)
                : "\(last) entries, checked: \(directory)".visible
            try Output.write("\(text)\n")
        }
    }
#endif
