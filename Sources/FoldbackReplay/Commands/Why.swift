#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory

    struct Why<Tool: ReplayTool>: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "why",
                abstract:
                    "Prints the entries that changed a value, or the story of an intent.",
                discussion: """
                    Examples:
                      \(Tool.name) why feed.log --key post
                      \(Tool.name) why feed.log --intent 12
                      \(Tool.name) why server.log --intent phone.12
                    """)
        }

        @OptionGroup var log: LogArgument

        @Option(help: "A document's key, or a name at the top of the state.")
        var key: String?

        @Option(
            help: "A place in the state, such as /post/likes; /comments/id=7 follows an element.")
        var place: String?

        @Option(
            help: "An intent's number, or REPLICA.NUMBER for an intent of another replica.")
        var intent: IntentArgument?

        @OptionGroup var projection: ProjectionOption

        @Option(
            help:
                "For a value, the number of last entries to print; by default 50, or all with --json."
        )
        var last: UInt?

        @Flag(help: "One JSON object for each entry.")
        var json = false

        func validate() throws {
            guard [key != nil, place != nil, intent != nil].count(where: { $0 }) == 1 else {
                throw ValidationError("give one of --key, --place and --intent")
            }
            guard last != 0 else { throw ValidationError("--last must be at least 1, not 0") }
        }

        func run() throws {
            let view = try Tool.projection(named: projection.name).view
            let reader = try log.reader(seenBy: view)
            if let intent {
                guard let number = intent.number(in: reader) else {
                    return try printEvents(of: intent, in: reader, view)
                }
                let story = try Progress.run("folding") { try view.story(reader, of: number) }
                return try json ? print(json: story) : print(story)
            }
            let place =
                try key.map { JSONPointer([ExactString($0)]) } ?? JSONPointer(argument: place ?? "")
            let causes = try Progress.run("folding") { try view.causes(reader, of: place) }
            let shown = causes.suffix(Int(clamping: last ?? (json ? .max : 50)))
            if json {
                for cause in shown { try Output.line(cause.json) }
                return
            }
            guard !causes.isEmpty else {
                // A key that starts with a slash was probably meant as a place.
                let hint = key?.hasPrefix("/") == true ? "; use --place for a place" : ""
                return try Output.line(("there was never a value at \(place)" + hint).visible)
            }
            if let last = causes.last { try Output.line(Ink.bold(last.now(at: place).visible)) }
            if shown.count < causes.count {
                try Output.line(
                    Ink.dim("\(causes.count - shown.count) earlier entries; see --last"))
            }
            for cause in shown {
                try Output.line(cause.line)
                try change("view", cause.view)
                try change("confirmed", cause.confirmed)
            }
        }

        /// Prints what a log has of an intent of another replica.
        private func printEvents(
            of intent: IntentArgument, in reader: LogReader, _ view: any ReplayedView
        ) throws {
            guard case .id(let id) = intent else { return }
            let found = try Progress.run("folding") { try view.events(reader, from: id) }
            guard !found.isEmpty else {
                throw ValidationError("no event of this log is of intent \(id)")
            }
            for events in found {
                guard !json else {
                    try Output.line(events.json)
                    continue
                }
                try Output.line(events.line)
                for line in events.changes.lines(indented: "         ") { try Output.line(line) }
            }
        }

        private func change(_ what: String, _ change: (old: JSON?, new: JSON?)) throws {
            guard change.old != change.new else { return }
            let old = Ink.old((change.old.map { "\($0)" } ?? "absent").visible)
            let new = Ink.new((change.new.map { "\($0)" } ?? "absent").visible)
            try Output.line("         \(what.padded(to: 10))\(old) \u{2192} \(new)")
        }

        private func print(_ story: SeenStory) throws {
            for chapter in story.chapters {
                try Output.line(chapter.line)
                for line in chapter.changes.lines(indented: "         ") { try Output.line(line) }
                if let conflict = chapter.conflict {
                    try Output.line(
                        "         intent \(story.number) does not apply: "
                            + Ink.old(conflict.visible))
                }
                for other in chapter.others {
                    try Output.line(
                        "         intent \(other.number) changed its effect: "
                            + Ink.old(other.old.visible) + " \u{2192} "
                            + Ink.new(other.new.visible))
                }
            }
            if let attempt = story.attempt {
                try Output.line(
                    "sending attempts: \(attempt.count), the last at \(attempt.startedAt.text)")
                if let quarantine = attempt.quarantine {
                    try Output.line(
                        "quarantined since \(quarantine.since.text): "
                            + Ink.old(quarantine.reason.visible))
                }
            }
            try Output.line(Ink.bold("intent \(story.number) is \(story.state.rawValue)"))
        }

        private func print(json story: SeenStory) throws {
            for chapter in story.chapters { try Output.line(chapter.json) }
            try Output.line(JSON.object(story.end))
        }
    }

    /// An intent of the log by its number, or of any replica by its id.
    enum IntentArgument: ExpressibleByArgument {
        case number(IntentNumber)
        case id(IntentID)

        init?(argument: String) {
            if let number = UInt64(argument) {
                self = .number(IntentNumber(number))
                return
            }
            // The name of a replica may have periods.
            guard let period = argument.lastIndex(of: "."),
                let replica = ReplicaID(String(argument[..<period])),
                let number = UInt64(argument[argument.index(after: period)...])
            else { return nil }
            self = .id(IntentID(replica: replica, number: IntentNumber(number)))
        }

        /// The number if the intent is of the log's own replica.
        func number(in log: LogReader) -> IntentNumber? {
            switch self {
            case .number(let number): number
            case .id(let id): id.replica == log.replica ? id.number : nil
            }
        }
    }

    extension SeenCause {
        /// The value after the entry, in words. After the last cause, it is the value at the end.
        fileprivate func now(at place: JSONPointer) -> String {
            func words(_ value: JSON?) -> String { value.map { "\($0)" } ?? "absent" }
            let name = place.names.isEmpty ? "the state" : "\(place)"
            let isSame = view.new == confirmed.new
            return "\(name) is \(words(view.new)) now"
                + (isSame ? "" : ", and \(words(confirmed.new)) in confirmed state")
        }
    }

    extension SeenStory {
        /// The intent and its present state.
        var end: JSON.Object {
            ["intent": .of(number), "state": .string(state.rawValue)]
        }
    }

    extension SeenStory.Chapter {
        var json: JSON {
            var object: JSON.Object = [
                "entry": entry, "changes": changes.json,
                "others": .array(others.map(\.json)),
            ]
            object["conflict"] = conflict.map { .string($0) }
            object["state"] = state.map { .string($0.rawValue) }
            return .object(object)
        }
    }
#endif
