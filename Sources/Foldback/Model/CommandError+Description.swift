#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension CommandError: CustomStringConvertible {
    /// One line that says what happened, to what, and what to do.
    public var description: String { explanation.line }

    package var explanation: Explanation {
        switch self {
        case .inapplicable(let refusal):
            Explanation(
                "the event does not apply to the current view: \(refusal.reason)",
                "change what you entered, and try again",
                code: ", or record the event with force; \(refusal.projection) refused it")
        case .notPending(let number, let state):
            Explanation(
                "intent \(number) is \(state.rawValue), "
                    + "and only a pending intent can be withdrawn or abandoned")
        case .mayHaveLeft(let number):
            Explanation(
                "intent \(number) may have reached the server already and cannot be withdrawn",
                "abandon it, or record an event that reverses it")
        case .notHeld(let number, let state):
            Explanation(
                "intent \(number) is \(state.rawValue) and not held, so nothing keeps it back")
        case .onceKeyInUse(let number):
            Explanation(
                "intent \(number) has the same once key, and nothing was recorded",
                "wait for its answer, or use another key")
        case .notUndoable(let number):
            Explanation(
                "nothing reverses the event of intent \(number)",
                "record an event that reverses it")
        case .reworded(let number):
            Explanation(
                "the server has applied another event than intent \(number) has",
                "look at the present state, and record an event that reverses it")
        case .tooMany(let what, let count, let countMax):
            Explanation(
                "\(count) \(what) are too many: at most \(countMax) are possible",
                "record them in several steps")
        case .notRejected(let number, let state, let isDismissed):
            Explanation(
                "intent \(number) is "
                    + (isDismissed ? "dismissed or retried already" : state.rawValue)
                    + ", and only a listed rejection can be dismissed or retried")
        case .invalidBatch(let reason):
            Explanation("the server's answer is invalid for this log: \(reason)")
        case .tooLarge(let what, let bytes, let bytesMax): .tooLarge(what, bytes, bytesMax)
        case .notEncodable(let reason): Explanation("the event cannot be encoded: \(reason)")
        case .superseded(let shared):
            Explanation(
                "the server is not the server that this log has answers from: "
                    + (shared == 0
                        ? "it has other data"
                        : "it has lost its events after position \(shared)")
                    + "; nothing was recorded",
                "continue on a new log", code: " (Store.continueOnNewLog)")
        case .log(let error): error.explanation
        }
    }
}

extension CommandError: LocalizedError {
    /// What happened, as a sentence. If `apply` threw an error that has such a sentence, it is that
    /// sentence.
    public var errorDescription: String? {
        if case .inapplicable(let refusal) = self, let words = refusal.localized?.errorDescription {
            return words
        }
        return explanation.sentence
    }

    /// What to do, as a sentence; nil if nothing helps in general. If `apply` threw an error that
    /// has sentences of its own, it is that error's suggestion.
    public var recoverySuggestion: String? {
        if case .inapplicable(let refusal) = self, let localized = refusal.localized {
            let suggestion = localized.recoverySuggestion
            if suggestion != nil || localized.errorDescription != nil { return suggestion }
        }
        return explanation.suggestion
    }
}

extension Error {
    /// The words of an error that `apply` threw: its own words for people if it has some, else its
    /// description.
    package var words: String { (self as? any LocalizedError)?.errorDescription ?? "\(self)" }
}

extension Inapplicable {
    fileprivate var localized: (any LocalizedError)? { error as? any LocalizedError }
}
