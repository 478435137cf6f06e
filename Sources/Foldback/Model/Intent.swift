/// The state of an intent.
///
/// ```
/// pending ──▶ accepted ──▶ confirmed
///    │            ▲             ▲
///    ├──▶ rejected┤─────────────┤   the server overrides (F7)
///    └──▶ withdrawn ────────────┘
/// ```
public enum IntentState: String, Hashable, Sendable, CaseIterable {
    /// Recorded here, without an answer.
    case pending
    /// Acknowledged by the server, but still in the overlay because the downlink has not yet
    /// delivered its effect (F3).
    case accepted
    /// Its effect is in confirmed state.
    case confirmed
    /// Refused by the server, and no longer folded.
    case rejected
    /// Taken back by the app before it was sent, and no longer folded.
    case withdrawn

    /// Whether the intent is confirmed, rejected or withdrawn.
    public var isSettled: Bool { self != .pending && self != .accepted }
}

/// The server's refusal of an intent.
///
/// Only a definite answer of the server is a rejection. Giving up or being offline is not (A4).
public struct Rejection: Hashable, Sendable {
    /// A code for programs, like "forbidden"; nil if the server sent none.
    public let code: String?
    /// A text for people and log files.
    public let message: String

    public init(code: String? = nil, message: String) {
        self.code = code
        self.message = message
    }
}

/// An event with the bytes that the log has for it.
///
/// The log never reads the event. Only the projections and the codec know its type, so the code
/// between them is not generic. A payload is one object: it is passed on many times, and a copy
/// would read memory that has left the cache while the intent was pending.
package final class Payload: Sendable {
    package enum Content: Sendable {
        /// An event of the type that the store's codec reads and its projections apply.
        case event(any Sendable)
        /// The reason why this code cannot read the bytes (L5).
        case unreadable(String)
    }

    package let bytes: [UInt8]
    package let format: EventFormat
    package let content: Content
    /// Compares the event with another if their bytes differ; nil if bytes alone decide.
    ///
    /// Only events that the authority delivered have it, so a pending intent costs no more memory.
    private let comparison: EventComparison?
    private let left: UnreadPartBox?

    /// - Parameter unreadPart: what the codec left unread of the bytes; nil if nothing, or if it
    ///   could not read them.
    package init(
        bytes: [UInt8], format: EventFormat, content: Content, comparison: EventComparison? = nil,
        unreadPart: UnreadPart? = nil
    ) {
        self.bytes = bytes
        self.format = format
        self.content = content
        self.comparison = comparison
        left = unreadPart.map { UnreadPartBox(part: $0) }
    }

    /// What the codec left unread of the event; nil if nothing (E11).
    package var unreadPart: UnreadPart? { left?.part }

    /// Returns the event, or nil if this code cannot read it.
    ///
    /// - Precondition: a readable event has the type `Event`.
    package func event<Event>(as _: Event.Type = Event.self) -> Event? {
        guard case .event(let event) = content else { return nil }
        guard let event = event as? Event else {
            preconditionFailure("the event has type \(type(of: event)), not \(Event.self)")
        }
        return event
    }

    /// The event without its type.
    ///
    /// - Precondition: this code can read it.
    package var readEvent: any Sendable {
        guard case .event(let event) = content else {
            preconditionFailure("an event that this code cannot read was taken for one that it can")
        }
        return event
    }

    /// Returns the event.
    ///
    /// - Precondition: this code can read it, and it has the type `Event`.
    package func requiredEvent<Event>(as _: Event.Type = Event.self) -> Event {
        guard let event = readEvent as? Event else {
            preconditionFailure("an event has the type \(type(of: readEvent)), not \(Event.self)")
        }
        return event
    }

    /// Returns the payload with another comparison.
    package func compared(by comparison: EventComparison?) -> Payload {
        Payload(
            bytes: bytes, format: format, content: content, comparison: comparison,
            unreadPart: unreadPart)
    }

    /// The bytes as text; if they are not UTF-8, their count.
    package var text: String { String(validating: bytes, as: UTF8.self) ?? "\(bytes.count) bytes" }

    package var isUnreadable: Bool {
        switch content {
        case .event: false
        case .unreadable: true
        }
    }

    /// Whether this code reads the event with all its members.
    package var isReadWhole: Bool { !isUnreadable && unreadPart == nil }

    /// Returns whether both payloads are applied alike: their bytes are equal, or the store's codec
    /// encodes both events as the same bytes.
    ///
    /// A server may write an event in other bytes than this replica, for example JSON with other
    /// white space. Equal events that a codec encodes in different ways are not found. Then the
    /// overlay is folded again: slower, but correct.
    ///
    /// - Complexity: O(n) in the bytes; encodes both events only if the bytes differ.
    package func isSame(as other: Payload) -> Bool {
        if format == other.format && bytes == other.bytes { return true }
        guard let comparison = comparison ?? other.comparison,
            case .event(let event) = content, case .event(let otherEvent) = other.content
        else { return false }
        return comparison.encodesAlike(event, otherEvent)  // mutant: canonical-comparison
    }
}

/// Few events are read in part, so a payload has one word for it.
private final class UnreadPartBox: Sendable {
    let part: UnreadPart

    init(part: UnreadPart) { self.part = part }
}

/// An intent as its entry in the log has it. It never changes.
package final class RecordedIntent: Sendable {
    package let id: IntentID
    package let payload: Payload
    package let isConfirmOnly: Bool
    package let once: ExactString?
    /// The rejected intent that this one retries.
    package let retries: IntentNumber?
    package let info: [String: String]
    package let sequence: LogSequence
    package let time: Timestamp
    private let box: IntentTermsBox?

    package init(
        id: IntentID, payload: Payload, isConfirmOnly: Bool, once: ExactString?,
        retries: IntentNumber?, info: [String: String], sequence: LogSequence,
        time: Timestamp, terms: IntentTerms = .none
    ) {
        self.id = id
        self.payload = payload
        self.isConfirmOnly = isConfirmOnly
        self.once = once
        self.retries = retries
        self.info = info
        self.sequence = sequence
        self.time = time
        box = terms.isNone ? nil : IntentTermsBox(terms)
    }

    package var number: IntentNumber { id.number }

    /// Returns the intent with the event that reverses it.
    func with(inverse: RecordedEvent) -> RecordedIntent {
        var terms = terms
        terms.inverse = inverse
        return RecordedIntent(
            id: id, payload: payload, isConfirmOnly: isConfirmOnly, once: once, retries: retries,
            info: info, sequence: sequence, time: time, terms: terms)
    }

    /// What few intents have.
    package var terms: IntentTerms { box?.terms ?? .none }
    /// Whether the overlay has an index of the intent: by its once key, its replacing key, or the intent
    /// that it undoes.
    package var isIndexed: Bool {
        once != nil || box?.terms.replacingKey != nil || box?.terms.undoes != nil
    }
}

/// What an intent has beside its event, if the app asked for it.
package struct IntentTerms: Sendable {
    /// Whether it was recorded as a draft, which is not sent before it is released (F22).
    package var isHeld = false
    /// The key with which a later intent can replace it (F16).
    package var replacingKey: ExactString?
    /// The intent that it has replaced (F16).
    package var replaces: IntentNumber?
    /// The first intent of the command that recorded several together; nil if it was recorded alone
    /// (F20).
    package var group: IntentNumber?
    /// The intent that it undoes, or whose undoing it undoes (F21).
    package var undoes: IntentNumber?
    /// The event that reverses it on the view that it was recorded on (F21).
    package var inverse: RecordedEvent?

    package init(
        isHeld: Bool = false, replacingKey: ExactString? = nil, replaces: IntentNumber? = nil,
        group: IntentNumber? = nil, undoes: IntentNumber? = nil, inverse: RecordedEvent? = nil
    ) {
        self.isHeld = isHeld
        self.replacingKey = replacingKey
        self.replaces = replaces
        self.group = group
        self.undoes = undoes
        self.inverse = inverse
    }

    package static let none = IntentTerms()

    var isNone: Bool {
        !isHeld && replacingKey == nil && replaces == nil && group == nil && undoes == nil
            && inverse == nil
    }
}

/// Few intents have such terms, so a pending intent has one word for them.
private final class IntentTermsBox: Sendable {
    let terms: IntentTerms

    init(_ terms: IntentTerms) { self.terms = terms }
}

/// An intent in the overlay: pending, or accepted with the server's acknowledgement.
package struct UnsettledIntent: Sendable {
    package let recorded: RecordedIntent
    /// Nil while pending.
    package var acceptance: Acceptance?

    package init(_ recorded: RecordedIntent, acceptance: Acceptance? = nil) {
        self.recorded = recorded
        self.acceptance = acceptance
    }

    package var state: IntentState { acceptance == nil ? .pending : .accepted }

    /// The payload that the overlay folds: the server's replacement if there is one (F3).
    package var payload: Payload {
        acceptance?.replacement ?? recorded.payload  // mutant: overlay-payload
    }

    /// Whether the view folds the intent before it is confirmed: true unless it is confirm-only
    /// (F13).
    ///
    /// A conflicted intent is optimistic too: the view tries it on every new base (F9).
    package var isOptimistic: Bool { !recorded.isConfirmOnly }  // mutant: confirm-only
}

/// The server's acknowledgement of an intent whose effect the downlink has not delivered yet (F3).
package final class Acceptance: Sendable {
    /// The position that will confirm the intent; nil if only a batch that names it does.
    package let position: Position?
    /// The server's words, which replace the recorded payload in the view; nil to keep it.
    package let replacement: Payload?
    /// The entry of the acknowledgement.
    package let sequence: LogSequence

    package init(position: Position?, replacement: Payload?, sequence: LogSequence) {
        self.position = position
        self.replacement = replacement
        self.sequence = sequence
    }
}

/// How an intent was settled; the table `verdicts` stores it.
package enum Settlement: Hashable, Sendable {
    case confirmed
    case rejected(isDismissed: Bool)
    case withdrawn

    package var state: IntentState {
        switch self {
        case .confirmed: .confirmed
        case .rejected: .rejected
        case .withdrawn: .withdrawn
        }
    }
}

/// A settled intent that a command names, as the log has it.
package struct SettledIntent: Sendable {
    package let id: IntentID
    /// The intent as its entry has it; nil if the entry was removed (C4).
    package let recorded: RecordedIntent?
    package let settlement: Settlement
    /// The entry that settled it, if that entry only says so: a rejection or a withdrawal.
    package let change: IntentChange?

    package init(recorded: RecordedIntent, settlement: Settlement, change: IntentChange? = nil) {
        id = recorded.id
        self.recorded = recorded
        self.settlement = settlement
        self.change = change
    }

    /// Names an intent whose entry was removed.
    package init(compacted id: IntentID, settlement: Settlement) {
        self.id = id
        recorded = nil
        self.settlement = settlement
        change = nil
    }

    /// Whether the intent's entry was removed. Then it is confirmed, or it was taken back before it was
    /// sent.
    package var isCompacted: Bool { recorded == nil }

    /// Returns the intent as its entry has it.
    ///
    /// - Throws: `.compactedIntent`.
    package func requireRecorded() throws(LogError) -> RecordedIntent {
        guard let recorded else { throw .compactedIntent(id.number, settlement.state) }
        return recorded
    }
}
