import Foldback

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
