/// Why a wait takes long.
public enum WaitCause: Hashable, Sendable {
    /// Nothing is in the way, as far as the app knows.
    case unknown
    /// The device has no connection.
    case offline
    /// The connection or the server is slow.
    case slow
    /// The server is busy, and has said until when; nil if it has not. Servers usually send a
    /// duration, which counts from now: `.serverBusy(until: sources.now().advanced(by: retryAfter))`.
    case serverBusy(until: Moment?)
    /// No user is signed in.
    case signedOut
    /// Attempts fail, and go on.
    case failing(reason: String)
}
