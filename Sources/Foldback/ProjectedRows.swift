/// One stored projection of a store.
public struct ProjectedRows<P: StoredProjection>: Sendable {
    let core: StoreCore
    let index: Int

    /// Reads rows of one sequence: that of the last commit, or a later one.
    ///
    /// - Parameter body: sees the same however long it takes, while writing goes on; must not record
    ///   anything. On the calling thread.
    /// - Throws: what `body` throws; `.closed`, `.damaged`, `.storage`; `.latched` where the last commit
    ///   failed and may be on the disk all the same.
    public func read<R>(_ body: (borrowing RowReader<P>) throws -> R) throws -> R {
        while true {
            let result: R?
            do {
                result = try core.storage.readRows { stored -> R? in
                    guard let published = core.writer.published(at: stored.sequence) else {
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

    /// Confirmed events that could not be applied, oldest first (F9).
    public var faults: [Fault] { folded.faults }

    /// Intents in the overlay that do not apply to the present rows (F9), ascending.
    public var conflicted: [IntentNumber] { folded.conflicted.keys }

    /// Why an intent is conflicted; nil if it is not.
    public func conflict(of number: IntentNumber) -> String? { folded.conflicted[number] }

    package var folded: FoldedRows { core.writer.published.rows[index] }
}

extension Store where P: StoredProjection {
    /// The store's own projection.
    package var projected: ProjectedRows<P> { projected(P.self) }

    /// See ``ProjectedRows/read(_:)``.
    public func read<R>(_ body: (borrowing RowReader<P>) throws -> R) throws -> R {
        try projected.read(body)
    }

    /// Confirmed events that could not be applied, oldest first (F9).
    public var faults: [Fault] { projected.faults }

    /// Intents in the overlay that do not apply to the present rows (F9), ascending.
    public var conflicted: [IntentNumber] { projected.conflicted }
}
