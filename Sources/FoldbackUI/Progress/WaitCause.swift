import Foldback

/// Why a wait takes long.
public enum WaitCause: Hashable, Sendable {
    case unknown
    /// The device has no connection.
    case offline
    /// The connection or the server is slow.
    case slow
    /// The server is busy, and has said until when; nil if it has not.
    case serverBusy(until: Timestamp?)
    /// No user is signed in.
    case signedOut
    /// Attempts fail, and go on.
    case failing(reason: String)
}
