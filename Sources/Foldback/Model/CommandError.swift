/// An error of a command or of an answer, with the state that it leaves: of everything that a store's
/// writer carries out.
///
/// ```swift
/// do {
///     try await store.record(.liked(post: "42"))
/// } catch {
///     switch error {
///     case .inapplicable(let refusal): show(refusal.reason)
///     case .log(.cancelled): break
///     default: show(error.localizedDescription)
///     }
/// }
/// ```
///
/// Nothing was appended, except perhaps with ``LogError/outcomeUnknown(intent:_:)``.
@nonexhaustive
public enum CommandError: Error, Sendable {
    // MARK: Commands

    /// A projection's `apply` threw for the event to record (F9).
    case inapplicable(Inapplicable)
    /// Only a pending intent can be withdrawn or abandoned (F7, F19).
    case notPending(IntentNumber, state: IntentState)
    /// Sending the intent has begun, so the authority may have it. The intent can be answered or
    /// abandoned, but no longer withdrawn (F7, F19).
    case mayHaveLeft(IntentNumber)
    /// Only a listed rejection can be dismissed or retried (F14). `isDismissed` is true if it was
    /// dismissed or retried before.
    case notRejected(IntentNumber, state: IntentState, isDismissed: Bool)
    /// Only a held intent can be released (F22).
    case notHeld(IntentNumber, state: IntentState)
    /// The intent of the overlay with this number has the once key of intents to record together, so
    /// none was recorded (F20).
    case onceKeyInUse(IntentNumber)
    /// Nothing reverses the intent's event: the projection is not ``Undoable``, has no inverse of the
    /// event, or had none when it was recorded (F21).
    case notUndoable(IntentNumber)
    /// The authority has applied another event than the intent's, so the inverse that the log has may
    /// be wrong (F21).
    case reworded(IntentNumber)
    /// One command has more intents than a log accepts (F20).
    case tooMany(what: String, count: Int, countMax: Int)
    /// An event, batch, key, code, message or `info` is larger than a log accepts.
    case tooLarge(what: String, bytes: Int, bytesMax: Int)
    /// The codec could not encode an event.
    case notEncodable(reason: String)

    // MARK: Answers

    /// This log cannot accept the position or batch, for the given reason (F2 to F5).
    case invalidBatch(reason: String)
    /// The authority is not the authority that this log has answers from, or it has lost data.
    ///
    /// `shared` is the last position up to which both have the same events; 0 if the authority has
    /// another lineage. This log keeps what it has, and takes no more answers from that authority.
    /// To continue with it, FoldbackSync moves the pending intents to a new log.
    case superseded(shared: Position)

    // MARK: The log

    /// The log could not take the command. Nothing was appended, except perhaps with
    /// ``LogError/outcomeUnknown(intent:_:)``.
    case log(LogError)
}

/// The reason why an event was not recorded: a projection cannot apply it to its view (F9).
///
/// ```swift
/// } catch {
///     switch error {
///     case .inapplicable(let refusal):
///         if refusal.underlying(as: LikeError.self) == .postIsGone { … }
///     default: …
///     }
/// }
/// ```
public struct Inapplicable: Sendable {
    /// The name of the first projection that refused, as the log has it: ``EventFold/name``.
    public let projection: String
    /// The error that its `apply` threw.
    public let error: any Error

    package init(projection: String, error: any Error) {
        self.projection = projection
        self.error = error
    }

    /// The error's description. For a screen, use the `localizedDescription` of the
    /// ``CommandError``.
    public var reason: String { "\(error)" }

    /// Returns the error of `apply` if it has this type, else nil.
    public func underlying<E: Error>(as _: E.Type = E.self) -> E? { error as? E }
}

extension CommandError {
    /// Calls `body`, and throws its error as an error of a command.
    package static func converting<T>(
        _ body: () throws(LogError) -> T
    ) throws(CommandError) -> T {
        do throws(LogError) { return try body() } catch { throw .log(error) }
    }

    /// Makes the error that the caller of a refused command gets.
    package init(_ refusal: Refusal) {
        self =
            switch refusal {
            case .unknownIntent(let number): .log(.unknownIntent(number))
            case .notPending(let number, let state): .notPending(number, state: state)
            case .notRejected(let number, let state, let isDismissed):
                .notRejected(number, state: state, isDismissed: isDismissed)
            case .mayHaveLeft(let number): .mayHaveLeft(number)
            case .notHeld(let number, let state): .notHeld(number, state: state)
            case .onceKeyInUse(let number): .onceKeyInUse(number)
            case .superseded(let shared): .superseded(shared: shared)
            case .positionBelowOne: .invalidBatch(reason: "positions start at 1")
            case .throughBelowPosition(let through, let highest):
                .invalidBatch(
                    reason: "through is \(through), below position \(highest) in the batch")
            case .positionInAcknowledgementLog:
                .invalidBatch(reason: "a log that acknowledgements confirm has no positions")
            case .batchInAcknowledgementLog:
                .invalidBatch(reason: "a log that acknowledgements confirm accepts no batches")
            }
    }
}
