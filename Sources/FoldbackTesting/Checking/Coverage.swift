import Foldback

/// What the scripts of a run should reach, random and kept ones.
///
/// A run that never rejects an accepted intent says nothing about that case, however many scripts it
/// checks. So each run counts *pairs*: the kind of a step, and the state of the intent that it names,
/// like `reject of accepted`. An app adds labels for its own cases:
///
/// ```swift
/// try await requireLaws(
///     of: Likes.self, events: events,
///     coverage: Coverage(requiring: ["retry of rejected", "one post liked twice"]) { script in
///         script.likesOnePostTwice ? ["one post liked twice"] : []
///     })
/// ```
/// ``LawReport/pairs`` and ``LawReport/labels`` have the counts, and ``LawReport/missing`` what was
/// required and did not occur. `requireLaws` then throws, also if the time of the effort was over.
/// Fleets have no pairs and no labels, so a run of ``Law/p15`` alone reaches none.
public struct Coverage<Event: Sendable>: Sendable {
    let required: [String]
    let labels: @Sendable (Script<Event>) -> [String]

    /// - Parameters:
    ///   - required: pairs and labels that must occur in at least one script.
    ///   - classify: the labels of a script. A label counts once for a script.
    public init(
        requiring required: [String] = [],
        classify: @escaping @Sendable (Script<Event>) -> [String] = { _ in [] }
    ) {
        self.required = required
        labels = classify
    }
}

/// A kind of step and the state of the intent that it names, in words.
enum Pair {
    /// Every pair that scripts for a downlink log can have.
    static let all: Set<String> = {
        let steps =
            IntentCommand.allCases.map(\.rawValue)
            + ["edit", "acknowledge", "reject", "confirm", "attempt"]
        let states =
            IntentState.allCases.map(\.rawValue) + ["draft", "sent", "conflicted", "unknown"]
        return Set(steps.flatMap { step in states.map { name(step, $0) } })
    }()

    static func name(_ step: String, _ state: String) -> String { "\(step) of \(state)" }
}

extension Trial {
    /// The pairs of a script, as often as they occur.
    static func pairs(in script: Script<P.Event>, _ modelSteps: [ModelStep]) -> [String: Int] {
        var pairs: [String: Int] = [:]
        var before = ReferenceLog<P>.State()
        for (step, modelStep) in zip(script.steps, modelSteps) {
            for number in modelStep.command?.namedIntents ?? [] {
                pairs[Pair.name(step.name, before.word(for: number)), default: 0] += 1
            }
            before = modelStep.state
        }
        return pairs
    }
}

extension LogCommand {
    /// The intents of the log that the command names.
    fileprivate var namedIntents: [IntentNumber] {
        switch self {
        case .record, .together: []
        case .change(let number, _, _), .retry(let number, _, _),
            .acknowledge(let number, _, _), .reject(let number, _), .attempt(let number):
            [number]
        case .confirm(let events, _):
            events.compactMap { $0.origin.flatMap { $0.replica == .own ? $0.number : nil } }
        }
    }
}

extension ReferenceLog.State {
    /// The state of an intent in one word: one of `IntentState`, or something that says more.
    fileprivate func word(for number: IntentNumber) -> String {
        guard let intent = intents[number] else { return "unknown" }
        if isInOverlay(number), conflicted.contains(number) { return "conflicted" }
        if intent.state == .pending, intent.isHeld { return "draft" }
        if intent.state == .pending, attempts[number] != nil { return "sent" }
        return intent.state.rawValue
    }
}
