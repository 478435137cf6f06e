import Foldback
import Observation

/// A model's link to its store: the commands, the updates, and the marks of the intents. Models of
/// values and of rows share it.
///
/// It follows the store from ``follow(showing:ended:)`` until it is released (U29).
@MainActor @Observable final class StoreLink<Event: Sendable> {
    /// The last entry that the model includes.
    private(set) var revision: LogSequence
    /// The intents that the server rejected and that are neither dismissed nor retried, ascending.
    private(set) var rejections: [IntentMark] = []
    private(set) var condition: StoreCondition = .open

    /// The state that the model has before the first update.
    var initial: PublishedState { reader.mailbox.shown }

    /// Nil after the store was closed, so that it is released (U29).
    @ObservationIgnored private var store: (any UpdatedStore<Event>)?
    @ObservationIgnored private let path: String
    @ObservationIgnored private let reader: UpdateReader<Event>
    /// The lists of the model.
    @ObservationIgnored private let lists: PartList<any ListPart<Event>>
    /// The items that have marks.
    @ObservationIgnored private var statuses: [AnyItemID: ItemStatus] = [:]
    @ObservationIgnored private var show: @MainActor (Update) -> Void = { _ in }
    @ObservationIgnored private var updating: Task<Void, Never>?
    @ObservationIgnored private var isAdoptionAsked = false
    /// The waits for answers, which announce their ends themselves.
    @ObservationIgnored var waits: [IntentNumber: ProgressModel.Run] = [:]

    /// What the model announces.
    let cues: Cues
    private let ownsCues: Bool
    let sources: UISources

    /// - Parameter cues: shared with other models; nil for cues that end with the model.
    init(
        _ store: any UpdatedStore<Event>, _ source: UpdateSource<Event>, _ cues: Cues?,
        _ sources: UISources
    ) {
        self.store = store
        self.sources = sources
        self.cues = cues ?? Cues(sources: sources)
        ownsCues = cues == nil
        path = store.core.storage.path
        lists = PartList()
        reader = UpdateReader(store, source, lists)
        revision = reader.mailbox.shown.sequence
    }

    isolated deinit {
        updating?.cancel()
        if ownsCues { cues.finish() }
    }

    // MARK: Updates

    /// Begins to follow the store.
    ///
    /// - Parameters:
    ///   - show: shows the view of an update. Called before statuses and rejections are shown, in
    ///     the same turn of the main actor (U27).
    ///   - ended: called once the store is closed. It gets the link, because a closure that
    ///     captured it would keep it as long as the store.
    func follow(
        showing show: @escaping @MainActor (Update) -> Void,
        ended: @escaping @MainActor (StoreLink) async -> Void = { _ in }
    ) {
        guard let store else { return }
        self.show = show
        let changes = reader.changes(of: store)
        updating = Task { [weak self, reader, sources] in
            for await _ in changes {
                await reader.read()
                guard self?.adopt() == true else { continue }
                await sources.frame()  // mutant: frame
            }
            guard let self else { return }
            end()
            await ended(self)
        }
    }

    /// Adopts everything that is committed.
    func adoptNow() async {
        await reader.read()
        adopt()  // mutant: read-your-writes
    }

    /// Reads everything that is committed, on no particular actor.
    func read() async { await reader.read() }

    /// Shows the updates that were read, and returns whether anything changed.
    @discardableResult func adopt() -> Bool {
        guard let update = reader.mailbox.take() else { return false }
        show(update)
        for (id, status) in update.statuses { show(status, of: id) }
        if let rejections = update.rejections { self.rejections = rejections }
        if revision != update.published.sequence { revision = update.published.sequence }
        // A closed store stays closed, also if it can still be read.
        let next = store == nil ? .closed : update.condition
        if condition != next { condition = next }
        for show in update.lists.values { show() }
        let news = update.news.filter { waits[$0.recorded.number] == nil }  // mutant: news-of-wait
        cues.send(news.compactMap(\.cue))
        for (number, run) in waits {
            if let attempt = update.newAttempt(of: number) { run.handle(.attempt(attempt.count)) }
        }
        return !update.isEmpty
    }

    /// Adopts what is committed and what was asked for, in a moment.
    func adoptSoon() {
        guard !isAdoptionAsked else { return }
        isAdoptionAsked = true
        Task { [weak self] in
            self?.isAdoptionAsked = false
            await self?.adoptNow()
        }
    }

    /// Adds a list until the returned value is released.
    func add(_ list: some ListPart<Event>) -> Listening {
        defer { adoptSoon() }
        return lists.add(list)
    }

    /// Calls `body` while no update is read.
    func betweenReads<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
        await reader.betweenReads(body)
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
    private subscript(statusOf id: AnyItemID) -> ItemStatus {
        access(keyPath: \.[statusOf: id])
        return statuses[id] ?? .settled
    }

    /// Returns the status of an item, or of a part of it. Each item is observed by itself.
    func status(of id: AnyItemID, facet: Facet?) -> ItemStatus {
        let status = self[statusOf: id]
        guard let facet else { return status }
        return ItemStatus(marks: status.marks.filter { $0.facet == facet })
    }
}

// MARK: Commands

/// On return of each command, the model is at its entry or later (U24).
extension StoreLink {
    func perform(
        _ event: Event, from initiator: Initiator, confirmOnly: Bool, once: String?
    ) async throws(FoldbackError) -> Receipt {
        let receipt = try await openStore.record(
            event, force: false, confirmOnly: confirmOnly, once: once, info: initiator.info)
        await adoptNow()
        return receipt
    }

    func retry(
        _ number: IntentNumber, with edited: Event?
    ) async throws(FoldbackError) -> Receipt {
        let receipt = try await openStore.retry(number, with: edited, force: false)
        await adoptNow()
        return receipt
    }

    func dismiss(_ number: IntentNumber) async throws(FoldbackError) {
        _ = try await openStore.dismiss(number)
        await adoptNow()
    }

    func withdraw(_ number: IntentNumber) async throws(FoldbackError) {
        _ = try await openStore.withdraw(number)
        await adoptNow()
    }

    var openStore: any UpdatedStore<Event> {
        get throws(FoldbackError) {
            guard let store else { throw .closed(path: path) }
            return store
        }
    }
}
