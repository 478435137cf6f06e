/// What must be known at a sequence, so that opening does not fold from the first entry (section 5 of
/// the design). It is a function of the entries up to there, whenever it is written.
package struct Checkpoint: Sendable {
    package let log: LogSection
    package let projections: [ProjectionSection]

    package init(log: LogSection, projections: [ProjectionSection]) {
        self.log = log
        self.projections = projections
    }
}

/// What the log itself is at a checkpoint, whatever stands on it.
package struct LogSection: Sendable {
    package let sequence: LogSequence
    package let through: Position
    package let nextNumber: IntentNumber
    /// The checksum of the record at `sequence`, which the next one carries.
    package let chain: UInt64
    package let overlay: [UnsettledIntent]
    /// Undismissed, with the entries that rejected them.
    package let rejections: NumberMap<IntentNumber, LogSequence>

    package init(
        sequence: LogSequence, through: Position, nextNumber: IntentNumber, chain: UInt64,
        overlay: [UnsettledIntent], rejections: NumberMap<IntentNumber, LogSequence>
    ) {
        self.sequence = sequence
        self.through = through
        self.nextNumber = nextNumber
        self.chain = chain
        self.overlay = overlay
        self.rejections = rejections
    }
}

/// One projection's confirmed state at a checkpoint. Its view is not kept: the overlay makes it.
package struct ProjectionSection: Sendable {
    package let identity: ProjectionIdentity
    package let faults: [Fault]
    /// As the projection's state codec wrote it.
    package let state: [UInt8]

    package init(identity: ProjectionIdentity, faults: [Fault], state: [UInt8]) {
        self.identity = identity
        self.faults = faults
        self.state = state
    }
}

/// Which code folded a state: another gets its own by folding the log.
package struct ProjectionIdentity: Hashable, Sendable, CustomStringConvertible {
    package let name: ExactString
    package let version: UInt32

    package init(name: ExactString, version: UInt32) {
        self.name = name
        self.version = version
    }

    package var description: String { "\(name) version \(version)" }
}

/// A confirmed event that a projection could not apply; it was skipped and the log went on (F9).
public struct Fault: Sendable, Hashable {
    /// The entry that brought it.
    public let sequence: LogSequence
    public let origin: EventContext.Origin
    /// What `apply`, or the codec, said.
    public let reason: String

    package init(sequence: LogSequence, origin: EventContext.Origin, reason: String) {
        self.sequence = sequence
        self.origin = origin
        self.reason = reason
    }
}
