import Foldback

/// What scripts and their files know about a command. A new command needs an edit here, its rule in
/// ``ReferenceLog``, its call in ``LogUnderTest`` and ``SimulatedUser``, and its weight in both
/// generators.
extension IntentCommand {
    /// Whether the command records an intent, which later steps can name.
    var isRecording: Bool {
        switch self {
        case .retry, .undo, .redo, .retryAll: true
        case .withdraw, .abandon, .dismiss, .release, .withdrawAll: false
        }
    }

    /// The state of the intents that the command is for.
    var target: IntentState {
        switch self {
        case .withdraw, .abandon, .release, .undo, .withdrawAll: .pending
        case .redo: .withdrawn
        case .dismiss, .retry, .retryAll: .rejected
        }
    }

    /// The `kind` of the command's line in a file; nil for a line of kind `intent` with `retries`.
    var fileKind: String? {
        switch self {
        case .withdraw: IntentChange.Kind.withdrawn.rawValue
        case .abandon: IntentChange.Kind.abandoned.rawValue
        case .dismiss: IntentChange.Kind.dismissed.rawValue
        case .release: IntentChange.Kind.released.rawValue
        case .undo, .redo, .withdrawAll, .retryAll: rawValue
        case .retry: nil
        }
    }

    init?(fileKind: String) {
        guard let command = Self.allCases.first(where: { $0.fileKind == fileKind }) else {
            return nil
        }
        self = command
    }
}

extension Script.Step {
    /// Takes back a pending intent.
    public static func withdraw(_ place: IntentNumber) -> Self {
        .change(place, .withdraw, force: false)
    }

    /// Gives up a pending intent that may have left.
    public static func abandon(_ place: IntentNumber) -> Self {
        .change(place, .abandon, force: false)
    }

    /// Takes a rejection out of the list.
    public static func dismiss(_ place: IntentNumber) -> Self {
        .change(place, .dismiss, force: false)
    }

    /// Records the event of a rejected intent again.
    public static func retry(_ place: IntentNumber, force: Bool = false) -> Self {
        .change(place, .retry, force: force)
    }

    /// Lets a draft be sent.
    public static func release(_ place: IntentNumber) -> Self {
        .change(place, .release, force: false)
    }

    /// Takes back the action that the intent belongs to.
    public static func undo(_ place: IntentNumber, force: Bool = false) -> Self {
        .change(place, .undo, force: force)
    }

    /// Brings back the action that the intent belongs to.
    public static func redo(_ place: IntentNumber, force: Bool = false) -> Self {
        .change(place, .redo, force: force)
    }

    /// Withdraws all intents that were recorded together with this one.
    public static func withdrawAll(_ place: IntentNumber) -> Self {
        .change(place, .withdrawAll, force: false)
    }

    /// Retries all rejected intents that were recorded together with this one.
    public static func retryAll(_ place: IntentNumber, force: Bool = false) -> Self {
        .change(place, .retryAll, force: force)
    }

    /// Records this event in place of a rejected intent's.
    public static func retry(
        _ place: IntentNumber, with event: Event, force: Bool = false
    ) -> Self {
        .edit(place, event, force: force)
    }
}
