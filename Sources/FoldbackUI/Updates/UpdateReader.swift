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
    private var computer: UpdateComputer<Event>
    nonisolated let mailbox: UpdateMailbox

    init(_ store: any UpdatedStore<Event>, _ source: UpdateSource<Event>) {
        self.store = store
        self.source = source
        computer = UpdateComputer(source)
        mailbox = UpdateMailbox(shown: store.core.writer.publishedState)
    }

    /// Computes the update to the store's present state.
    ///
    /// May block on the disk: for the app's reads of rows, and for a short read if an intent was
    /// rejected.
    func read() {
        guard let store else { return }
        let writer = store.core.writer
        let read = source.read(store)
        var update = computer.update(
            to: read.published, from: mailbox.shown, latched: writer.latched
        ) { number, sequence throws(FoldbackError) in
            let found = try store.rejectedIntent(number, at: sequence)
            return RejectedIntent(recorded: found.recorded, rejection: found.rejection)
        }
        // The last marks cannot be read any more. The receiver keeps the last complete state.
        guard !computer.isCutOff else { return }
        update.parts = read.parts
        mailbox.put(update)
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
        let listening = [
            store.listen { isClosed in
                if isClosed { continuation.finish() } else { continuation.yield() }
            },
            store.listenBeside { continuation.yield() },
        ]
        continuation.onTermination = { _ in _ = listening }
        return bell
    }
}

/// The updates that were read and not taken.
final class UpdateMailbox: Sendable {
    private struct Content {
        /// The state that the receiver has.
        var shown: PublishedState
        var update: Update?
    }

    private let content: Mutex<Content>

    init(shown: PublishedState) { content = Mutex(Content(shown: shown)) }

    /// The state that the receiver has.
    var shown: PublishedState { content.withLock { $0.shown } }

    func put(_ next: Update) {
        content.withLock { content in
            var next = next
            if next.base.sequence != content.shown.sequence {
                // The receiver took an update while this one was computed.
                next.base = content.shown
                next.isViewChanged = true
                next.isConfirmedChanged = true
            }
            if content.update == nil {
                content.update = next
            } else {
                content.update?.append(next)
            }
        }
    }

    /// Returns all updates as one; nil if there is none.
    func take() -> Update? {
        content.withLock { content in
            guard let update = content.update else { return nil }
            content.update = nil
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
    func listen(_ listener: @escaping @Sendable (_ isClosed: Bool) -> Void) -> Listening
    func listenBeside(_ listener: @escaping @Sendable () -> Void) -> Listening
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
