/// A moment of a monotonic clock: the time since the clock's start.
///
/// It never goes back, and it is not a time of day. Moments of different processes cannot be
/// compared.
public struct Moment: InstantProtocol, Sendable {
    /// The time since the clock's start.
    public let sinceStart: Duration

    public init(sinceStart: Duration) { self.sinceStart = sinceStart }

    /// The clock's start.
    public static let zero = Moment(sinceStart: .zero)

    /// Returns the moment after a duration.
    public func advanced(by duration: Duration) -> Moment {
        Moment(sinceStart: sinceStart + duration)
    }

    /// Returns the duration up to a moment; negative if that is earlier.
    public func duration(to other: Moment) -> Duration { other.sinceStart - sinceStart }

    public static func < (first: Moment, second: Moment) -> Bool {
        first.sinceStart < second.sinceStart
    }
}
