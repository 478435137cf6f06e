import Foldback
import FoldbackHistory

/// A law that does not hold for a projection, with the smallest script found that shows it.
public struct Finding: Sendable, CustomStringConvertible {
    public let law: Law
    /// What broke, and where.
    public let statement: String
    /// Both sides, line by line: `-` for expected, `+` for found; empty if the statement is enough.
    public let difference: [String]
    /// The script as a table: sequence, entry, effect.
    public let table: String
    /// How many steps the script has.
    public let stepCount: Int
    /// A Swift test to paste.
    public let source: String
    /// The script as a file. It is kept, and runs first the next time.
    public let ndjson: String
    /// How the script was shrunk.
    public let shrinking: Shrinking
    /// Scripts that ran until this was found; 0 if it was kept from an earlier run.
    public let scriptsTried: Int

    /// How far a script was shrunk.
    public enum Shrinking: Hashable, Sendable, CustomStringConvertible {
        /// No pass finds a smaller script; a smaller script may exist.
        case minimalForThesePasses(candidates: Int)
        case stoppedByBudget(candidates: Int)
        /// Found while another failure was shrunk.
        case metOnTheWay
        /// Not shrunk: it was kept, or given by a test.
        case given

        public var description: String {
            switch self {
            case .minimalForThesePasses(let count):
                "minimal for these passes, \(count) candidates tried"
            case .stoppedByBudget(let count): "stopped by budget after \(count) candidates"
            case .metOnTheWay: "found while another failure was shrunk"
            case .given: "as given"
            }
        }
    }

    public var description: String {
        var lines = ["\(law) does not hold", "  \(statement)"]
        lines += difference.map { "    \($0)" }
        lines.append("  script, \(stepCount) steps (\(shrinking)):")
        lines += table.split(separator: "\n").map { "    \($0)" }
        lines.append("  as a test:")
        lines += source.split(separator: "\n").map { "    \($0)" }
        guard !ndjson.isEmpty else {
            return (lines + ["  not kept: the codec cannot write its events"]).joined(
                separator: "\n")
        }
        lines.append("  as NDJSON:")
        lines += ndjson.split(separator: "\n").map { "    \($0)" }
        return lines.joined(separator: "\n")
    }
}

extension Finding {
    /// - Parameter trial: nil if running the script would end the process.
    init<P: Projection>(
        _ violation: Violation, _ script: Script<P.Event>, _ trial: Trial<P>?,
        _ shrinking: Shrinking, scriptsTried: Int
    ) {
        let title = "\(P.self) \(violation.law)"
        law = violation.law
        statement = violation.statement
        difference = violation.comparison.map(Self.lines) ?? []
        table = trial.map { ScriptTable($0).text } ?? ScriptTable<P>(script).text
        stepCount = script.steps.count
        ndjson = (try? script.ndjson(P.codec, title: title)) ?? ""
        source = Self.source(of: script, P.self, violation, ndjson)
        self.shrinking = shrinking
        self.scriptsTried = scriptsTried
    }

    static func lines(_ comparison: Violation.Comparison) -> [String] {
        let differences = StateText.differences(
            from: comparison.expected, to: comparison.found)
        guard !differences.isEmpty else { return [] }
        return ["- \(comparison.expectedName)", "+ \(comparison.foundName)", ""] + differences
    }

    private static func source<P: Projection>(
        of script: Script<P.Event>, _: P.Type, _ violation: Violation, _ ndjson: String
    ) -> String {
        let (law, manner) = (violation.law, violation.manner)
        let name = String(reflecting: P.self).split(separator: ".").dropFirst()
            .filter { !$0.contains("(") && !$0.contains(")") }.joined(separator: ".")
        var lines = ["@Test func `\(name): \(law.title), \(manner)`() async throws {"]
        if let source = script.source(name) {
            let parts = source.split(separator: "\n", omittingEmptySubsequences: false)
            lines.append("    let script = \(parts[0])")
            lines += parts.dropFirst().map { "    \($0)" }
        } else {
            lines.append("    let script = try Script<\(name).Event>(ndjson: #\"\"\"")
            lines += ndjson.split(separator: "\n").map { "        \($0)" }
            lines.append("        \"\"\"#, \(name).codec)")
        }
        let more = law == .p13 ? ", itemIDs: <#ids#>" : ""
        lines.append(
            "    try await requireLaw(.\(law.rawValue.lowercased()), of: \(name).self, for: script\(more))"
        )
        lines.append("}")
        return lines.joined(separator: "\n")
    }
}
