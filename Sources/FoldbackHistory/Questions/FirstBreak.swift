import Foldback

/// Whether a state is as it should be.
public enum StateCheck: Hashable, Sendable {
    case good
    case bad
    /// As git bisect's 125: the state is neither.
    case inconclusive
}

/// Where a log's states stopped to be as they should: ``LogReader/firstBreak(in:assumingMonotone:where:)``.
public struct FirstBreak<P: Projection>: Sendable {
    /// Nil where the state before the first entry is bad already.
    public let entry: LogEntry<P.Event>?
    /// The last good state before it; nil where none was found good.
    public let before: Snapshot<P>?
    public let after: Snapshot<P>
    /// Entries right before it of whose states nobody could tell: it may be one of these.
    public let inconclusive: [LogSequence]
    /// How many states were judged. One in which nothing has touched the place that is looked at is as the one before.
    public let looked: Int
    /// Whether every state up to it was looked at. Otherwise it is the first only if states that are bad once
    /// stay bad.
    public let isExact: Bool
}

extension LogReader {
    /// The first entry behind which the state is bad; nil where none was found bad, also of those of which nobody
    /// could tell.
    ///
    /// - Parameters:
    ///   - projection: whose states are looked at.
    ///   - isMonotone: looks at few states, the last and then halving what is left, and finds the first only if
    ///     states that are bad once stay bad: nil says that the last is good, or that nobody could tell of it and of
    ///     none that was looked at it is bad. Otherwise one pass looks at every state.
    ///   - verdict: of the state behind an entry; of that before the first as well.
    /// - Complexity: folds the log up to the break, asking once for each entry; with `isMonotone`, 1 + log2(n) states
    ///   from their nearest checkpoints, and one more for each of which nobody can tell.
    /// - Throws: what `verdict` throws; `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    public func firstBreak<P: Projection>(
        in projection: P.Type, assumingMonotone isMonotone: Bool = false,
        where verdict: (Snapshot<P>) throws -> StateCheck
    ) throws -> FirstBreak<P>? {
        try isMonotone ? halved(projection, verdict) : passed(projection, verdict)
    }

    /// The first entry behind which the view is not as expected; nil where it always is.
    ///
    /// - Complexity: as ``firstBreak(in:assumingMonotone:where:)``; where ``Projection/places(touchedBy:_:)`` says
    ///   which events touch the place, states are looked at behind these alone.
    /// - Throws: `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    public func firstBreak<P: Projection>(
        of expectation: StateExpectation, in projection: P.Type,
        assumingMonotone isMonotone: Bool = false
    ) throws -> FirstBreak<P>? {
        func verdict(_ snapshot: Snapshot<P>) -> StateCheck {
            expectation.holds(of: snapshot.view) ? .good : .bad
        }
        return try isMonotone
            ? halved(projection, verdict) : passed(projection, at: expectation.place, verdict)
    }

    private func passed<P: Projection>(
        _ projection: P.Type, at place: JSONPointer? = nil,
        _ verdict: (Snapshot<P>) throws -> StateCheck
    ) throws -> FirstBreak<P>? {
        var looked = 0
        var replay = try replay(projection)
        if place != nil { replay.noteTouched() }
        var last: StateCheck?
        func verdictNow() throws -> StateCheck {
            if let last, let place, !replay.touched.view.has(place) { return last }
            return try verdict(replay.snapshot)
        }
        // Only its sequence is kept, so that states can be changed where they are.
        var good: LogSequence?
        var inconclusive: [LogSequence] = []
        var record: Record?
        while true {
            looked += 1
            let now = try verdictNow()
            last = now
            switch now {
            case .good:
                good = replay.sequence
                inconclusive = []
            case .bad:
                return FirstBreak(
                    entry: record.map { LogEntry($0) },
                    before: try good.map { try snapshot(of: projection, at: $0) },
                    after: replay.snapshot, inconclusive: inconclusive, looked: looked,
                    isExact: true)
            case .inconclusive: inconclusive.append(replay.sequence)
            }
            guard let next = try replay.nextRecord() else { return nil }
            record = next
        }
    }

    private func halved<P: Projection>(
        _ projection: P.Type, _ verdict: (Snapshot<P>) throws -> StateCheck
    ) throws -> FirstBreak<P>? {
        var search = Bisection(last: try lastSequence().value)
        while let place = search.next {
            search.note(
                try verdict(try snapshot(of: projection, at: LogSequence(place))), at: place)
        }
        guard let bad = search.bad else { return nil }
        var entry: LogEntry<P.Event>?
        if bad > 0 {
            var replay = try replay(projection, from: LogSequence(bad - 1))
            entry = try replay.next()
        }
        let before = try search.good.map { try snapshot(of: projection, at: LogSequence($0)) }
        return FirstBreak(
            entry: entry, before: before,
            after: try snapshot(of: projection, at: LogSequence(bad)),
            inconclusive: search.inconclusive.map { LogSequence($0) }, looked: search.looked,
            isExact: false)
    }
}

/// Where to look next for the first bad place, as git bisect does: at the last, which is bad if any is, and then in
/// the middle of what is left, or as near to it as somebody can tell.
struct Bisection {
    /// The highest that is known to be good.
    private(set) var good: UInt64?
    /// The lowest that is known to be bad.
    private(set) var bad: UInt64?
    private(set) var looked = 0
    private var skipped: Set<UInt64> = []
    private let last: UInt64

    init(last: UInt64) { self.last = last }

    /// What is left: behind the last good one, before the first bad one.
    private var left: Range<UInt64> {
        let start = good.map { $0 + 1 } ?? 0
        return start..<max(start, bad ?? last + 1)
    }

    /// Nil once it is found, or nobody can tell more.
    var next: UInt64? {
        guard looked > 0 else { return last }
        let left = left
        let middle = left.lowerBound + (left.upperBound - left.lowerBound) / 2
        for distance in 0...(left.upperBound - left.lowerBound) {
            if middle + distance < left.upperBound, !skipped.contains(middle + distance) {
                return middle + distance
            }
            if middle >= left.lowerBound + distance, middle - distance < left.upperBound,
                !skipped.contains(middle - distance)
            {
                return middle - distance
            }
        }
        return nil
    }

    /// Those before the bad one of which nobody could tell.
    var inconclusive: [UInt64] { skipped.filter { left.contains($0) }.sorted() }

    mutating func note(_ verdict: StateCheck, at place: UInt64) {
        looked += 1
        switch verdict {
        case .good: good = max(place, good ?? 0)
        case .bad: bad = min(place, bad ?? place)
        case .inconclusive: skipped.insert(place)
        }
    }
}
