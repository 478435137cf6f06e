/// What undo or redo has done (F21).
public struct Reversed: Sendable {
    /// The intents that were taken back, because their sending never began.
    public let withdrawn: [IntentNumber]
    /// The receipts of the intents that were recorded: they reverse what was sent, or bring it back.
    public let recorded: [Receipt]
    /// The state of the named intent if there was nothing to do; else nil.
    public let ignored: IntentState?
}

/// Undo and redo (F21).
extension Store {
    /// Takes back what the user did with an intent, and with all intents that were recorded together
    /// with it (F20).
    ///
    /// ```swift
    /// let receipt = try await store.record(.renamed(card, title: "New"))
    /// try await store.undo(receipt.number)  // The view has the old title again.
    /// ```
    ///
    /// - An intent that was never sent is withdrawn.
    /// - Else the event that reverses it is recorded, as ``Undoable`` says. While the intent has no
    ///   answer, that event is what reverses the intent in the view. It is sent only after the server
    ///   has accepted the intent. If the server refuses the intent, it is not sent at all, so the user
    ///   sees one rejection at most, and nothing of the action stays on the server.
    /// - Of a confirmed intent, the event that was kept when the intent was recorded is used.
    /// - If the intent was withdrawn, rejected or undone before, nothing happens.
    ///
    /// All of it is one commit, durable on return; the view changes once (L2, F15).
    ///
    /// - Parameters:
    ///   - number: any intent of the action.
    ///   - force: whether to record the reversing event even if a projection throws (F9).
    /// - Throws: `.notUndoable` if the projection has no inverse of the event. `.reworded` if the server
    ///   has applied another event. `.inapplicable` if the inverse does not apply to the view, for
    ///   example because another device has removed the card. `.log(.unknownIntent)`. Nothing changed.
    ///   Else as ``record(_:force:confirmOnly:once:replacing:held:info:)``.
    /// - Complexity: one write. For an intent in the overlay, one `apply` for each intent between it and
    ///   a savepoint. For an intent that was confirmed without an event that names it, reads the entries
    ///   from the intent to its confirmation.
    @discardableResult
    public nonisolated(nonsending) func undo(
        _ number: IntentNumber, force: Bool = false
    ) async throws(CommandError) -> Reversed {
        try await reversed(.change(number, .undo), isForced: force)
    }

    /// Brings back what ``undo(_:force:)`` took back.
    ///
    /// An undoing that was never sent is withdrawn. Else the event is recorded again under the terms of
    /// the intent, and is sent only after the server has accepted the undoing. An intent that was
    /// withdrawn is recorded again. If nothing was undone, nothing happens.
    ///
    /// - Parameters:
    ///   - number: any intent of the action, as it was first recorded.
    ///   - force: whether to record the event even if a projection throws (F9).
    /// - Throws: as ``undo(_:force:)``, without `.notUndoable` and `.reworded`.
    @discardableResult
    public nonisolated(nonsending) func redo(
        _ number: IntentNumber, force: Bool = false
    ) async throws(CommandError) -> Reversed {
        try await reversed(.change(number, .redo), isForced: force)
    }

    private nonisolated(nonsending) func reversed(
        _ command: Command, isForced: Bool
    ) async throws(CommandError) -> Reversed {
        switch try await submit(command, isForced: isForced, bytes: 0).outcome() {
        case .ignored(let state): return Reversed(withdrawn: [], recorded: [], ignored: state)
        case .reversed(let withdrawn, let recorded):
            return Reversed(
                withdrawn: withdrawn,
                recorded: recorded.map {
                    Receipt(id: $0.id, sequence: $0.sequence, isJoined: false, core: core)
                },
                ignored: nil)
        case let joined:
            return Reversed(
                withdrawn: [], recorded: [Receipt(recorded: joined, in: core)], ignored: nil)
        }
    }
}
