#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory

    /// An edit as the user gives it, with the bytes of its event.
    enum RawEdit {
        case drop(LogSequence)
        case edit(IntentNumber, [UInt8])
        case record([UInt8], after: LogSequence)
        case swap(LogSequence, LogSequence)
        case reject(IntentNumber)
        case acknowledge(IntentNumber)

        /// Returns the edit with its event decoded.
        ///
        /// - Throws: if the bytes are not an event.
        func typed<Event>(by codec: any EventCodec<Event>) throws -> HistoryEdit<Event> {
            func event(_ bytes: [UInt8]) throws -> LoggedEvent<Event> {
                do {
                    let event = try codec.decode(bytes.span.bytes, format: codec.format)
                    return try LoggedEvent(event, writtenBy: codec)
                } catch {
                    throw ValidationError(
                        "\(String(decoding: bytes, as: UTF8.self)) is not an event: \(error)")
                }
            }
            switch self {
            case .drop(let sequence): return .drop(sequence)
            case .edit(let number, let bytes): return .edit(number, try event(bytes))
            case .record(let bytes, let sequence):
                return .record(try event(bytes), after: sequence)
            case .swap(let a, let b): return .swap(a, b)
            case .reject(let number):
                return .reject(number, Rejection(code: "what-if", message: "rejected by what-if"))
            case .acknowledge(let number): return .acknowledge(number)
            }
        }
    }

    struct SeenBranch: Sendable {
        /// Returns the branch as a log in memory.
        let log: @Sendable () throws -> LogReader
        /// The log's entries and the branch's entries, side by side.
        let rows: [BranchRow]
        let leftOut: [LogSequence]
        /// New intents, by their numbers in the branch.
        let inserted: [IntentNumber]
        /// Intents of the log that have other numbers in the branch.
        let renumbered: [(new: IntentNumber, old: IntentNumber)]
        /// Intents that retry nothing in the branch, by their numbers in the log.
        let retryingNothing: [IntentNumber]
        let divergences: Divergences
        let end: SeenState
    }

    struct WhatIf<Tool: ReplayTool>: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "what-if",
                abstract:
                    "Shows how a hypothetical change would affect the states.",
                discussion: """
                    The branch is in memory, and is compared with the log entry by entry. Edits \
                    are applied in this order: --drop, --swap, --edit, --insert, --reject, \
                    --acknowledge. Exit code 1 if any state differs.

                    Intents have the numbers of the log. A new intent has its number in the \
                    branch. In the branch, swapped intents and intents after a new intent have \
                    other numbers. With --json, "inserted" and "end" have the numbers of the \
                    branch, and "renumbered" maps them to the numbers of the log.

                    Example: \(Tool.name) what-if feed.log --reject 12 --edit '3={"op":"delete","key":"a"}'
                    """)
        }

        @OptionGroup var log: LogArgument

        @Option(
            help: ArgumentHelp(
                "Drops this entry. With an intent, drops its answers; an intent that retries, replaces or undoes it loses that link.",
                valueName: "sequence"))
        var drop: [UInt64] = []

        @Option(
            parsing: .upToNextOption,
            help: ArgumentHelp(
                "Swaps these two entries.", valueName: "sequence"))
        var swap: [UInt64] = []

        @Option(help: ArgumentHelp("Gives the intent another event.", valueName: "intent=event"))
        var edit: [String] = []

        @Option(
            help: ArgumentHelp(
                "Records one more intent after that entry.", valueName: "sequence=event"))
        var insert: [String] = []

        @Option(help: ArgumentHelp("Lets the server reject the intent.", valueName: "intent"))
        var reject: [UInt64] = []

        @Option(help: ArgumentHelp("Lets the server acknowledge the intent.", valueName: "intent"))
        var acknowledge: [UInt64] = []

        @OptionGroup var projection: ProjectionOption

        @Option(
            help:
                "The number of last entries with differences to print; by default 20, or all with --json."
        )
        var last: UInt?

        @Flag(
            help:
                "One JSON object for each entry that changed the difference, then one for the end."
        )
        var json = false

        func validate() throws {
            guard swap.count.isMultiple(of: 2) else {
                throw ValidationError("--swap takes two sequences")
            }
            guard
                !(drop.isEmpty && swap.isEmpty && edit.isEmpty && insert.isEmpty && reject.isEmpty
                    && acknowledge.isEmpty)
            else { throw ValidationError("give at least one edit, such as --drop or --reject") }
            _ = try edits()
            try requireOne(of: edit.map { ("--edit \($0)", try Self.parts($0).0) })
            try requireOne(
                of: reject.map { ("--reject \($0)", $0) }
                    + acknowledge.map { ("--acknowledge \($0)", $0) })
        }

        /// Refuses two options about one intent, because only the last would have an effect.
        private func requireOne(of options: [(text: String, intent: UInt64)]) throws {
            var given: [UInt64: String] = [:]
            for (text, intent) in options {
                if let other = given.updateValue(text, forKey: intent) {
                    throw ValidationError(
                        "leave out \(other) or \(text): both are about intent \(intent)")
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
                return .record(event, after: LogSequence(sequence))
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
                try Output.line("left out because they are no longer possible: entries \(list)")
            }
            for (number, reason) in branch.end.conflicted where branch.inserted.contains(number) {
                try Output.line("inserted intent \(number) does not apply: \(reason)".visible)
            }
            for number in branch.retryingNothing {
                try Output.line(
                    "intent \(number) retries nothing: the intent that it retried is not rejected")
            }
            if !branch.renumbered.isEmpty {
                let note =
                    "swapped intents, and intents after a new intent, have other numbers and ids"
                try Output.line(Ink.dim(note))
            }
            let divergences = branch.divergences.entries
            guard !divergences.isEmpty else {
                return try Output.line("no state would have differed")
            }
            let shown = divergences.suffix(Int(clamping: last ?? 20))
            if shown.count < divergences.count {
                let more = divergences.count - shown.count
                try Output.line(Ink.dim("\(more) earlier entries; see --last"))
            }
            for divergence in shown { try divergence.print() }
            try branch.divergences.end.printAsEnd()
            guard let first = divergences.first, branch.divergences.end.isNone else { return }
            try Output.line(
                "states before the end differ, from entry \(first.sequence) on, so the exit code is 1"
            )
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
                    "renumbered": branch.renumbered(as: ("intent", "was")),
                    "end": branch.end.json,
                    "differences": branch.divergences.end.json,
                ] as JSON)
        }
    }

    extension SeenBranch {
        /// Returns the renumbered intents, with these names for the new and the old number.
        func renumbered(as names: (new: ExactString, old: ExactString)) -> JSON {
            .array(
                renumbered.map { pair in
                    var object = JSON.Object()
                    object[names.new] = .of(pair.new)
                    object[names.old] = .of(pair.old)
                    return .object(object)
                })
        }
    }

    /// An entry of the log beside the entry of a branch that takes its place.
    struct BranchRow: Sendable {
        let actual: LogSequence?
        let branch: LogSequence?
        /// Whether both entries say the same about the same intents.
        let isSame: Bool
    }

    extension HistoryBranch {
        /// Returns the entries of both histories in order.
        func rows(beside history: RecordedHistory<Event>) -> [BranchRow] {
            let old = Dictionary(uniqueKeysWithValues: history.entries.map { ($0.sequence, $0) })
            var rows: [BranchRow] = []
            var rest = history.sequences[...]
            let taken = Set(slots.values)
            func addActual(_ sequence: LogSequence) {
                // The row of a taken place comes with its branch entry.
                guard !taken.contains(sequence) else { return }
                rows.append(BranchRow(actual: sequence, branch: nil, isSame: false))
            }
            for entry in self.history.entries {
                guard let slot = slots[entry.sequence] else {
                    rows.append(BranchRow(actual: nil, branch: entry.sequence, isSame: false))
                    continue
                }
                while let next = rest.first, next <= slot {
                    if next < slot { addActual(next) }
                    rest.removeFirst()
                }
                rows.append(
                    BranchRow(
                        actual: slot, branch: entry.sequence,
                        isSame: old[slot]?.statement == entry.statement))
            }
            rest.forEach(addActual)
            return rows
        }
    }

    extension LogEntry {
        /// The entry without its place in the log.
        fileprivate var statement: JSON {
            guard case .object(var object) = json else { return json }
            object["sequence"] = nil
            return .object(object)
        }
    }

    extension Divergence {
        func print() throws {
            try Output.line(Ink.bold("after entry \(sequence)"))
            try printPlaces()
        }

        private func printPlaces() throws {
            for line in view.lines(indented: "  view      ") { try Output.line(line) }
            for line in confirmed.lines(indented: "  confirmed ") { try Output.line(line) }
            for number in conflicts {
                try Output.line("  intent \(number) is conflicted in only one of the two folds")
            }
            for number in conflictsEnded {
                try Output.line(
                    "  intent \(number) is no longer conflicted in only one of the two folds")
            }
        }

        /// Prints everything that differs at the end.
        func printAsEnd() throws {
            guard !isNone else { return try Output.line(Ink.bold("nothing differs at the end")) }
            try Output.line(Ink.bold("differences at the end"))
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
