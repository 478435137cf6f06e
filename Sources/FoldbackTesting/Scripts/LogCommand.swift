import Foldback

/// What a step asks of a log once its intents have their numbers.
enum LogCommand<Event: Sendable>: Sendable {
    case record(Event, force: Bool, confirmOnly: Bool, once: String?)
    case retry(IntentNumber, force: Bool)
    case withdraw(IntentNumber)
    case dismiss(IntentNumber)
    case acknowledge(IntentNumber, position: Position?, replacement: Event?)
    case reject(IntentNumber, message: String)
    case confirm([ConfirmedEvent<Event>], through: Position?)
}

/// What a log made of it.
enum CommandResult: Equatable, Sendable, CustomStringConvertible {
    case recorded(IntentNumber)
    case joined(IntentNumber)
    case appended
    /// Nothing changed: the intent stands so already, or the batch brings nothing new.
    case ignored(IntentState?)
    /// The case of ``FoldbackError``.
    case refused(String)

    var description: String {
        switch self {
        case .recorded(let number): "recorded as intent \(number)"
        case .joined(let number): "joined intent \(number)"
        case .appended: "recorded"
        case .ignored(let state?): "ignored, for the intent is \(state) already"
        case .ignored(nil): "ignored, for it brings nothing new"
        case .refused(let name): "refused: \(name)"
        }
    }

    /// The intent that later steps mean when they name this one.
    var number: IntentNumber? {
        switch self {
        case .recorded(let number), .joined(let number): number
        case .appended, .ignored, .refused: nil
        }
    }
}

/// The numbers that the intents of a history got, by the place of the step that recorded them.
struct ScriptNumbers: Sendable {
    private var byPlace: [IntentNumber?] = []

    mutating func append(_ outcome: CommandResult?) { byPlace.append(outcome?.number) }

    subscript(place: IntentNumber) -> IntentNumber? {
        guard place >= 1, place.value <= UInt64(byPlace.count) else { return nil }
        return byPlace[Int(place.value) - 1]
    }

    /// What a step asks; nil where it names an intent that was not recorded, or asks nothing.
    func asked<Event>(by step: Script<Event>.Step) -> LogCommand<Event>? {
        switch step {
        case .record(let event, let force, let confirmOnly, let once):
            .record(event, force: force, confirmOnly: confirmOnly, once: once)
        case .retry(let place, let force): self[place].map { .retry($0, force: force) }
        case .withdraw(let place): self[place].map { .withdraw($0) }
        case .dismiss(let place): self[place].map { .dismiss($0) }
        case .acknowledge(let place, let position, let replacement):
            self[place].map { .acknowledge($0, position: position, replacement: replacement) }
        case .reject(let place, let message): self[place].map { .reject($0, message: message) }
        case .confirm(let told, let through):
            .confirm(told.map { confirmed($0) }, through: through)
        case .checkpoint, .reopen, .kill: nil
        }
    }

    private func confirmed<Event>(_ told: Script<Event>.ServerEvent) -> ConfirmedEvent<Event> {
        let origin: IntentID? =
            switch told.origin {
            case .own(let place): self[place].map { IntentID(replica: .own, number: $0) }
            case .foreign(let id): id
            case .none: nil
            }
        return ConfirmedEvent(position: told.position, event: told.event, origin: origin)
    }
}
