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
    /// The confirmed events that could not be applied, oldest first (F9).
    public private(set) var faults: [Fault]

    /// The last entry that ``view``, ``confirmed``, statuses and ``rejections`` include.
    public var revision: LogSequence { link.revision }
    /// The intents that the server rejected and that are neither dismissed nor retried, by ascending
    /// number.
    public var rejections: [IntentMark] { link.rejections }
    /// Whether the store takes commands.
    public var condition: StoreCondition { link.condition }
    /// What the view announces: a rejection of an intent that a person began, after the view is
    /// without the intent (U27).
    public var cues: Cues { link.cues }

    @ObservationIgnored let index: Int
    @ObservationIgnored let link: StoreLink<P.Event>
    @ObservationIgnored private let selections = PartList<ShowSelection<P>>()

    /// Makes a model of the store's own projection.
    ///
    /// The view is there at once. Statuses and rejections follow a moment later, because they are
    /// computed on another thread.
    /// The model has its own cues, which end with it, unless it shares `cues` with waits. If two models
    /// of one store share cues, each rejection is announced twice.
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
        index = store.index(of: P.self)
        link = StoreLink(store, UpdateSource(P.self, at: index), cues, sources)
        let shown = Snapshot<P>(link.initial, index)
        view = shown.view
        confirmed = shown.confirmed
        faults = shown.faults
        link.follow { [weak self] in self?.show($0) }
    }

    private func show(_ update: Update) {
        let shown = Snapshot<P>(update.published, index)
        if update.isViewChanged {
            view = shown.view
            for show in selections.parts.values { show(shown.view) }
        }
        if update.isConfirmedChanged { confirmed = shown.confirmed }
        if shown.faults.count != faults.count { faults = shown.faults }
    }

    // MARK: Commands

    /// Records and shows an event. On return, ``view`` includes it (U24).
    ///
    /// Before the event is in the log, nothing is shown. It is sent later, by an outbox.
    ///
    /// - Parameters:
    ///   - event: the change that the user intends.
    ///   - initiator: who began it. It says where focus and announcements belong, and is kept with
    ///     the intent in its `info`, which has at most 256 bytes.
    ///   - confirmOnly: whether to show the event only once it is confirmed. Use it for an event
    ///     whose effect cannot be predicted.
    ///   - once: a once key, for example against a double tap; see
    ///     ``/Foldback/Store/record(_:force:confirmOnly:once:info:)``.
    /// - Returns: a receipt, with which the answer can be awaited.
    /// - Throws: as ``/Foldback/Store/record(_:force:confirmOnly:once:info:)``.
    /// - Complexity: one write, and one `apply` for each projection. Not on the main actor.
    @discardableResult
    public func perform(
        _ event: P.Event, from initiator: Initiator = .user(), confirmOnly: Bool = false,
        once: String? = nil
    ) async throws(FoldbackError) -> Receipt {
        try await link.perform(event, from: initiator, confirmOnly: confirmOnly, once: once)
    }

    /// Records an event that is shown only once it is confirmed, and shows the wait for the answer.
    ///
    /// ```swift
    /// let wait = Wait("boosting", presentation: .obstructive(.items(id)), isDurable: true)
    /// try await model.perform(confirmOnly: .boosted(id), showing: wait, in: progress)
    /// ```
    ///
    /// The wait begins before the event is recorded, and ends after ``view`` has the answer. In a log
    /// that a downlink confirms, the answer comes with the downlink: an outbox alone brings none. An attempt
    /// to send the intent is a sign of life, and ``waitCause`` says why the answer is late.
    ///
    /// *Rejections.* The wait announces a rejection, so ``cues`` do not, unless nobody waits any more:
    /// the wait was continued in the background, or another wait has taken its place (U15).
    ///
    /// *Cancellation.* If the task is canceled before the event is recorded, the wait is canceled.
    /// After that, the intent stays in the log, and the wait continues in the background.
    ///
    /// *Actions.* ``ProgressModel/perform(_:)`` carries them out. To cancel takes back an intent that
    /// has not left the device, else the wait continues in the background. To restart after a
    /// rejection retries the intent, and after an error of the store it begins again. A wait that has
    /// stalled begins from the start, and the app can make its outbox try again.
    ///
    /// - Parameters:
    ///   - event: the change that the user intends.
    ///   - wait: how to show the wait. Its initiator is kept with the intent.
    ///   - progress: shows the wait.
    ///   - once: a once key, for example against a double tap.
    ///   - recorded: called with the receipt of the intent, before the answer, and of each retry.
    /// - Returns: the answer that confirmed the intent.
    /// - Throws: the reason why the intent has no effect, or why its effect is unknown.
    @discardableResult
    public func perform(
        confirmOnly event: P.Event, showing wait: Wait, in progress: ProgressModel,
        once: String? = nil, recorded: @escaping @MainActor (Receipt) -> Void = { _ in }
    ) async throws(IntentFailure) -> Answer {
        try await link.perform(
            event, showing: wait, in: progress, once: once, recorded: recorded)
    }

    /// Why answers are late, as far as the app knows. All waits for this model's intents show it, and
    /// also waits that begin later.
    ///
    /// ```swift
    /// for await status in outbox.statuses { model.waitCause = cause(of: status.pause) }
    /// ```
    public var waitCause: WaitCause {
        get { link.waitCause }
        set { link.waitCause = newValue }
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
        try await link.retry(number, with: edited)
    }

    /// Removes the mark of a rejected intent (U24).
    ///
    /// - Throws: as ``/Foldback/Store/dismiss(_:)``.
    public func dismiss(_ number: IntentNumber) async throws(FoldbackError) {
        try await link.dismiss(number)
    }

    /// Takes back an intent that has not left the device. On return, ``view`` is without it (U24).
    ///
    /// - Throws: as ``/Foldback/Store/withdraw(_:)``.
    public func withdraw(_ number: IntentNumber) async throws(FoldbackError) {
        try await link.withdraw(number)
    }

    /// Shows everything that was committed before the call. On return, ``view``, statuses and lists
    /// include it.
    ///
    /// Commands do this themselves. Call it at the end of a fetch that commits what it brings, so that
    /// an empty view is a fact once the fetch has succeeded (U9):
    ///
    /// ```swift
    /// let loading = FetchModel("loading people") { [model] _ in
    ///     for page in try await server.people() { try await store.confirm(page) }
    ///     await model.adoptCommits()
    /// }
    /// ```
    public func adoptCommits() async { await link.adoptNow() }

    // MARK: Parts of the view

    /// Returns a part of the view that is observed by itself.
    ///
    /// ```swift
    /// @MainActor final class PersonScreen {  // keeps the selection, and a view keeps the screen in @State
    ///     let name: Selection<String?>
    ///     init(_ model: OptimisticModel<People>, _ id: String) {
    ///         name = model.select { $0.people[id]?.name }
    ///     }
    /// }
    /// Text(screen.name.value ?? "")  // is made again only if the name changes
    /// ```
    ///
    /// Keep the selection as long as its value is shown. A selection that is made in a view's `body`
    /// is released after the `body`, and never changes what was drawn. There, read ``view`` instead.
    ///
    /// - Parameter part: returns the part. Called for each new view, on the main actor, so it should
    ///   cost O(1) or O(log n).
    public func select<Value: Equatable & Sendable>(
        _ part: @escaping @Sendable (P) -> Value
    ) -> Selection<Value> {
        Selection(part, of: view, self, selections)
    }

    /// Returns the states of an intent, from the present state to the answer that settles it, each
    /// with a view that has it (U27).
    ///
    /// A receipt of another store of this log does as well, such as a receipt from before the store
    /// was opened again. The intent of another log is a failure.
    public func updates(of receipt: Receipt) -> IntentUpdates<P> {
        IntentUpdates((try? link.openStore)?.core ?? receipt.core, receipt.id) {
            (await self.adoptedView(), self.revision)
        }
    }

    /// Returns the answers to this log's intents after entry `sequence`, then new answers as they
    /// come, each with a view that has it (U27).
    ///
    /// ```swift
    /// for try await news in model.news(after: kept) {
    ///     tell(news)
    ///     kept = news.continueAfter
    /// }
    /// ```
    ///
    /// An app that keeps ``AnsweredIntent/continueAfter`` misses no answer, also over restarts.
    public func news(after sequence: LogSequence) -> IntentNews<P.Event> {
        IntentNews(link, after: sequence)
    }

    /// Adopts everything that is committed, and returns the view.
    func adoptedView() async -> P {
        await link.adoptNow()  // mutant: view-before-news
        return view
    }
}

extension OptimisticModel where P: Itemized {
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
