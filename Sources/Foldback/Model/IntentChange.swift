/// A command of the app about an intent that is in the log.
public enum IntentCommand: String, Hashable, Sendable, CaseIterable {
    /// Takes back a pending intent that cannot have left the device (F7).
    case withdraw
    /// Takes a rejection out of the list of rejections (F14).
    case dismiss
    /// Records the event of a rejected intent again, and dismisses the rejection (F14).
    case retry
}

/// A change of one intent that is in the log, as an entry says it; acknowledgements are separate.
///
/// A new change is a case here, a kind in the file format, and a rule in `LogState`. Code that only
/// passes entries on needs no change.
public enum IntentChange: Hashable, Sendable {
    case rejected(Rejection)
    case withdrawn
    case dismissed

    /// The name of a change, as files and tools write it.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case rejected, withdrawn, dismissed
    }

    public var kind: Kind {
        switch self {
        case .rejected: .rejected
        case .withdrawn: .withdrawn
        case .dismissed: .dismissed
        }
    }

    /// Why the server refused the intent; nil unless the change is a rejection.
    public var rejection: Rejection? {
        switch self {
        case .rejected(let rejection): rejection
        case .withdrawn, .dismissed: nil
        }
    }
}
