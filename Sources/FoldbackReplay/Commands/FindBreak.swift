#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory
    import Foundation

    struct FindBreak<Tool: ReplayTool>: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "first-break",
                abstract: "Finds the first entry after which a condition no longer holds.",
                discussion: """
                    The condition is one of these: a comparison of a place with a JSON literal; a \
                    command; or a check of this tool, by name. A command gets the state as JSON on \
                    standard input. As for git bisect, it exits with 0 for good, 125 for "cannot \
                    tell" and 1 to 124 for bad. The codes 126 and 127 mean that sh cannot run a \
                    command; they are errors. Every state is checked, starting with the state \
                    before the first entry. With --assume-monotone few states are checked, and the \
                    result is the first break only if bad states stay bad. Exit code 1 if there is \
                    a break, 125 if none was found and some states were inconclusive.

                    Examples:
                      \(Tool.name) first-break feed.log --expect '/post/likes >= 0'
                      \(Tool.name) first-break feed.log --run './check.sh'
                    """)
        }

        @OptionGroup var log: LogArgument

        @Option(
            help:
                "PLACE OP LITERAL, with OP one of == != < <= > >=; an absent value is null for == and !=, and meets every < <= > and >=."
        )
        var expect: String?

        @Option(name: .customLong("run"), help: "A command, run by sh.")
        var command: String?

        @Option(help: "The name of a check of this tool.")
        var check: String?

        @Flag(help: "Halves the remaining range instead of checking every state.")
        var assumeMonotone = false

        @OptionGroup var projection: ProjectionOption

        @Flag(help: "One JSON object.")
        var json = false

        func validate() throws {
            guard [expect, command, check].count(where: { $0 != nil }) == 1 else {
                throw ValidationError("give one of --expect, --run and --check")
            }
            _ = try expect.map { try StateExpectation(argument: $0) }
        }

        func run() throws {
            let view = try Tool.projection(named: projection.name).view
            var inconclusiveCount = 0
            let condition = try condition(view) { inconclusiveCount += 1 }
            let reader = try log.reader(seenBy: view)
            // A comparison skips states whose entry does not touch the place, so it reports no
            // count.
            let total =
                assumeMonotone || expect != nil ? nil : UInt64(try reader.entryCount()) + 1
            let found = try Progress.run("checking states", of: total) { progress in
                try view.firstBreak(reader, assumingMonotone: assumeMonotone, condition, progress)
            }
            guard let found else {
                return try printNone(inconclusiveCount)
            }
            try json
                ? Output.line(found.json) : print(found, start: reader.first.value - 1)
            throw ExitCode(1)
        }

        /// - Parameter inconclusive: called for each state that is inconclusive for the command.
        private func condition(
            _ view: any ReplayedView, _ inconclusive: @escaping () -> Void
        ) throws -> BreakCondition {
            if let expect {
                return .state(try StateExpectation(argument: expect))
            }
            if let check { return try .check(named: check, of: view) }
            return .command { [command] state in
                let verdict = try Subprocess.verdict(command ?? "", input: state.json.printed)
                if verdict == .inconclusive { inconclusive() }
                return verdict
            }
        }

        private func printNone(_ inconclusiveCount: Int) throws {
            let text =
                inconclusiveCount > 0
                ? "no state was bad, and \(inconclusiveCount) were inconclusive"
                : assumeMonotone
                    ? "it holds at the end, and therefore everywhere if bad states stay bad"
                    : "it holds everywhere"
            try json
                ? Output.line(
                    SeenBreak.none(isExact: !assumeMonotone, inconclusive: inconclusiveCount))
                : Output.line(text)
            if inconclusiveCount > 0 { throw ExitCode(125) }
        }

        private func print(_ found: SeenBreak, start: UInt64) throws {
            if let entry = found.entry {
                try Output.line(entry.line)
            } else {
                try Output.line(
                    start == 0
                        ? "before the first entry" : "at entry \(start), where the log begins")
            }
            let changes = found.before?.view.differences(to: found.after.view) ?? []
            for line in changes.lines(indented: "         ") { try Output.line(line) }
            if !found.inconclusive.isEmpty {
                let list = found.inconclusive.map { "\($0)" }.joined(separator: " ")
                try Output.line("inconclusive: \(list); the first break may be one of them")
            }
            try Output.line(
                Ink.dim(
                    found.isExact
                        ? "checked every state up to this entry: \(found.looked)"
                        : "checked \(found.looked) states: the first break, if bad states stay bad"
                ))
        }
    }

    extension StateExpectation {
        init(argument text: String) throws {
            do throws(StateExpectationError) { try self.init(text) } catch {
                throw ValidationError(error.description)
            }
        }
    }

    extension BreakCondition {
        static func check(named name: String, of view: any ReplayedView) throws -> BreakCondition {
            guard view.checkNames.contains(name) else {
                let known = view.checkNames.joined(separator: ", ")
                throw ValidationError(
                    "check \(name) does not exist; "
                        + (known.isEmpty ? "this tool has none" : "use one of: \(known)"))
            }
            return .check(name)
        }
    }

    extension SeenBreak {
        /// The answer if no state is bad.
        static func none(isExact: Bool, inconclusive count: Int) -> JSON {
            ["break": .null, "exact": .bool(isExact), "untold": .integer(Int64(count))]
        }

        var json: JSON {
            var object: JSON.Object = [
                "looked": .integer(Int64(looked)), "exact": .bool(isExact),
                "untold": .of(inconclusive), "after": after.json,
            ]
            object["entry"] = entry?.json ?? .null
            object["before"] = before?.json
            return ["break": .object(object)]
        }
    }
#endif
