import Foldback
import Observation

/// A projection of a store as a view sees it: the state to show, the status of each item, and the
/// commands.
///
/// ```swift
/// let model = OptimisticModel(store)
/// Text("\(model.view.posts[id].likes)")  // with the like, before the server answers
/// if model.status(of: id).worst == .pending { Image(systemName: "clock") }
/// Button("Like") { Task { try await model.perform(.liked(post: id)) } }
/// ```
///
/// The model shows only what is in the log (U4). So a rejected intent is simply not in the next
/// view, and nobody writes code to undo it.
///
/// Properties are observable, and change on the main actor. Commits during one frame are shown
/// together: the first after an idle period at once, then at most one state for each frame (U26).
/// The model does no fold and no disk access on the main actor (U28).
///
/// Make one model for each screen, or share it. An intent outlives model, screen and process (U29).
/// When the store is closed, the last view stays.
///
/// Do not use it for a ``/Foldback/StoredProjection``, whose state does not fit in memory.
@MainActor @Observable public final class OptimisticModel<P: Projection> {
    /// The fold of the overlay over confirmed state: the state to show.
    public private(set) var view: P
    /// The fold of confirmed events alone.
    public private(set) var confirmed: P
    /// The last entry that ``view``, ``confirmed``, statuses and ``rejections`` include.
    public private(set) var revision: LogSequence
    /// The intents that the server rejected and that are neither dismissed nor retried, by ascending
    /// number.
    public private(set) var rejections: [IntentMark] = []
    /// The confirmed events that could not be applied, oldest first (F9).
    public private(set) var faults: [Fault]
    /// Whether the store takes commands.
    public private(set) var condition: StoreCondition = .open

    /// What the view announces: a rejection of an intent that a person began, after the view is
    /// without the intent (U27).
    @ObservationIgnored public let cues: Cues

    /// Nil after the store was closed, so that it is released (U29).
    @ObservationIgnored private var store: (any UpdatedStore<P.Event>)?
    @ObservationIgnored private let ownsCues: Bool
    @ObservationIgnored private let path: String
    @ObservationIgnored private let index: Int
    @ObservationIgnored private let reader: UpdateReader<P.Event>
    /// The items that have marks.
    @ObservationIgnored private var statuses: [AnyItemID: ItemStatus] = [:]
    @ObservationIgnored private var selections: [any SelectionUpdating<P>] = []
    @ObservationIgnored private var updating: Task<Void, Never>?

    /// Makes a model of the store's own projection.
    ///
    /// The view is there at once. Statuses and rejections follow a moment later, because they are
    /// computed on another thread.
    ///
    /// - Parameter cues: shared with other models. By default, the model has its own, which end with
    ///   the model.
    public convenience init(
        _ store: Store<P>, cues: Cues? = nil, sources: UISources = .system
    ) {
        self.init(store, showing: P.self, cues: cues, sources: sources)
    }

    /// Makes a model of any projection with which the store was opened. Traps if it was opened
    /// without it.
    public init<Q: EventFold>(
        _ store: Store<Q>, showing projection: P.Type, cues: Cues? = nil,
        sources: UISources = .system
    ) where Q.Event == P.Event {
        self.store = store
        self.cues = cues ?? Cues()
        ownsCues = cues == nil
        path = store.core.storage.path
        index = store.index(of: P.self)
        reader = UpdateReader(store, UpdateSource(P.self, at: index))
        let shown = Snapshot<P>(reader.mailbox.shown, index)
        view = shown.view
        confirmed = shown.confirmed
        revision = shown.sequence
        faults = shown.faults
        let changes = reader.changes(of: store)
        updating = Task { [weak self, reader] in
            for await _ in changes {
                await reader.read()
                guard self?.adopt() == true else { continue }
                await sources.frame()  // mutant: frame
            }
            self?.end()
        }
    }

    isolated deinit {
        updating?.cancel()
        if ownsCues { cues.finish() }
    }

    // MARK: Commands

    /// Records and shows an event. On return, ``view`` includes it (U24).
    ///
    /// Before the event is in the log, nothing is shown. It is sent later, by an outbox.
    ///
    /// - Parameters:
    ///   - initiator: who began it. It says where focus and announcements belong, and is kept with
    ///     the intent.
    ///   - confirmOnly: whether to show the event only once it is confirmed. Use it for an event
    ///     whose effect cannot be predicted.
    ///   - once: a once key, like one for a double tap; see
    ///     ``/Foldback/Store/record(_:force:confirmOnly:once:info:)``.
    /// - Returns: a receipt, with which the answer can be awaited.
    /// - Throws: as ``/Foldback/Store/record(_:force:confirmOnly:once:info:)``.
    /// - Complexity: one write, and one `apply` for each projection. Not on the main actor.
    @discardableResult
    public func perform(
        _ event: P.Event, from initiator: Initiator = .user(), confirmOnly: Bool = false,
        once: String? = nil
    ) async throws(FoldbackError) -> Receipt {
        let receipt = try await openStore.record(
            event, force: false, confirmOnly: confirmOnly, once: once, info: initiator.info)
        await adoptNow()
        return receipt
    }

    /// Records a rejected intent's event again as a new intent, or the event as the user edited it,
    /// and shows it (U24). The mark of the rejected intent is gone.
    ///
    /// - Parameters:
    ///   - number: the number of the rejected intent.
    ///   - edited: the event to record instead; nil records the rejected intent's event.
    /// - Throws: as ``/Foldback/Store/retry(_:with:force:)``.
    @discardableResult
    public func retry(
        _ number: IntentNumber, with edited: P.Event? = nil
    ) async throws(FoldbackError) -> Receipt {
        let receipt = try await openStore.retry(number, with: edited, force: false)
        await adoptNow()
        return receipt
    }

    /// Removes the mark of a rejected intent (U24).
    ///
    /// - Throws: as ``/Foldback/Store/dismiss(_:)``.
    public func dismiss(_ number: IntentNumber) async throws(FoldbackError) {
        _ = try await openStore.dismiss(number)
        await adoptNow()
    }

    /// Takes back an intent that has not left the device. On return, ``view`` is without it (U24).
    ///
    /// - Throws: as ``/Foldback/Store/withdraw(_:)``.
    public func withdraw(_ number: IntentNumber) async throws(FoldbackError) {
        _ = try await openStore.withdraw(number)
        await adoptNow()
    }

    private var openStore: any UpdatedStore<P.Event> {
        get throws(FoldbackError) {
            guard let store else { throw .closed(path: path) }
            return store
        }
    }

    // MARK: Parts of the view

    /// Returns a part of the view that is observed by itself.
    ///
    /// ```swift
    /// let name = model.select { $0.people[id]?.name }
    /// Text(name.value ?? "")  // is made again only if the name changes
    /// ```
    ///
    /// - Parameter part: returns the part. Called for each new view, on the main actor, so it should
    ///   cost O(1) or O(log n).
    public func select<Value: Equatable & Sendable>(
        _ part: @escaping @Sendable (P) -> Value
    ) -> Selection<Value> {
        let selection = Selection(part(view), of: self)
        selections.append(WeakSelection(selection, part))
        return selection
    }

    /// Returns the states of an intent, from the present state to the answer that settles it, each
    /// with a view that has it (U27).
    public func updates(of receipt: Receipt) -> IntentUpdates<P> {
        IntentUpdates(model: self, core: receipt.core, number: receipt.number)
    }

    // MARK: Updates

    /// Adopts everything that is committed, and returns the view.
    func adoptedView() async -> P {
        await adoptNow()  // mutant: view-before-news
        return view
    }

    /// Adopts everything that is committed.
    private func adoptNow() async {
        await reader.read()
        adopt()  // mutant: read-your-writes
    }

    /// Shows the updates that were read, and returns whether anything changed.
    @discardableResult private func adopt() -> Bool {
        guard let update = reader.mailbox.take() else { return false }
        let shown = Snapshot<P>(update.published, index)
        if update.isViewChanged {
            view = shown.view
            selections.removeAll { !$0.update(from: shown.view) }
        }
        if update.isConfirmedChanged { confirmed = shown.confirmed }
        if shown.faults.count != faults.count { faults = shown.faults }
        for (id, status) in update.statuses { show(status, of: id) }
        if let rejections = update.rejections { self.rejections = rejections }
        if revision != update.published.sequence { revision = update.published.sequence }
        if condition != update.condition { condition = update.condition }
        cues.send(update.news.compactMap(\.cue))
        return !update.isEmpty
    }

    /// The store was closed.
    private func end() {
        adopt()
        store = nil  // mutant: store-released
        condition = .closed
    }

    // MARK: Statuses

    private func show(_ status: ItemStatus, of id: AnyItemID) {
        guard status != statuses[id] ?? .settled else { return }
        withMutation(keyPath: \.[statusOf: id]) {
            statuses[id] = status.marks.isEmpty ? nil : status
        }
    }

    /// The status of an item. Each item is observed by itself.
    fileprivate subscript(statusOf id: AnyItemID) -> ItemStatus {
        access(keyPath: \.[statusOf: id])
        return statuses[id] ?? .settled
    }
}

extension OptimisticModel where P: Itemized {
    /// Returns the intents about an item that are pending, accepted, conflicted or rejected. Each
    /// item is observed by itself.
    ///
    /// O(1), and O(n) in the item's marks if a facet is given.
    ///
    /// - Parameter facet: the part of the item; nil for all parts.
    public func status(of id: P.ItemID, facet: Facet? = nil) -> ItemStatus {
        let status = self[statusOf: AnyItemID(id)]
        guard let facet else { return status }
        return ItemStatus(marks: status.marks.filter { $0.facet == facet })
    }
}
