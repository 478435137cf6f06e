/// The data needed at a sequence so that opening does not fold from the first entry.
///
/// It is a function of the entries up to that sequence, whenever it is written (L4).
package struct Checkpoint: Sendable {
    package let log: LogSection
    package let projections: [ProjectionSection]
    /// The events that the states lack, because the code that made the checkpoint could not read
    /// them (E6).
    package let unread: UnreadEvents
    /// The events that the states have only in part (E11).
    package let partlyRead: PartlyReadEvents

    package init(
        log: LogSection, projections: [ProjectionSection], unread: UnreadEvents,
        partlyRead: PartlyReadEvents
    ) {
        self.log = log
        self.projections = projections
        self.unread = unread
        self.partlyRead = partlyRead
    }
}

/// The log's own state at a checkpoint, without projections.
package struct LogSection: Sendable {
    package let sequence: LogSequence
    package let through: Position
    package let nextNumber: IntentNumber
    /// The checksum of the record at `sequence`, which the next record contains.
    package let chain: UInt64
    package let overlay: [UnsettledIntent]
    /// The listed rejections, each with the sequence of its entry.
    package let rejections: NumberMap<IntentNumber, LogSequence>
    /// The newest intent that undoes each intent (F21).
    package let undoneBy: UndoLinks
    /// The released drafts of the overlay, each with the sequence of its release (F22).
    package let released: Drafts

    package init(
        sequence: LogSequence, through: Position, nextNumber: IntentNumber, chain: UInt64,
        overlay: [UnsettledIntent], rejections: NumberMap<IntentNumber, LogSequence>,
        undoneBy: UndoLinks = UndoLinks(), released: Drafts = Drafts()
    ) {
        self.undoneBy = undoneBy
        self.released = released
        self.sequence = sequence
        self.through = through
        self.nextNumber = nextNumber
        self.chain = chain
        self.overlay = overlay
        self.rejections = rejections
    }
}

/// One projection's confirmed state at a checkpoint. The view is not stored, because it is folded
/// from the overlay.
package struct ProjectionSection: Sendable {
    package let identity: ProjectionIdentity
    package let faults: [Fault]
    /// A small state with the same members as `state`; empty if the codec's bytes name no members
    /// (E12).
    package let sample: [UInt8]
    /// The state as the projection's state codec wrote it.
    package let state: [UInt8]

    package init(
        identity: ProjectionIdentity, faults: [Fault], sample: [UInt8], state: [UInt8]
    ) {
        self.identity = identity
        self.faults = faults
        self.sample = sample
        self.state = state
    }
}

/// The name and version of the projection that folded a state. A projection with another identity
/// does not use the state and folds the log.
package struct ProjectionIdentity: Hashable, Sendable, CustomStringConvertible {
    package let name: ExactString
    package let version: UInt32

    package init(name: ExactString, version: UInt32) {
        self.name = name
        self.version = version
    }

    package var description: String { "\(name) version \(version)" }
}

/// A confirmed event that a projection could not apply. It was skipped, and folding continued (F9).
public struct Fault: Sendable, Hashable {
    /// The entry that confirmed the event.
    public let sequence: LogSequence
    public let origin: EventContext.Origin
    /// The error of `apply` or of the codec: its `errorDescription` if it is a `LocalizedError` and
    /// has one, else its description. Faults are stored with this text, so it keeps its language.
    public let reason: String

    package init(sequence: LogSequence, origin: EventContext.Origin, reason: String) {
        self.sequence = sequence
        self.origin = origin
        self.reason = reason
    }

    /// Whether this code could not read the event (E4). The log keeps it, and code that can read it
    /// folds it.
    public var isUnreadable: Bool { reason.hasPrefix(Self.unreadableWords) }

    /// The beginning of the reason for an unreadable event. Faults are stored with their reason, so
    /// these words must not change.
    package static let unreadableWords = "the event cannot be read: "
}
