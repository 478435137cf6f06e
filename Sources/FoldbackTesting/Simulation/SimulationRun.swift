import Foldback

/// One run of a fleet.
public struct SimulationRun: Sendable {
    /// What was drawn: with these numbers the same run is made again.
    public var choices: [UInt64] { recording.values }
    /// What users did, requests that were begun, and answers that arrived.
    public let operations: Int
    /// Intents that the authority has decided on.
    public let decidedCount: Int
    /// How often each kind of fault has happened. Little is said about those that did not.
    public let fired: [SimulatedFault: Int]
    /// How many replicas were on disk.
    public let onDiskCount: Int
    /// Virtual time that has passed.
    public let lasted: Duration
    /// What happened: virtual time, who, what. Empty unless it was asked for.
    public let trace: [String]

    let recording: RecordedChoices
    let script: [String]
    let stepCount: Int
    let violation: Violation?
    /// False where no script could be drawn.
    let isComplete: Bool

    /// Whether everything that has to hold does.
    public var isClean: Bool { violation == nil }

    init(
        _ recording: RecordedChoices, _ noted: FleetNotes.Content, _ script: [String],
        stepCount: Int,
        onDisk: Int, lasted: Duration
    ) {
        self.recording = recording
        self.script = script
        self.stepCount = stepCount
        self.lasted = lasted
        isComplete = true
        operations = noted.operations
        decidedCount = noted.settledCount
        fired = noted.fired
        onDiskCount = onDisk
        trace = noted.trace
        violation = noted.violation
    }

    /// Nothing could be drawn.
    init(_ recording: RecordedChoices) {
        self.recording = recording
        (operations, decidedCount, fired, onDiskCount) = (0, 0, [:], 0)
        (lasted, trace, script, stepCount) = (.zero, [], [], 0)
        (violation, isComplete) = (nil, false)
    }
}
