import Foldback
import Observation

/// What the models of a store's projections have in common: the status of each item, and the
/// commands. An app makes an ``OptimisticModel`` or a ``RowsModel``.
///
/// ```swift
/// extension StoreModel {
///     func press(_ action: MarkAction, on mark: IntentMark) async throws(CommandError) {
///         switch action {
///         case .retry: try await retry(mark.number)
///         case .dismiss: try await dismiss(mark.number)
///         case .withdraw: try await withdraw(mark.number)
///         }
///     }
/// }
/// ```
@MainActor public class StoreModel<P: EventFold>: Observable {
    /// The last entry that everything the model shows includes.
    public final var revision: LogSequence { link.revision }
    /// The intents that the server rejected and that are neither dismissed nor retried, by ascending
    /// number.
    public final var rejections: [IntentMark] { link.rejections }
    /// The confirmed events that could not be applied, oldest first (F9).
    public final var faults: [Fault] { link.faults }
    /// The faults of all projections of the store, in groups, for a screen that lists them.
    public final var faultSummary: FaultSummary { link.faultSummary }
    /// Whether the store takes commands.
    public final var condition: StoreCondition { link.condition }
    /// What the view announces: a rejection of an intent that a person began, after the model shows
    /// the state without the intent (U27).
    public final var cues: Cues { link.cues }

    final let link: StoreLink<P.Event>

    init(_ link: StoreLink<P.Event>) { self.link = link }

    // MARK: Commands

    /// Records and shows an event. On return, the model shows it (U24).
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
    ///     ``/Foldback/Store/record(_:force:confirmOnly:once:replacing:held:info:)``.
    ///   - key: a replacing key, for example of a slider or a text field: the event takes the place of
    ///     the one before with this key, if that was not sent (F16).
    ///   - held: whether the event is a draft, which is not sent before ``release(_:)`` (F22).
    /// - Returns: a receipt, with which the answer can be awaited.
    /// - Throws: as ``/Foldback/Store/record(_:force:confirmOnly:once:replacing:held:info:)``.
    /// - Complexity: one write, one `apply` for each projection, and the reads of all selections of
    ///   rows. Not on the main actor.
    @discardableResult
    public final func perform(
        _ event: P.Event, from initiator: Initiator = .user(), confirmOnly: Bool = false,
        once: String? = nil, replacing key: String? = nil, held: Bool = false
    ) async throws(CommandError) -> Receipt {
        try await link.perform(
            event, from: initiator, confirmOnly: confirmOnly, once: once, replacing: key,
            held: held)
    }

    /// Records and shows several events as one action: all of them, or none (F20). On return, the model
    /// shows them (U24).
    ///
    /// - Throws: as ``/Foldback/Store/record(contentsOf:force:confirmOnly:once:held:info:)``.
    @discardableResult
    public final func perform(
        contentsOf events: [P.Event], from initiator: Initiator = .user(), once: String? = nil
    ) async throws(CommandError) -> [Receipt] {
        try await link.perform(contentsOf: events, from: initiator, once: once)
    }

    /// Lets a draft be sent (F22).
    ///
    /// - Throws: as ``/Foldback/Store/release(_:)``.
    public final func release(_ number: IntentNumber) async throws(CommandError) {
        try await link.release(number)
    }

    /// Records an event that is shown only once it is confirmed, and shows the wait for the answer.
    ///
    /// ```swift
    /// let wait = Wait("boosting", presentation: .obstructive(.items(id)), isDurable: true)
    /// try await model.perform(confirmOnly: .boosted(id), showing: wait, in: progress)
    /// ```
    ///
    /// The wait begins before the event is recorded, and ends after the model shows the answer. In a log
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
    public final func perform(
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
    public final var waitCause: WaitCause {
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
    public final func retry(
        _ number: IntentNumber, with edited: P.Event? = nil
    ) async throws(CommandError) -> Receipt {
        try await link.retry(number, with: edited)
    }

    /// Removes the mark of a rejected intent (U24).
    ///
    /// - Throws: as ``/Foldback/Store/dismiss(_:)``.
    public final func dismiss(_ number: IntentNumber) async throws(CommandError) {
        try await link.dismiss(number)
    }

    /// Takes back an intent that has not left the device. On return, the model does not show it (U24).
    ///
    /// - Throws: as ``/Foldback/Store/withdraw(_:)``.
    public final func withdraw(_ number: IntentNumber) async throws(CommandError) {
        try await link.withdraw(number)
    }

    /// Shows everything that was committed before the call. On return, views, selections, pages,
    /// statuses and lists include it.
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
    public final func adoptCommits() async { await link.adoptNow() }

    /// Returns the answers to this log's intents after entry `sequence`, then new answers as they
    /// come, each once the model shows it (U27).
    ///
    /// ```swift
    /// for try await news in model.news(after: kept) {
    ///     tell(news)
    ///     kept = news.continueAfter
    /// }
    /// ```
    ///
    /// An app that keeps ``AnsweredIntent/continueAfter`` misses no answer, also over restarts.
    public final func news(after sequence: LogSequence) -> IntentNews<P.Event> {
        IntentNews(link, after: sequence)
    }
}

extension StoreModel where P: Itemized {
    /// Returns the intents about an item that are pending, accepted, conflicted or rejected. Each
    /// item is observed by itself.
    ///
    /// O(1), and O(n) in the item's marks if a facet is given.
    ///
    /// With `facet`, only the marks about that part of the item count.
    public final func status(of id: P.ItemID, facet: Facet? = nil) -> ItemStatus {
        link.status(of: AnyItemID(id), facet: facet)
    }
}
