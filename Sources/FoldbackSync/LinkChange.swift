/// What the app tells an outbox and a downlink: a change of the connection, or of the user.
///
/// ```swift
/// for await path in connections { outbox.tell(path.isUp ? .wentOnline : .wentOffline) }
/// ```
///
/// Both begin online and signed in. Neither asks the other, so tell each of them.
public enum LinkChange: Hashable, Sendable {
    /// The device has a connection, or a new connection.
    ///
    /// Waits end now, unless the authority asked for them. A downlink repeats a long poll that was
    /// on its way, because its connection may be gone.
    case wentOnline
    /// The device has no connection. No request begins until ``wentOnline``. Requests that were sent
    /// may still succeed or fail.
    case wentOffline
    /// A user has signed in, or has new credentials. Requests begin again.
    ///
    /// An answer `.unauthenticated` to a request that began before does not stop them. If it is wrong
    /// that an outbox or a downlink begins signed in, its first request fails as `.unauthenticated`.
    case signedIn
    /// No user is signed in. No request begins until ``signedIn``, and a long poll ends.
    case signedOut(reason: String)
}
