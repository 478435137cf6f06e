#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory
    import Foundation

    struct Log<Tool: ReplayTool>: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "log",
                abstract: "Prints a log's entries, oldest first; changes nothing.",
                discussion: "Example: \(Tool.name) log feed.log --kind rejected --json")
        }

        @OptionGroup var log: LogArgument
        @OptionGroup var filter: EntryFilter

        @Flag(help: "One JSON object a line.")
        var json = false

        func run() throws {
            let reader = try log.reader()
            try EntryPrinter(reader, try filter.predicate(in: reader), json).print(from: 1)
        }
    }

    struct Tail<Tool: ReplayTool>: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "tail",
                abstract: "Prints a log's last entries, and goes on as it grows.",
                discussion: """
                    A file of `export` does not grow: -f is for logs, and --until-caught-up exits with 1 where \
                    something in the file is pending or accepted.

                    Example: \(Tool.name) tail -f feed.log
                    """)
        }

        @OptionGroup var log: LogArgument
        @OptionGroup var filter: EntryFilter

        @Option(
            name: .customShort("n"), help: "How many of the entries that are there and asked for.")
        var count: UInt64 = 10

        @Flag(
            name: .shortAndLong, help: "Goes on with entries as they come, until it is interrupted."
        )
        var follow = false

        @Flag(help: "Goes on until nothing is pending or accepted.")
        var untilCaughtUp = false

        @Flag(help: "One JSON object a line.")
        var json = false

        func validate() throws {
            guard filter.state == nil || !(follow || untilCaughtUp) else {
                throw ValidationError(
                    "--state is that at the end of the log, and following it has none; leave one of them out"
                )
            }
        }

        func run() throws {
            guard !(follow && log.isFile) else {
                throw ValidationError(
                    "\(LogArgument.shown(log.path)) does not grow as a log does; -f is for logs")
            }
            let reader = try log.reader()
            let printer = EntryPrinter(reader, try filter.predicate(in: reader), json)
            var next = try printer.printLast(count, of: try reader.lastSequence())
            guard !log.isFile else { return try untilCaughtUp ? requireCaughtUp(reader) : () }
            // The status is folded from the log, and another one only behind another entry.
            var asked: LogSequence?
            while follow || untilCaughtUp {
                if untilCaughtUp, asked != next {
                    let status = try reader.status()
                    if status.sequence < next, status.pendingCount + status.acceptedCount == 0 {
                        return
                    }
                    asked = status.sequence < next ? next : nil
                }
                Thread.sleep(forTimeInterval: 0.1)
                next = try printer.print(from: next)
            }
        }
    }

    extension Tail {
        /// A file has come as far as it will.
        private func requireCaughtUp(_ reader: LogReader) throws {
            let status = try reader.status()
            guard status.pendingCount + status.acceptedCount > 0 else { return }
            Output.note(
                "\(LogArgument.shown(log.path)) does not grow as a log does: \(status.pendingCount) intents are pending, \(status.acceptedCount) accepted"
            )
            throw ExitCode(1)
        }
    }

    /// Prints in bounded memory.
    private struct EntryPrinter {
        let reader: LogReader
        let isWanted: (LogEntry<[UInt8]>) throws -> Bool
        let json: Bool

        init(
            _ reader: LogReader, _ isWanted: @escaping (LogEntry<[UInt8]>) throws -> Bool,
            _ json: Bool
        ) {
            self.reader = reader
            self.isWanted = isWanted
            self.json = json
        }

        /// The last ones that are wanted, and what has come meanwhile.
        ///
        /// They are counted going back as far again each time, so that the whole log is read only where it has to be, and
        /// gaps of a file are soon left behind, however wide.
        func printLast(_ count: UInt64, of last: LogSequence) throws -> LogSequence {
            var start = last.value + 1
            var found: UInt64 = 0
            while found < count, start > 1 {
                let end = start
                start -= min(last.value + 1 - start + 512, start - 1)
                try read(from: LogSequence(start), upTo: LogSequence(end)) {
                    found += UInt64($0.count)
                }
            }
            return try print(from: LogSequence(start), skipping: found - min(found, count))
        }

        /// - Returns: where to go on.
        @discardableResult
        func print(from start: LogSequence, skipping count: UInt64 = 0) throws -> LogSequence {
            var left = count
            return try read(from: start, upTo: nil) { entries in
                let shown = entries.dropFirst(Int(clamping: left))
                left -= UInt64(entries.count - shown.count)
                let lines = shown.map { json ? "\($0.json)" : $0.line }
                if !lines.isEmpty { try Output.write(lines.joined(separator: "\n") + "\n") }
            }
        }

        /// Gives what is wanted, piece by piece.
        ///
        /// - Returns: behind what was read.
        @discardableResult
        private func read(
            from start: LogSequence, upTo end: LogSequence?,
            _ body: ([LogEntry<[UInt8]>]) throws -> Void
        ) throws -> LogSequence {
            var start = max(start, 1)
            while end.map({ start < $0 }) ?? true {
                let entries = try reader.entries(from: start, countMax: 512)
                guard let last = entries.last else { break }
                try body(
                    try entries.filter { entry in
                        try end.map { entry.sequence < $0 } ?? true && isWanted(entry)
                    })
                start = LogSequence(last.sequence.value + 1)
            }
            return start
        }
    }

    struct Status<Tool: ReplayTool>: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "status",
                abstract: "Prints what a log is and holds; changes nothing.",
                discussion: "Example: \(Tool.name) status feed.log --json")
        }

        @OptionGroup var log: LogArgument

        @Flag(help: "One JSON object.")
        var json = false

        func run() throws {
            let status = try log.reader().status()
            guard !json else { return try Output.line(JSON.object(status.json)) }
            let rows: [(String, String)] = [
                ("replica", "\(status.replica)"), ("kind", status.kind.rawValue),
                ("entries", "\(status.sequence)"), ("through", "\(status.through)"),
                ("pending", "\(status.pendingCount)"), ("accepted", "\(status.acceptedCount)"),
                ("rejected", "\(status.rejectedCount)"), ("next intent", "\(status.nextIntent)"),
                ("bytes", "\(status.bytesOnDisk)"), ("checkpoint", "\(status.checkpoint)"),
            ]
            try Output.write(rows.map { $0.padded(to: 12) + $1.visible + "\n" }.joined())
        }
    }
#endif
