import Foldback
import FoldbackSync

/// The app's events with which ``checkAuthority(_:samples:seed:sources:)`` asks a server.
///
/// ```swift
/// let samples = AuthoritySamples<Feed.Event>(accepted: { .posted("Hello \($0)") })
///     .refusing({ .commented(post: "\($0)", "first") }, until: { .postedAs("\($0)") })
/// ```
/// Each closure gets a number that no earlier call got, so that events of one check do not meet those of
/// another one, also on a server that keeps its data.
public struct AuthoritySamples<Event: Sendable>: Sendable {
    /// Encodes the events, as the devices of the app do.
    public let codec: any EventCodec<Event>
    /// Returns an event that the server accepts from any replica of the checked account, and shows to it.
    public let accepted: @Sendable (Int) -> Event
    var refused: (@Sendable (Int) -> Event)?
    var unlocking: (@Sendable (Int) -> Event)?
    var reworded: (@Sendable (Int) -> Event)?
    var postponed: (@Sendable (Int) -> Event)?
    var settling: (@Sendable (Int) -> Event)?

    public init(codec: any EventCodec<Event>, accepted: @escaping @Sendable (Int) -> Event) {
        self.codec = codec
        self.accepted = accepted
    }

    public init(accepted: @escaping @Sendable (Int) -> Event) where Event: Codable {
        self.init(codec: JSONCodec<Event>(), accepted: accepted)
    }

    /// Adds events that the server rejects. Without them, nothing is said about rejections.
    ///
    /// - Parameters:
    ///   - refused: returns an event that the server rejects.
    ///   - unlocking: returns an event, for the same number, after which the server would accept the
    ///     refused one if it came as a new intent. Without it, a server that forgets its rejections is not
    ///     found.
    public func refusing(
        _ refused: @escaping @Sendable (Int) -> Event,
        until unlocking: (@Sendable (Int) -> Event)? = nil
    ) -> AuthoritySamples {
        var samples = self
        (samples.refused, samples.unlocking) = (refused, unlocking)
        return samples
    }

    /// Adds events on which the server decides later. Without them, nothing is said about postponed intents.
    ///
    /// - Parameters:
    ///   - postponed: returns an event that the server postpones.
    ///   - settling: returns an event, for the same number, after which the server accepts the other one.
    public func postponing(
        _ postponed: @escaping @Sendable (Int) -> Event,
        until settling: @escaping @Sendable (Int) -> Event
    ) -> AuthoritySamples {
        var samples = self
        (samples.postponed, samples.settling) = (postponed, settling)
        return samples
    }

    /// Adds events that the server accepts with another event in their place.
    public func rewording(_ reworded: @escaping @Sendable (Int) -> Event) -> AuthoritySamples {
        var samples = self
        samples.reworded = reworded
        return samples
    }
}
