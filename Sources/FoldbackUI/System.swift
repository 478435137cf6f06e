/// The sources of time for waits and frames (U1).
///
/// ``system`` is the only place in this module that asks the system for the time. Tests and
/// previews pass the sources of a ``ManualClock``.
public struct UISources: Sendable {
    /// Returns the present moment.
    public var now: @Sendable () -> Moment
    /// Returns at the moment, or earlier, for example if the task is canceled. Throws no error.
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
            let next = start.duration(to: .now) + sleepMax
            let until = start + min(moment.sinceStart, next)
            _ = try? await Task.sleep(until: until, clock: .continuous)
        },
        frame: { _ = try? await Task.sleep(for: .microseconds(16_667)) })

    private static let start = ContinuousClock.now
    /// A longer sleep returns early, because the clock traps at moments that are very far away.
    private static let sleepMax = Duration.seconds(86_400)
}
