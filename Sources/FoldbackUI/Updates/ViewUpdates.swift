import Foldback

/// The states of a projection with the marks that changed, for views that do not use the
/// observable models: in a terminal, over a socket, or on an actor of the app (U28).
///
/// ```swift
/// for await update in ViewUpdates(of: store) {
///     render(update.snapshot.view, update.statuses)
/// }
/// ```
///
/// The first element has the present state and all marks. A slow reader gets the latest state and
/// misses those in between, but misses no change of a mark. The sequence does not keep the store:
/// it ends when the store is closed or released, or the task is canceled (U29).
public struct ViewUpdates<P: Projection>: AsyncSequence, Sendable {
    private let follow: @Sendable () -> Followed?
    private let index: Int

    /// Creates the updates of the store's own projection.
    public init(of store: Store<P>) { self.init(of: store, showing: P.self) }

    /// Creates the updates of any projection with which the store was opened. Traps if it was opened
    /// without it.
    public init<Q: EventFold>(of store: Store<Q>, showing projection: P.Type)
    where Q.Event == P.Event {
        index = store.index(of: P.self)
        follow = { [weak store, index] in
            guard let store else { return nil }
            let first = store.core.published
            let reader = UpdateReader(store, from: first)
            let member = UpdateMember(
                source: UpdateSource(P.self, at: index), first: first, lists: PartList())
            return Followed(
                reader: reader, changes: reader.changes(of: store),
                membership: reader.add(member).membership)
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(follow(), index) }

    /// A reader with one member.
    fileprivate struct Followed: Sendable {
        let reader: UpdateReader<P.Event>
        let changes: AsyncStream<Void>
        let membership: Listening
    }

    /// A reader of the updates. Each reader gets all of them.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let followed: Followed?
        private var changes: AsyncStream<Void>.Iterator?
        private let index: Int
        /// The sequence and the condition of the last update.
        private var last: (sequence: LogSequence, condition: StoreCondition)?

        fileprivate init(_ followed: Followed?, _ index: Int) {
            self.followed = followed
            changes = followed?.changes.makeAsyncIterator()
            self.index = index
        }

        /// Returns the next update, or waits for it. Nil at the end of the sequence.
        public mutating func next() async -> ViewUpdate<P>? { await next(isolation: nil) }

        /// Returns the next update, on the given actor. As ``next()`` in everything else.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async -> ViewUpdate<P>? {
            guard let reader = followed?.reader else { return nil }
            while await changes?.next(isolation: actor) != nil {
                await reader.read()
                // An update of a closed store is its last state once more.
                guard let update = reader.mailbox.take()?.values.first,
                    update.condition != .closed,
                    update.condition != last?.condition || !update.isEmpty(since: last?.sequence)
                else { continue }
                last = (update.published.sequence, update.condition)
                return ViewUpdate(update, index)
            }
            return nil
        }
    }
}

/// A state of a projection, and what changed since the update before.
public struct ViewUpdate<P: Projection>: Sendable {
    /// The states and the overlay.
    public let snapshot: Snapshot<P>
    /// The marks of all rejected intents, by ascending number; nil if they did not change.
    public let rejections: [IntentMark]?
    /// Whether the store takes commands.
    public let condition: StoreCondition
    /// The statuses with the type of `P.ItemID`, if the projection is ``Itemized``.
    fileprivate let changed: any Sendable

    fileprivate init(_ update: Update, _ index: Int) {
        snapshot = Snapshot(update.published, index)
        rejections = update.rejections
        condition = update.condition
        changed = (P.self as? any Itemized.Type)?.statuses(from: update.statuses) ?? ()
    }
}

extension ViewUpdate where P: Itemized {
    /// The present statuses of the items whose marks changed. An item without marks has the status
    /// ``ItemStatus/settled``.
    public var statuses: [P.ItemID: ItemStatus] {
        guard let statuses = changed as? [P.ItemID: ItemStatus] else {
            preconditionFailure("the statuses of \(P.self) have the type \(type(of: changed))")
        }
        return statuses
    }
}

extension Itemized {
    /// Returns the statuses with the type of the items' ids.
    fileprivate static func statuses(from changed: [AnyItemID: ItemStatus]) -> any Sendable {
        var statuses: [ItemID: ItemStatus] = [:]
        for (id, status) in changed {
            if let id = id.value(as: ItemID.self) { statuses[id] = status }
        }
        return statuses
    }
}
