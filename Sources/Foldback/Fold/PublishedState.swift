/// The log at its last commit, as readers get it: one consistent value, replaced as a whole.
package struct PublishedState: Sendable {
    package let sequence: LogSequence
    package let through: Position
    package let nextNumber: IntentNumber
    package let overlay: Overlay
    package let acceptedCount: Int
    /// Undismissed, with the entries that rejected them.
    package let rejections: NumberMap<IntentNumber, LogSequence>
    /// Of the last record.
    package let chain: UInt64
    /// Bytes of the records folded since the log was opened.
    package let recordBytes: Int
    /// The first entry that confirmed what this code cannot read.
    package let firstUnreadable: LogSequence?
    /// In the order in which the projections were registered.
    package let views: [any AnyFoldedState]
    /// The same for stored projections.
    package let rows: [FoldedRows]

    package func folded<P: Projection>(_: P.Type, at index: Int) -> FoldedState<P> {
        guard let folded = views[index] as? FoldedState<P> else {
            preconditionFailure("projection \(index) is not \(P.self)")
        }
        return folded
    }
}

extension LogFold {
    /// The states as they are now, to be shared with readers.
    ///
    /// - Parameter isKept: whether somebody keeps them. Otherwise they are to be looked at and let go before the
    ///   next entry, which then changes them where they are.
    package mutating func makePublishedState(isKept: Bool = true) -> PublishedState {
        var views: [any AnyFoldedState] = []
        for index in folds.indices {
            views.append(folds[index].makeFoldedState(over: state.overlay, isKept: isKept))
        }
        var stored: [FoldedRows] = []
        for index in rows.indices { stored.append(rows[index].makeFoldedRows(over: state.overlay)) }
        return PublishedState(
            sequence: state.sequence, through: state.through, nextNumber: state.nextNumber,
            overlay: state.overlay, acceptedCount: state.acceptedCount,
            rejections: state.rejections, chain: chain, recordBytes: recordBytes,
            firstUnreadable: firstUnreadable, views: views, rows: stored)
    }
}
