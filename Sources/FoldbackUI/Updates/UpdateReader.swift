import Foldback
import Synchronization

/// Reads the updates of a store, one after another, on no particular actor (U28).
///
/// ``read()`` computes an update and puts it into ``mailbox``. The receiver takes it from there on
/// its own actor. So the updates arrive in order, also if several tasks ask, and updates that are
/// taken late are merged into one.
actor UpdateReader<Event: Sendable> {
    /// Weak, so that nobody keeps a store only to look at it (U29).
    private weak var store: (any UpdatedStore<Event>)?
    private let source: UpdateSource<Event>
    private let lists: PartList<any ListPart<Event>>
    private var computer: UpdateComputer<Event>
    /// How many updates the receiver had taken when the last update was put.
    private var takesAtLastPut = 0
    /// The last state that was read completely.
    private var lastRead: PublishedState
    nonisolated let mailbox: UpdateMailbox

    init(
        _ store: any UpdatedStore<Event>, _ source: UpdateSource<Event>,
        _ lists: PartList<any ListPart<Event>> = PartList()
    ) {
        self.store = store
        self.source = source
        self.lists = lists
        computer = UpdateComputer(source)
        mailbox = UpdateMailbox(shown: store.core.published)
        lastRead = mailbox.shown
    }

    /// Computes the update to the store's present state.
    ///
    /// May block on the disk: for the app's reads of rows, and for a short read if an intent was
    /// rejected.
    func read() {
        let lists = lists.parts
        var received = mailbox.received
        if received.takes != takesAtLastPut { for list in lists.values { list.wasReceived() } }
        guard var update = makeUpdate(from: received.state, lists) else { return }
        while !mailbox.put(update, takes: received.takes) {
            // The receiver took an update in the meantime. So the mailbox is empty now, and the
            // receiver cannot take another before this one is put.
            received = mailbox.received
            let equal = source.areEqual(received.state, update.published)
            update.base = received.state
            (update.isViewChanged, update.isConfirmedChanged) = (!equal.views, !equal.confirmed)
            for list in lists.values { list.wasReceived() }
            update.lists = lists.compactMapValues { $0.show() }
        }
        takesAtLastPut = received.takes
        for list in lists.values { list.wasPut() }
    }

    /// Returns the update from the state that the receiver has, with the lists. Nil if there is
    /// nothing to tell.
    private func makeUpdate(
        from shown: PublishedState, _ lists: [PartID: any ListPart<Event>]
    ) -> Update? {
        let (read, parts) = readStore(from: shown)
        // Without a store, the last complete state stays. New lists are built from it.
        var update =
            read ?? Update(closedAt: lastRead, from: shown, source.areEqual(shown, lastRead))
        update.parts = parts
        let isChanged =
            read != nil
            && (update.isViewChanged || computer.areMarksChanged
                || lastRead.sequence != shown.sequence)
        lastRead = update.published
        for list in lists.values {
            list.build(update.published, computer.table, isChanged: isChanged)
        }
        update.lists = lists.compactMapValues { $0.show() }
        return read == nil && update.lists.isEmpty && parts.isEmpty ? nil : update
    }

    /// Returns the update from the state that the receiver has, and the parts of rows that changed.
    /// The update is nil if the store is gone or its last marks cannot be read. The rows are shown
    /// even so, because no later read returns them.
    private func readStore(from shown: PublishedState) -> (Update?, [PartID: ShowPart]) {
        guard let store else { return (nil, [:]) }
        let read = source.read(store)
        let update = computer.update(
            to: read.published, from: shown, latched: read.published.latched
        ) { number, sequence throws(FoldbackError) in
            let found = try store.rejectedIntent(number, at: sequence)
            return RejectedIntent(recorded: found.recorded, rejection: found.rejection)
        }
        return (computer.isCutOff ? nil : update, read.parts)
    }

    /// Calls `body` while no update is read.
    func betweenReads<R: Sendable>(_ body: @Sendable () -> R) -> R { body() }

    /// Has an element at the start and after changes of the store, and ends when the store is closed
    /// or gone.
    ///
    /// The listeners live as long as the sequence's iterators.
    nonisolated func changes(of store: any UpdatedStore<Event>) -> AsyncStream<Void> {
        let (bell, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        continuation.yield()
        let listening = store.listen { isClosed in
            if isClosed { continuation.finish() } else { continuation.yield() }
        }
        continuation.onTermination = { _ in _ = listening }
        return bell
    }
}

/// The updates that were read and not taken.
final class UpdateMailbox: Sendable {
    private struct Content {
        /// The state that the receiver has.
        var shown: PublishedState
        /// How many updates it has taken.
        var takes = 0
        var update: Update?
    }

    private let content: Mutex<Content>

    init(shown: PublishedState) { content = Mutex(Content(shown: shown)) }

    /// The state that the receiver has.
    var shown: PublishedState { content.withLock { $0.shown } }

    /// The state that the receiver has, and how many updates it has taken.
    var received: (state: PublishedState, takes: Int) {
        content.withLock { ($0.shown, $0.takes) }
    }

    /// Adds an update from the state that the receiver had after so many `takes`. Returns false if
    /// the receiver has taken another update since.
    func put(_ next: Update, takes: Int) -> Bool {
        content.withLock { content in
            guard content.takes == takes else { return false }  // mutant: list-base
            if content.update == nil {
                content.update = next
            } else {
                content.update?.append(next)
            }
            return true
        }
    }

    /// Returns all updates as one; nil if there is none.
    func take() -> Update? {
        content.withLock { content in
            guard let update = content.update else { return nil }
            content.update = nil
            content.takes += 1
            content.shown = update.published  // mutant: shown-base
            return update
        }
    }
}

/// A store, whatever the type of its own projection.
protocol UpdatedStore<Event>: AnyObject, Sendable {
    associatedtype Event: Sendable

    var core: StoreCore { get }
    func projected<Q: StoredProjection>(_ projection: Q.Type) -> ProjectedRows<Q>
    where Q.Event == Event
    func answers(after sequence: LogSequence) -> Answers
    func listen(_ listener: @escaping @Sendable (_ isClosed: Bool) -> Void) -> Listening
    func rejectedIntent(
        _ number: IntentNumber, at sequence: LogSequence
    ) throws(FoldbackError) -> (recorded: RecordedIntent, rejection: Rejection)
    nonisolated(nonsending) func record(
        _ event: Event, force: Bool, confirmOnly: Bool, once: String?, info: [String: String]
    ) async throws(FoldbackError) -> Receipt
    nonisolated(nonsending) func retry(
        _ number: IntentNumber, with edited: Event?, force: Bool
    ) async throws(FoldbackError) -> Receipt
    nonisolated(nonsending) func dismiss(
        _ number: IntentNumber
    ) async throws(FoldbackError) -> LogSequence
    nonisolated(nonsending) func withdraw(
        _ number: IntentNumber
    ) async throws(FoldbackError) -> LogSequence
}

extension Store: UpdatedStore {}
