/// One stored projection of a store.
public struct ProjectedRows<P: StoredProjection>: Sendable {
    let core: StoreCore
    let index: Int

    /// Reads rows of one sequence: that of the last commit, or a later one.
    ///
    /// - Parameter body: sees the same however long it takes, while writing goes on; must not record
    ///   anything. On the calling thread. Keep it short: the file cannot be made larger meanwhile, so a
    ///   commit that needs room waits for it, and other reads for that one; after 10 seconds the commit
    ///   fails (L8).
    /// - Throws: what `body` throws; `.closed`, `.damaged`, `.storage`; `.latched` where the last commit
    ///   failed and may be on the disk all the same.
    public func read<R>(_ body: (borrowing RowReader<P>) throws -> R) throws -> R {
        while true {
            let result: R?
            do {
                result = try core.storage.readRows { stored -> R? in
                    guard let published = core.writer.publishedState(at: stored.sequence) else {
                        return nil
                    }
                    return try body(RowReader(published, published.rows[index], stored))
                }
            } catch FoldbackError.storage(let failure) {
                // A failed write may leave the file unreadable until it is opened again.
                throw core.writer.latched.map(FoldbackError.latched) ?? .storage(failure)
            }
            if let result { return result }
            // Two commits have gone by since the read began; or one is on the disk that failed.
            if let failure = core.writer.latched { throw FoldbackError.latched(failure) }
        }
    }

    /// Reads rows as they were after entry `sequence`; 0 is before the first (F11).
    ///
    /// - Complexity: folds the log from its first entry on, on the calling task's executor, and has all
    ///   rows in memory meanwhile: for looking into the past, not for showing it.
    /// - Throws: what `body` throws; `.beyondEnd`, `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    public func read<R>(
        at sequence: LogSequence, _ body: (borrowing RowReader<P>) throws -> R
    ) async throws -> R {
        try core.storage.requireUsable()
        let last = core.writer.publishedState.sequence
        guard sequence <= last else { throw FoldbackError.beyondEnd(sequence, last: last) }
        var (fold, _) = try LogFold.folded(
            core.storage, folds: [], rows: [RowFold(P.self)], codec: core.codec,
            upTo: sequence)  // mutant: past-rows
        let published = fold.makePublishedState()
        return try body(RowReader(published, published.rows[0], NoRows(sequence: sequence)))
    }

    /// Confirmed events that could not be applied, oldest first (F9).
    public var faults: [Fault] { folded.faults }

    /// Intents in the overlay that do not apply to the present rows (F9), ascending.
    public var conflicted: [IntentNumber] { folded.conflicted.keys }

    /// Why an intent is conflicted; nil if it is not.
    public func conflict(of number: IntentNumber) -> String? { folded.conflicted[number] }

    package var folded: FoldedRows { core.writer.publishedState.rows[index] }
}

/// Where rows are not the log's.
private struct NoRows: StoredRows {
    let sequence: LogSequence

    func value(at key: KeyBytes) throws -> FoundRow? { nil }

    func scan(
        _ span: KeySpan, backwards: Bool, _ body: (KeyBytes, RawSpan) throws -> Bool
    ) throws {}

    func firstKey(from start: KeyBytes) throws -> KeyBytes? { nil }

    func header(of number: UInt32) throws -> [UInt8]? { nil }
}

extension Store where P: StoredProjection {
    /// The store's own projection.
    package var projected: ProjectedRows<P> { projected(P.self) }

    /// See ``ProjectedRows/read(_:)``.
    public func read<R>(_ body: (borrowing RowReader<P>) throws -> R) throws -> R {
        try projected.read(body)
    }

    /// See ``ProjectedRows/read(at:_:)``.
    public func read<R>(
        at sequence: LogSequence, _ body: (borrowing RowReader<P>) throws -> R
    ) async throws -> R { try await projected.read(at: sequence, body) }

    /// Confirmed events that could not be applied, oldest first (F9).
    public var faults: [Fault] { projected.faults }

    /// Intents in the overlay that do not apply to the present rows (F9), ascending.
    public var conflicted: [IntentNumber] { projected.conflicted }

    /// Why an intent is conflicted; nil if it is not.
    public func conflict(of number: IntentNumber) -> String? { projected.conflict(of: number) }
}
