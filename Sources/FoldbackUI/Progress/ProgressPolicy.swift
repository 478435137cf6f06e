/// The time limits of waits (U11).
///
/// ```swift
/// let policy = ProgressPolicy(indicatorAfter: .milliseconds(300))
/// ```
///
/// The defaults follow Jakob Nielsen, "Usability Engineering", 1993, chapter 5: 0.1 s feels
/// instantaneous, 1 s keeps a train of thought, and 10 s keeps the attention. Use ``unhurried`` to
/// show no motion in the first second.
public struct ProgressPolicy: Hashable, Sendable {
    /// The time from the start until the control counts as busy.
    public let busyAfter: Duration
    /// The time from the start until an indicator appears.
    public let indicatorAfter: Duration
    /// The time from the start until the indicator has a text.
    public let textAfter: Duration
    /// The time from the first text until the text says that the wait goes on. Where motion is
    /// reduced, the text changes again each time that this duration has passed.
    public let stillAfter: Duration
    /// The time from the start until the wait is long: it shows an estimate, and can be canceled.
    public let longAfter: Duration
    /// The time from the last sign of life until the wait is stalled.
    public let stallAfter: Duration
    /// How long an indicator stays after it has appeared, so that it does not flicker.
    public let minimumVisible: Duration

    /// - Precondition: no limit is negative, `stillAfter` is positive, and the boundaries
    ///   `busyAfter`, `indicatorAfter`, `textAfter`, `textAfter + stillAfter`, `longAfter` and
    ///   `stallAfter` ascend. They may be equal.
    public init(
        busyAfter: Duration = .milliseconds(100), indicatorAfter: Duration = .milliseconds(100),
        textAfter: Duration = .seconds(1), stillAfter: Duration = .seconds(2),
        longAfter: Duration = .seconds(10), stallAfter: Duration = .seconds(30),
        minimumVisible: Duration = .milliseconds(500)
    ) {
        precondition(stillAfter > .zero, "stillAfter is \(stillAfter), and must be positive")
        precondition(minimumVisible >= .zero, "minimumVisible is \(minimumVisible)")
        let boundaries = [
            ("the start", .zero), ("busyAfter", busyAfter), ("indicatorAfter", indicatorAfter),
            ("textAfter", textAfter), ("textAfter + stillAfter", textAfter + stillAfter),
            ("longAfter", longAfter), ("stallAfter", stallAfter),
        ]
        for (before, after) in zip(boundaries, boundaries.dropFirst()) {
            precondition(
                before.1 <= after.1, "\(after.0) is \(after.1), less than \(before.0), \(before.1)")
        }
        self.busyAfter = busyAfter
        self.indicatorAfter = indicatorAfter
        self.textAfter = textAfter
        self.stillAfter = stillAfter
        self.longAfter = longAfter
        self.stallAfter = stallAfter
        self.minimumVisible = minimumVisible
    }

    /// The default limits, but the indicator appears after one second.
    public static let unhurried = ProgressPolicy(indicatorAfter: .seconds(1))
}

extension ProgressPolicy {
    /// When the first text is followed by another text.
    var firstStill: Duration { textAfter + stillAfter }

    /// The times from the start at which a long wait is announced again (U15): 20, 40 and 80 s by
    /// default. The number is from 1 to 3.
    func longAgain(_ number: Int) -> Duration { longAfter * (1 << number) }

    static var longAgainNumbers: ClosedRange<Int> { 1...3 }

    /// Whether a wait is announced at this time from its start (U15).
    func announces(at elapsed: Duration) -> Bool {
        elapsed == textAfter || elapsed == firstStill || elapsed == longAfter
            || Self.longAgainNumbers.contains { elapsed == longAgain($0) }
    }

    /// From this fraction and this time on, an estimate of the remaining time is worth showing
    /// (U13).
    static var estimatedFraction: Double { 0.05 }
    static var estimateAfter: Duration { .seconds(2) }
}
