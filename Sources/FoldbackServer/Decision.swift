import Foldback
import FoldbackSync

/// An event of a space's log.
///
/// It is indirect because it is passed on often. A copy then is one reference.
public indirect enum DecisionEvent<Event: Sendable>: Sendable {
    /// The space's data has a name from here on (N6).
    case founded(Founding)
    /// An intent has a verdict. The event's origin is the intent.
    case decided(Decision<Event>)
}

/// The name of a space's data, and the log that has it.
public struct Founding: Hashable, Sendable {
    public let lineage: Lineage
    /// The replica id of the log that the data was written to. A log that was copied or restored takes
    /// another one (L11), so its data is another lineage. It means nothing in a ``DecisionTable``.
    public let replica: ReplicaID
    /// The timeline of the database on which nothing of the space is lost; nil if the space is in no
    /// ``DecisionTable``.
    public let timeline: UInt32?
    /// What the table has lost; nil if nothing is known to be lost. Then nobody decides, until the space has
    /// another lineage.
    public let loss: String?

    public init(
        lineage: Lineage, replica: ReplicaID, timeline: UInt32? = nil, loss: String? = nil
    ) {
        self.lineage = lineage
        self.replica = replica
        self.timeline = timeline
        self.loss = loss
    }
}

/// A decision on one intent.
public struct Decision<Event: Sendable>: Sendable {
    /// What the authority did with the intent.
    public enum Outcome: Sendable {
        /// It applied the event as the device sent it.
        case accepted(Effect<Event>)
        /// It applied another event, or none.
        case reworded(Effect<Event>?)
        case rejected(Rejection)
    }

    /// The position of the decision and of its effect: that of all decisions of its group (N3).
    public let position: Position
    /// The user who sent the intent.
    public let account: Account
    /// The ``/Foldback/EventFold/version`` of the projection that decided (N9).
    public let version: UInt32
    /// The digest of the event that the device sent (N4).
    public let digest: UInt64
    public let outcome: Outcome

    /// The event that the decision applied; nil if it applied none.
    public var effect: Effect<Event>? {
        switch outcome {
        case .accepted(let effect): effect
        case .reworded(let effect): effect
        case .rejected: nil
        }
    }

    /// What the device that sent the intent is told.
    var verdict: Verdict<Event> {
        switch outcome {
        case .accepted, .reworded(nil): .accepted(position: position, replacement: nil)
        case .reworded(let effect?):
            .accepted(position: position, replacement: .recorded(effect.recorded))
        case .rejected(let rejection): .rejected(rejection)
        }
    }
}

/// An event that a decision applied.
public struct Effect<Event: Sendable>: Sendable {
    /// The event and its bytes. One object, so that decisions of all events have the same layout: else
    /// unspecialized code would look it up at each use.
    let payload: Payload

    /// - Precondition: the payload has an event of type `Event`.
    init(_ payload: Payload) { self.payload = payload }

    init(event: Event, format: EventFormat, bytes: [UInt8]) {
        payload = Payload(bytes: bytes, format: format, content: .event(event))
    }

    /// The event as this code reads it.
    public var event: Event { payload.requiredEvent() }

    /// The event's bytes: those of the device if the authority did not change it.
    public var recorded: RecordedEvent {
        RecordedEvent(format: payload.format, bytes: payload.bytes)
    }
}

extension Payload {
    /// XXH64 of format and bytes (N4). A device that finds two events with one digest harms nobody else.
    var digest: UInt64 {
        let bytes = bytes
        let seed = UInt64(format.codec) << 16 | UInt64(format.version)
        return Checksum.of(bytes.span.bytes, seed: seed)
    }
}
