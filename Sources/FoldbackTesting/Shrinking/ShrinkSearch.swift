/// A search in progress: the best so far, and what was tried.
///
/// Passes propose candidates to it (``tries(_:)``); only here is decided what becomes the best. A
/// pass may assume nothing of the best after a candidate was accepted but that it is simpler: what is
/// drawn may differ from what was proposed.
struct ShrinkSearch<Identity: Hashable & Sendable> {
    typealias Check =
        nonisolated(nonsending) (inout Choices) async -> Shrinker.TrialResult<Identity>

    struct OutOfBudget: Error {}

    private(set) var best: RecordedChoices
    private(set) var candidates = 0
    private(set) var others: [Shrinker.Finding<Identity>] = []

    private let identity: Identity
    private let candidatesMax: Int
    private let isOutOfTime: () -> Bool
    private let check: Check
    /// What was proposed or drawn, without zeros at the end: they are drawn there anyway.
    private var tried: Set<ArraySlice<UInt64>> = []

    init(
        from recording: RecordedChoices, failing identity: Identity, candidatesMax: Int,
        isOutOfTime: @escaping () -> Bool, check: @escaping Check
    ) {
        best = recording
        self.identity = identity
        self.candidatesMax = candidatesMax
        self.isOutOfTime = isOutOfTime
        self.check = check
        tried.insert(Self.essence(of: recording.values))
    }

    private static func essence(of values: [UInt64]) -> ArraySlice<UInt64> {
        values[..<((values.lastIndex { $0 != 0 } ?? -1) + 1)]
    }

    /// What came of a candidate.
    enum Answer {
        /// It is the best now.
        case accepted
        /// It does not fail in this way, or what was drawn is no simpler than the best.
        case refused(drawn: RecordedChoices)
        case triedBefore

        var isAccepted: Bool { if case .accepted = self { true } else { false } }
    }

    nonisolated(nonsending) mutating func tries(
        _ values: [UInt64]
    ) async throws(OutOfBudget) -> Answer {
        guard tried.insert(Self.essence(of: values)).inserted else { return .triedBefore }
        guard candidates < candidatesMax, !isOutOfTime() else { throw OutOfBudget() }
        candidates += 1
        var choices = Choices(replaying: values)
        let outcome = await check(&choices)
        let drawn = choices.recording
        tried.insert(Self.essence(of: drawn.values))
        switch outcome {
        case .passes, .discarded: return .refused(drawn: drawn)
        case .fails(identity):
            guard drawn.isSimpler(than: best) else { return .refused(drawn: drawn) }
            best = drawn
            return .accepted
        case .fails(let other):
            keep(Shrinker.Finding(identity: other, recording: drawn))
            return .refused(drawn: drawn)
        }
    }

    private mutating func keep(_ finding: Shrinker.Finding<Identity>) {
        guard let index = others.firstIndex(where: { $0.identity == finding.identity }) else {
            others.append(finding)
            return
        }
        if finding.recording.isSimpler(than: others[index].recording) { others[index] = finding }
    }

    /// Tries to change choices within a span, also where they mean something else after that.
    ///
    /// Changed choices may make a value that draws fewer of them, such as another case of an enum, and
    /// what follows the span is out of step then. So if that is refused, the choices that the changed
    /// span has drawn are tried with what followed it:
    ///
    ///     best      a a | 3 7 7 7 | b b b
    ///     proposed  a a | 0 7 7 7 | b b b
    ///     drawn     a a | 0 7 | 7 7 b b …     where 0 is a case with one value
    ///     tried     a a | 0 7 | b b b
    ///
    /// - Parameters:
    ///   - values: all choices, as many as the best has.
    ///   - index: of the innermost span around the changes; nil where there is none.
    nonisolated(nonsending) mutating func tries(
        _ values: [UInt64], changedWithin index: Int?
    ) async throws(OutOfBudget) -> Answer {
        let answer = try await tries(values)
        guard let index, case .refused(let drawn) = answer else { return answer }
        let span = best.spans[index]
        guard index < drawn.spans.count, drawn.spans[index].lower == span.lower,
            drawn.spans[index].count < span.count
        else { return answer }
        let inStep = drawn.values[..<drawn.spans[index].upper] + best.values[span.upper...]
        return try await tries(Array(inStep)).isAccepted ? .accepted : answer
    }

    /// Tries a change by `step`, then by twice as much and so on while that is accepted, and then by
    /// less and less.
    ///
    /// - Parameter change: the best changed by so much; nil where that cannot be.
    nonisolated(nonsending) mutating func gallop(
        from step: UInt64, _ change: (RecordedChoices, UInt64) -> [UInt64]?
    ) async throws(OutOfBudget) {
        var by = step
        while by <= .max / 2, let values = change(best, by), try await tries(values).isAccepted {
            by *= 2
        }
        while by > step {
            by /= 2
            if let values = change(best, by) { _ = try await tries(values) }
        }
    }
}
