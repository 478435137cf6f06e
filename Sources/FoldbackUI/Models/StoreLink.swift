import Foldback
import Observation

/// A model's link to its store: the commands, the updates, and the marks of the intents. Models of
/// values and of rows share it.
///
/// It follows the store from ``follow()`` until it is released (U29), together with the other
/// models of the store.
@MainActor @Observable final class StoreLink<Event: Sendable> {
    /// The last entry that the model includes.
    private(set) var revision: LogSequence
    /// The intents that the server rejected and that are neither dismissed nor retried, ascending.
    private(set) var rejections: [IntentMark] = []
    private(set) var faults: [Fault]
    /// Counts the changes of ``faultSummary``, which is made only when it is asked for.
    private var faultChanges = 0
    @ObservationIgnored private var knownFaults: FaultSummary?
    private(set) var condition: StoreCondition = .open

    /// The state that the model has.
    @ObservationIgnored private var shown: PublishedState
    /// Nil after the store was closed, so that it is released (U29).
    @ObservationIgnored private var store: (any UpdatedStore<Event>)?
    @ObservationIgnored private let path: String
    let group: ModelGroup<Event>
    /// The link's number among the members of the group's reader.
    let memberID: PartID
    @ObservationIgnored private let membership: Listening
    /// The lists of the model.
    @ObservationIgnored private let lists: PartList<any AnyListPart<Event>>
    /// The items that have marks.
    @ObservationIgnored private var statuses: [AnyItemID: ItemStatus] = [:]
    @ObservationIgnored private let faultsIn: @Sendable (PublishedState) -> [Fault]
    /// The waits for the answers of intents, oldest first. Several waits can join one intent (F14).
    @ObservationIgnored private var waits: [IntentNumber: [AwaitedIntent<Event>]] = [:]
    /// The intents of waits that are being recorded.
    @ObservationIgnored private var recordings = 0
    /// The rejections that were shown and not told.
    @ObservationIgnored private var untold: [RejectedIntent] = []
    /// What can be undone, by scope, while somebody keeps it.
    @ObservationIgnored private var undoModels: [String?: WeakUndoModel<Event>] = [:]
    /// Why answers are late; the waits show it.
    var waitCause = WaitCause.unknown {
        didSet { for wait in waits.values.joined() { wait.run.handle(.cause(waitCause)) } }
    }

    /// What the model announces.
    let cues: Cues
    private let ownsCues: Bool
    let sources: UISources

    /// - Parameters:
    ///   - first: the state that the model has before the first update: ``ModelGroup/state(of:)``.
    ///   - cues: shared with other models; nil for cues that end with the model.
    init(
        _ store: any UpdatedStore<Event>, _ source: UpdateSource<Event>,
        from first: PublishedState, _ cues: Cues?, _ sources: UISources
    ) {
        self.store = store
        self.sources = sources
        self.cues = cues ?? Cues(sources: sources)
        ownsCues = cues == nil
        path = store.core.storage.path
        lists = PartList()
        group = ModelGroup.group(of: store, from: first)
        (memberID, membership) = group.reader.add(
            UpdateMember(source: source, first: first, lists: lists))
        shown = first
        revision = first.sequence
        faultsIn = source.faults
        faults = source.faults(first)
        group.add(self)
    }

    isolated deinit {
        if ownsCues { cues.finish() }
    }

    // MARK: Updates

    /// Begins to follow the store.
    func follow() { group.follow() }

    /// Adopts everything that is committed, in all models of the store.
    func adoptNow() async {
        await group.adoptNow()  // mutant: read-your-writes
    }

    /// Adopts what is committed and what was asked for, in a moment.
    func adoptSoon() { group.adoptSoon() }

    /// The faults in groups. The first use after a change costs as much as there are faults.
    var faultSummary: FaultSummary {
        _ = faultChanges
        let summary = knownFaults ?? shown.faultSummary
        knownFaults = summary
        return summary
    }

    /// Shows an update, and returns whether anything changed.
    func show(_ update: Update) -> Bool {
        let base = shown
        shown = update.published
        update.view?()
        for show in update.parts.values { show() }
        let faults = faultsIn(shown)
        if faults.count != self.faults.count { self.faults = faults }
        if shown.faultCount != base.faultCount || shown.facts.seenFaults != base.facts.seenFaults {
            knownFaults = nil
            faultChanges += 1
        }
        for (id, status) in update.statuses { show(status, of: id) }
        if let rejections = update.rejections { self.rejections = rejections }
        let sequence = shown.sequence
        precondition(sequence >= revision, "revision \(revision) goes back to \(sequence) (U25)")
        if revision != sequence { revision = sequence }
        // A closed store stays closed, also if it can still be read.
        let next = store == nil ? .closed : update.condition
        if condition != next { condition = next }
        for show in update.lists.values { show() }
        for undo in undoModels.values { _ = undo.model?.adopt(shown) }
        untold += update.news
        if recordings == 0 { tell() }
        for (number, joined) in waits {
            guard let attempt = shown.attempts[number], attempt != base.attempts[number] else {
                continue
            }
            for wait in joined { wait.run.handle(.attempt(attempt.count)) }
        }
        return !update.isEmpty(since: base.sequence)
    }

    /// Adds a list until the returned value is released.
    func add(_ list: some AnyListPart<Event>) -> Listening {
        defer { adoptSoon() }
        return lists.add(list)
    }

    /// The store was closed.
    func end() {
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

// MARK: Undo

extension StoreLink {
    /// Returns what can be undone in a scope: the same model while somebody keeps it.
    func undoModel(of scope: String?) -> UndoModel<Event> {
        if let known = undoModels[scope]?.model { return known }
        let made = UndoModel(self, scope)
        undoModels = undoModels.filter { $0.value.model != nil }
        undoModels[scope] = WeakUndoModel(model: made)
        return made
    }

    /// Tells the undo models what has become of their intents.
    func followUndo() async {
        for undo in undoModels.values {
            guard let missing = undo.model?.adopt(shown), !missing.isEmpty else { continue }
            undo.model?.note(await group.reader.states(of: missing))
        }
    }
}

private struct WeakUndoModel<Event: Sendable> {
    weak var model: UndoModel<Event>?
}

// MARK: Waits

extension StoreLink {
    /// Records an intent with a wait, which then announces a rejection.
    ///
    /// - Parameter record: records it. A rejection that is shown before the number is known waits
    ///   for it.
    func record(
        for wait: AwaitedIntent<Event>, _ record: () async throws(CommandError) -> Receipt
    ) async throws(CommandError) -> Receipt {
        recordings += 1
        defer {
            recordings -= 1
            if recordings == 0 { tell() }
        }
        let receipt = try await record()
        join(wait, receipt.number)
        return receipt
    }

    /// Adds a wait for an intent.
    func join(_ wait: AwaitedIntent<Event>, _ number: IntentNumber) {
        waits[number, default: []].append(wait)
        if waitCause != .unknown { wait.run.handle(.cause(waitCause)) }
        if let attempt = shown.attempts[number] {
            wait.run.handle(.attempt(attempt.count))
        }
    }

    /// Removes a wait for an intent. Other waits for it stay.
    func leave(_ wait: AwaitedIntent<Event>, _ number: IntentNumber) {
        waits[number]?.removeAll { $0 === wait }
        if waits[number]?.isEmpty == true { waits[number] = nil }
    }

    /// Tells of the rejections that were shown: each once, by the newest wait that is heard, else by
    /// the model (U15).
    private func tell() {
        let news = untold
        untold = []
        for intent in news {
            var isTold = false
            for wait in waits[intent.recorded.number, default: []].reversed() {
                if wait.end(with: intent, isTold: isTold) { isTold = true }
            }
            if !isTold { cues.send([intent.cue].compactMap(\.self)) }  // mutant: news-of-wait
        }
    }
}

// MARK: Commands

/// On return of each command, the model is at its entry or later (U24).
extension StoreLink {
    func perform(
        _ event: Event, from initiator: Initiator, confirmOnly: Bool, once: String?,
        replacing key: String?, held: Bool
    ) async throws(CommandError) -> Receipt {
        let receipt = try await openStore.record(
            event, force: false, confirmOnly: confirmOnly, once: once, replacing: key, held: held,
            info: initiator.info)
        await adoptNow()
        return receipt
    }

    func perform(
        contentsOf events: [Event], from initiator: Initiator, once: String?
    ) async throws(CommandError) -> [Receipt] {
        let receipts = try await openStore.record(
            contentsOf: events, force: false, confirmOnly: false, once: once, held: false,
            info: initiator.info)
        await adoptNow()
        return receipts
    }

    func release(_ number: IntentNumber) async throws(CommandError) {
        _ = try await openStore.release(number)
        await adoptNow()
    }

    func undo(_ number: IntentNumber) async throws(CommandError) -> Reversed {
        let reversed = try await openStore.undo(number, force: false)
        await adoptNow()
        return reversed
    }

    func redo(_ number: IntentNumber) async throws(CommandError) -> Reversed {
        let reversed = try await openStore.redo(number, force: false)
        await adoptNow()
        return reversed
    }

    /// Records a confirm-only event, and shows the wait until the intent is settled. On return, the
    /// model is at the answer or later (U27).
    func perform(
        _ event: Event, showing wait: Wait, in progress: ProgressModel, once: String?,
        recorded: @escaping @MainActor (Receipt) -> Void
    ) async throws(IntentFailure) -> Answer {
        let intent = AwaitedIntent(
            event, self, wait, in: progress, once: once, recorded: recorded)
        return try await intent.answer()
    }

    func retry(
        _ number: IntentNumber, with edited: Event?
    ) async throws(CommandError) -> Receipt {
        let receipt = try await openStore.retry(number, with: edited, force: false)
        await adoptNow()
        return receipt
    }

    func dismiss(_ number: IntentNumber) async throws(CommandError) {
        _ = try await openStore.dismiss(number)
        await adoptNow()
    }

    func withdraw(_ number: IntentNumber) async throws(CommandError) {
        _ = try await openStore.withdraw(number)
        await adoptNow()
    }

    var openStore: any UpdatedStore<Event> {
        get throws(CommandError) {
            guard let store else { throw .log(.closed(path: path)) }
            return store
        }
    }
}
