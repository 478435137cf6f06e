#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory
    import Foundation

    struct Log<Tool: ReplayTool>: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "log",
                abstract: "Prints a log's entries, oldest first.",
                discussion: """
                    On a terminal, lines are cut to its width. A pipe, and --json, get them whole.

                    Examples:
                      \(Tool.name) log feed.log --last 20
                      \(Tool.name) log feed.log --kind rejected --json
                    """)
        }

        @OptionGroup var log: LogArgument
        @OptionGroup var filter: EntryFilter

        @Option(help: "Only the last matching entries, at most this many.")
        var last: UInt64?

        @Flag(help: "One JSON object for each entry.")
        var json = false

        func validate() throws {
            guard last != 0 else { throw ValidationError("--last must be at least 1, not 0") }
        }

        func run() throws {
            let reader = try log.reader()
            let view = Tool.group.first?.view
            let printer = EntryPrinter(reader, try filter.predicate(in: reader, view), json, view)
            guard let last else { return _ = try printer.print(from: reader.first) }
            _ = try printer.printLast(last, of: try reader.lastSequence())
        }
    }

    struct Tail<Tool: ReplayTool>: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "tail",
                abstract: "Prints a log's last entries, and continues while it grows.",
                discussion: """
                    A file of `export` does not grow. -f is only for logs, and --until-caught-up \
                    exits with 1 if an intent in the file is pending or accepted.

                    Example: \(Tool.name) tail -f feed.log
                    """)
        }

        @OptionGroup var log: LogArgument
        @OptionGroup var filter: EntryFilter

        @Option(
            name: .customShort("n"), help: "The number of matching entries to print first.")
        var count: UInt64 = 10

        @Flag(
            name: .shortAndLong, help: "Continues with new entries until it is interrupted."
        )
        var follow = false

        @Flag(help: "Continues until no intent is pending or accepted.")
        var untilCaughtUp = false

        @Flag(help: "One JSON object for each entry.")
        var json = false

        func validate() throws {
            guard filter.state == nil || !(follow || untilCaughtUp) else {
                throw ValidationError(
                    "--state means the state at the end of the log, and a log that is followed has no end; leave one of them out"
                )
            }
        }

        func run() throws {
            guard !(follow && log.isFile) else {
                throw ValidationError(
                    "\(LogArgument.shown(log.path)) is a file and does not grow; use -f with a log")
            }
            let reader = try log.reader()
            let view = Tool.group.first?.view
            let printer = EntryPrinter(reader, try filter.predicate(in: reader, view), json, view)
            var next = try printer.printLast(count, of: try reader.lastSequence())
            guard !log.isFile else { return try untilCaughtUp ? requireCaughtUp(reader) : () }
            // The status needs a fold of the log, and it changes only with a new entry.
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
        /// Exits with 1 if an intent in the file is pending or accepted, because the file will not
        /// change.
        private func requireCaughtUp(_ reader: LogReader) throws {
            let status = try reader.status()
            guard status.pendingCount + status.acceptedCount > 0 else { return }
            Output.note(
                "\(LogArgument.shown(log.path)) is a file and does not grow: \(status.pendingCount) intents are pending, \(status.acceptedCount) accepted"
            )
            throw ExitCode(1)
        }
    }

    /// Prints entries in bounded memory.
    private struct EntryPrinter {
        let reader: LogReader
        let isWanted: (LogEntry<[UInt8]>) throws -> Bool
        let json: Bool
        /// Reads events that are not text; nil if the tool has no projections.
        let view: (any ReplayedView)?

        init(
            _ reader: LogReader, _ isWanted: @escaping (LogEntry<[UInt8]>) throws -> Bool,
            _ json: Bool, _ view: (any ReplayedView)?
        ) {
            self.reader = reader
            self.isWanted = isWanted
            self.json = json
            self.view = view
        }

        /// Prints the last matching entries, and entries that were appended in the meantime.
        ///
        /// The search goes back in steps that double. It reads the whole log only if it must, and
        /// it crosses wide gaps of a file quickly.
        func printLast(_ count: UInt64, of last: LogSequence) throws -> LogSequence {
            let first = reader.first.value
            var start = last.value + 1
            var found: UInt64 = 0
            while found < count, start > first {
                let end = start
                start -= min(last.value + 1 - start + 512, start - first)
                try read(from: LogSequence(start), upTo: LogSequence(end)) {
                    found += UInt64($0.count)
                }
            }
            return try print(from: LogSequence(start), skipping: found - min(found, count))
        }

        /// Prints the matching entries from `start` on.
        ///
        /// - Returns: the sequence to continue at.
        @discardableResult
        func print(from start: LogSequence, skipping count: UInt64 = 0) throws -> LogSequence {
            var left = count
            return try read(from: start, upTo: nil) { entries in
                let shown = entries.dropFirst(Int(clamping: left))
                left -= UInt64(entries.count - shown.count)
                let lines = shown.map { entry in
                    guard json else { return view?.line(of: entry) ?? entry.line }
                    return (view?.json(of: entry) ?? entry.json).line
                }
                if !lines.isEmpty { try Output.write(lines.joined(separator: "\n") + "\n") }
            }
        }

        /// Calls `body` with the matching entries, piece by piece.
        ///
        /// - Returns: the sequence after the last entry that was read.
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
                abstract: "Prints a log's replica, kind, counts and sizes.",
                discussion: """
                    Conflicts and faults need a fold of the log: `\(Tool.name) LOG` counts them.

                    With --keep-entries or --keep-days, it also says what a compaction with that window \
                    would remove, and what holds the rest.

                    Example: \(Tool.name) status feed.log --keep-days 30 --json
                    """)
        }

        @OptionGroup var log: LogArgument

        @OptionGroup var window: WindowOption

        @Flag(help: "One JSON object.")
        var json = false

        func run() throws {
            let reader = try log.reader()
            let status = try reader.status()
            let removable = try window.window.map { try reader.removable(keeping: $0) }
            guard !json else {
                var object = status.json
                if let removable {
                    object["removable"] = .integer(Int64(removable.removed))
                    object["held"] = .array(removable.held.map { .string($0) })
                }
                return try Output.line(JSON.object(object))
            }
            var rows: [(String, String)] = [
                ("replica", "\(status.replica)"), ("kind", status.kind.rawValue),
                ("entries", "\(status.entryCount)"), ("last entry", "\(status.sequence)"),
                ("removed through", status.base == 0 ? "none" : "entry \(status.base)"),
                ("through", "\(status.through)"),
                ("pending", "\(status.pendingCount)"), ("held", "\(status.heldCount)"),
                ("accepted", "\(status.acceptedCount)"),
                ("rejected", "\(status.rejectedCount)"),
                ("next intent", "\(status.nextIntent)"),
                ("bytes", "\(status.bytesOnDisk)"), ("checkpoint", "\(status.checkpoint)"),
                ("lineage", status.lineage.map { "\($0)" } ?? "not named"),
            ]
            if let removable {
                rows.append(("removable", "\(removable.removed)"))
                rows += removable.held.map { ("held back", $0) }
            }
            try Output.write(rows.map { $0.padded(to: 12) + $1.visible + "\n" }.joined())
        }
    }
#endif
