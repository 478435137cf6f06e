/// How much a check of laws tries.
public struct Effort: Hashable, Sendable {
    /// Scripts at most. There are up to a quarter as many fleets.
    public var scriptsMax: Int
    /// Time for generating and running scripts, without shrinking; nil for no limit.
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

    /// Up to 200 scripts of up to 24 steps, none begun after 5 seconds; 3,000 candidates; 5 seconds a step.
    public static let standard = Effort(
        scriptsMax: 200, durationMax: .seconds(5), stepsMax: 24, candidatesMax: 3_000,
        stepMax: .seconds(5))

    /// As many scripts as fit in a duration.
    public static func lasting(_ duration: Duration) -> Effort {
        Effort(
            scriptsMax: .max, durationMax: duration, stepsMax: 24, candidatesMax: 3_000,
            stepMax: .seconds(5))
    }
}
