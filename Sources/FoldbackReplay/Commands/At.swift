#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory

    struct At<Tool: ReplayTool>: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "at",
                abstract: "Prints the state after an entry.",
                discussion: """
                    At the log's last entry, it also says if the rows that the app has stored differ \
                    from the state.

                    Example: \(Tool.name) at feed.log 41
                    """)
        }

        @OptionGroup var log: LogArgument

        @Argument(help: "The entry's sequence; 0 is before the first entry.")
        var sequence: UInt64

        @OptionGroup var projection: ProjectionOption

        @Option(help: "Only this place of the state, such as /post/likes.")
        var place: String = ""

        @Flag(
            help:
                "One JSON object: view and confirmed (at --place; left out if absent), and the overlay's intents."
        )
        var json = false

        func run() throws {
            let place = try JSONPointer(argument: place)
            let view = try Tool.projection(named: projection.name).view
            let reader = try log.reader(seenBy: view)
            let state = try Progress.run("folding") {
                try view.state(reader, at: LogSequence(sequence))
            }
            let isEnd = LogSequence(sequence) == (try reader.lastSequence())
            let differing =
                isEnd
                ? try Progress.run("comparing rows") { try view.rowsDiffering(in: reader) } : []
            guard !json else { return try Output.line(state.json(at: place, differing)) }
            let shown = state.view[at: place]
            for line in shown?.lines ?? ["\(place) has no value"] {
                try Output.line(line.visible)
            }
            func numbers(_ what: String, _ numbers: [IntentNumber]) throws {
                guard !numbers.isEmpty else { return }
                let list = numbers.map { "\($0)" }.joined(separator: " ")
                try Output.line(Ink.dim("\(what) \(list)"))
            }
            try numbers("pending", state.pending)
            try numbers("accepted", state.accepted)
            for (number, reason) in state.conflicted {
                try Output.line(Ink.old("conflicted \(number): \(reason)".visible))
            }
            for line in FaultSummary([state.faults], seen: nil, at: LogSequence(sequence)).lines {
                try Output.line(Ink.old(line.visible))
            }
            for line in differing { try Output.line(Ink.old(line.visible)) }
        }
    }

    extension FaultSummary {
        /// One line for each group, and one for those that are left out.
        fileprivate var lines: [String] {
            let lines = groups.map { group in
                "fault in entry \(group.last)"
                    + (group.count > 1 ? ", and \(group.count - 1) more like it" : "")
                    + ": \(group.reason)"
            }
            return leftOutCount > 0
                ? lines + ["and faults for \(leftOutCount) other reasons"] : lines
        }
    }

    struct Diff<Tool: ReplayTool>: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "diff",
                abstract: "Prints where two states differ.",
                discussion: """
                    A state is the view after a sequence, or `confirmed` or `view` at the end of \
                    the log. Exit code 1 if they differ.

                    Example: \(Tool.name) diff feed.log confirmed view
                    """)
        }

        @OptionGroup var log: LogArgument

        @Argument(help: "A sequence, `confirmed` or `view`.")
        var old: String

        @Argument(help: "A sequence, `confirmed` or `view`.")
        var new: String

        @OptionGroup var projection: ProjectionOption

        @Flag(help: "Compares confirmed state at sequences, not the view.")
        var confirmed = false

        @Flag(help: "One JSON object for each place that differs.")
        var json = false

        func run() throws {
            let view = try Tool.projection(named: projection.name).view
            let reader = try log.reader(seenBy: view)
            let differences = try Progress.run("folding") {
                try state(old, reader, view).differences(to: try state(new, reader, view))
            }
            let lines = json ? differences.map { $0.json.line } : differences.lines(indented: "")
            if !lines.isEmpty { try Output.line(lines.joined(separator: "\n")) }
            if !differences.isEmpty { throw ExitCode(1) }
        }

        private func state(
            _ place: String, _ reader: LogReader, _ view: any ReplayedView
        ) throws -> JSON {
            switch place {
            case "view": return try view.state(reader, at: try reader.lastSequence()).view
            case "confirmed": return try view.state(reader, at: try reader.lastSequence()).confirmed
            default:
                guard let sequence = UInt64(place) else {
                    throw ValidationError("\(place) is not a sequence, `confirmed` or `view`")
                }
                let state = try view.state(reader, at: LogSequence(sequence))
                return confirmed ? state.confirmed : state.view
            }
        }
    }

    extension SeenState {
        fileprivate func json(at place: JSONPointer, _ differing: [String]) -> JSON {
            guard case .object(var object) = json else { return json }
            object["view"] = view[at: place]
            object["confirmed"] = confirmed[at: place]
            if !differing.isEmpty {
                object["rowsDiffering"] = .array(differing.map { .string($0) })
            }
            return .object(object)
        }
    }

    extension JSONPointer {
        init(argument text: String) throws {
            guard let pointer = JSONPointer(text) else {
                throw ValidationError("\(text) is not a place; write /name/name (RFC 6901)")
            }
            self = pointer
        }
    }

    extension JSON {
        /// One line for each member of an object, or one line for any other value.
        fileprivate var lines: [String] {
            guard case .object(let object) = self, !object.isEmpty else { return ["\(self)"] }
            return object.members.map { "\($0.name): \($0.value)" }
        }
    }
#endif
