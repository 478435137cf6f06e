/// The log at one commit, as readers get it: one consistent value, replaced as a whole by the next.
package struct PublishedState: Sendable {
    /// The last entry that the state covers.
    package let sequence: LogSequence
    /// The highest position that confirmed state covers.
    package let through: Position
    /// The number that the next intent gets.
    package let nextNumber: IntentNumber
    package let overlay: Overlay
    package let acceptedCount: Int
    /// The intents of the overlay that were recorded as drafts, held or released (F22).
    package let drafts: Drafts
    /// The newest intent that undoes each intent (F21).
    package let undoneBy: UndoLinks
    /// Rejected intents that are neither dismissed nor retried, with the entries that rejected
    /// them.
    package let rejections: NumberMap<IntentNumber, LogSequence>
    /// The checksum of the last record.
    package let chain: UInt64
    /// The bytes of the records that were folded since the log was opened.
    package let recordBytes: Int
    /// The events that the states lack, because this code cannot read them (E6).
    package let unread: UnreadEvents
    /// The events that the states have only in part (E11).
    package let partlyRead: PartlyReadEvents
    /// The states of the projections whose state is a value, in the order of the ``ProjectionSet``.
    package let views: [any AnyFoldedState]
    /// The rows of the stored projections, in the order of the ``ProjectionSet``.
    package let rows: [FoldedRows]
    /// What is known beside the entries.
    package var facts: LogFacts

    // What happened to the store. No commit changes it.

    /// The last position that the log shares with an authority that superseded it; nil if none did
    /// (N6).
    package var superseded: Position?
    /// The failure that makes the store refuse commands; nil if it accepts them (L6).
    package var latched: StorageFailure?
    /// Whether the store is closed. It publishes nothing after that.
    package var isClosed = false

    /// Returns the states of the projection at `index` in `views`. Traps if it has another type.
    package func folded<P: Projection>(_: P.Type, at index: Int) -> FoldedState<P> {
        guard let folded = views[index] as? FoldedState<P> else {
            preconditionFailure("projection \(index) is not \(P.self)")
        }
        return folded
    }
}

extension LogFold {
    /// Updates all views, and returns the states to share with readers.
    ///
    /// - Parameter isKept: whether a reader keeps the states. If false, the caller must release
    ///   them before the next entry, which then changes them in place.
    package mutating func makePublishedState(isKept: Bool = true) -> PublishedState {
        rebaseViews()
        precondition(
            failure != nil || rows.allSatisfy { $0.sequence >= state.sequence },
            "the rows do not cover entry \(state.sequence)")
        var views: [any AnyFoldedState] = []
        for index in folds.indices {
            let conflicts = conflicts(seenByValue: index)
            views.append(
                folds[index].makeFoldedState(over: state.overlay, conflicts, isKept: isKept))
        }
        let stored = rows.indices.map {
            rows[$0].foldedRows(
                conflicts(seenByRows: $0), hasReads: !state.drafts.isEmpty || !state.undoers.isEmpty
            )
        }
        return PublishedState(
            sequence: state.sequence, through: state.through, nextNumber: state.nextNumber,
            overlay: state.overlay, acceptedCount: state.acceptedCount, drafts: state.drafts,
            undoneBy: state.undoneBy,
            rejections: state.rejections, chain: chain, recordBytes: recordBytes,
            unread: unread, partlyRead: partlyRead, views: views, rows: stored, facts: state.facts,
            superseded: state.facts.lostData?.shared)
    }
}

extension PublishedState {
    /// The attempts to send pending intents.
    package var attempts: Attempts { facts.attempts }

    /// The lineage of the authority that the log has answers from; nil if none was named yet.
    package var lineage: Lineage? { facts.lineage }

    /// The error of all commands; nil if the store accepts them (L6).
    package var refusal: LogError? { latched?.refusal }

    /// Why nothing more can be sent or fetched for this log; nil if nothing is in the way: the store
    /// is latched (L6), or the log is superseded (N6).
    package var syncObstacle: CommandError? {
        refusal.map { .log($0) } ?? superseded.map { .superseded(shared: $0) }
    }

    /// Returns the state with what is in the way of the state before it. No commit changes that.
    func with(obstaclesOf previous: PublishedState) -> PublishedState {
        var state = self
        (state.superseded, state.latched) = (previous.superseded, previous.latched)
        state.isClosed = previous.isClosed
        return state
    }

    /// Returns an intent of the overlay; nil if it has none. Code of other modules that looks it up
    /// in ``overlay`` takes ten times as long, because it is not specialized.
    package func unsettledIntent(_ number: IntentNumber) -> UnsettledIntent? { overlay[number] }
}
