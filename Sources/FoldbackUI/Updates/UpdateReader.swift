import Foldback

/// What a reader reads for one receiver, for example for a model.
struct UpdateMember<Event: Sendable>: Sendable {
    let source: UpdateSource<Event>
    /// The state that the receiver has before its first update.
    let first: PublishedState
    let lists: PartList<any AnyListPart<Event>>
}

/// Reads the updates of a store, one after another, on no particular actor (U28).
///
/// ``read()`` computes the updates of all members to one state (U25), and puts them into
/// ``mailbox``. The receiver takes them from there on its own actor, all or none. So the updates
/// arrive in order, also if several tasks ask, and updates that are taken late are merged into one.
actor UpdateReader<Event: Sendable> {
    /// The updates of members.
    typealias Updates = [PartID: Update]

    /// Weak, so that nobody keeps a store only to look at it (U29).
    private weak var store: (any UpdatedStore<Event>)?
    private let members = PartList<UpdateMember<Event>>()
    private var computers: [PartID: UpdateComputer<Event>] = [:]
    /// The last state that was read completely.
    private var lastRead: PublishedState
    nonisolated let mailbox = Mailbox<Updates>()

    /// - Parameter first: the state that the first member has.
    init(_ store: any UpdatedStore<Event>, from first: PublishedState) {
        self.store = store
        lastRead = first
    }

    /// Adds a member until the returned membership is released. Each read that begins later has an
    /// update for it.
    nonisolated func add(
        _ member: UpdateMember<Event>
    ) -> (id: PartID, membership: Listening) { members.join(member) }

    /// Computes the updates to the store's present state.
    ///
    /// May block on the disk: for the app's reads of rows, and for a short read if an intent was
    /// rejected.
    func read() {
        let updates = makeUpdates(members.parts)
        mailbox.add { content in
            var merged = content.take() ?? [:]
            for (id, update) in updates {
                if merged[id] == nil { merged[id] = update } else { merged[id]?.append(update) }
            }
            content = merged
        }
    }

    /// Returns the next updates, with the lists. If the store is gone or its last marks cannot be
    /// read, the last complete state stays. New lists are built from it. The rows are shown even so,
    /// because no later read returns them.
    private func makeUpdates(_ members: [PartID: UpdateMember<Event>]) -> Updates {
        computers = computers.filter { members[$0.key] != nil }
        let store = store
        let read = readParts(of: members, store?.core)
        let complete = store.flatMap { computeUpdates(of: members, to: read.published, $0) }
        if complete != nil { lastRead = read.published }
        var updates =
            complete
            ?? members.mapValues { _ in Update(published: lastRead, condition: .closed) }
        for (id, member) in members {
            let table = computers[id]?.table ?? StatusTable()
            let areMarksChanged = complete != nil && computers[id]?.areMarksChanged == true
            updates[id]?.view = member.source.view(lastRead)
            updates[id]?.parts = read.parts[id] ?? [:]
            updates[id]?.lists = member.lists.parts.compactMapValues {
                $0.build(table, areMarksChanged: areMarksChanged)
            }
        }
        return updates
    }

    /// Reads all stale parts of rows at one sequence, and returns them with the state of that
    /// sequence. If there are none, it opens no reader.
    ///
    /// The state is never older than the last commit, except if the store is closed or gone before
    /// the parts are read. Their last values stay then, and so does the last state.
    ///
    /// - Parameter core: nil if the store is gone.
    private func readParts(
        of members: [PartID: UpdateMember<Event>], _ core: StoreCore?
    ) -> (published: PublishedState, parts: [PartID: [PartID: ShowPart]]) {
        let prepared = members.compactMapValues { $0.source.parts() }
        let published = core?.publication.current ?? lastRead
        guard prepared.values.contains(where: { $0.areStale(at: published.sequence) }) else {
            return (published, [:])
        }
        var failure = ReadFailure.closed
        if let core {
            do {
                return try core.readRows { published, stored in
                    (published, prepared.mapValues { $0.read(published, stored) })
                }
            } catch { failure = ReadFailure(error) }
        }
        let failed = prepared.mapValues { $0.fail(failure, at: published.sequence) }
        return (failure == .closed ? lastRead : published, failed)
    }

    /// Returns the updates to a state; nil if the last marks cannot be read.
    private func computeUpdates(
        of members: [PartID: UpdateMember<Event>], to published: PublishedState,
        _ store: any UpdatedStore<Event>
    ) -> Updates? {
        var updates: Updates = [:]
        for (id, member) in members {
            let first = UpdateComputer(member.source, from: member.first)
            updates[id] = computers[id, default: first].update(
                to: published, latched: published.latched
            ) { number, sequence throws(LogError) in
                let found = try store.rejectedIntent(number, at: sequence)
                return RejectedIntent(recorded: found.recorded, rejection: found.rejection)
            }
        }
        return computers.values.contains(where: \.isCutOff) ? nil : updates
    }

    /// Returns the states of intents, as far as they can be read. May block on the disk.
    func states(of numbers: [IntentNumber]) -> [IntentNumber: IntentState] {
        guard let core = store?.core else { return [:] }
        var states: [IntentNumber: IntentState] = [:]
        for number in numbers { states[number] = try? core.status(of: number).state }
        return states
    }

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
