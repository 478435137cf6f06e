import Foldback

/// Reads the updates of a store, one after another, on no particular actor (U28).
///
/// ``read()`` computes an update and puts it into ``mailbox``. The receiver takes it from there on
/// its own actor. So the updates arrive in order, also if several tasks ask, and updates that are
/// taken late are merged into one.
actor UpdateReader<Event: Sendable> {
    /// Weak, so that nobody keeps a store only to look at it (U29).
    private weak var store: (any UpdatedStore<Event>)?
    private let source: UpdateSource<Event>
    private let lists: PartList<any AnyListPart<Event>>
    private var computer: UpdateComputer<Event>
    /// The last state that was read completely.
    private var lastRead: PublishedState
    nonisolated let mailbox = Mailbox<Update>()

    /// - Parameter first: the state that the receiver has.
    init(
        _ store: any UpdatedStore<Event>, _ source: UpdateSource<Event>,
        from first: PublishedState, _ lists: PartList<any AnyListPart<Event>> = PartList()
    ) {
        self.store = store
        self.source = source
        self.lists = lists
        computer = UpdateComputer(source, from: first)
        lastRead = first
    }

    /// Computes the update to the store's present state.
    ///
    /// May block on the disk: for the app's reads of rows, and for a short read if an intent was
    /// rejected.
    func read() {
        guard let update = makeUpdate() else { return }
        mailbox.add { content in
            if content == nil { content = update } else { content?.append(update) }
        }
    }

    /// Returns the next update, with the lists. Nil if there is nothing to tell.
    private func makeUpdate() -> Update? {
        let (read, parts) = readStore()
        // Without a store, the last complete state stays. New lists are built from it.
        var update = read ?? Update(published: lastRead, condition: .closed)
        update.parts = parts
        lastRead = update.published
        let areMarksChanged = read != nil && computer.areMarksChanged
        update.lists = lists.parts.compactMapValues {
            $0.build(computer.table, areMarksChanged: areMarksChanged)
        }
        return read == nil && update.lists.isEmpty && parts.isEmpty ? nil : update
    }

    /// Returns the next update, and the parts of rows that changed. The update is nil if the store
    /// is gone or its last marks cannot be read. The rows are shown even so, because no later read
    /// returns them.
    private func readStore() -> (Update?, [PartID: ShowPart]) {
        guard let store else { return (nil, [:]) }
        let read = source.read(store)
        var update = computer.update(
            to: read.published, latched: read.published.latched
        ) { number, sequence throws(LogError) in
            let found = try store.rejectedIntent(number, at: sequence)
            return RejectedIntent(recorded: found.recorded, rejection: found.rejection)
        }
        if computer.isCutOff { return (nil, read.parts) }
        update.view = source.view(read.published)
        return (update, read.parts)
    }

    /// Returns the states of intents, as far as they can be read. May block on the disk.
    func states(of numbers: [IntentNumber]) -> [IntentNumber: IntentState] {
        guard let core = store?.core else { return [:] }
        var states: [IntentNumber: IntentState] = [:]
        for number in numbers { states[number] = try? core.status(of: number).state }
        return states
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
    ) throws(LogError) -> (recorded: RecordedIntent, rejection: Rejection)
    nonisolated(nonsending) func record(
        _ event: Event, force: Bool, confirmOnly: Bool, once: String?, replacing key: String?,
        held: Bool, info: [String: String]
    ) async throws(CommandError) -> Receipt
    nonisolated(nonsending) func record(
        contentsOf events: [Event], force: Bool, confirmOnly: Bool, once: String?, held: Bool,
        info: [String: String]
    ) async throws(CommandError) -> [Receipt]
    nonisolated(nonsending) func release(
        _ number: IntentNumber
    ) async throws(CommandError) -> LogSequence
    nonisolated(nonsending) func undo(
        _ number: IntentNumber, force: Bool
    ) async throws(CommandError) -> Reversed
    nonisolated(nonsending) func redo(
        _ number: IntentNumber, force: Bool
    ) async throws(CommandError) -> Reversed
    nonisolated(nonsending) func retry(
        _ number: IntentNumber, with edited: Event?, force: Bool
    ) async throws(CommandError) -> Receipt
    nonisolated(nonsending) func dismiss(
        _ number: IntentNumber
    ) async throws(CommandError) -> LogSequence
    nonisolated(nonsending) func withdraw(
        _ number: IntentNumber
    ) async throws(CommandError) -> LogSequence
}

extension Store: UpdatedStore {}
