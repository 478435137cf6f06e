import Foldback
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Keeps a log in sync with an authority, in both directions, while ``run()`` runs (S6).
///
/// ```swift
/// let sync = Sync(
///     store, with: server, policy: .ordered,
///     continuing: Continuing(opening: Self.open) { brought in
///         await wantsBack(brought.lacking) ? .bring : .discard
///     })
/// try await withThrowingTaskGroup { group in
///     group.addTask { try await sync.run() }
///     group.addTask {
///         for await path in connections { sync.tell(path.isUp ? .wentOnline : .wentOffline) }
///     }
///     try await group.next()
/// }
/// ```
///
/// It owns an ``Outbox`` and a ``Downlink``, and tells both what the app tells it. If the authority is
/// another one or has lost data, it continues on a new log in the same place, as ``Continuing`` says:
/// ``store`` is another store then, and ``stores`` gives it to the screens.
///
/// All work runs in the tasks that call it, and in their child tasks.
public final class Sync<P: EventFold>: Sendable {
    /// A store with its two directions.
    struct Line: Sendable {
        let store: Store<P>
        let outbox: Outbox<P>
        let downlink: Downlink<P>
        let listening: [Listening]
    }

    struct Content: Sendable {
        var line: Line
        var isOnline = true
        /// The reason why no user is signed in; nil while a user is.
        var signedOut: String?
        /// The reason why a superseded log could not be continued yet.
        var failure: AuthorityFailure?
        var isContinuing = false
        /// The reason why nothing could be decided about an old log.
        var keptLogProblem: String?
        /// Whether this run has decided about all old logs that it could decide about.
        var hasSettledKeptLogs = false
    }

    let authority: AnsweringAuthority<P.Event>
    let policy: SyncPolicy
    let sources: SyncSources
    let continuing: Continuing<P>?
    private let lane: (@Sendable (P.Event) -> String?)?
    /// Rings after each change of the status or of the store.
    let changes: Signal
    let content: Mutex<Content>
    let runs = RunGate()
    /// Held while a change of the link is passed on, so that a new line gets the last one.
    private let telling = Mutex(())

    /// - Parameters:
    ///   - store: the store to keep in sync.
    ///   - authority: the authority that decides on its intents, and has the events of others.
    ///   - policy: the sizes and number of requests, and the waits.
    ///   - sources: the sources of time and randomness.
    ///   - lane: returns the lane of an event; nil if the policy determines the order. See
    ///     ``Outbox/init(_:to:policy:sources:lane:)``.
    ///   - continuing: how to continue when the authority is another one or has lost data. With nil,
    ///     ``run()`` ends with `.superseded` then.
    public init(
        _ store: Store<P>, with authority: any Authority<P.Event>, policy: SyncPolicy,
        sources: SyncSources = .system, lane: (@Sendable (P.Event) -> String?)? = nil,
        continuing: Continuing<P>? = nil
    ) {
        changes = Signal()
        self.authority = AnsweringAuthority(
            authority, contact: Contact(changes, now: sources.now))
        self.policy = policy
        self.sources = sources
        self.lane = lane
        self.continuing = continuing
        content = Mutex(
            Content(
                line: Line(store, self.authority, policy, sources, lane, ringing: changes)))
    }

    var line: Line { content.withLock { $0.line } }

    /// Puts the store of a new log in the place of the old one.
    func adopt(_ store: Store<P>) {
        let line = Line(store, authority, policy, sources, lane, ringing: changes)
        telling.withLock { _ in
            let (isOnline, signedOut) = content.withLock { ($0.isOnline, $0.signedOut) }
            if !isOnline { line.tell(.wentOffline) }
            if let signedOut { line.tell(.signedOut(reason: signedOut)) }
            // Released outside of the lock, because it stops listeners.
            let old = content.withLock { content in
                defer { content.line = line }
                return content.line
            }
            withExtendedLifetime(old) {}
        }
        changes.ring()
    }

    // MARK: The store

    /// The store in use. It is another one after the log was continued on a new log; the old one is
    /// closed then.
    public var store: Store<P> { line.store }

    /// The store in use, and then each store that takes its place. A screen makes its models again for
    /// each. Ends when the task is canceled, or when the store in use is closed.
    public var stores: Statuses<Store<P>> {
        Statuses(areSame: { $0 === $1 }, listen: listen) { [self] in store }
    }

    private func listen(_ listener: @escaping @Sendable (_ isClosed: Bool) -> Void) -> [Listening] {
        if isOver { listener(true) }
        return [changes.listen { [weak self] in listener(self?.isOver ?? true) }]
    }

    /// Whether the store in use is closed, and no other takes its place.
    var isOver: Bool {
        content.withLock {
            !$0.isContinuing && $0.line.store.core.publication.read(\.isClosed)
        }
    }

    // MARK: Events from the app

    /// Reports a change of the connection or of the user. A sync begins online and signed in.
    public func tell(_ change: LinkChange) {
        telling.withLock { _ in
            let line = content.withLock { content in
                switch change {
                case .wentOnline: content.isOnline = true
                case .wentOffline: content.isOnline = false
                case .signedIn: content.signedOut = nil
                case .signedOut(let reason): content.signedOut = reason
                }
                return content.line
            }
            line.tell(change)
        }
        changes.ring()
    }

    /// Ends the quarantine of an intent: see ``Outbox/release(_:)``.
    ///
    /// - Throws: as ``Outbox/release(_:)``.
    public func release(_ number: IntentNumber) async throws(LogError) {
        try await line.outbox.release(number)
    }

    /// Fetches until the authority has no more: see ``Downlink/fetch()``. May be called while ``run()``
    /// runs.
    ///
    /// - Throws: as ``Downlink/fetch()``.
    public func fetch() async throws(SyncError) -> Downlink<P>.FetchResult {
        try await line.downlink.fetch()
    }

    // MARK: The status

    /// The current state, for display.
    /// - Complexity: that of ``Outbox/status``, and O(n) in the accepted intents that no event has
    ///   confirmed yet.
    public var status: SyncStatus {
        let content = content.withLock { $0 }
        return SyncStatus(
            content.line.store.core.published, content.line.outbox.status,
            content.line.downlink.status, isOnline: content.isOnline,
            lastContact: authority.contact.last, failure: content.failure,
            keptLogProblem: content.keptLogProblem)
    }

    /// The current state, and then the latest after each change. Equal states are not repeated. Ends
    /// when the task is canceled, or when the store in use is closed.
    public var statuses: Statuses<SyncStatus> {
        Statuses(areSame: ==, listen: listen) { [self] in status }
    }
}

extension Sync.Line {
    fileprivate init(
        _ store: Store<P>, _ authority: any Authority<P.Event>, _ policy: SyncPolicy,
        _ sources: SyncSources, _ lane: (@Sendable (P.Event) -> String?)?,
        ringing changes: Signal
    ) {
        self.store = store
        outbox = Outbox(store, to: authority, policy: policy, sources: sources, lane: lane)
        downlink = Downlink(store, from: authority, policy: policy, sources: sources)
        listening = [
            outbox.changes.listen { changes.ring() },
            downlink.changes.listen { changes.ring() },
            store.listen { _ in changes.ring() },
        ]
    }

    fileprivate func tell(_ change: LinkChange) {
        outbox.tell(change)
        downlink.tell(change)
    }
}
