#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory

    /// An edit as it is given, with its event as JSON or text.
    enum RawEdit {
        case drop(LogSequence)
        case edit(IntentNumber, [UInt8])
        case record([UInt8], behind: LogSequence)
        case swap(LogSequence, LogSequence)
        case reject(IntentNumber)
        case acknowledge(IntentNumber)

        /// - Throws: where the bytes are no event.
        func typed<Event>(by codec: any EventCodec<Event>) throws -> HistoryEdit<Event> {
            func event(_ bytes: [UInt8]) throws -> LoggedEvent<Event> {
                do {
                    let event = try codec.decode(bytes.span.bytes, format: codec.format)
                    return try LoggedEvent(event, writtenBy: codec)
                } catch {
                    throw ValidationError(
                        "\(String(decoding: bytes, as: UTF8.self)) is no event: \(error)")
                }
            }
            switch self {
            case .drop(let sequence): return .drop(sequence)
            case .edit(let number, let bytes): return .edit(number, try event(bytes))
            case .record(let bytes, let sequence):
                return .record(try event(bytes), behind: sequence)
            case .swap(let a, let b): return .swap(a, b)
            case .reject(let number):
                return .reject(number, Rejection(code: "what-if", message: "rejected by what-if"))
            case .acknowledge(let number): return .acknowledge(number)
            }
        }
    }

    struct SeenBranch {
        let leftOut: [LogSequence]
        /// By the branch's numbers.
        let inserted: [IntentNumber]
        /// Intents that were there and have other numbers now.
        let renumbered: [(new: IntentNumber, old: IntentNumber)]
        /// By the numbers that they had.
        let retryingNothing: [IntentNumber]
        let divergences: Divergences
        let end: SeenState
    }

    struct WhatIf<Tool: ReplayTool>: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "what-if",
                abstract:
                    "Says what would have been seen if something had gone otherwise; changes nothing.",
                discussion: """
                    The branch is in memory, and compared with what happened entry by entry. Edits are made in \
                    the order: --drop, --swap, --edit, --insert, --reject, --acknowledge. Exit code 1 where \
                    anything is seen otherwise.

                    Intents have their numbers of the log. A new one has the branch's, where those behind it, and \
                    swapped ones, have others; with --json, "inserted" and "end" have the branch's numbers, and \
                    "renumbered" says what those were.

                    Example: \(Tool.name) what-if feed.log --reject 12 --edit '3={"op":"delete","key":"a"}'
                    """)
        }

        @OptionGroup var log: LogArgument

        @Option(
            help: ArgumentHelp(
                "This entry was never there; with an intent go the answers to it, and what retries it retries nothing.",
                valueName: "sequence"))
        var drop: [UInt64] = []

        @Option(
            parsing: .upToNextOption,
            help: ArgumentHelp(
                "These two entries came in the other order.", valueName: "sequence"))
        var swap: [UInt64] = []

        @Option(help: ArgumentHelp("The intent had another event.", valueName: "intent=event"))
        var edit: [String] = []

        @Option(
            help: ArgumentHelp(
                "One more intent was recorded behind that entry.", valueName: "sequence=event"))
        var insert: [String] = []

        @Option(help: ArgumentHelp("The server refused the intent.", valueName: "intent"))
        var reject: [UInt64] = []

        @Option(help: ArgumentHelp("The server acknowledged the intent.", valueName: "intent"))
        var acknowledge: [UInt64] = []

        @OptionGroup var projection: ProjectionOption

        @Option(
            help:
                "How many of the last entries with differences are printed; 20 by default, as JSON all."
        )
        var last: UInt?

        @Flag(
            help:
                "One JSON object for each entry that brought differences, then one for the end."
        )
        var json = false

        func validate() throws {
            guard swap.count.isMultiple(of: 2) else {
                throw ValidationError("--swap takes two sequences")
            }
            guard
                !(drop.isEmpty && swap.isEmpty && edit.isEmpty && insert.isEmpty && reject.isEmpty
                    && acknowledge.isEmpty)
            else { throw ValidationError("say what should have gone otherwise") }
            _ = try edits()
            try requireOne(of: edit.map { ("--edit \($0)", try Self.parts($0).0) })
            try requireOne(
                of: reject.map { ("--reject \($0)", $0) }
                    + acknowledge.map { ("--acknowledge \($0)", $0) })
        }

        /// Only the last would count.
        private func requireOne(of options: [(text: String, intent: UInt64)]) throws {
            var given: [UInt64: String] = [:]
            for (text, intent) in options {
                if let other = given.updateValue(text, forKey: intent) {
                    throw ValidationError(
                        "leave out \(other) or \(text): both are of intent \(intent)")
                }
            }
        }

        private func edits() throws -> [RawEdit] {
            var edits: [RawEdit] = drop.map { .drop(LogSequence($0)) }
            for pair in stride(from: 0, to: swap.count, by: 2) {
                edits.append(.swap(LogSequence(swap[pair]), LogSequence(swap[pair + 1])))
            }
            edits += try edit.map { text in
                let (number, event) = try Self.parts(text)
                return .edit(IntentNumber(number), event)
            }
            edits += try insert.map { text in
                let (sequence, event) = try Self.parts(text)
                return .record(event, behind: LogSequence(sequence))
            }
            edits += reject.map { .reject(IntentNumber($0)) }
            return edits + acknowledge.map { .acknowledge(IntentNumber($0)) }
        }

        private static func parts(_ text: String) throws -> (UInt64, [UInt8]) {
            let parts = text.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let number = UInt64(parts[0]) else {
                throw ValidationError("\(text) is not NUMBER=EVENT")
            }
            return (number, Array(parts[1].utf8))
        }

        func run() throws {
            let view = try Tool.projection(named: projection.name).view
            let reader = try log.reader(seenBy: view)
            let branch = try Progress.run("folding") {
                try view.branched(reader, try edits())
            }
            try json ? print(json: branch) : print(branch)
            if !branch.divergences.entries.isEmpty { throw ExitCode(1) }
        }

        private func print(_ branch: SeenBranch) throws {
            if !branch.leftOut.isEmpty {
                let list = branch.leftOut.map { "\($0)" }.joined(separator: " ")
                try Output.line("no longer possible, and left out: entries \(list)")
            }
            for (number, reason) in branch.end.conflicted where branch.inserted.contains(number) {
                try Output.line("inserted intent \(number) does not apply: \(reason)".visible)
            }
            for number in branch.retryingNothing {
                try Output.line("intent \(number) retries nothing: what it retried is not rejected")
            }
            if !branch.renumbered.isEmpty {
                let note =
                    "intents that were swapped, or are behind a new one, have other numbers, and so have ids made of them"
                try Output.line(Ink.dim(note))
            }
            let divergences = branch.divergences.entries
            guard !divergences.isEmpty else {
                return try Output.line("nothing would have been seen otherwise")
            }
            let shown = divergences.suffix(Int(clamping: last ?? 20))
            if shown.count < divergences.count {
                let more = divergences.count - shown.count
                try Output.line(Ink.dim("\(more) earlier entries; see --last"))
            }
            for divergence in shown { try divergence.print() }
            try branch.divergences.end.printAsEnd()
        }

        private func print(json branch: SeenBranch) throws {
            let divergences = branch.divergences.entries
            for divergence in divergences.suffix(last.map { Int(clamping: $0) } ?? .max) {
                try Output.line(divergence.json)
            }
            try Output.line(
                [
                    "leftOut": .of(branch.leftOut), "inserted": .of(branch.inserted),
                    "retryingNothing": .of(branch.retryingNothing),
                    "renumbered": .array(
                        branch.renumbered.map { ["intent": .of($0.new), "was": .of($0.old)] }),
                    "end": branch.end.json,
                    "differences": branch.divergences.end.json,
                ] as JSON)
        }
    }

    extension Divergence {
        func print() throws {
            try Output.line(Ink.bold("behind entry \(sequence)"))
            try printPlaces()
        }

        private func printPlaces() throws {
            for line in view.lines(indented: "  view      ") { try Output.line(line) }
            for line in confirmed.lines(indented: "  confirmed ") { try Output.line(line) }
            for number in conflicts {
                try Output.line("  intent \(number) is conflicted in one of the two")
            }
            for number in conflictsEnded {
                try Output.line("  intent \(number) is no longer conflicted in one of the two")
            }
        }

        /// Of all that differs in the end.
        func printAsEnd() throws {
            guard !isNone else { return try Output.line(Ink.bold("in the end nothing differs")) }
            try Output.line(Ink.bold("what differs in the end"))
            try printPlaces()
        }

        var json: JSON {
            [
                "sequence": .of(sequence), "view": view.json, "confirmed": confirmed.json,
                "conflicts": .of(conflicts), "conflictsEnded": .of(conflictsEnded),
            ]
        }
    }
#endif
