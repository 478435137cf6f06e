#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory
    import Foundation

    /// The command for a person who has only a log: what it is, what is open, and what to run next.
    struct Summary<Tool: ReplayTool>: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "summary",
                abstract: "Says in sentences what is in a log and what is open.",
                discussion: """
                    Prints what waits for the server, the rejections and conflicts that are open, and \
                    the commands that say more. `\(Tool.name) LOG` does the same.

                    Example: \(Tool.name) feed.log
                    """)
        }

        @OptionGroup var log: LogArgument
        @OptionGroup var projection: ProjectionOption

        @Flag(help: "One JSON object.")
        var json = false

        func run() throws {
            let view = try Tool.projection(named: projection.name).view
            let reader = try log.reader(seenBy: view)
            let summary = try Progress.run("folding") { try LogSummary(reader, view) }
            guard !json else { return try Output.line(summary.json) }
            let lines = summary.lines(of: log) + summary.advice(Tool.name, log)
            try Output.write(lines.map { $0 + "\n" }.joined())
        }
    }

    /// What is open at the end of a log.
    private struct LogSummary {
        let status: StoreStatus
        let span: (first: Timestamp, last: Timestamp)?
        let writer: LogWriterPresence
        let pending: [OpenIntent]
        let accepted: [OpenIntent]
        let conflicted: [OpenIntent]
        let rejected: [OpenIntent]
        let faults: [Fault]

        /// One intent that is open.
        struct OpenIntent {
            let number: IntentNumber
            /// The time of the entry that recorded it; nil if the log does not have that entry.
            let time: Timestamp?
            /// What it does.
            let event: String
            /// Why it is open.
            let reason: String
        }

        /// - Throws: as `LogReader.status()`, and as the view's state.
        init(_ reader: LogReader, _ view: any ReplayedView) throws {
            status = try reader.status()
            let state = try view.state(reader, at: status.sequence)
            writer = reader.writer
            faults = state.faults
            let recorded = try reader.overlayRecordings()
            let attempts = try reader.attempts()
            func entry(_ sequence: LogSequence?) throws -> LogEntry<[UInt8]>? {
                guard let sequence else { return nil }
                let entry = try reader.entries(from: sequence, countMax: 1).first
                return entry?.sequence == sequence ? entry : nil
            }
            func open(
                _ number: IntentNumber, at sequence: LogSequence?, because reason: String
            ) throws -> OpenIntent {
                let entry = try entry(sequence)
                let event = entry.map { view.event(of: $0) } ?? ""
                return OpenIntent(number: number, time: entry?.time, event: event, reason: reason)
            }
            func overlay(_ numbers: [IntentNumber]) throws -> [OpenIntent] {
                try numbers.suffix(Self.shownMax).map { number in
                    let words = attempts[number].map(\.words) ?? ""
                    return try open(number, at: recorded[number], because: words)
                }
            }
            (pending, accepted) = (try overlay(state.pending), try overlay(state.accepted))
            conflicted = try state.conflicted.suffix(Self.shownMax).map {
                try open($0.number, at: recorded[$0.number], because: $0.reason)
            }
            rejected = try state.rejections.suffix(Self.shownMax).map { number in
                let entries = try reader.settledEntries(of: number)
                return try open(
                    number, at: entries?.recorded,
                    because: try entry(entries?.settled)?.detail ?? "")
            }
            counts = (state.conflicted.count, state.rejections.count)
            span = try Self.span(of: reader, through: status.sequence)
        }

        private let counts: (conflicted: Int, rejected: Int)
        /// How many intents of each kind are shown: the newest.
        private static let shownMax = 5

        /// The times of the first and the last entry; nil if the log has none.
        private static func span(
            of reader: LogReader, through last: LogSequence
        ) throws -> (Timestamp, Timestamp)? {
            guard let first = try reader.entries(from: reader.first, countMax: 1).first,
                let end = try reader.entries(from: last, countMax: 1).first
            else { return nil }
            return (first.time, end.time)
        }
    }

    extension LogSummary {
        func lines(of log: LogArgument) -> [String] {
            var lines = [title(of: log).visible]
            lines += part(
                "Pending", status.pendingCount, pending,
                ("intent waits", "intents wait"), "for the server")
            lines += part(
                "Accepted", status.acceptedCount, accepted,
                ("intent is", "intents are"), "accepted, and not yet in confirmed state")
            lines += part(
                "Rejected", counts.rejected, rejected,
                ("rejection is", "rejections are"), "neither dismissed nor tried again")
            lines += part(
                "Conflicted", counts.conflicted, conflicted,
                ("intent does", "intents do"), "not apply, so the view has no effect of it")
            if let fault = faults.last {
                let verb = faults.count == 1 ? "confirmed event does" : "confirmed events do"
                lines += [
                    "", "\(Ink.bold("Faults:")) \(faults.count) \(verb) not apply.",
                    "  entry \(fault.sequence): \(fault.reason)".visible,
                ]
            }
            if lines.count == 1, status.sequence > 0 { lines.append("Everything is settled.") }
            return lines
        }

        private func title(of log: LogArgument) -> String {
            let name = LogArgument.shown(log.path)
            let entries = "\(status.entryCount) entr\(status.entryCount == 1 ? "y" : "ies")"
            var words = "\(name): \(entries) of replica \(status.replica)"
            if let span { words += ", from \(span.first.text) to \(span.last.text)" }
            words += ", confirmed by \(status.kind.rawValue)."
            if status.base > 0 { words += " A compaction removed entries 1 to \(status.base)." }
            if let process = writer.process, writer.isThere {
                words += " Process \(process) has it open."
            } else if writer.isThere {
                words += " A process has it open."
            }
            return words
        }

        private func part(
            _ name: String, _ count: Int, _ shown: [OpenIntent],
            _ verbs: (one: String, many: String), _ rest: String
        ) -> [String] {
            guard count > 0 else { return [] }
            let verb = count == 1 ? verbs.one : verbs.many
            var lines = ["", "\(Ink.bold("\(name):")) \(count) \(verb) \(rest)."]
            if count > shown.count { lines.append(Ink.dim("  the newest \(shown.count):")) }
            return lines + shown.map(\.line)
        }

        /// The commands that say more, with the reason for each.
        func advice(_ tool: String, _ log: LogArgument) -> [String] {
            let name = log.path.shellWord
            var lines: [(command: String, reason: String)] = []
            if let one = rejected.last {
                lines.append(("why \(name) --intent \(one.number)", "why it was rejected"))
            } else if let one = conflicted.last {
                lines.append(("why \(name) --intent \(one.number)", "what it conflicts with"))
            } else if let one = pending.last {
                lines.append(("why \(name) --intent \(one.number)", "its story so far"))
            }
            if status.sequence > 0 {
                lines.append(("log \(name) --last 20", "the last entries"))
                lines.append(("at \(name) \(status.sequence)", "the view now"))
            }
            if log.path != "-" {
                lines.append(("inspect \(name) --open", "the whole log in a browser"))
            }
            let archive = log.archive.map { " --archive \($0.shellWord)" } ?? ""
            let width = (lines.map(\.command.count).max() ?? 0) + archive.count + 2
            return ["", Ink.bold("Next:")]
                + lines.map { command, reason in
                    let command = (command + archive).padded(to: width)
                    return "  \(tool) \(command)\(Ink.dim(reason))"
                }
        }

        var json: JSON {
            var object = status.json
            object["conflicted"] = .integer(Int64(counts.conflicted))
            object["faults"] = .integer(Int64(faults.count))
            object["newest"] = [
                "pending": .array(pending.map(\.json)), "accepted": .array(accepted.map(\.json)),
                "rejected": .array(rejected.map(\.json)),
                "conflicted": .array(conflicted.map(\.json)),
            ]
            return .object(object)
        }
    }

    extension LogSummary.OpenIntent {
        fileprivate var line: String {
            let left = "  \(Ink.dim(time?.text ?? ""))  \("intent \(number)".padded(to: 12))"
            let words = event + (reason.isEmpty ? "" : "  (\(reason))")
            let width = Output.width.map { max(20, $0 - 40) } ?? .max
            return left + words.visible.cut(to: width)
        }

        fileprivate var json: JSON {
            var object: JSON.Object = ["intent": .of(number), "event": .string(event)]
            object["at"] = time.map { .integer($0.millisecondsSince1970) }
            object["reason"] = reason.isEmpty ? nil : .string(reason)
            return .object(object)
        }
    }

    extension Attempt {
        /// The attempts to send in words.
        fileprivate var words: String {
            let times = count == 1 ? "sent once" : "sent \(count) times"
            return times + (quarantine.map { ", set aside: \($0.reason)" } ?? "")
        }
    }

    extension ReplayedView {
        /// Returns what the intent of an entry does, in words.
        fileprivate func event(of entry: LogEntry<[UInt8]>) -> String {
            guard case .object(let object) = json(of: entry) else { return "" }
            return object["event"]?.sentence ?? ""
        }
    }
#endif
