import Foldback

/// One run of a fleet.
public struct SimulationRun: Sendable {
    /// The drawn choices. They repeat the same run.
    public var choices: [UInt64] { recording.values }
    /// The number of actions of users, begun requests, and arrived answers.
    public let operations: Int
    /// The number of intents that the authority decided.
    public let decidedCount: Int
    /// How often each kind of fault happened. A run says little about a fault that did not happen.
    public let fired: [SimulatedFault: Int]
    /// The number of replicas on disk.
    public let onDiskCount: Int
    /// The virtual time of the run.
    public let lasted: Duration
    /// Everything that happened: virtual time, actor, action. Empty unless tracing was requested.
    public let trace: [String]

    let recording: RecordedChoices
    let script: [String]
    let stepCount: Int
    let violation: Violation?

    /// False if nothing ran, because the generator of events discarded the choices.
    public let isComplete: Bool
    /// Whether the run broke nothing.
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

    /// A run without a script.
    init(_ recording: RecordedChoices) {
        self.recording = recording
        (operations, decidedCount, fired, onDiskCount) = (0, 0, [:], 0)
        (lasted, trace, script, stepCount) = (.zero, [], [], 0)
        (violation, isComplete) = (nil, false)
    }
}
