/// Proof that an intent is in the log, and where its answer can be awaited; minutes or days later, and
/// after a restart through ``Store/receipt(for:)``.
public struct Receipt: Sendable {
    public let id: IntentID
    /// The entry of the intent.
    public let sequence: LogSequence
    /// Nothing new was recorded: an intent with the same once key is in the overlay, and this is it
    /// (F14).
    public let isJoined: Bool
    let core: StoreCore

    public var number: IntentNumber { id.number }

    /// How the intent stands as soon as it is not pending: accepted, confirmed, rejected or withdrawn.
    ///
    /// Asked later it is the latest word; every change of the server's mind is in ``Store/answers(after:)`` (F7).
    /// - Throws: `.cancelled`, `.closed`, `.damaged`, `.storage`.
    public func answer() async throws(FoldbackError) -> Answer {
        try await core.answer(to: number) { $0 != .pending }
    }

    /// The same, waiting until it is confirmed, rejected or withdrawn.
    public func settlement() async throws(FoldbackError) -> Answer {
        try await core.answer(to: number) { $0.isSettled }
    }
}
