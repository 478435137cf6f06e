import Foldback

/// The result of checking one state.
public enum StateCheck: Hashable, Sendable {
    case good
    case bad
    /// The check cannot tell, like exit code 125 for git bisect.
    case inconclusive
}

/// The first entry after which a state is bad: the result of
/// ``LogReader/firstBreak(in:also:assumingMonotone:where:)``.
public struct FirstBreak<P: Projection>: Sendable {
    /// Nil if the state before the first entry is already bad.
    public let entry: LogEntry<P.Event>?
    /// The last good state before the entry; nil if no state was found good.
    public let before: Snapshot<P>?
    /// The bad state after the entry.
    public let after: Snapshot<P>
    /// Entries directly before the break whose states were inconclusive. The first break may be one
    /// of them.
    public let inconclusive: [LogSequence]
    /// The number of states that were judged. A state whose entry did not touch the checked place
    /// counts, and has the result of the state before it.
    public let looked: Int
    /// Whether every state up to the break was judged. If false, this is the first break only if
    /// bad states stay bad.
    public let isExact: Bool
}

extension LogReader {
    /// Returns the first entry after which the state is bad; nil if no state was found bad.
    /// Inconclusive states are not bad.
    ///
    /// - Parameters:
    ///   - projection: the projection whose states are checked.
    ///   - also: the log's other projections; see ``replay(_:also:from:)``.
    ///   - isMonotone: if true, checks few states: the last, then the middle of the remaining
    ///     range. The result is the first break only if bad states stay bad. Nil then means that
    ///     the last state is good, or that it is inconclusive and no checked state is bad. If
    ///     false, one pass checks every state.
    ///   - check: checks the state before the first entry, and the state after an entry.
    /// - Complexity: folds the log up to the break, with one check for each entry. With
    ///   `isMonotone`, 1 + log2(n) states, and one more for each inconclusive state. Each costs as
    ///   ``snapshot(of:also:at:)``: from its nearest checkpoint, or from the first entry if a
    ///   stored projection shares conflicts.
    /// - Throws: any error of `check`; `.lacksProjections`, `.damaged`, `.newerFormat`, `.closed`,
    ///   `.storage`.
    public func firstBreak<P: Projection>(
        in projection: P.Type, also: [AdditionalProjection<P.Event>] = [],
        assumingMonotone isMonotone: Bool = false,
        where check: (Snapshot<P>) throws -> StateCheck
    ) throws -> FirstBreak<P>? {
        try isMonotone ? halved(projection, also, check) : passed(projection, also, check)
    }

    /// Returns the first entry after which the view does not meet an expectation; nil if no view
    /// was found that does not meet it.
    ///
    /// - Complexity: as ``firstBreak(in:also:assumingMonotone:where:)``. If
    ///   ``TraceableProjection/places(touchedBy:_:)`` says which events touch the place, only the
    ///   states after those events are checked.
    /// - Throws: `.lacksProjections`, `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    public func firstBreak<P: Projection>(
        of expectation: StateExpectation, in projection: P.Type,
        also: [AdditionalProjection<P.Event>] = [], assumingMonotone isMonotone: Bool = false
    ) throws -> FirstBreak<P>? {
        func check(_ snapshot: Snapshot<P>) -> StateCheck {
            expectation.holds(of: snapshot.view) ? .good : .bad
        }
        return try isMonotone
            ? halved(projection, also, check)
            : passed(projection, also, at: expectation.place, check)
    }

    private func passed<P: Projection>(
        _ projection: P.Type, _ also: [AdditionalProjection<P.Event>],
        at place: JSONPointer? = nil,
        _ check: (Snapshot<P>) throws -> StateCheck
    ) throws -> FirstBreak<P>? {
        var looked = 0
        var replay = try replay(projection, also: also)
        if place != nil { replay.startTracking() }
        var last: StateCheck?
        func checkNow() throws -> StateCheck {
            if let last, let place, !replay.touched.view.has(place) { return last }
            return try check(replay.snapshot)
        }
        // A kept snapshot would make the fold copy its states. The sequence is enough to fold it
        // again.
        var good: LogSequence?
        var inconclusive: [LogSequence] = []
        var record: Record?
        while true {
            looked += 1
            let now = try checkNow()
            last = now
            switch now {
            case .good:
                good = replay.sequence
                inconclusive = []
            case .bad:
                return FirstBreak(
                    entry: record.map { LogEntry($0) },
                    before: try good.map { try snapshot(of: projection, also: also, at: $0) },
                    after: replay.snapshot, inconclusive: inconclusive, looked: looked,
                    isExact: true)
            case .inconclusive: inconclusive.append(replay.sequence)
            }
            guard let next = try replay.nextRecord() else { return nil }
            record = next
        }
    }

    private func halved<P: Projection>(
        _ projection: P.Type, _ also: [AdditionalProjection<P.Event>],
        _ check: (Snapshot<P>) throws -> StateCheck
    ) throws -> FirstBreak<P>? {
        var search = Bisection(
            first: log.baseSequence.value, last: try lastSequence().value)
        while let place = search.next {
            search.note(
                try check(try snapshot(of: projection, also: also, at: LogSequence(place))),
                at: place)
        }
        guard let bad = search.bad else { return nil }
        var entry: LogEntry<P.Event>?
        if bad > log.baseSequence.value {
            var replay = try replay(projection, also: also, from: LogSequence(bad - 1))
            entry = try replay.next()
        }
        let before = try search.good.map {
            try snapshot(of: projection, also: also, at: LogSequence($0))
        }
        return FirstBreak(
            entry: entry, before: before,
            after: try snapshot(of: projection, also: also, at: LogSequence(bad)),
            inconclusive: search.inconclusive.map { LogSequence($0) }, looked: search.looked,
            isExact: false)
    }
}

/// Chooses the next state to check for the first bad state, as git bisect does. It starts with the
/// last state, which is bad if any state is. Then it takes the middle of the remaining range, or
/// the nearest state that was not inconclusive.
struct Bisection {
    /// The highest sequence whose state is known to be good.
    private(set) var good: UInt64?
    /// The lowest sequence whose state is known to be bad.
    private(set) var bad: UInt64?
    private(set) var looked = 0
    private var skipped: Set<UInt64> = []
    private let first: UInt64
    private let last: UInt64

    /// - Parameter first: the sequence of the first state that there is.
    init(first: UInt64 = 0, last: UInt64) { (self.first, self.last) = (first, last) }

    /// The remaining range: after the highest good state and before the lowest bad state.
    private var left: Range<UInt64> {
        let start = good.map { $0 + 1 } ?? first
        return start..<max(start, bad ?? last + 1)
    }

    /// The next state to check; nil if the break is found or all remaining states are inconclusive.
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

    /// The inconclusive states directly before the bad state.
    var inconclusive: [UInt64] { skipped.filter { left.contains($0) }.sorted() }

    mutating func note(_ check: StateCheck, at place: UInt64) {
        looked += 1
        switch check {
        case .good: good = max(place, good ?? 0)
        case .bad: bad = min(place, bad ?? place)
        case .inconclusive: skipped.insert(place)
        }
    }
}
