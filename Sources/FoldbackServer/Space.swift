import Foldback
import FoldbackSync
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// All decisions of one space: a server's data, as a log (N1).
///
/// ```swift
/// let space = try await Space.open(at: directory, rules: FeedRules())
/// let outbox = Outbox(store, to: space.authority(for: ann), policy: .ordered)
/// ```
/// A space decides on intents with the app's ``Rules``, one after another, and keeps each decision on the
/// disk before it answers. The decisions of several requests share a transaction. A request that comes
/// again gets the first verdicts again.
///
/// The fold of the effects is a view of ``store``, which is an ordinary store: it can be backed up,
/// verified, replayed and inspected. Only the space may write to it.
public actor Space<R: Rules> {
    public typealias Event = R.State.Event

    /// The name that ``Rules/access(of:to:)`` gets.
    public nonisolated let name: SpaceName
    public nonisolated let rules: R
    /// The log of decisions.
    public nonisolated let store: Store<Decided<R.State>>
    /// The replica id of the log, which no device can have.
    nonisolated let replica: ReplicaID
    /// The first replica id of the log, which its copies keep, and which no device is told.
    nonisolated let firstReplica: ReplicaID
    nonisolated let codec: DecisionCodec<Event>
    /// The number of effects of earlier versions that do not apply any more, and are left out as on a
    /// device (F9). They come before all others: a space with another fault decides nothing.
    private nonisolated let toleratedFaultCount: Int
    nonisolated let sources: SyncSources
    nonisolated let tail: Mutex<SpaceTail<Event>>
    /// Rings after each group, and when the space is closed.
    nonisolated let decisions: Signal
    private nonisolated let isClosed = Mutex(false)
    /// Whether a table has the decisions, and the log is a copy.
    nonisolated let isShared: Bool
    nonisolated let health: Mutex<SpaceHealth>

    // MARK: What deciding needs

    var queue = TicketQueue<Event>()
    /// Whether a request decides now.
    var isDeciding = false
    /// The state after the newest group; nil to take it from the store.
    var working: GuardedState<R.State>?
    /// The bytes of the events that ``working`` keeps to undo the last one.
    var workingBytes = 0
    /// What the index says of replicas.
    var replicas: [ReplicaID: WorkingReplica] = [:]
    /// The table that has the decisions of all servers; nil if this log alone has them.
    var shared: SharedLog<R>?
    /// Whether a request of ``follow()`` waits for its turn.
    var isFollowWaiting = false

    /// Opens the space whose log is in `directory`, or creates it.
    ///
    /// A request has at most 256 intents and 4 MiB of events: further intents get no verdict, so the outbox
    /// sends them again. A larger event is rejected with the code "too-large".
    ///
    /// The log has the app's events as effects of decisions. It is confirmed by a downlink, and durable. If
    /// `State` has no state codec, opening folds the whole log.
    ///
    /// - Parameters:
    ///   - directory: the file URL of a directory for this log alone.
    ///   - name: the space's name.
    ///   - rules: the app's decisions.
    ///   - isAdopting: whether a log that was copied or restored keeps its lineage. Pass true once, and
    ///     only if the copy has every answer that devices got, and the original is gone. Else the data
    ///     gets a new lineage, and devices continue on new logs (N6).
    ///   - sources: the source of time for decisions and long polls.
    ///   - log: the source of time and of fresh replica ids for the log.
    /// - Throws: the errors of `Store.open`; those of a write. Nothing stays open.
    public static func open(
        at directory: URL, named name: SpaceName = .main, rules: R,
        adopting isAdopting: Bool = false,
        sources: SyncSources = .system, log: LogSources = .system
    ) async throws(LogError) -> Space {
        try await open(
            at: directory, named: name, rules: rules, adopting: isAdopting, sources: sources,
            log: log, ringing: Signal())
    }

    /// The same with a bell that outlives the space.
    static func open(
        at directory: URL, named name: SpaceName, rules: R, adopting isAdopting: Bool = false,
        sources: SyncSources, log: LogSources, ringing bell: Signal
    ) async throws(LogError) -> Space {
        let store = try await openStore(at: directory, durability: .durable, log)
        do throws(LogError) {
            let founding = try await found(store) { isAdopting ? $0 : nil }
            return try Space(store, founding, name, rules, sources, bell, over: nil)
        } catch {
            await store.close()
            throw error
        }
    }

    static func openStore(
        at directory: URL, durability: Durability, _ sources: LogSources
    ) async throws(LogError) -> Store<Decided<R.State>> {
        try await Store.open(
            at: directory, Decided<R.State>.self,
            also: [AdditionalProjection(DecisionIndex<R.State>.self)], conflicts: .perProjection,
            confirmedBy: .downlink, durability: durability, sources: sources)
    }

    static func storeInMemory(_ sources: LogSources) -> Store<Decided<R.State>> {
        Store.inMemory(
            Decided<R.State>.self, also: [AdditionalProjection(DecisionIndex<R.State>.self)],
            conflicts: .perProjection, confirmedBy: .downlink, sources: sources)
    }

    /// Returns a space without a file, for tests and previews. Its log ends with it.
    public static func inMemory(
        named name: SpaceName = .main, rules: R, sources: SyncSources = .system,
        log: LogSources = .system
    ) async -> Space {
        await inMemory(
            named: name, rules: rules, lineage: .fresh(), sources: sources, log: log)
    }

    /// The same with a lineage, for a simulated authority that was restored.
    package static func inMemory(
        named name: SpaceName = .main, rules: R, lineage: Lineage, sources: SyncSources,
        log: LogSources
    ) async -> Space {
        let store = storeInMemory(log)
        do throws(LogError) {
            let founding = try await found(store) { _ in lineage }
            return try Space(store, founding, name, rules, sources, Signal(), over: nil)
        } catch { preconditionFailure("a log in memory cannot be written: \(error)") }
    }

    init(
        _ store: Store<Decided<R.State>>, _ founding: Founding, _ name: SpaceName, _ rules: R,
        _ sources: SyncSources, _ bell: Signal, over shared: SharedLog<R>?
    ) throws(LogError) {
        self.store = store
        self.shared = shared
        replica = store.status.replica
        firstReplica = store.core.storage.header.replicas.names[0]
        self.name = name
        self.rules = rules
        self.sources = sources
        // The app may share its codec with code that reads other events than those of this log.
        codec = DecisionCodec(inner: R.State.codec).withFreshMembers
        isShared = shared != nil
        health = Mutex(SpaceHealth(isReadInPart: try !Self.readsWhole(store, codec)))
        toleratedFaultCount = try Self.toleratedFaultCount(of: store)
        decisions = bell
        let end = store.core.published
        tail = Mutex(
            SpaceTail(lineage: founding.lineage, head: end.through, checksum: end.chain))
    }

    /// The name of the space's data (N6). It does not change while the space is open.
    public nonisolated var lineage: Lineage { tail.withLock { $0.lineage } }
    /// The position of the newest decision that readers see; see ``Decision/position``.
    public nonisolated var head: Position { tail.withLock { $0.head } }

    /// The reason why the space decides nothing; nil if it does (N9). O(1), from any task.
    ///
    /// Updating the server to code that reads and applies every decision helps.
    public nonisolated var fault: String? {
        let health = health.withLock { $0 }
        if let refusal = health.refusal { return refusal }
        let snapshot = store.snapshot
        if snapshot.faults.count > toleratedFaultCount, let fault = snapshot.faults.last {
            return "the decision at entry \(fault.sequence) has no effect: \(fault.reason)"
        }
        if let fault = store.projected(DecisionIndex<R.State>.self).faults.first {
            return "the decision at entry \(fault.sequence) is not in the index: \(fault.reason)"
        }
        if health.isReadInPart {
            return "this code reads only a part of some effects"
        }
        let newest = snapshot.view.newestVersion
        guard newest > R.State.version else { return nil }
        return "version \(newest) of \(R.State.name) has decided, and this is \(R.State.version)"
    }

    /// The error after which the log can be neither read nor written until it is opened again; nil if
    /// there is none. O(1), from any task.
    public nonisolated var failure: LogError? {
        do throws(CommandError) {
            try store.requireSyncable()
            return nil
        } catch {
            guard case .log(let error) = error else { return nil }
            return error
        }
    }

    /// Whether the space must be closed, and opened again, to be of use.
    nonisolated var mustReopen: Bool { failure != nil || health.withLock { $0.isOutdated } }

    /// Returns the verdict on an intent; nil if it has none. The intent may be of any replica.
    ///
    /// May block on the disk for two short reads.
    ///
    /// - Throws: `.unavailable` if the log cannot be read, or this code cannot read the decision.
    public nonisolated func verdict(
        on intent: IntentID
    ) throws(AuthorityFailure) -> Verdict<Event>? {
        let decided: DecidedIntent?
        do {
            decided = try store.projected(DecisionIndex<R.State>.self).read { rows in
                try rows.get(intent.replica.name, in: DecisionTables.replicas).flatMap { replica in
                    try rows.get(
                        KeyPair(replica.number, intent.number.value), in: DecisionTables.intents)
                }
            }
        } catch { throw .unavailable(after: nil, reason: "\(error)") }
        guard let decided else { return nil }
        return try verdicts(at: decided.position, on: [intent])[intent]
    }

    /// Returns the authority that one user's devices use.
    ///
    /// It asks ``Rules/access(of:to:)`` at each call.
    public nonisolated func authority(for account: Account) -> SpaceAuthority<R> {
        SpaceAuthority(account: account, of: self)
    }

    /// Closes the log. Requests that wait get ``/FoldbackSync/AuthorityFailure/unavailable(after:reason:)``.
    public func close() async {
        isClosed.withLock { $0 = true }
        decisions.ring()
        await store.close()
    }

    /// Closes the log, and rings for nobody.
    nonisolated func closeLog() async {
        isClosed.withLock { $0 = true }
        await store.close()
    }

    /// - Throws: `.unavailable` if the space is closed. With a table, also if it lost decisions, or has another
    ///   lineage now.
    nonisolated func requireOpen() throws(AuthorityFailure) {
        if isClosed.withLock({ $0 }) {
            throw .unavailable(after: .seconds(1), reason: "the space is closed")
        }
        let health = health.withLock { $0 }
        if health.isOutdated { throw SharedLogObstacle.otherData.failure }
        if let reason = health.refusal { throw SharedLogObstacle.refused(reason).failure }
    }
}

extension Space {
    /// - Returns: the number of faults if all are of effects of earlier versions; else 0.
    private static func toleratedFaultCount(
        of store: Store<Decided<R.State>>
    ) throws(LogError) -> Int {
        let faults = store.faults
        for fault in faults {
            guard case .intent(let intent) = fault.origin,
                case .confirmed(let events, _) = try store.entries(
                    from: fault.sequence, countMax: 1
                ).first?.content,
                case .decided(let decision) = events.first(where: { $0.origin == intent })?.event
                    .event, decision.version < R.State.version
            else { return 0 }
        }
        return faults.count
    }
}

extension Space {
    /// Returns whether this code reads all of every effect (N9).
    ///
    /// A type can read a member in one case and not in another. Then a member counts as read if this code
    /// reads a member at its place in any effect of the log. The store judges an event by those that it has
    /// read since it was opened, so it can note events that were read whole when they were decided.
    ///
    /// - Parameter codec: learns from the effects, as far as that is needed.
    /// - Complexity: O(1) if the store has no such notes. Else it reads the log, up to the last effect that
    ///   explains a note, or to the end.
    static func readsWhole(
        _ store: Store<Decided<R.State>>, _ codec: DecisionCodec<Event>
    ) throws(LogError) -> Bool {
        var left: [Effect<Event>] = []
        for note in store.partlyRead.notes {
            let recorded = RecordedEvent(format: note.format, bytes: note.sample)
            guard let effect = codec.effect(of: recorded), !codec.isNewer(effect) else {
                return false
            }
            left.append(effect)
        }
        var next = LogSequence(1)
        while true {
            left.removeAll { codec.membersLeft(of: $0).isEmpty }
            if left.isEmpty { return true }
            let entries = try store.recordedEntries(from: next, countMax: 256)
            guard let last = entries.last?.sequence else { return false }
            for event in entries.lazy.flatMap(\.events) {
                let recorded = RecordedEvent(format: event.format, bytes: event.bytes)
                if let effect = codec.effect(of: recorded) { _ = codec.membersLeft(of: effect) }
            }
            next = LogSequence(last.value + 1)
        }
    }
}

extension SpaceName {
    /// The name of a server's only space.
    public static let main = SpaceName("main")!
}

extension Space {
    /// Returns the name of a space's data. A new log gets one, and so does a log that was copied (N6).
    ///
    /// - Throws: the errors of a write; `.notALog` if another program wrote into the log.
    private static func found(
        _ store: Store<Decided<R.State>>, _ lineage: @Sendable (Lineage?) -> Lineage?
    ) async throws(LogError) -> Founding {
        let status = store.status
        if store.view.founding?.timeline != nil { throw .copyOfTable(path: status.path) }
        guard status.sequence.value == status.through.value, status.base == 0 else {
            throw .notALog(
                path: status.path,
                reason: "the position of each decision must be the number of its entry")
        }
        let known = store.view.founding
        if let known, known.replica == status.replica { return known }  // mutant: copied-space
        let founding = Founding(
            lineage: lineage(known?.lineage) ?? .fresh(),
            replica: status.replica)
        let position = Position(status.through.value + 1)
        do throws(CommandError) {
            try await store.confirm([ConfirmedEvent(position: position, event: .founded(founding))])
        } catch {
            guard case .log(let error) = error else {
                preconditionFailure("a space cannot be founded: \(error)")
            }
            throw error
        }
        return founding
    }
}
