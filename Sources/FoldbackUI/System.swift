/// The sources of time for waits and frames (U1).
///
/// ``system`` is the only place in this module that asks the system for the time. Tests and
/// previews pass the sources of a ``ManualClock``.
public struct UISources: Sendable {
    /// Returns the present moment.
    public var now: @Sendable () -> Moment
    /// Returns at the moment, or earlier if the task is canceled, without an error.
    public var sleep: @Sendable (_ until: Moment) async -> Void
    /// Returns when the next frame begins, or earlier if the task is canceled.
    public var frame: @Sendable () async -> Void

    public init(
        now: @escaping @Sendable () -> Moment,
        sleep: @escaping @Sendable (_ until: Moment) async -> Void,
        frame: @escaping @Sendable () async -> Void
    ) {
        self.now = now
        self.sleep = sleep
        self.frame = frame
    }

    /// The system's continuous clock. A frame lasts 1/60 s.
    public static let system = UISources(
        now: { Moment(sinceStart: start.duration(to: .now)) },
        // `Task.sleep` throws only if the task is canceled.
        sleep: { moment in
            _ = try? await Task.sleep(until: start + moment.sinceStart, clock: .continuous)
        },
        frame: { _ = try? await Task.sleep(for: .microseconds(16_667)) })

    private static let start = ContinuousClock.now
}
