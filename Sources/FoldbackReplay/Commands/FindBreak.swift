#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory
    import Foundation

    struct FindBreak<Tool: ReplayTool>: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "first-break",
                abstract: "Finds the first entry behind which something no longer holds.",
                discussion: """
                    What has to hold is one of: a comparison of a place with a JSON literal; a command that \
                    gets the state as JSON on standard input and exits with 0 for good, 125 for "cannot tell" \
                    and 1 to 124 for bad, as for git bisect (126 and 127, by which sh says that it cannot run a \
                    command, are errors); a check by name of this tool. Every state is looked at, from that \
                    before the first entry on, unless --assume-monotone says that what is bad once stays bad. \
                    Exit code 1 where there is a break, 125 where none was found and of some states nobody could \
                    tell.

                    Examples:
                      \(Tool.name) first-break feed.log --expect '/post/likes >= 0'
                      \(Tool.name) first-break feed.log --run './check.sh'
                    """)
        }

        @OptionGroup var log: LogArgument

        @Option(
            help:
                "PLACE OP LITERAL, with OP one of == != < <= > >=; absent is null for == and !=, and breaks no other."
        )
        var expect: String?

        @Option(name: .customLong("run"), help: "A command, run by sh.")
        var command: String?

        @Option(help: "A check of this tool, by name.")
        var check: String?

        @Flag(help: "Halves what is left instead of looking at every state.")
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
            var untoldCount = 0
            let condition = try condition(view) { untoldCount += 1 }
            let reader = try log.reader(seenBy: view)
            let count = try reader.lastSequence().value + 1
            // Of a place that is compared, states that nothing touches it in are not looked at.
            let total = assumeMonotone || expect != nil ? nil : count
            let found = try Progress.run("looking at states", of: total) { progress in
                try view.firstBreak(reader, assumingMonotone: assumeMonotone, condition, progress)
            }
            guard let found else {
                return try printNone(untoldCount)
            }
            try json ? Output.line(found.json) : print(found)
            throw ExitCode(1)
        }

        /// - Parameter untold: called for each state of which the command cannot tell.
        private func condition(
            _ view: any ReplayedView, _ inconclusive: @escaping () -> Void
        ) throws -> BreakCondition {
            if let expect {
                return .state(try StateExpectation(argument: expect))
            }
            if let check {
                guard view.checkNames.contains(check) else {
                    let known = view.checkNames.joined(separator: ", ")
                    throw ValidationError(
                        "there is no check \(check); "
                            + (known.isEmpty ? "this tool has none" : "there are: \(known)"))
                }
                return .check(check)
            }
            return .command { [command] state in
                let verdict = try Subprocess.verdict(command ?? "", input: state.json.encoded)
                if verdict == .inconclusive { inconclusive() }
                return verdict
            }
        }

        private func printNone(_ untoldCount: Int) throws {
            let text =
                untoldCount > 0
                ? "no state was found bad, and of \(untoldCount) nobody could tell"
                : assumeMonotone
                    ? "it holds in the end, and so everywhere if what is bad stays bad"
                    : "it holds everywhere"
            try json
                ? Output.line(
                    [
                        "break": .null, "exact": .bool(!assumeMonotone),
                        "untold": .integer(Int64(untoldCount)),
                    ] as JSON)
                : Output.line(text)
            if untoldCount > 0 { throw ExitCode(125) }
        }

        private func print(_ found: SeenBreak) throws {
            if let entry = found.entry {
                try Output.line(entry.line)
            } else {
                try Output.line("before the first entry")
            }
            let changes = found.before?.view.differences(to: found.after.view) ?? []
            for line in changes.lines(indented: "         ") { try Output.line(line) }
            if !found.inconclusive.isEmpty {
                let list = found.inconclusive.map { "\($0)" }.joined(separator: " ")
                try Output.line("nobody could tell of \(list): it may be one of them")
            }
            try Output.line(
                Ink.dim(
                    found.isExact
                        ? "every state up to it was looked at: \(found.looked)"
                        : "\(found.looked) states were looked at: the first, if what is bad stays bad"
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

    extension SeenBreak {
        fileprivate var json: JSON {
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
