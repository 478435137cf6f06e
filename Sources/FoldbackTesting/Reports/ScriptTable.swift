import Foldback
import FoldbackHistory

/// A history for people: sequence, entry, effect.
struct ScriptTable<P: Projection> {
    private var rows: [(sequence: String, entry: String, effect: String)] = []

    /// What happened when it was carried out.
    init(_ trial: Trial<P>) {
        var before = StateText(P())
        var last: LogSequence = 0
        for (index, step) in trial.history.steps.enumerated() {
            let passage = trial.passages[index]
            let view = StateText(passage.sight.view)
            let changes = StateText.differences(from: before, to: view, countMax: 3)
            let isNew = passage.sight.sequence > last
            rows.append(
                (
                    isNew ? "\(passage.sight.sequence)" : "",
                    step.notation(of: trial.history.steps, at: index),
                    Self.effect(passage.outcome, changes, passage.sight)
                ))
            (before, last) = (view, passage.sight.sequence)
        }
    }

    /// What would be done.
    init(_ history: Script<P.Event>) {
        rows = history.steps.enumerated().map { index, step in
            ("", step.notation(of: history.steps, at: index), "")
        }
    }

    private static func effect(
        _ outcome: CommandResult?, _ changes: [String], _ sight: Observation<P>
    ) -> String {
        var parts: [String] = []
        switch outcome {
        case .refused, .ignored, .joined: parts.append(outcome.map { "\($0)" } ?? "")
        case .recorded(let number):
            if sight.conflicted.contains(number) { parts.append("conflicted") }
        case .appended, nil: break
        }
        if changes.isEmpty {
            parts.append("the view is as before")
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
