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
    /// Lets a held intent be sent (F22).
    case release
    /// Takes back the action that the intent belongs to: withdraws what was never sent, and reverses
    /// the rest (F21).
    case undo
    /// Brings back the action that the intent belongs to (F21).
    case redo
    /// Takes back all intents that were recorded together with the intent (F20).
    case withdrawAll
    /// Records the events of all rejected intents that were recorded together with the intent again
    /// (F20).
    case retryAll
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
    /// A held intent may be sent from now on (F22).
    case released
    /// Undo or redo has taken the intent back before it was sent (F21). The fold is that of
    /// ``withdrawn``.
    case undone
    /// The intent undoes another one that was rejected or given up, so there is nothing left to undo
    /// (F21). The fold is that of ``withdrawn``.
    case lapsed
    /// A lapsed intent is pending again, because the intent that it undoes came back (F7, F21).
    case restored

    /// The name of a change, as files and tools write it.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case rejected, withdrawn, abandoned, dismissed, released, undone, lapsed, restored
    }

    public var kind: Kind {
        switch self {
        case .rejected: .rejected
        case .withdrawn: .withdrawn
        case .abandoned: .abandoned
        case .dismissed: .dismissed
        case .released: .released
        case .undone: .undone
        case .lapsed: .lapsed
        case .restored: .restored
        }
    }

    /// Whether the change takes a pending intent back.
    package var isWithdrawal: Bool {
        switch self {
        case .withdrawn, .abandoned, .undone, .lapsed: true
        case .rejected, .dismissed, .released, .restored: false
        }
    }

    /// Why the server refused the intent; nil unless the change is a rejection.
    public var rejection: Rejection? {
        switch self {
        case .rejected(let rejection): rejection
        case .withdrawn, .abandoned, .dismissed, .released, .undone, .lapsed, .restored: nil
        }
    }
}
