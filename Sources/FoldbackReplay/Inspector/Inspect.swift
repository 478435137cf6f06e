#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory
    import Foundation

    struct Inspect<Tool: ReplayTool>: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "inspect",
                abstract: "Serves a page that shows a log to this machine.",
                discussion: """
                    The first line of output is the page's address. The server listens only on \
                    127.0.0.1, and answers only to a browser that opened this address once. It \
                    follows a log that grows. It ends with SIGINT, SIGTERM or SIGHUP, and when its \
                    terminal closes. A file of `export` does not grow.

                    --open gives the browser a file in the directory for temporary files that only \
                    you can read, because other users of this machine can see the arguments of a \
                    process. A browser in a sandbox may not find the file; copy the address then. \
                    A browser sends an inspector's cookie to every server on 127.0.0.1 that you \
                    open in it, so open none that another user runs.

                    \(RedactionOptions.discussion)

                    Example: \(Tool.name) inspect feed.log --open
                    """)
        }

        @OptionGroup var log: LogArgument

        @Option(help: "The port to listen on; by default the system chooses one.")
        var port: UInt16 = 0

        @Flag(help: "Opens the page in the browser.")
        var open = false

        @OptionGroup var projection: ProjectionOption
        @OptionGroup var redaction: RedactionOptions
        @OptionGroup var space: SpaceOption

        func run() async throws {
            let log = try inspectedLog()
            TerminalWatch.start()
            try await InspectorRun(log: log, port: port, opensBrowser: open).run()
        }

        /// Opens the log, and reads a file or redacts a log, which takes all its entries into
        /// memory.
        private func inspectedLog() throws -> InspectedLog {
            let first = try space.projection(named: projection.name, of: Tool.self)
            let group = Tool.group
            var reader = try log.reader(seenBy: first.view)
            if redaction.isNeeded {
                let redacted = try redaction.redacted(reader.history(), first, group)
                reader = try LogReader(redacted)
            }
            let space = try space.log(
                readBy: group, beside: first, isRedacted: redaction.isNeeded)
            // The page would only say later that the logs do not belong together.
            _ = try space?.decisions(beside: reader)
            return try InspectedLog(
                tool: Tool.name, argument: log, reader: reader,
                isLive: !log.isFile && !redaction.isNeeded, isRedacted: redaction.isNeeded,
                projections: [first] + group.filter { $0.name != first.name },
                listed: Tool.projections, reruns: Tool.reruns,
                space: space)
        }
    }
#endif
