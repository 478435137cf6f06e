import Foldback
import FoldbackHistory

/// A script as a table for people: sequence, entry, effect.
struct ScriptTable<P: Projection> {
    private var rows: [(sequence: String, entry: String, effect: String)] = []

    /// The script with the effects of its steps.
    init(_ trial: Trial<P>) {
        var before = StateText(P())
        var last: LogSequence = 0
        for (index, step) in trial.script.steps.enumerated() {
            let logStep = trial.logSteps[index]
            let view = StateText(logStep.observation.view)
            let changes = StateText.differences(from: before, to: view, countMax: 3)
            let isNew = logStep.observation.sequence > last
            rows.append(
                (
                    isNew ? "\(logStep.observation.sequence)" : "",
                    step.notation(of: trial.script.steps, at: index),
                    Self.effect(logStep.result, changes, logStep.observation)
                ))
            (before, last) = (view, logStep.observation.sequence)
        }
    }

    /// The script alone.
    init(_ script: Script<P.Event>) {
        rows = script.steps.enumerated().map { index, step in
            ("", step.notation(of: script.steps, at: index), "")
        }
    }

    private static func effect(
        _ result: CommandResult?, _ changes: [String], _ observation: Observation<P>
    ) -> String {
        var parts: [String] = []
        switch result {
        case .refused, .ignored, .joined: parts.append(result.map { "\($0)" } ?? "")
        case .recorded(let number):
            if observation.conflicted.contains(number) { parts.append("conflicted") }
        case .recordedAll(let numbers), .reversed(_, let numbers):
            parts.append(result.map { "\($0)" } ?? "")
            if numbers.contains(where: observation.conflicted.contains) {
                parts.append("conflicted")
            }
        case .appended, .attempted, nil: break
        }
        if changes.isEmpty {
            parts.append("the view stays the same")
        } else {
            parts.append("view: \(changes.joined(separator: "  "))")
        }
        return parts.joined(separator: "; ")
    }

    var text: String {
        func width(_ path: KeyPath<(sequence: String, entry: String, effect: String), String>)
            -> Int
        {
            rows.map { $0[keyPath: path].count }.max() ?? 0
        }
        func padded(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(0, width - text.count))
        }
        let (first, second) = (max(3, width(\.sequence)), width(\.entry))
        return rows.map { row in
            "\(padded(row.sequence, first)) | \(padded(row.entry, second)) | \(row.effect)"
        }.joined(separator: "\n")
    }
}
