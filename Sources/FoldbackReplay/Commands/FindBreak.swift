#if ReplayTool
    import ArgumentParser
    import Foldback
    import Foundation

    struct FindBreak<Tool: ReplayTool>: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "first-break",
                abstract: "Finds the first entry behind which something no longer holds.",
                discussion: """
                    What has to hold is one of: a comparison of a place with a JSON literal; a command that \
                    gets the state as JSON on standard input and exits with 0 for good, 125 for "cannot tell" \
                    and 1 to 127 for bad, as for git bisect; a check by name of this tool. Every state is looked \
                    at, unless --assume-monotone says that what is bad once stays bad. Exit code 1 where \
                    there is a break.

                    Examples:
                      \(Tool.name) first-break feed.log --expect '/post/likes >= 0'
                      \(Tool.name) first-break feed.log --run './check.sh'
                    """)
        }

        @OptionGroup var log: LogArgument

        @Option(
            help:
                "PLACE OP LITERAL, with OP one of == != < <= > >=; an absent value breaks == alone."
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
        }

        func run() throws {
            let view = try Tool.projection(named: projection.name).view
            let condition = try condition(view)
            let reader = try log.reader()
            let found = try Progress.run("folding") {
                try view.firstBreak(reader, assumingMonotone: assumeMonotone, condition)
            }
            guard let found else {
                return try json
                    ? Output.line(["break": .null] as JSON) : Output.line("it holds everywhere")
            }
            try json ? Output.line(found.json) : print(found)
            throw ExitCode(1)
        }

        private func condition(_ view: any ReplayedView) throws -> BreakCondition {
            if let expect {
                let expectation = try Expectation(expect)
                return .state(expectation.place, expectation.holds)
            }
            if let check {
                guard view.checkNames.contains(check) else {
                    throw ValidationError(
                        "there is no check \(check); there are: "
                            + view.checkNames.joined(separator: ", "))
                }
                return .check(check)
            }
            return .command { [command] state in
                try Self.verdict(of: command ?? "", on: state.json)
            }
        }

        private static func verdict(of command: String, on state: JSON) throws -> BreakVerdict {
            let status = try Subprocess.run(command, input: state.encoded)
            switch status {
            case 0: return .good
            case 125: return .cannotTell
            case 1...127: return .bad
            default:
                throw StreamFailure("the command ended with status \(status): \(command)")
            }
        }

        private func print(_ found: SeenBreak) throws {
            if let entry = found.entry {
                try Output.line(entry.line)
            } else {
                try Output.line("before the first entry")
            }
            let changes = found.before?.view.differences(to: found.after.view) ?? []
            for line in changes.lines(indented: "         ") { try Output.line(line) }
            if !found.untold.isEmpty {
                let list = found.untold.map { "\($0)" }.joined(separator: " ")
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

    extension SeenBreak {
        fileprivate var json: JSON {
            var object: JSON.Object = [
                "looked": .integer(Int64(looked)), "exact": .bool(isExact),
                "untold": .array(untold.map { .of($0) }), "after": after.json,
            ]
            object["entry"] = entry?.json ?? .null
            object["before"] = before?.json
            return ["break": .object(object)]
        }
    }

    /// A place of the state compared with a literal.
    private struct Expectation {
        let place: JSONPointer
        let holds: (JSON?) -> Bool

        private static let operators = ["==", "!=", "<=", ">=", "<", ">"]

        init(_ text: String) throws {
            for name in Self.operators {
                guard let range = text.range(of: " \(name) ") else { continue }
                place = try JSONPointer(argument: String(text[..<range.lowerBound]))
                let literal: JSON
                do { literal = try JSON(parsing: String(text[range.upperBound...])) } catch {
                    throw ValidationError("what \(text) compares with is no JSON: \(error)")
                }
                holds = { found in
                    guard let found else { return name != "==" || literal == .null }
                    return Self.holds(found, name, literal)
                }
                return
            }
            throw ValidationError("\(text) is no comparison; write '/post/likes >= 0'")
        }

        private static func holds(_ found: JSON, _ name: String, _ literal: JSON) -> Bool {
            switch name {
            case "==": return found == literal
            case "!=": return found != literal
            default: break
            }
            let isBelow: Bool
            let isEqual: Bool
            switch (found, literal) {
            case (.string(let a), .string(let b)): (isBelow, isEqual) = (a < b, a == b)
            default:
                // What cannot be compared does not hold.
                guard let a = found.number, let b = literal.number else { return false }
                (isBelow, isEqual) = (a < b, a == b)
            }
            switch name {
            case "<": return isBelow
            case "<=": return isBelow || isEqual
            case ">": return !isBelow && !isEqual
            default: return !isBelow
            }
        }
    }

    extension JSON {
        fileprivate var number: Double? {
            switch self {
            case .integer(let value): Double(value)
            case .double(let value): value
            case .digits(let digits): Double(digits)
            case .null, .bool, .string, .array, .object: nil
            }
        }
    }
#endif
