#if ReplayTool
    import ArgumentParser
    import Foldback

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
        let divergences: [Divergence]
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

                    Example: \(Tool.name) what-if feed.log --reject 12 --edit '3={"op":"delete","key":"a"}'
                    """)
        }

        @OptionGroup var log: LogArgument

        @Option(help: "An entry was never there; with an intent go the answers to it.")
        var drop: [UInt64] = []

        @Option(parsing: .upToNextOption, help: "Two entries came in the other order.")
        var swap: [UInt64] = []

        @Option(help: "INTENT=EVENT: the intent had another event.")
        var edit: [String] = []

        @Option(help: "SEQUENCE=EVENT: one more intent was recorded behind that entry.")
        var insert: [String] = []

        @Option(help: "The server refused the intent.")
        var reject: [UInt64] = []

        @Option(help: "The server acknowledged the intent.")
        var acknowledge: [UInt64] = []

        @OptionGroup var projection: ProjectionOption

        @Option(help: "How many entries with differences are printed.")
        var last: Int = 20

        @Flag(
            help:
                "One JSON object for each entry behind which something is seen otherwise, then one for the end."
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
            let branch = try Progress.run("folding") {
                try view.branched(try log.reader(), try edits())
            }
            try json ? print(json: branch) : print(branch)
            if !branch.divergences.isEmpty { throw ExitCode(1) }
        }

        private func print(_ branch: SeenBranch) throws {
            if !branch.leftOut.isEmpty {
                let list = branch.leftOut.map { "\($0)" }.joined(separator: " ")
                try Output.line("no longer possible, and left out: entries \(list)")
            }
            guard !branch.divergences.isEmpty else {
                return try Output.line("nothing would have been seen otherwise")
            }
            let shown = branch.divergences.suffix(max(0, last))
            if shown.count < branch.divergences.count {
                let more = branch.divergences.count - shown.count
                try Output.line(Ink.dim("\(more) earlier entries; see --last"))
            }
            for divergence in shown { try divergence.print() }
        }

        private func print(json branch: SeenBranch) throws {
            for divergence in branch.divergences { try Output.line(divergence.json) }
            try Output.line(
                [
                    "leftOut": .of(branch.leftOut), "end": branch.end.json,
                ] as JSON)
        }
    }

    extension Divergence {
        func print() throws {
            try Output.line(Ink.bold("behind entry \(sequence)"))
            for line in view.lines(indented: "  view      ") { try Output.line(line) }
            for line in confirmed.lines(indented: "  confirmed ") { try Output.line(line) }
            for number in conflicts {
                try Output.line("  intent \(number) is conflicted in one of the two")
            }
        }

        var json: JSON {
            [
                "sequence": .of(sequence), "view": view.json, "confirmed": confirmed.json,
                "conflicts": .of(conflicts),
            ]
        }
    }

    struct RerunCommand<Tool: ReplayTool>: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "rerun",
                abstract:
                    "Folds a log under two versions of a projection, and compares; changes nothing.",
                discussion: """
                    The verdict comes first: fine, risky (something no longer applies), or impossible (an event \
                    cannot be read). Exit code 1 unless it is fine and nothing differs.

                    Example: \(Tool.name) rerun feed.log
                    """)
        }

        @OptionGroup var log: LogArgument

        @Option(help: "Which of the tool's comparisons; its first by default.")
        var comparison: String?

        @Option(help: "How many entries with differences are printed.")
        var first: Int = 20

        @Flag(help: "One JSON object for the verdict, then one for each entry with differences.")
        var json = false

        func run() throws {
            guard let comparison = Tool.reruns.first(where: { $0.name == comparison ?? $0.name })
            else {
                let known = Tool.reruns.map(\.name).joined(separator: ", ")
                throw ValidationError(
                    known.isEmpty
                        ? "this tool names no versions to compare"
                        : "there are the comparisons \(known)")
            }
            let rerun = try Progress.run("folding") {
                try comparison.run(try log.reader(), max(1, first))
            }
            try json ? Output.line(rerun.json) : Output.line(rerun.text)
            for divergence in rerun.divergences {
                try json ? Output.line(divergence.json) : divergence.print()
            }
            guard rerun.verdict == .fine, rerun.divergences.isEmpty else { throw ExitCode(1) }
        }
    }

    extension Rerun {
        fileprivate var text: String {
            let verdict =
                switch verdict {
                case .fine: "fine"
                case .risky(let what, let sequence): "risky: entry \(sequence): \(what)"
                case .impossible(let what, let sequence): "impossible: entry \(sequence): \(what)"
                }
            return Ink.bold(verdict.visible)
                + "\n\(entryCount) entries, \(divergenceCount) behind which something else is seen"
        }

        fileprivate var json: JSON {
            var object: JSON.Object = [
                "entries": .integer(Int64(entryCount)),
                "differences": .integer(Int64(divergenceCount)),
            ]
            switch verdict {
            case .fine: object["verdict"] = "fine"
            case .risky(let what, let sequence):
                object["verdict"] = "risky"
                object["what"] = .string(what)
                object["entry"] = .of(sequence)
            case .impossible(let what, let sequence):
                object["verdict"] = "impossible"
                object["what"] = .string(what)
                object["entry"] = .of(sequence)
            }
            return .object(object)
        }
    }
#endif
