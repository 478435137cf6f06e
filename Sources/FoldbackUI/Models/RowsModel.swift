import Foldback
import Observation

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
/// together (U26). An intent outlives model, screen and process (U29). When the store is closed,
/// the last values stay.
@MainActor @Observable public final class RowsModel<P: StoredProjection> {
    /// The confirmed events that could not be applied, oldest first (F9).
    public private(set) var faults: [Fault]

    /// The last entry that selections, statuses and ``rejections`` include.
    public var revision: LogSequence { link.revision }
    /// The intents that the server rejected and that are neither dismissed nor retried, by ascending
    /// number.
    public var rejections: [IntentMark] { link.rejections }
    /// Whether the store takes commands.
    public var condition: StoreCondition { link.condition }
    /// What the view announces: a rejection of an intent that a person began, after the rows are
    /// without the intent (U27).
    public var cues: Cues { link.cues }

    @ObservationIgnored private let index: Int
    @ObservationIgnored let link: StoreLink<P.Event>
    @ObservationIgnored let parts: RowParts<P>

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
        index = store.index(of: P.self)
        parts = RowParts()
        link = StoreLink(store, UpdateSource(at: index, parts), cues, sources)
        faults = link.initial.rows[index].faults
        link.follow { [weak self] in
            self?.show($0)
        } ended: { [parts] link in
            await Self.close(parts, link)
        }
    }

    private func show(_ update: Update) {
        for show in update.parts.values { show() }
        let faults = update.published.rows[index].faults
        if faults.count != self.faults.count { self.faults = faults }
    }

    // MARK: Commands

    /// Records and shows an event. On return, selections and statuses include it (U24). See
    /// ``OptimisticModel/perform(_:from:confirmOnly:once:)``.
    ///
    /// - Complexity: one write, one `apply` for each projection, and the reads of all selections.
    ///   Not on the main actor.
    @discardableResult
    public func perform(
        _ event: P.Event, from initiator: Initiator = .user(), confirmOnly: Bool = false,
        once: String? = nil
    ) async throws(FoldbackError) -> Receipt {
        try await link.perform(event, from: initiator, confirmOnly: confirmOnly, once: once)
    }

    /// Records an event that is shown only once it is confirmed, and shows the wait for the answer. See
    /// ``OptimisticModel/perform(confirmOnly:showing:in:once:recorded:)``.
    @discardableResult
    public func perform(
        confirmOnly event: P.Event, showing wait: Wait, in progress: ProgressModel,
        once: String? = nil, recorded: @escaping @MainActor (Receipt) -> Void = { _ in }
    ) async throws(IntentFailure) -> Answer {
        try await link.perform(
            event, showing: wait, in: progress, once: once, recorded: recorded)
    }

    /// Why answers are late, as far as the app knows. See ``OptimisticModel/waitCause``.
    public var waitCause: WaitCause {
        get { link.waitCause }
        set { link.waitCause = newValue }
    }

    /// Records a rejected intent's event again as a new intent, and shows it (U24). See
    /// ``OptimisticModel/retry(_:with:)``.
    @discardableResult
    public func retry(
        _ number: IntentNumber, with edited: P.Event? = nil
    ) async throws(FoldbackError) -> Receipt {
        try await link.retry(number, with: edited)
    }

    /// Removes the mark of a rejected intent (U24).
    ///
    /// - Throws: as ``/Foldback/Store/dismiss(_:)``.
    public func dismiss(_ number: IntentNumber) async throws(FoldbackError) {
        try await link.dismiss(number)
    }

    /// Takes back an intent that has not left the device. On return, selections are without it
    /// (U24).
    ///
    /// - Throws: as ``/Foldback/Store/withdraw(_:)``.
    public func withdraw(_ number: IntentNumber) async throws(FoldbackError) {
        try await link.withdraw(number)
    }

    /// Shows everything that was committed before the call. On return, selections, statuses, pages and
    /// lists include it (U9). See ``OptimisticModel/adoptCommits()``.
    public func adoptCommits() async { await link.adoptNow() }

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

    /// Returns the answers to this log's intents after entry `sequence`, then new answers as they
    /// come, each with rows that have it (U27). See ``OptimisticModel/news(after:)``.
    public func news(after sequence: LogSequence) -> IntentNews<P.Event> {
        IntentNews(link, after: sequence)
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
        let selection = RowSelection(of: self, parts, read)
        readSoon()
        return selection
    }

    /// Reads what was asked for, without a commit.
    func readSoon() { link.adoptSoon() }

    private static func close(_ parts: RowParts<P>, _ link: StoreLink<P.Event>) async {
        for show in await link.betweenReads({ parts.close() }) { show() }
        await link.adoptNow()
    }
}

extension RowsModel where P: Itemized {
    /// Returns the intents about an item that are pending, accepted, conflicted or rejected. Each
    /// item is observed by itself.
    ///
    /// O(1), and O(n) in the item's marks if a facet is given.
    ///
    /// With `facet`, only the marks about that part of the item count.
    public func status(of id: P.ItemID, facet: Facet? = nil) -> ItemStatus {
        link.status(of: AnyItemID(id), facet: facet)
    }
}
