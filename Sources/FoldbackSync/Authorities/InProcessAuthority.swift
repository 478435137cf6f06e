import Foldback
import Synchronization

/// An authority without a network, for previews, tests and simulations.
///
/// It folds events with the projection's own code to decide on them, and keeps A1 to A4.
///
/// ```swift
/// let authority = InProcessAuthority(Likes.self)
/// let outbox = Outbox(store, to: authority, policy: .ordered)
/// let downlink = Downlink(store, from: authority, policy: .ordered)
/// ```
///
/// A stored projection works too: the authority keeps its rows in memory, and its state is
/// ``/Foldback/RowsInMemory``.
///
/// The authority has no `publish`. Its events come from devices: a test or a preview submits an
/// intent of another replica (``submit(_:from:)``), or gives another store an ``Outbox``.
///
/// Several replicas can share one authority, and all replicas see all events. The authority rejects
/// an event if `apply` throws, or if the app's `ruling` closure rejects it. The closure can also
/// replace the event. Calls may come from any task.
public final class InProcessAuthority<P: Projection>: Authority {
    public typealias Event = P.Event

    struct Decided {
        let recorded: RecordedEvent
        let verdict: Verdict<P.Event>
    }

    struct Books {
        var state = P()
        var events: [ConfirmedEvent<P.Event>] = []
        var decided: [IntentID: Decided] = [:]
        /// The last position that was given away. An intent that is accepted without an effect has a
        /// position without an event.
        var position: Position = 0

        /// Returns the events after a position, at most `countMax`.
        func events(after start: Position, countMax: Int) -> ArraySlice<ConfirmedEvent<P.Event>> {
            // There is at most one event at each position.
            var index = min(Int(start.value), events.count)
            while index > 0, events[index - 1].position > start { index -= 1 }
            return events[index...].prefix(countMax)
        }
    }

    /// The name of this authority's data.
    public let lineage: Lineage
    let books = Mutex(Books())
    private let eventsPerPageMax: Int
    let ruling: @Sendable (Submission<P.Event>, P) -> Ruling<P.Event>
    let sources: SyncSources
    /// Rings after each request that decided intents.
    private let decisions = Signal()

    /// - Parameters:
    ///   - projection: the projection whose `apply` accepts or rejects events.
    ///   - lineage: the name of the authority's data. A replica that knows another lineage is
    ///     superseded.
    ///   - eventsPerPageMax: the largest number of events in a page of ``changes(after:)``; 1 or
    ///     more.
    ///   - sources: the source of time for long polls.
    ///   - ruling: decides on an intent, given the current state. It runs under a lock, so it must
    ///     not call the authority.
    public init(
        _ projection: P.Type, lineage: Lineage = .fresh(), eventsPerPageMax: Int = 256,
        sources: SyncSources = .system,
        ruling: @escaping @Sendable (Submission<P.Event>, P) -> Ruling<P.Event> = { _, _ in .accept
        }
    ) {
        precondition(
            eventsPerPageMax >= 1, "eventsPerPageMax must be at least 1, not \(eventsPerPageMax)")
        self.lineage = lineage
        self.eventsPerPageMax = eventsPerPageMax
        self.sources = sources
        self.ruling = ruling
    }

    /// Creates an authority for a stored projection. Its state has all rows in memory.
    ///
    /// Parameters are those of the other initializer.
    public convenience init<Stored: StoredProjection>(
        _ projection: Stored.Type, lineage: Lineage = .fresh(), eventsPerPageMax: Int = 256,
        sources: SyncSources = .system,
        ruling: @escaping @Sendable (Submission<P.Event>, P) -> Ruling<P.Event> = { _, _ in .accept
        }
    ) where P == RowsInMemory<Stored> {
        self.init(
            P.self, lineage: lineage, eventsPerPageMax: eventsPerPageMax, sources: sources,
            ruling: ruling)
    }

    /// Returns another authority, as if this authority's data were restored from a backup.
    ///
    /// - Parameters:
    ///   - count: the number of events that the backup has. It has the verdicts on their intents, and
    ///     no others.
    ///   - lineage: the new authority's lineage (A3).
    package func copy(keeping count: Int, lineage: Lineage) -> InProcessAuthority<P> {
        let copy = InProcessAuthority(
            P.self, lineage: lineage, eventsPerPageMax: eventsPerPageMax, sources: sources,
            ruling: ruling)
        let old = books.withLock { $0 }
        copy.books.withLock { books in
            for event in old.events.prefix(count) {
                // It was applied to the same state before.
                if let applied = event.event {
                    _ = try? books.state.apply(applied, event.context)
                }
                books.events.append(event)
                books.position = event.position
                if let id = event.origin { books.decided[id] = old.decided[id] }
            }
        }
        return copy
    }

    /// The fold of all events. A replica that has fetched everything has this confirmed state.
    public var state: P { books.withLock { $0.state } }

    /// All confirmed events, in order of position.
    public var events: [ConfirmedEvent<P.Event>] { books.withLock { $0.events } }

    /// The highest position that an intent has. An intent may have it without an event.
    package var head: Position { books.withLock { $0.position } }

    /// The number of intents with a verdict.
    public var decidedCount: Int { books.withLock { $0.decided.count } }

    /// Returns the verdict on an intent; nil if the intent never arrived.
    public func verdict(on intent: IntentID) -> Verdict<P.Event>? {
        books.withLock { $0.decided[intent]?.verdict }
    }

    public func submit(
        _ intents: [Submission<P.Event>], from device: SyncPoint
    ) async throws(AuthorityFailure) -> Verdicts<P.Event> {
        defer { decisions.ring() }
        return try books.withLock { books throws(AuthorityFailure) in
            try device.requireShared(with: lineage, head: books.position)
            var verdicts: [IntentID: Verdict<P.Event>] = [:]
            var endedLanes: Set<Int?> = []
            for intent in intents where !endedLanes.contains(intent.lane) {
                let verdict = verdict(on: intent, &books)
                verdicts[intent.id] = verdict
                if !verdict.isFinal { endedLanes.insert(intent.lane) }
            }
            return Verdicts(verdicts, lineage: lineage, head: books.position)
        }
    }

    public func changes(
        after device: SyncPoint
    ) async throws(AuthorityFailure) -> Changes<P.Event> {
        try books.withLock { books throws(AuthorityFailure) in
            try device.requireShared(with: lineage, head: books.position)
            let page = books.events(after: device.through, countMax: eventsPerPageMax)
            let through =
                page.endIndex < books.events.endIndex
                ? page.last?.position ?? device.through : books.position
            return Changes(
                events: Array(page), through: through, hasMore: through < books.position,
                lineage: lineage, head: books.position)
        }
    }

    public func changes(
        after device: SyncPoint, waiting: Duration
    ) async throws(AuthorityFailure) -> Changes<P.Event> {
        try await decisions.longPoll(after: device, waiting: waiting, sources) {
            device throws(AuthorityFailure) in
            try await changes(after: device)
        }
    }

    private func verdict(
        on intent: Submission<P.Event>, _ books: inout Books
    ) -> Verdict<P.Event> {
        if let decided = books.decided[intent.id] {  // mutant: authority-repeats
            guard decided.recorded == intent.recorded else {
                return .rejected(.idReused(intent.id))
            }
            return decided.verdict
        }
        let verdict = decide(intent, &books)
        // A postponed intent is decided when it comes again.
        guard verdict.isFinal else { return verdict }
        books.decided[intent.id] = Decided(  // mutant: verdict-kept
            recorded: intent.recorded, verdict: verdict)
        return verdict
    }

    private func decide(
        _ intent: Submission<P.Event>, _ books: inout Books
    ) -> Verdict<P.Event> {
        let applied: P.Event
        var replacement: P.Event?
        let position = Position(books.position.value + 1)
        switch ruling(intent, books.state) {
        case .accept: applied = intent.event
        case .reword(nil):
            books.position = position
            return .accepted(position: position, replacement: nil)
        case .reword(let event?): (applied, replacement) = (event, event)
        case .reject(let rejection): return .rejected(rejection)
        case .later(let after, let reason): return .later(after: after, reason: reason)
        }
        let event = ConfirmedEvent(position: position, event: applied, origin: intent.id)
        var state = books.state
        do { try state.apply(applied, event.context) } catch {
            return .rejected(.inapplicable(error))
        }
        books.state = state
        books.events.append(event)
        books.position = position
        return .accepted(position: position, replacement: replacement.map { .event($0) })
    }
}
