/// A search in progress: the best recording so far, and the tried candidates.
///
/// Passes propose candidates with ``tries(_:)``, which alone decides about the best recording.
/// After a candidate was accepted, a pass knows only that the best is simpler: the drawn choices
/// may differ from the proposed choices.
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
    /// Proposed and drawn choices, without zeros at the end, because after the end zeros are drawn
    /// anyway.
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

    /// The result of a candidate.
    enum Answer {
        /// It is the best recording now.
        case accepted
        /// It does not fail in this way, or the drawn choices are not simpler than the best.
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

    /// Tries changed choices within a span, also if their value then draws fewer choices.
    ///
    /// A changed choice may select another case of an enum that draws fewer choices. Then all
    /// choices after the span move to other values. So if the candidate is refused, it tries the
    /// drawn choices of the changed span together with the choices that followed the span before:
    ///
    ///     best      a a | 3 7 7 7 | b b b
    ///     proposed  a a | 0 7 7 7 | b b b
    ///     drawn     a a | 0 7 | 7 7 b b …     if 0 is a case with one value
    ///     tried     a a | 0 7 | b b b
    ///
    /// - Parameters:
    ///   - values: all choices, as many as in the best recording.
    ///   - index: the innermost span that contains the changes; nil if there is none.
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

    /// Tries a change by `step`, and doubles it while it is accepted. Then it halves the change
    /// down to `step`.
    ///
    /// - Parameter change: returns the best choices changed by an amount; nil if that is
    ///   impossible.
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
