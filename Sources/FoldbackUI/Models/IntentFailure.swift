import Foldback

/// Why an intent has no effect.
@nonexhaustive
public enum IntentFailure: Error, Sendable {
    /// The server refused it.
    case rejected(Rejection)
    /// The app took it back.
    case withdrawn
    /// The intent could not be recorded, or the log cannot be read. In the second case, what
    /// becomes of the intent is unknown here.
    case store(CommandError)

    public var description: String {
        switch self {
        case .rejected(let rejection): rejection.message
        case .withdrawn: "the change was taken back"
        case .store(let error): "\(error)"
        }
    }
}

extension IntentFailure: ExplainedError {
    /// The server's reason, or what is wrong with the log; nil if the intent was taken back, or the
    /// task was canceled.
    public var recovery: Recovery? {
        switch self {
        case .rejected(let rejection): Recovery(reason: rejection.message)
        case .withdrawn: nil
        case .store(let error): error.recovery
        }
    }
}

extension LogError: ExplainedError {
    /// What is wrong on this device, and whether the store takes the same command again; nil if the
    /// task was canceled.
    public var recovery: Recovery? {
        switch self {
        case .cancelled: nil
        // The disk may have space again. The server knows nothing of it, nor the connection.
        case .storage(let failure):
            Recovery(
                reason: joined(errorDescription, recoverySuggestion),
                canRestart: !failure.endsWriting)
        default:
            Recovery(reason: joined(errorDescription, recoverySuggestion), canRestart: false)
        }
    }
}

extension CommandError: ExplainedError {
    /// What is wrong on this device; nil if the task was canceled. Only for an error of the log, the
    /// store may take the same command again.
    public var recovery: Recovery? {
        if case .log(let error) = self { return error.recovery }
        return Recovery(reason: joined(errorDescription, recoverySuggestion), canRestart: false)
    }
}

extension KnownIntent {
    /// Loading until the intent is settled.
    var data: RemoteData<Answer, IntentFailure> {
        guard let answer else {
            let number = id.number
            precondition(!state.isSettled, "intent \(number) is \(state) without an answer")
            return .loading
        }
        return switch answer.content {
        case .accepted: .loading
        case .confirmed: .success(answer)
        case .rejected(let rejection): .failure(.rejected(rejection))
        case .withdrawn: .failure(.withdrawn)
        }
    }
}

/// Returns the sentences that there are, one after the other; nil if there are none.
private func joined(_ sentences: String?...) -> String? {
    let sentences = sentences.compactMap(\.self)
    return sentences.isEmpty ? nil : sentences.joined(separator: " ")
}
