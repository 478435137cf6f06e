/// Whether a state is as it should be.
public enum BreakVerdict: Hashable, Sendable {
    case good
    case bad
    /// As git bisect's 125: the state is neither.
    case cannotTell
}

/// Where a log's states stopped to be as they should: ``LogReader/firstBreak(in:assumingMonotone:where:)``.
public struct FirstBreak<P: Projection>: Sendable {
    /// Nil where the state before the first entry is bad already.
    public let entry: LogEntry<P.Event>?
    /// The last good state before it; nil where none was found good.
    public let before: Snapshot<P>?
    public let after: Snapshot<P>
    /// Entries right before it of whose states nobody could tell: it may be one of these.
    public let untold: [LogSequence]
    /// How many states were looked at.
    public let looked: Int
    /// Whether every state up to it was looked at. Otherwise it is the first only if states that are bad once
    /// stay bad.
    public let isExact: Bool
}

extension LogReader {
    /// The first entry behind which the state is bad; nil where none is.
    ///
    /// - Parameters:
    ///   - projection: whose states are looked at.
    ///   - isMonotone: looks at few states, halving what is left, and finds the first only if states that are bad
    ///     once stay bad. Otherwise one pass looks at every state.
    ///   - verdict: of the state behind an entry, and first of that before the first.
    /// - Complexity: folds the log up to the break, asking once for each entry; with `isMonotone`, log2(n) states
    ///   from their nearest checkpoints.
    /// - Throws: what `verdict` throws; `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    public func firstBreak<P: Projection>(
        in projection: P.Type, assumingMonotone isMonotone: Bool = false,
        where verdict: (Snapshot<P>) throws -> BreakVerdict
    ) throws -> FirstBreak<P>? {
        var start: LogSequence = 0
        var looked = 0
        if isMonotone {
            var good: LogSequence?
            var bad: LogSequence?
            var last = try lastSequence()
            var first: LogSequence = 0
            while first <= last {
                let middle = LogSequence(first.value + (last.value - first.value) / 2)
                looked += 1
                switch try verdict(try snapshot(of: projection, at: middle)) {
                case .bad:
                    bad = middle
                    guard middle > 0 else {
                        last = 0
                        first = 1
                        continue
                    }
                    last = LogSequence(middle.value - 1)
                case .good, .cannotTell:
                    // Who cannot tell is asked again by the pass below.
                    good = middle
                    first = middle.next
                }
            }
            guard bad != nil else { return nil }
            start = good.map { LogSequence($0.value - min($0.value, Self.untoldMax)) } ?? 0
        }
        return try passed(from: start, looked, isExact: !isMonotone, projection, verdict)
    }

    /// How far behind a break found by halving it is looked for states of which nobody could tell.
    private static let untoldMax: UInt64 = 16

    private func passed<P: Projection>(
        from start: LogSequence, _ looked: Int, isExact: Bool, _ projection: P.Type,
        _ verdict: (Snapshot<P>) throws -> BreakVerdict
    ) throws -> FirstBreak<P>? {
        var looked = looked
        var replay = try replay(projection, from: start)
        // Only its sequence is kept, so that states can be changed where they are.
        var good: LogSequence?
        var untold: [LogSequence] = []
        var entry: LogEntry<P.Event>?
        while true {
            looked += 1
            switch try verdict(replay.snapshot) {
            case .good:
                good = replay.sequence
                untold = []
            case .bad:
                let before = try good.map { try snapshot(of: projection, at: $0) }
                return FirstBreak(
                    entry: entry, before: before, after: replay.snapshot, untold: untold,
                    looked: looked, isExact: isExact)
            case .cannotTell: untold.append(replay.sequence)
            }
            guard let next = try replay.next() else { return nil }
            entry = next
        }
    }
}
