/// The rules for when checkpoints are written and which are kept.
///
/// Opening folds the entries after the newest checkpoint. A past view folds the entries after the
/// newest checkpoint before it. Each entry pays its share of a checkpoint once; every opening is
/// faster.
public struct CheckpointPolicy: Hashable, Sendable {
    /// A checkpoint is due after this many entries, or after ``bytesMax`` bytes.
    public let entriesMax: Int
    /// A checkpoint is due after this many bytes of records since the last checkpoint, or after
    /// ``entriesMax`` entries.
    ///
    /// In both cases the records since then must have at least twice the last checkpoint's bytes.
    /// So writing checkpoints costs at most half as much as writing the log.
    public let bytesMax: Int
    /// The least distance in entries between older checkpoints that are kept. The newest two are
    /// always kept. A checkpoint of n bytes is at least n / 16 entries after the kept checkpoint
    /// before it.
    public let spacing: Int

    /// Makes a policy from limits of at least 1.
    public init(entriesMax: Int, bytesMax: Int, spacing: Int) {
        precondition(
            entriesMax >= 1 && bytesMax >= 1 && spacing >= 1,
            "a policy's limits are from 1 up, not \(entriesMax), \(bytesMax), \(spacing)")
        self.entriesMax = entriesMax
        self.bytesMax = bytesMax
        self.spacing = spacing
    }

    public static let automatic = CheckpointPolicy(
        entriesMax: 4_096, bytesMax: 1 << 20, spacing: 8_192)
    /// Writes checkpoints only when the app calls ``Store/checkpoint()``.
    public static let manual = CheckpointPolicy(
        entriesMax: .max, bytesMax: .max, spacing: 8_192)

    /// Returns whether a checkpoint is due.
    ///
    /// - Parameters:
    ///   - entries: the entries since the newest checkpoint.
    ///   - bytes: the bytes of their records.
    ///   - lastBytes: the newest checkpoint's bytes; 0 if there is none.
    package func isDue(entries: Int, bytes: Int, lastBytes: Int) -> Bool {
        (entries >= entriesMax || bytes >= bytesMax) && bytes / 2 >= lastBytes
    }

    /// Returns the checkpoints to remove.
    ///
    /// It keeps the anchor of each checkpoint that lacks an event: code that can read the event
    /// folds from there (E6).
    ///
    /// - Parameter stored: the complete checkpoints by ascending sequence.
    package func superseded(among stored: [StoredCheckpoint]) -> [LogSequence] {
        let anchors = Set(stored.compactMap { $0.anchor(among: stored)?.sequence })
        var lastKept: LogSequence = 0
        return stored.dropLast(2).compactMap { checkpoint in
            let apart = checkpoint.sequence.value - lastKept.value
            let isAnchor = anchors.contains(checkpoint.sequence)  // mutant: anchor
            if isAnchor || apart >= UInt64(max(spacing, checkpoint.bytes / 16)) {
                lastKept = checkpoint.sequence
                return nil
            }
            return checkpoint.sequence
        }
    }
}

/// What the policy knows of a complete checkpoint in the log.
package struct StoredCheckpoint: Sendable {
    package let sequence: LogSequence
    package let bytes: Int
    /// The first entry with an event that the checkpoint lacks, or has only in part; nil if there
    /// is none (E6, E11).
    package let firstUnread: LogSequence?

    package init(sequence: LogSequence, bytes: Int, firstUnread: LogSequence? = nil) {
        self.sequence = sequence
        self.bytes = bytes
        self.firstUnread = firstUnread
    }

    /// The newest checkpoint before the first event that this one lacks, which lacks no event
    /// itself; nil if there is none.
    fileprivate func anchor(among stored: [StoredCheckpoint]) -> StoredCheckpoint? {
        guard let firstUnread else { return nil }
        return stored.last { $0.sequence < firstUnread && $0.firstUnread == nil }
    }
}

/// The checkpoint that opening a log, or a past view, started from.
public struct ReplayStart: Hashable, Sendable {
    /// The checkpoint's sequence; 0 if folding started at the first entry.
    public let checkpoint: LogSequence
    /// The number of entries folded after the checkpoint.
    public let entriesFolded: Int
    /// Newer checkpoints that could not be used, with the reasons. Their entries were folded again.
    public let refused: [RefusedCheckpoint]

    package init(checkpoint: LogSequence, entriesFolded: Int, refused: [RefusedCheckpoint]) {
        self.checkpoint = checkpoint
        self.entriesFolded = entriesFolded
        self.refused = refused
    }

    /// The refused checkpoints that are damaged. The log itself is intact, but do not trust its
    /// disk.
    public var warnings: [RefusedCheckpoint] {
        refused.filter { checkpoint in
            if case .damaged = checkpoint.reason { true } else { false }
        }
    }
}

/// A checkpoint that was not used.
public struct RefusedCheckpoint: Hashable, Sendable, CustomStringConvertible {
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// Its bytes differ from the bytes that were written, or pieces are missing.
        case damaged(String)
        /// A newer Foldback wrote it.
        case newerFormat(String)
        /// It has no state of this projection in its present version.
        case lacks(projection: String)
        /// Its states were folded from events that another codec, or another version of it, read.
        case otherCodec(EventFormat)
        /// It lacks an event of this entry that this code can read. The code that wrote it could
        /// not (E6).
        case lacksEvent(LogSequence)
        /// Its states have only a part of the event of this entry, and this code reads more of it:
        /// these members, or, if there are none, a newer version of the events (E11).
        case lacksMembers([String], ofEvent: LogSequence)
        /// A projection's state has members that this code does not read, so newer code made it
        /// (E12).
        case hasMembers([String], projection: String)
        /// The code that wrote it did not note the members that it did not read: an older Foldback, or
        /// a codec that names none. The next checkpoint has such notes.
        case lacksNotes
        /// A projection's state codec could not read the state.
        case unreadable(String)
    }

    /// The checkpoint's sequence; nil if the whole table cannot be read.
    public let sequence: LogSequence?
    public let reason: Reason

    public var description: String {
        let subject = sequence.map { "the checkpoint at \($0)" } ?? "the table of checkpoints"
        return switch reason {
        case .damaged(let what): "\(subject) is damaged and was not used: \(what)"
        case .newerFormat(let what): "\(subject) was written by a newer Foldback (\(what))"
        case .lacks(let projection): "\(subject) has no state of \(projection)"
        case .otherCodec(let format):
            "\(subject) was folded by codec \(format.codec), version \(format.version)"
        case .lacksEvent(let sequence):
            "\(subject) lacks an event of entry \(sequence), which this code can read"
        case .lacksMembers(let members, let sequence):
            "\(subject) has only a part of an event of entry \(sequence): it lacks "
                + (members.isEmpty
                    ? "what a newer version has" : members.joined(separator: ", "))
        case .hasMembers(let members, let projection):
            "\(subject) has a state of \(projection) with members that this code does not read: "
                + members.joined(separator: ", ")
        case .lacksNotes:
            "\(subject) was written by code that did not note what it did not read"
        case .unreadable(let why): "\(subject) has a state that cannot be read: \(why)"
        }
    }
}
