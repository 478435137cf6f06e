/// How much a check of laws tries.
public struct Effort: Hashable, Sendable {
    /// Scripts at most. There are a quarter as many fleets.
    public var scriptsMax: Int
    /// Time for generating and running scripts, without shrinking and without waiting for the laws
    /// of other tests; nil for no limit.
    public var durationMax: Duration?
    /// Steps of a script.
    public var stepsMax: Int
    /// Candidates for shrinking one failure.
    public var candidatesMax: Int
    /// How long one step may take before it counts as never ending (P14); whole seconds.
    public var stepMax: Duration

    public init(
        scriptsMax: Int, durationMax: Duration?, stepsMax: Int, candidatesMax: Int,
        stepMax: Duration
    ) {
        self.scriptsMax = scriptsMax
        self.durationMax = durationMax
        self.stepsMax = stepsMax
        self.candidatesMax = candidatesMax
        self.stepMax = stepMax
    }

    /// 200 scripts of up to 24 steps; 3,000 candidates; 5 seconds a step.
    ///
    /// An ordinary projection needs a few seconds for them in a debug build. The limit of 5 minutes
    /// is for slow ones: a run that reaches it says so.
    public static let standard = Effort(
        scriptsMax: 200, durationMax: .seconds(300), stepsMax: 24, candidatesMax: 3_000,
        stepMax: .seconds(5))

    /// As many scripts as fit in a duration. Such a run is complete after any number of scripts.
    public static func lasting(_ duration: Duration) -> Effort {
        Effort(
            scriptsMax: .max, durationMax: duration, stepsMax: 24, candidatesMax: 3_000,
            stepMax: .seconds(5))
    }
}
