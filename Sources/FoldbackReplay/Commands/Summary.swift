#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory
    import Foundation

    /// The command for somebody with only a log: what it is, what is open, and what to run next.
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
            let lines =
                summary.lines(of: log) + summary.advice(Tool.name, log, projection.name)
            try Output.write(lines.map { $0 + "\n" }.joined())
        }
    }

    /// What is open at the end of a log.
    private struct LogSummary {
        let status: StoreStatus
        let span: (first: Timestamp, last: Timestamp)?
        let writer: LogWriterPresence
        let faults: [Fault]
        /// The lists of open intents that are not empty, the most urgent first.
        let lists: [OpenIntents]

        /// - Throws: as `LogReader.status()`, and as the view's state.
        init(_ reader: LogReader, _ view: any ReplayedView) throws {
            status = try reader.status()
            let state = try view.openIntents(reader)
            writer = reader.writer
            faults = state.faults
            let attempts = try reader.attempts()
            let waiting = state.overlay.filter { $0.state == .pending && !$0.isHeld }
            let isSetAside = { (intent: SeenOpenIntents.Intent) in
                attempts[intent.number]?.quarantine != nil
            }
            // The oldest may hold up the others, and so may those that the outbox has set aside.
            let shown = (waiting.filter(isSetAside) + waiting.filter { !isSetAside($0) })
                .prefix(OpenIntents.shownMax).sorted { $0.number < $1.number }
            func lines(_ intents: some Sequence<SeenOpenIntents.Intent>) -> [OpenIntents.Line] {
                intents.prefix(OpenIntents.shownMax).map { intent in
                    let words = [intent.conflict, attempts[intent.number]?.words]
                        .compactMap { $0 }.joined(separator: "; ")
                    return OpenIntents.Line(
                        number: intent.number, time: intent.time, event: intent.event, reason: words
                    )
                }
            }
            let held = state.overlay.filter(\.isHeld)
            let accepted = state.overlay.filter { $0.state == .accepted }
            let conflicted = state.overlay.filter { $0.conflict != nil }
            let rejected = try Self.rejections(state.rejections, in: reader, view)
            lists = [
                OpenIntents(
                    "rejected", state.rejections.count, rejected,
                    "1 rejection is neither dismissed nor tried again.",
                    "# rejections are neither dismissed nor tried again.", isNewestFirst: true,
                    question: "why it was rejected"),
                OpenIntents(
                    "conflicted", conflicted.count, lines(conflicted),
                    "1 intent does not apply, so the view has no effect of it.",
                    "# intents do not apply, so the view has no effect of them.",
                    question: "what it conflicts with"),
                OpenIntents(
                    "pending", waiting.count, lines(shown),
                    "1 intent waits for the server.", "# intents wait for the server.",
                    question: "its story so far"),
                OpenIntents(
                    "drafts", held.count, lines(held),
                    "1 intent is not sent before it is released.",
                    "# intents are not sent before they are released."),
                OpenIntents(
                    "accepted", accepted.count, lines(accepted),
                    "1 intent is accepted, and not yet in confirmed state.",
                    "# intents are accepted, and not yet in confirmed state."),
            ].filter { $0.count > 0 }
            span = try Self.span(of: reader, through: status.sequence)
        }

        /// Returns the latest rejections, with the times at which they came.
        private static func rejections(
            _ numbers: [IntentNumber], in reader: LogReader, _ view: any ReplayedView
        ) throws -> [OpenIntents.Line] {
            func entry(_ sequence: LogSequence) throws -> LogEntry<[UInt8]>? {
                // A compaction may have removed it.
                guard sequence >= reader.first else { return nil }
                return try reader.entries(from: sequence, countMax: 1).first
            }
            let latest = try numbers.compactMap { number in
                try reader.settledEntries(of: number).map { (number: number, entries: $0) }
            }.sorted { $0.entries.settled > $1.entries.settled }
            return try latest.prefix(OpenIntents.shownMax).map { number, entries in
                let answer = try entry(entries.settled)
                return OpenIntents.Line(
                    number: number, time: answer?.time,
                    event: try entry(entries.recorded).map { view.event(of: $0) } ?? "",
                    reason: answer?.detail ?? "")
            }
        }

        /// The times of the first and the last entry; nil if the log has none.
        private static func span(
            of reader: LogReader, through last: LogSequence
        ) throws -> (Timestamp, Timestamp)? {
            guard last >= reader.first,
                let first = try reader.entries(from: reader.first, countMax: 1).first,
                let end = try reader.entries(from: last, countMax: 1).first
            else { return nil }
            return (first.time, end.time)
        }
    }

    /// The intents that are open for one reason.
    private struct OpenIntents {
        /// How many of them are shown.
        static let shownMax = 5

        let name: String
        let count: Int
        let shown: [Line]
        /// The count in a sentence.
        let sentence: String
        let isNewestFirst: Bool
        /// What `why` answers about one of them; nil if nobody asks.
        let question: String?

        struct Line {
            let number: IntentNumber
            /// When it was recorded or rejected; nil if the log does not have that entry.
            let time: Timestamp?
            /// What it does.
            let event: String
            /// Why it is open, or what happened to it.
            let reason: String
        }

        /// - Parameter many: the sentence for several; # stands for the number.
        init(
            _ name: String, _ count: Int, _ shown: [Line], _ one: String, _ many: String,
            isNewestFirst: Bool = false, question: String? = nil
        ) {
            (self.name, self.count, self.shown) = (name, count, shown)
            (self.isNewestFirst, self.question) = (isNewestFirst, question)
            sentence = count == 1 ? one : many.replacing("#", with: "\(count)")
        }

        var lines: [String] {
            let order = isNewestFirst ? "latest" : "oldest"
            let part = count > shown.count ? " The \(shown.count) \(order):" : ""
            return ["", "\(Ink.bold("\(name.capitalized):")) \(sentence)\(part)"]
                + shown.map(\.text)
        }
    }

    extension OpenIntents.Line {
        fileprivate var text: String {
            let stamp = "  \(time?.text ?? "")  "
            let name = "intent \(number)".padded(to: 12)
            let words = [event, reason.isEmpty ? "" : "(\(reason))"].filter { !$0.isEmpty }
                .joined(separator: "  ").visible
            let width = Output.width.map { max(20, $0 - stamp.count - name.count) } ?? .max
            return Ink.dim(stamp) + name + words.cut(to: width)
        }

        fileprivate var json: JSON {
            var object: JSON.Object = ["intent": .of(number), "event": .string(event)]
            object["at"] = time.map { .integer($0.millisecondsSince1970) }
            object["reason"] = reason.isEmpty ? nil : .string(reason)
            return .object(object)
        }
    }

    extension LogSummary {
        func lines(of log: LogArgument) -> [String] {
            var lines = [title(of: log).visible] + lists.flatMap(\.lines)
            if let fault = faults.last {
                let verb = faults.count == 1 ? "confirmed event does" : "confirmed events do"
                lines += [
                    "", "\(Ink.bold("Faults:")) \(faults.count) \(verb) not apply. The last:",
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
            if status.base > 0 { words += " Entries up to \(status.base) were removed." }
            if let process = writer.process, writer.isThere {
                words += " Process \(process) has it open."
            } else if writer.isThere {
                words += " A process has it open."
            }
            return words
        }

        /// The commands that say more, with the reason for each.
        ///
        /// - Parameter projection: the one that the user has chosen; nil for the tool's first.
        func advice(_ tool: String, _ log: LogArgument, _ projection: String?) -> [String] {
            let name = log.path.shellWord
            var lines: [(command: String, reason: String)] = []
            if let list = lists.first, let question = list.question, let one = list.shown.first {
                lines.append(("why \(name) --intent \(one.number)", question))
            }
            if status.sequence > 0 {
                lines.append(("log \(name) --last 20", "the last entries"))
                lines.append(("at \(name) \(status.sequence)", "the view now"))
            }
            if log.path != "-" {
                lines.append(("inspect \(name) --open", "the whole log in a browser"))
            }
            let options = [("--archive", log.archive), ("--projection", projection)]
                .compactMap { name, value in value.map { " \(name) \($0.shellWord)" } }.joined()
            let commands = lines.map { command, _ in
                "\(tool) \(command)\(command.hasPrefix("log ") ? "" : options)".visible
            }
            let width = (commands.map(\.count).max() ?? 0) + 2
            return ["", Ink.bold("Next:")]
                + zip(commands, lines).map { command, line in
                    "  " + command.padded(to: width) + Ink.dim(line.reason)
                }
        }

        var json: JSON {
            var object = status.json
            object["conflicted"] = .integer(
                Int64(lists.first { $0.name == "conflicted" }?.count ?? 0))
            object["faults"] = .integer(Int64(faults.count))
            var shown = JSON.Object()
            for list in lists { shown[ExactString(list.name)] = .array(list.shown.map(\.json)) }
            object["open"] = .object(shown)
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
