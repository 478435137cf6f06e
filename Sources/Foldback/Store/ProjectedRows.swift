/// One stored projection of a store, with its rows; see `Store.projected(_:)`.
///
/// ```swift
/// let inbox = store.projected(Inbox.self)
/// let unread = try inbox.read { rows in try rows.count(of: Inbox.unread) }
/// ```
///
/// The store itself has the same methods for its own projection. Use this type for the additional
/// projections. Projections whose state is a value have ``Projected``.
public struct ProjectedRows<P: StoredProjection>: Sendable {
    let core: StoreCore
    let index: Int

    /// Calls `body` with the rows of one sequence, and returns its result.
    ///
    /// The sequence is that of the last commit, or a later one. All reads in `body` see this
    /// sequence, however long it runs, while the writer continues. Views of the same store that are
    /// read in `body` or later are at this sequence or later (F15). To read rows together with
    /// views, or rows of several projections, at one sequence: ``Store/readAll(_:)``.
    ///
    /// Runs on the calling thread, and may block it on the disk. Keep `body` short, and do not
    /// record in it. While it runs, the file cannot grow: a commit that needs more room waits for
    /// it, and other reads wait for that commit. After 10 seconds the commit fails (L7, L8).
    ///
    /// - Throws: the errors of `body`; `.closed`, `.damaged`, `.storage`. `.latched` if the last
    ///   commit failed and may be on the disk.
    public func read<R>(_ body: (borrowing RowReader<P>) throws -> R) throws -> R {
        try core.readRows { published, stored in
            try body(RowReader(published, published.rows[index], stored))
        }
    }

    /// Calls `body` with the rows as they were after entry `sequence`, and returns its result. 0 is
    /// before the first entry (F11).
    ///
    /// Runs on the calling task's executor and blocks it on the disk. Use it to look into the past,
    /// not to show it.
    ///
    /// - Throws: the errors of `body`; `.beyondEnd`, `.damaged`, `.newerFormat`, `.closed`,
    ///   `.storage`. `.lacksProjections` if the projection shared conflicts there with one that the
    ///   store lacks.
    /// - Complexity: one `apply` for each confirmed event from the first entry to `sequence`, and the
    ///   same for each projection that shares its conflicts. All rows of these projections are in
    ///   memory while it runs.
    public nonisolated(nonsending) func read<R>(
        at sequence: LogSequence, _ body: (borrowing RowReader<P>) throws -> R
    ) async throws -> R {
        try core.storage.requireUsable()
        let last = core.published.sequence
        guard sequence <= last else { throw LogError.beyondEnd(sequence, last: last) }
        var fold = try LogFold.past(
            core.storage, .init(rowsOf: P.self), among: core.projections, core.shared,
            codec: core.codec,
            upTo: sequence)  // mutant: past-rows
        let published = fold.makePublishedState()
        return try body(RowReader(published, published.rows[0], StoredRows(emptyAt: sequence)))
    }

    /// The confirmed events that could not be applied, oldest first (F9). O(1), from any thread.
    public var faults: [Fault] { folded.faults }

    /// The intents of the overlay that do not apply to the current rows, ascending (F9).
    public var conflicted: [IntentNumber] { folded.conflicted.keys }

    /// Returns the reason why an intent is conflicted; nil if it is not conflicted. It is the error's
    /// `errorDescription` if it is a `LocalizedError` and has one, else its description.
    public func conflict(of number: IntentNumber) -> String? { folded.conflicted[number] }

    package var folded: FoldedRows { core.published.rows[index] }
}

extension StoreCore {
    /// Calls `body` with a published state and the confirmed rows of the same sequence.
    ///
    /// The rows are never ahead of the published state: if the file has a commit that is not
    /// published yet, this waits for the writer to publish it (F15).
    ///
    /// - Throws: as ``ProjectedRows/read(_:)``.
    package func readRows<R>(
        _ body: (PublishedState, StoredRows) throws -> R
    ) throws -> R {
        while true {
            let result: R?
            do {
                result = try storage.readRows { stored -> R? in
                    guard let state = publication.state(at: stored.sequence),
                        publication.block(untilPublished: state.sequence)  // mutant: rows-ahead
                    else { return nil }
                    return try body(state, stored)
                }
            } catch LogError.storage(let failure) {
                // A failed write may leave the file unreadable until it is opened again.
                throw publication.read(\.refusal) ?? .storage(failure)
            }
            if let result { return result }
            // Since the read began, there were two commits; or the disk has a commit that failed.
            if let refusal = publication.read(\.refusal) { throw refusal }
        }
    }
}

extension Store where P: StoredProjection {
    /// The store's own projection.
    package var projected: ProjectedRows<P> { projected(P.self) }

    /// Calls `body` with the rows of one sequence, and returns its result. See
    /// ``ProjectedRows/read(_:)``.
    public func read<R>(_ body: (borrowing RowReader<P>) throws -> R) throws -> R {
        try projected.read(body)
    }

    /// Calls `body` with the rows as they were after entry `sequence`. See
    /// ``ProjectedRows/read(at:_:)``.
    public nonisolated(nonsending) func read<R>(
        at sequence: LogSequence, _ body: (borrowing RowReader<P>) throws -> R
    ) async throws -> R { try await projected.read(at: sequence, body) }

    /// The confirmed events that could not be applied, oldest first (F9).
    public var faults: [Fault] { projected.faults }

    /// The intents of the overlay that do not apply to the current rows, ascending (F9).
    public var conflicted: [IntentNumber] { projected.conflicted }

    /// Returns the reason why an intent is conflicted; nil if it is not conflicted. It is the error's
    /// `errorDescription` if it is a `LocalizedError` and has one, else its description.
    public func conflict(of number: IntentNumber) -> String? { projected.conflict(of: number) }
}
