import Foldback

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An error that ends sending, fetching or continuing, with the state that it leaves.
///
/// ```swift
/// do {
///     try await outbox.run()
/// } catch {
///     switch error {
///     case .superseded: await continueOnNewLog()
///     case .alreadyRunning: break
///     default: show(error.localizedDescription)
///     }
/// }
/// ```
///
/// Failures of the authority are values: ``AuthorityFailure``. An outbox and a downlink try again
/// after them.
@nonexhaustive
public enum SyncError: Error, Sendable {
    /// Another run of the same kind goes on for this store, and was not canceled: an outbox's
    /// ``Outbox/run()``, a downlink's ``Downlink/follow()``, or `bring` of ``/Foldback/Store``. This
    /// call did nothing.
    case alreadyRunning
    /// The authority is not the authority that this log has answers from, or it has lost data.
    ///
    /// `shared` is the last position up to which both have the same events; 0 if the authority has
    /// another lineage. This log keeps what it has, and takes no more answers from that authority.
    /// To continue with it, call `continueOnNewLog` of ``/Foldback/Store``.
    case superseded(shared: Position)
    /// The superseded log has confirmed intents, and no confirmed event of it names an intent. So
    /// nothing shows which of them the present authority lacks. Nothing was changed. Bring
    /// ``/Foldback/WorkToBring/pending``.
    case originsUnknown
    /// The log cannot be read or written.
    case log(LogError)
    /// The log refused to record something, and stays usable. `continueOnNewLog` of
    /// ``/Foldback/Store`` throws it if an outbox sends from the new log before that is complete.
    case refused(CommandError)

    /// Makes the error of a call whose command failed.
    init(_ error: CommandError) {
        self =
            switch error {
            case .superseded(let shared): .superseded(shared: shared)
            case .log(let error): .log(error)
            case let error: .refused(error)
            }
    }
}

extension SyncError {
    /// Calls `body`, and throws its error as an error of sync.
    static nonisolated(nonsending) func converting<T>(
        _ body: () async throws(LogError) -> T
    ) async throws(SyncError) -> T {
        do throws(LogError) { return try await body() } catch { throw .log(error) }
    }
}

extension SyncError: CustomStringConvertible {
    /// One line that says what happened, to what, and what to do.
    public var description: String { explanation.line }

    private var explanation: Explanation {
        switch self {
        case .alreadyRunning:
            Explanation(
                "another run for this store goes on", "cancel it first, or start no second run")
        case .superseded(let shared): CommandError.superseded(shared: shared).explanation
        case .originsUnknown:
            Explanation(
                "the events of the server do not say which changes they come from, so what the new "
                    + "server lacks is unknown; nothing was changed",
                "continue with the pending changes alone", code: " (bringing: .pending)")
        case .log(let error): error.explanation
        case .refused(let error): error.explanation
        }
    }
}

extension SyncError: LocalizedError {
    /// What happened, as a sentence.
    public var errorDescription: String? { explanation.sentence }

    /// What to do, as a sentence; nil if nothing helps in general.
    public var recoverySuggestion: String? { explanation.suggestion }
}
