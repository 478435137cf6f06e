/// A command of the app about an intent that is in the log.
public enum IntentCommand: String, Hashable, Sendable, CaseIterable {
    /// Takes back a pending intent that cannot have left the device (F7).
    case withdraw
    /// Gives up a pending intent that may have left the device (F19).
    case abandon
    /// Takes a rejection out of the list of rejections (F14).
    case dismiss
    /// Records the event of a rejected intent again, or an edited event, and dismisses the
    /// rejection (F14).
    case retry
}

/// A change of one intent that is in the log, as an entry says it; acknowledgements are separate.
///
/// A new change is a case here, a kind in the file format, and a rule in `LogState`. Code that only
/// passes entries on needs no change.
public enum IntentChange: Hashable, Sendable {
    case rejected(Rejection)
    case withdrawn
    /// The user gave the intent up after its sending had begun. The fold is that of ``withdrawn``,
    /// and a later answer of the authority can still change it (F7, F19).
    case abandoned
    case dismissed

    /// The name of a change, as files and tools write it.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case rejected, withdrawn, abandoned, dismissed
    }

    public var kind: Kind {
        switch self {
        case .rejected: .rejected
        case .withdrawn: .withdrawn
        case .abandoned: .abandoned
        case .dismissed: .dismissed
        }
    }

    /// Why the server refused the intent; nil unless the change is a rejection.
    public var rejection: Rejection? {
        switch self {
        case .rejected(let rejection): rejection
        case .withdrawn, .abandoned, .dismissed: nil
        }
    }
}
