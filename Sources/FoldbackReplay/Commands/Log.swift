#if ReplayTool
    import ArgumentParser
    import Foldback
    import Foundation

    /// Which entries are printed; all that is given has to hold.
    struct EntryFilter: ParsableArguments {
        @Option(
            help:
                "intent, acknowledged, rejected, withdrawn, dismissed or confirmed; again for more."
        )
        var kind: [String] = []

        @Option(help: "Entries of this intent alone: its own, and those that say something of it.")
        var intent: UInt64?

        @Option(help: "Entries with an event that touches this key, of logs of documents.")
        var key: String?

        @Option(
            help:
                "Own entries of intents that are pending, accepted, confirmed, rejected or withdrawn."
        )
        var state: String?

        @Option(help: "Not older than this moment, as 2026-11-21 or 2026-11-21T15:04:05Z.")
        var since: String?

        @Option(help: "Older than this moment.")
        var until: String?

        func validate() throws {
            let kinds = [
                "intent", "acknowledged", "rejected", "withdrawn", "dismissed", "confirmed",
            ]
            for kind in kind where !kinds.contains(kind) {
                throw ValidationError("there is no kind of entry \(kind)")
            }
            if let state, IntentState(rawValue: state) == nil {
                throw ValidationError("there is no state \(state)")
            }
            _ = try times()
        }

        private func times() throws -> (since: Int64, until: Int64) {
            (try since.map(Self.milliseconds) ?? .min, try until.map(Self.milliseconds) ?? .max)
        }

        private static func milliseconds(_ text: String) throws -> Int64 {
            let day = try? Date(text + "T00:00:00Z", strategy: .iso8601)
            guard let date = day ?? (try? Date(text, strategy: .iso8601)) else {
                throw ValidationError(
                    "\(text) is no moment; write 2026-11-21 or 2026-11-21T15:04:05Z")
            }
            return Int64(date.timeIntervalSince1970 * 1_000)
        }

        /// What decides on an entry. State is that at the end of the log.
        func predicate(in reader: LogReader) throws -> (LogEntry<[UInt8]>) throws -> Bool {
            let (since, until) = try times()
            let kinds = Set(kind)
            let wanted = state.flatMap { IntentState(rawValue: $0) }
            let key = key.map { ExactString($0) }
            let states = wanted == nil ? nil : try reader.states()
            return { entry in
                guard kinds.isEmpty || kinds.contains(entry.kindName),
                    since..<until ~= entry.time.millisecondsSince1970
                else { return false }
                if let intent, !entry.intents.contains(where: { $0.number.value == intent }) {
                    return false
                }
                if let key, !entry.touches(key) { return false }
                guard let wanted else { return true }
                guard case .intent(let number, _, _, _, _) = entry.content else { return false }
                return try states?(number) == wanted
            }
        }
    }

    extension LogEntry where Event == [UInt8] {
        fileprivate func touches(_ key: ExactString) -> Bool {
            events.contains { event in
                let read = try? JSON(parsing: event.bytes)
                return read.flatMap { try? DocumentEvent(json: $0) }?.touches(key) ?? false
            }
        }
    }

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
                discussion: "Example: \(Tool.name) tail -f feed.log")
        }

        @OptionGroup var log: LogArgument
        @OptionGroup var filter: EntryFilter

        @Option(name: .customShort("n"), help: "How many entries of those that are there.")
        var count: UInt64 = 10

        @Flag(
            name: .shortAndLong, help: "Goes on with entries as they come, until it is interrupted."
        )
        var follow = false

        @Flag(help: "Goes on until nothing is pending or accepted.")
        var untilCaughtUp = false

        @Flag(help: "One JSON object a line.")
        var json = false

        func run() throws {
            let reader = try log.reader()
            let printer = EntryPrinter(reader, try filter.predicate(in: reader), json)
            let last = try reader.lastSequence().value
            var next = try printer.print(from: LogSequence(last - min(last, count) + 1))
            while follow || untilCaughtUp {
                if untilCaughtUp {
                    let status = try reader.status()
                    if status.sequence < next, status.pendingCount + status.acceptedCount == 0 {
                        return
                    }
                }
                Thread.sleep(forTimeInterval: 0.1)
                next = try printer.print(from: next)
            }
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

        /// - Returns: where to go on.
        @discardableResult
        func print(from start: LogSequence) throws -> LogSequence {
            var start = max(start, 1)
            while true {
                let entries = try reader.entries(from: start, countMax: 512)
                guard let last = entries.last else { return start }
                let lines = try entries.filter(isWanted).map { json ? "\($0.json)" : $0.line }
                if !lines.isEmpty { try Output.write(lines.joined(separator: "\n") + "\n") }
                start = LogSequence(last.sequence.value + 1)
            }
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
