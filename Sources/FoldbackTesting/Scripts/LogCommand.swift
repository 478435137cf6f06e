import Foldback

/// A step of a script as a log gets it: with the numbers that this log gave its intents.
package enum LogCommand<Event: Sendable>: Sendable {
    case record(Event, force: Bool, LogFact<Event>.Terms)
    case together([Event], force: Bool, LogFact<Event>.Terms)
    case change(IntentNumber, IntentCommand, force: Bool)
    case retry(IntentNumber, with: Event, force: Bool)
    case acknowledge(IntentNumber, position: Position?, replacement: Event?)
    case reject(IntentNumber, Rejection)
    case confirm([ConfirmedEvent<Event>], through: Position?)
    case attempt(IntentNumber)
}

/// What a log answers to a command.
package enum CommandResult: Equatable, Sendable, CustomStringConvertible {
    case recorded(IntentNumber)
    case recordedAll([IntentNumber])
    case reversed(withdrawn: [IntentNumber], recorded: [IntentNumber])
    case joined(IntentNumber)
    case appended
    /// The attempt to send a pending intent is noted, without an entry.
    case attempted
    /// Nothing changed: the intent already had this state, or (nil) the batch brought nothing new.
    case ignored(IntentState?)
    /// The name of the ``/Foldback/CommandError`` case; for an error of the log, of the
    /// ``/Foldback/LogError`` case.
    case refused(String)

    package var description: String {
        switch self {
        case .recorded(let number): "recorded as intent \(number)"
        case .recordedAll(let numbers):
            "recorded as intents \(numbers.map(\.description).joined(separator: ", "))"
        case .reversed(let withdrawn, let recorded):
            "withdrew \(withdrawn.map(\.description)) and recorded \(recorded.map(\.description))"
        case .joined(let number): "joined intent \(number)"
        case .appended: "recorded"
        case .attempted: "attempted"
        case .ignored(let state?): "ignored because the intent is already \(state)"
        case .ignored(nil): "ignored because it brings nothing new"
        case .refused(let name): "refused: \(name)"
        }
    }

    /// The intents that the command recorded.
    var recorded: [IntentNumber] {
        if case .joined = self { [] } else { numbers }
    }

    /// The intents that later steps mean when they name the places of this step.
    var numbers: [IntentNumber] {
        switch self {
        case .recorded(let number), .joined(let number): [number]
        case .recordedAll(let numbers), .reversed(_, let numbers): numbers
        case .appended, .attempted, .ignored, .refused: []
        }
    }
}

/// The numbers that one log gave the intents of a script, by the place of the recording step.
package struct ScriptNumbers: Sendable {
    private var byPlace: [IntentNumber?] = []

    package init() {}

    /// Notes the result of a step. A step that records takes the next places, whatever its result.
    package mutating func note<Event>(_ result: CommandResult?, of step: Script<Event>.Step) {
        let numbers = result?.numbers ?? []
        for place in 0..<step.placeCount {
            byPlace.append(place < numbers.count ? numbers[place] : nil)
        }
    }

    /// The intent at a place; nil if the step there recorded none.
    ///
    /// A number that no log reaches stands for itself, so a script can name an unknown intent.
    package subscript(place: IntentNumber) -> IntentNumber? {
        if place.isNeverRecorded { return place }
        guard place >= 1, place.value <= UInt64(byPlace.count) else { return nil }
        return byPlace[Int(place.value) - 1]
    }

    /// The command of a step; nil if the step names an intent that was not recorded, or is not for
    /// the log.
    package func command<Event>(for step: Script<Event>.Step) -> LogCommand<Event>? {
        switch step {
        case .record(let event, let force, let confirmOnly, let once, let key, let held):
            .record(
                event, force: force,
                .init(confirmOnly: confirmOnly, once: once, replacing: key, held: held))
        case .together(let events, let force, let once, let held):
            .together(events, force: force, .init(once: once, held: held))
        case .change(let place, let command, let force):
            self[place].map { .change($0, command, force: force) }
        case .edit(let place, let event, let force):
            self[place].map { .retry($0, with: event, force: force) }
        case .acknowledge(let place, let position, let replacement):
            self[place].map { .acknowledge($0, position: position, replacement: replacement) }
        case .reject(let place, let code, let message):
            self[place].map { .reject($0, Rejection(code: code, message: message)) }
        case .confirm(let events, let through):
            .confirm(events.map { confirmed($0) }, through: through)
        case .attempt(let place): self[place].map { .attempt($0) }
        case .checkpoint, .reopen, .kill: nil
        }
    }

    private func confirmed<Event>(_ event: Script<Event>.ServerEvent) -> ConfirmedEvent<Event> {
        let origin: IntentID? =
            switch event.origin {
            case .own(let place): self[place].map { IntentID(replica: .own, number: $0) }
            case .foreign(let id): id
            case .none: nil
            }
        return ConfirmedEvent(position: event.position, event: event.event, origin: origin)
    }
}
