/// When to start the next child, given how the children before it ended.
struct Restarts {
    /// The number of children that have ended.
    private(set) var count = 0
    /// Whether any child was ready.
    var wasReady = false
    /// The number of children in a row that ended soon.
    private var failures = 0

    /// The number of children in a row that may end before the first of all is ready.
    static let failuresMax = 3
    /// A child that lives longer is not a failure.
    static let lifetimeMin = Duration.seconds(5)
    static let pauseMax = Duration.seconds(30)
    private static let pauseMin = Duration.milliseconds(100)

    /// Returns how long to wait before the next child: not at all after a single crash, and twice as
    /// long each time if children go on ending soon.
    ///
    /// - Parameters:
    ///   - lifetime: how long the last child lived.
    ///   - isReady: whether it was ready.
    ///   - isKilled: whether it was killed (SIGKILL), which is not its fault.
    /// - Returns: nil if no child was ever ready, and another start would not help.
    mutating func pause(
        after lifetime: Duration, isReady: Bool, isKilled: Bool
    ) -> Duration? {
        count += 1
        if isReady, isKilled || lifetime >= Self.lifetimeMin { failures = 0 }
        if !isKilled { failures += 1 }
        if !wasReady, failures >= Self.failuresMax { return nil }
        guard failures > 1 else { return .zero }
        return min(Self.pauseMin * (1 << min(failures - 2, 10)), Self.pauseMax)
    }
}
