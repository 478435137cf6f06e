import Foldback

extension Script.Step {
    /// The step on one line, with intents by their places: `reject 1 "no"`.
    ///
    /// - Parameters:
    ///   - steps: all steps of the script.
    ///   - index: the index of this step.
    func notation(of steps: [Self], at index: Int) -> String {
        func place() -> String {
            let place = steps[...index].reduce(0) { $0 + $1.placeCount }
            return placeCount > 1
                ? "intents \(place - placeCount + 1) to \(place): " : "intent \(place): "
        }
        func text(_ event: Event) -> String { StateText.inline(event) }
        switch self {
        case .record(let event, let force, let confirmOnly, let once, let key, let held):
            let terms =
                (force ? ", force" : "") + (confirmOnly ? ", confirm-only" : "")
                + (once.map { ", once \(StateText.inline($0))" } ?? "")
                + (key.map { ", replacing \(StateText.inline($0))" } ?? "")
                + (held ? ", held" : "")
            return "\(place())record \(text(event))\(terms)"
        case .together(let events, let force, let once, let held):
            let list = events.map(text).joined(separator: ", ")
            let terms =
                (force ? ", force" : "") + (once.map { ", once \(StateText.inline($0))" } ?? "")
                + (held ? ", held" : "")
            return "\(place())record together [\(list)]\(terms)"
        case .change(let number, let command, let force):
            let text = "\(command) \(number)\(force ? ", force" : "")"
            return command.isRecording ? "\(place())\(text)" : text
        case .edit(let number, let event, let force):
            return "\(place())retry \(number) with \(text(event))\(force ? ", force" : "")"
        case .acknowledge(let number, let position, let replacement):
            return "acknowledge \(number)" + (position.map { " @\($0)" } ?? "")
                + (replacement.map { " as \(text($0))" } ?? "")
        case .reject(let number, let code, let message):
            return "reject \(number) \(StateText.inline(message))"
                + (code.map { ", code \(StateText.inline($0))" } ?? "")
        case .confirm(let events, let through):
            let events = events.map { "@\($0.position) \(text($0.event))\($0.origin.notation)" }
            return "confirm [\(events.joined(separator: ", "))]"
                + (through.map { " through \($0)" } ?? "")
        case .attempt(let number): return "attempt \(number)"
        case .checkpoint: return "checkpoint"
        case .reopen: return "close and open again"
        case .kill: return "crash and open again"
        }
    }
}

extension Script.Origin {
    fileprivate var notation: String {
        switch self {
        case .own(let place): " of intent \(place)"
        case .foreign(let id): " of \(id)"
        case .none: ""
        }
    }
}
