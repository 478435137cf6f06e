import Foldback
import FoldbackHistory

/// A law that does not hold for a projection, and the smallest history found that shows it.
public struct Finding: Sendable, CustomStringConvertible {
    public let law: Law
    /// What broke, and where, in words.
    public let statement: String
    /// Both sides of it, line by line: `-` as it should be, `+` as it is; empty where the statement says
    /// it all.
    public let difference: [String]
    /// The history: sequence, entry, effect.
    public let table: String
    /// How many steps the history has.
    public let stepCount: Int
    /// As a Swift test to paste.
    public let source: String
    /// As a file; what is kept and tried first the next time.
    public let ndjson: String
    /// How the history became that small.
    public let shrinking: Shrinking
    /// Histories that were tried until this was found; 0: it was kept from an earlier run.
    public let historiesTried: Int

    /// How far a history was shrunk.
    public enum Shrinking: Hashable, Sendable, CustomStringConvertible {
        /// None of the passes finds anything smaller; something smaller may exist.
        case minimalForThesePasses(candidates: Int)
        case stoppedByBudget(candidates: Int)
        /// Met while another failure was being shrunk.
        case metOnTheWay
        /// As it was kept, or written down.
        case given

        public var description: String {
            switch self {
            case .minimalForThesePasses(let count):
                "minimal for these passes, \(count) candidates tried"
            case .stoppedByBudget(let count): "stopped by budget after \(count) candidates"
            case .metOnTheWay: "met while another failure was being shrunk"
            case .given: "as it was given"
            }
        }
    }

    public var description: String {
        var lines = ["\(law) does not hold", "  \(statement)"]
        lines += difference.map { "    \($0)" }
        lines.append("  history, \(stepCount) steps (\(shrinking)):")
        lines += table.split(separator: "\n").map { "    \($0)" }
        lines.append("  as a test:")
        lines += source.split(separator: "\n").map { "    \($0)" }
        guard !ndjson.isEmpty else {
            return (lines + ["  not kept: the codec does not read what it writes"]).joined(
                separator: "\n")
        }
        lines.append("  as NDJSON:")
        lines += ndjson.split(separator: "\n").map { "    \($0)" }
        return lines.joined(separator: "\n")
    }
}

extension Finding {
    /// - Parameter trial: nil where carrying the history out would end the process.
    init<P: Projection>(
        _ violation: Violation, _ history: Script<P.Event>, _ trial: Trial<P>?,
        _ shrinking: Shrinking, historiesTried: Int
    ) {
        let title = "\(P.self) \(violation.law)"
        law = violation.law
        statement = violation.statement
        difference = violation.comparison.map(Self.lines) ?? []
        table = trial.map { ScriptTable($0).text } ?? ScriptTable<P>(history).text
        stepCount = history.steps.count
        ndjson =
            (try? history.ndjson(P.codec, title: title)) ?? "(the codec cannot write its events)"
        source = Self.source(of: history, P.self, violation, ndjson)
        self.shrinking = shrinking
        self.historiesTried = historiesTried
    }

    /// What a fleet has shown.
    init<P: Projection>(
        _ violation: Violation, _ run: SimulationRun, _ recorded: RecordedFleet, _: P.Type,
        _ shrinking: Shrinking, runsTried: Int
    ) {
        law = violation.law
        statement = violation.statement
        difference = violation.comparison.map(Self.lines) ?? []
        table = (run.script + ["what happens:"] + Self.shortened(run.trace).map { "  \($0)" })
            .joined(separator: "\n")
        stepCount = run.stepCount
        ndjson = recorded.json
        source = """
            @Test func `\(P.self): \(violation.law.title)`() async throws {
                let fleet = RecordedFleet(
                    replicas: \(recorded.replicas), stepsMax: \(recorded.stepsMax),
                    choices: \(recorded.choices))
                try await requireFleet(fleet, of: \(P.self).self, events: events)
            }
            """
        self.shrinking = shrinking
        historiesTried = runsTried
    }

    /// What does not settle repeats itself.
    private static func shortened(_ trace: [String]) -> [String] {
        let (first, last) = (30, 6)
        guard trace.count > first + last else { return trace }
        return trace.prefix(first) + ["... \(trace.count - first - last) lines ..."]
            + trace.suffix(last)
    }

    private static func lines(_ comparison: Violation.Comparison) -> [String] {
        let differences = StateText.differences(
            from: comparison.expected, to: comparison.found)
        guard !differences.isEmpty else { return [] }
        return ["- \(comparison.expectedName)", "+ \(comparison.foundName)", ""] + differences
    }

    private static func source<P: Projection>(
        of history: Script<P.Event>, _: P.Type, _ violation: Violation, _ ndjson: String
    ) -> String {
        let (law, manner) = (violation.law, violation.manner)
        let name = String(reflecting: P.self).split(separator: ".").dropFirst()
            .filter { !$0.contains("(") && !$0.contains(")") }.joined(separator: ".")
        var lines = ["@Test func `\(name): \(law.title), \(manner)`() async throws {"]
        if let source = history.source(name) {
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
