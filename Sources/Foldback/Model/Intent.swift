/// How far an intent has come.
///
/// ```
/// pending ──▶ accepted ──▶ confirmed
///    │            ▲             ▲
///    ├──▶ rejected┤─────────────┤   the server's word overrides (F7)
///    └──▶ withdrawn ────────────┘
/// ```
public enum IntentState: String, Hashable, Sendable, CaseIterable {
    /// Recorded here, no answer yet.
    case pending
    /// Acknowledged by the server, its effect not yet come by the downlink: still in the overlay.
    case accepted
    /// Its effect is in confirmed state.
    case confirmed
    /// Refused by the server; folded no longer.
    case rejected
    /// Taken back by the app before it left; folded no longer.
    case withdrawn

    /// Confirmed, rejected or withdrawn.
    public var isSettled: Bool { self != .pending && self != .accepted }
}

/// Why the server refused an intent. Only its definite answer is one; giving up or being offline
/// is not (A4).
public struct Rejection: Hashable, Sendable {
    /// For programs, like "forbidden"; nil if the server gave none.
    public let code: String?
    /// For people and log files.
    public let message: String

    public init(code: String? = nil, message: String) {
        self.code = code
        self.message = message
    }
}

/// An event with the bytes it has in the log.
///
/// The log never looks inside: the event's type is known to the projections and the codec alone, so
/// nothing between them is generic. One object, for it is handed on many times on its way and an intent that has
/// waited for long is in no cache any more.
package final class Payload: Sendable {
    package enum Content: Sendable {
        /// Of the type that the store's codec reads and its projections apply.
        case event(any Sendable)
        /// This code cannot read the bytes, and why (L5).
        case unreadable(String)
    }

    package let bytes: [UInt8]
    package let format: EventFormat
    package let content: Content

    package init(bytes: [UInt8], format: EventFormat, content: Content) {
        self.bytes = bytes
        self.format = format
        self.content = content
    }

    /// The event; nil where this code cannot read it.
    package func event<Event>(as _: Event.Type = Event.self) -> Event? {
        guard case .event(let event) = content else { return nil }
        guard let event = event as? Event else {
            preconditionFailure("an event is \(type(of: event)), not \(Event.self)")
        }
        return event
    }

    /// The bytes as text where they are any.
    package var text: String { String(validating: bytes, as: UTF8.self) ?? "\(bytes.count) bytes" }

    package var isUnreadable: Bool {
        switch content {
        case .event: false
        case .unreadable: true
        }
    }

    /// Whether both would be applied alike: equal events of one codec have equal bytes, or are
    /// refolded, which is slower and as right.
    package func isSame(as other: Payload) -> Bool {
        format == other.format && bytes == other.bytes
    }
}

/// An intent as its entry in the log has it; never changes.
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

    package init(
        id: IntentID, payload: Payload, isConfirmOnly: Bool, once: ExactString?,
        retries: IntentNumber?, info: [String: String], sequence: LogSequence,
        time: Timestamp
    ) {
        self.id = id
        self.payload = payload
        self.isConfirmOnly = isConfirmOnly
        self.once = once
        self.retries = retries
        self.info = info
        self.sequence = sequence
        self.time = time
    }

    package var number: IntentNumber { id.number }
}

/// An intent in the overlay: pending, or accepted with what the server said.
package struct UnsettledIntent: Sendable {
    package let recorded: RecordedIntent
    /// Nil while pending.
    package var acceptance: Acceptance?

    package init(_ recorded: RecordedIntent, acceptance: Acceptance? = nil) {
        self.recorded = recorded
        self.acceptance = acceptance
    }

    package var state: IntentState { acceptance == nil ? .pending : .accepted }

    /// What the overlay folds: the server's words once they are known (F3).
    package var payload: Payload {
        acceptance?.replacement ?? recorded.payload  // mutant: overlay-payload
    }

    /// Confirm-only intents are listed and not folded (F13).
    package var isOptimistic: Bool { !recorded.isConfirmOnly }  // mutant: confirm-only
}

/// The server's acknowledgement of an intent whose effect has not come yet.
package final class Acceptance: Sendable {
    package let position: Position?
    package let replacement: Payload?
    /// The entry that said so.
    package let sequence: LogSequence

    package init(position: Position?, replacement: Payload?, sequence: LogSequence) {
        self.position = position
        self.replacement = replacement
        self.sequence = sequence
    }
}

/// How a settled intent ended.
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

/// A settled intent that a command names, looked up in the log for it.
package struct SettledIntent: Sendable {
    package let recorded: RecordedIntent
    package let verdict: Settlement

    package init(recorded: RecordedIntent, verdict: Settlement) {
        self.recorded = recorded
        self.verdict = verdict
    }
}
