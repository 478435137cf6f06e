/// When checkpoints are written, and which are kept.
///
/// Opening folds what came after the newest checkpoint, and a past view what came after the newest one
/// before it. So each entry costs its share of a checkpoint once, and all openings less.
public struct CheckpointPolicy: Hashable, Sendable {
    /// A checkpoint is due when so many entries …
    public let entriesMax: Int
    /// … or so many bytes of records have come since the last one, and at least twice the bytes that
    /// one had: writing checkpoints costs at most half of what writing the log does.
    public let bytesMax: Int
    /// The newest two are kept, and of the older ones one for so many entries at least. Larger
    /// checkpoints lie farther apart: one of n bytes stands for at least n / 16 entries.
    public let spacing: Int

    /// All from 1 up.
    public init(entriesMax: Int, bytesMax: Int, spacing: Int) {
        precondition(
            entriesMax >= 1 && bytesMax >= 1 && spacing >= 1,
            "a policy of \(entriesMax) entries, \(bytesMax) bytes, \(spacing) apart")
        self.entriesMax = entriesMax
        self.bytesMax = bytesMax
        self.spacing = spacing
    }

    public static let automatic = CheckpointPolicy(
        entriesMax: 4_096, bytesMax: 1 << 20, spacing: 8_192)
    /// Only those that ``Store/checkpoint()`` asks for.
    public static let manual = CheckpointPolicy(
        entriesMax: .max, bytesMax: .max, spacing: 8_192)

    /// - Parameter lastBytes: of the newest checkpoint; 0 with none.
    package func isDue(entries: Int, bytes: Int, lastBytes: Int) -> Bool {
        (entries >= entriesMax || bytes >= bytesMax) && bytes / 2 >= lastBytes
    }

    /// The checkpoints that need not be kept.
    ///
    /// - Parameter stored: whole ones, by sequence ascending, with their bytes.
    package func superseded(
        among stored: [(sequence: LogSequence, bytes: Int)]
    ) -> [LogSequence] {
        var lastKept: LogSequence = 0
        return stored.dropLast(2).compactMap { checkpoint in
            let apart = checkpoint.sequence.value - lastKept.value
            if apart >= UInt64(max(spacing, checkpoint.bytes / 16)) {
                lastKept = checkpoint.sequence
                return nil
            }
            return checkpoint.sequence
        }
    }
}

/// What opening a log, or looking at its past, found of checkpoints.
public struct ReplayStart: Hashable, Sendable {
    /// The checkpoint that folding began at; 0: the first entry.
    public let checkpoint: LogSequence
    /// Entries that were folded since.
    public let entriesFolded: Int
    /// Newer checkpoints that could not be used, and why. What they cover was folded again.
    public let refused: [RefusedCheckpoint]

    package init(checkpoint: LogSequence, entriesFolded: Int, refused: [RefusedCheckpoint]) {
        self.checkpoint = checkpoint
        self.entriesFolded = entriesFolded
        self.refused = refused
    }

    /// Those that are damaged: the log is whole, and its disk should not be trusted.
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
        /// Its bytes are not what was written, or pieces are missing.
        case damaged(String)
        /// Written by a newer Foldback.
        case newerFormat(String)
        /// A projection has another version, or was not there when it was written.
        case lacks(projection: String)
        /// Its states were folded from events as another codec, or another version of it, reads them.
        case otherCodec(EventFormat)
        /// A projection's state codec could not read the state.
        case unreadable(String)
    }

    /// Nil where the whole table cannot be read.
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
        case .unreadable(let why): "\(subject) has a state that cannot be read: \(why)"
        }
    }
}
