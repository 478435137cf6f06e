import Foldback

/// A stored projection of a store as a view sees it: reads of its rows, the status of each item, and
/// the commands.
///
/// ```swift
/// let model = RowsModel(store)
/// let unread = model.select { try $0.count(of: Inbox.unread) }  // kept with the model
/// Text(unread.value.map(or: "") { "\($0) unread" })
/// Button("Read") { Task { try await model.perform(.read(id: message)) } }
/// ```
///
/// It is ``OptimisticModel`` for state that does not fit in memory: it has no view as a value, but
/// each selection reads a part of the rows. The reads of one update are at one sequence, and run on
/// no particular actor, not on the main actor (U28).
///
/// Properties are observable, and change on the main actor. Commits during one frame are shown
/// together (U26). All models of the store show one revision (U25). An intent outlives model, screen
/// and process (U29). When the store is closed, the last values stay.
@MainActor public final class RowsModel<P: StoredProjection>: StoreModel<P> {
    let parts = RowParts<P>()

    /// Makes a model of the store's own projection.
    ///
    /// Statuses and rejections follow a moment later, because they are computed on another thread.
    /// The model has its own cues, which end with it, unless it shares `cues` with waits. If two models
    /// of one store share cues, each rejection is announced twice.
    public convenience init(
        _ store: Store<P>, cues: Cues? = nil, sources: UISources = .system
    ) {
        self.init(store, showing: P.self, cues: cues, sources: sources)
    }

    /// Makes a model of any stored projection with which the store was opened. Traps if it was
    /// opened without it.
    public init<Q: EventFold>(
        _ store: Store<Q>, showing projection: P.Type, cues: Cues? = nil,
        sources: UISources = .system
    ) where Q.Event == P.Event {
        super.init(
            StoreLink(
                store, UpdateSource(at: store.index(of: P.self), parts),
                from: ModelGroup<P.Event>.state(of: store), cues, sources))
        link.follow()
    }

    // MARK: Reads

    /// Returns a read that is repeated for each new sequence, and whose result is observed by
    /// itself.
    ///
    /// ```swift
    /// newest = model.select { try $0.page(of: Inbox.bySent, order: .descending, limit: 1) }
    /// ```
    ///
    /// Keep the selection as long as its value is shown, not in a view's `body`; see
    /// ``RowSelection``.
    ///
    /// The first read follows a moment later. For many rows, use `pages(of:)` instead, which reads
    /// only if its table was touched.
    ///
    /// - Parameter read: reads rows. Called on no particular actor, so that it must not use the
    ///   main actor's state. Its rules and errors are those of ``/Foldback/RowReader``.
    public func select<Value: Equatable & Sendable>(
        _ read: @escaping @Sendable (borrowing RowReader<P>) throws -> Value
    ) -> RowSelection<Value> {
        defer { readSoon() }
        return Selection(.loading, of: self) { selection in
            parts.add(ReadPart(read) { [weak selection] in selection?.show($0) })
        }
    }

    /// Returns the states of an intent, from the present state to the answer that settles it, each
    /// after the selections have it (U27). See ``OptimisticModel/updates(of:)``.
    ///
    /// ```swift
    /// for await update in model.updates(of: receipt) where !update.data.isLoading { show(update.data) }
    /// ```
    public func updates(of receipt: Receipt) -> IntentUpdates<Void> {
        IntentUpdates((try? link.openStore)?.core ?? receipt.core, receipt.id) {
            await self.link.adoptNow()
            return ((), self.revision)
        }
    }

    /// Reads what was asked for, without a commit.
    func readSoon() { link.adoptSoon() }
}
