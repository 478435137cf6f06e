import Foldback
import FoldbackSync

/// The decisions of one group while they are made, as a value: nothing of it is written yet (N3).
struct GroupInProgress<R: Rules>: Sendable {
    typealias Event = R.State.Event

    let position: Position
    private let rules: R
    private let time: Timestamp
    private let codec: DecisionCodec<Event>
    /// The fold of all effects, including those of the group.
    private(set) var state: GuardedState<R.State>
    /// Earlier decisions on the group's intents, as the index has them.
    private let known: [IntentID: DecidedIntent]
    private(set) var replicas: [ReplicaID: WorkingReplica]
    private(set) var decisions: [(IntentID, Decision<Event>)] = []
    /// The bytes of the effects so far.
    private var effectBytes = 0
    /// The intents' events with members that the codec has not read before.
    private var unknown: [Effect<Event>] = []
    /// The replicas that have decisions for the first time.
    private var newReplicas: [ReplicaID] = []
    /// Reads the verdicts of a group that was decided before.
    private let read:
        @Sendable (Position, Set<IntentID>) throws(AuthorityFailure) -> Verdicts<Event>
    /// What was read. A repeated request is often of one group.
    private var earlier: [Position: Verdicts<Event>] = [:]
    /// The replica id of the space's log, which no device can have.
    private let ownReplica: ReplicaID

    init(
        at position: Position, _ rules: R, _ codec: DecisionCodec<Event>, time: Timestamp,
        over state: GuardedState<R.State>,
        known: [IntentID: DecidedIntent], _ replicas: [ReplicaID: WorkingReplica],
        ownReplica: ReplicaID,
        read:
            @escaping @Sendable (Position, Set<IntentID>) throws(AuthorityFailure) -> Verdicts<
                Event
            >
    ) {
        self.position = position
        self.rules = rules
        self.time = time
        self.codec = codec
        self.state = state
        self.known = known
        self.replicas = replicas
        self.ownReplica = ownReplica
        self.read = read
    }

    /// What the space keeps of the group once it is written.
    ///
    /// - Parameter bytes: the bytes of the events that the state keeps; the new count on return.
    func kept(
        after bytes: inout Int
    ) -> (state: GuardedState<R.State>, replicas: [ReplicaID: WorkingReplica]) {
        var (state, replicas) = (state, replicas)
        bytes += effectBytes
        if bytes > SpaceLimits.workingBytesMax {
            state.keep()
            bytes = 0
        }
        // The index has numbered new replicas only now.
        for replica in newReplicas { replicas[replica] = nil }
        return (state, replicas.count > SpaceLimits.replicasMax ? [:] : replicas)
    }

    /// Lets the codec learn from the group, once it is in the log.
    func teach() {
        for effect in unknown { _ = codec.membersLeft(of: effect) }
    }

    /// The decisions as events of the space's log.
    var events: [ConfirmedEvent<DecisionEvent<Event>>] {
        decisions.map { ConfirmedEvent(position: position, event: .decided($1), origin: $0) }
    }

    /// Decides on a request in order.
    ///
    /// The first intent that is postponed ends its lane; without lanes, the request (N5). After a
    /// failure, earlier intents of the request stay decided: they get the same verdicts when they come
    /// again.
    mutating func decide(
        _ ticket: Ticket<Event>
    ) -> Result<[IntentID: Verdict<Event>], AuthorityFailure> {
        for first in ticket.firsts {
            let owner = replicas[first.replica]?.account ?? ticket.account
            let isServers = first.replica == ownReplica
            guard owner == ticket.account, !isServers else {  // mutant: replica-owner
                return .failure(.noAccess)
            }
        }
        var verdicts: [IntentID: Verdict<Event>] = [:]
        var endedLanes: Set<Int?> = []
        verdicts.reserveCapacity(ticket.intents.count)
        // The others of a full group get no verdict, and come again.
        for intent in ticket.intents
        where effectBytes < SpaceLimits.effectBytesMax && !endedLanes.contains(intent.lane) {
            do throws(AuthorityFailure) {
                let verdict = try verdict(on: intent, by: ticket.account)
                verdicts[intent.id] = verdict
                if !verdict.isFinal { endedLanes.insert(intent.lane) }  // mutant: first-later
            } catch {
                return .failure(error)
            }
        }
        return .success(verdicts)
    }

    /// Repeats the verdict on an intent, or decides (N4).
    ///
    /// An intent that this code reads in part waits: its effect would be a fault of the space (N9, N13).
    private mutating func verdict(
        on intent: Submission<Event>, by account: Account
    ) throws(AuthorityFailure) -> Verdict<Event> {
        let digest = intent.payload.digest
        let replica = replicas[intent.id.replica]
        if let replica, intent.id.number.value <= replica.highest,
            let verdict = try firstVerdict(on: intent.id, digest)
        {
            return verdict
        }
        let sent = Effect<Event>(intent.payload)
        let isKnown = codec.knowsMembers(of: sent)
        guard isKnown || codec.readsWholeAlone(sent) else { return .serverIsOlder }
        let outcome: Decision<Event>.Outcome
        switch try ruling(on: intent, by: account) {
        case .later(let after, let reason): return .later(after: after, reason: reason)
        case .reject(let rejection): outcome = .rejected(rejection)
        case .accept:
            outcome = applied(sent, intent.id) { .accepted($0) }
            if !isKnown, case .accepted = outcome { unknown.append(sent) }
        case .reword(nil): outcome = .reworded(nil)
        case .reword(let event?):
            outcome = applied(try effect(event), intent.id) { .reworded($0) }
        }
        let decision = Decision(
            position: position, account: account, version: R.State.version, digest: digest,
            outcome: outcome)
        decisions.append((intent.id, decision))
        effectBytes += decision.effect?.payload.bytes.count ?? 0
        if replica == nil { newReplicas.append(intent.id.replica) }
        replicas[intent.id.replica] = WorkingReplica(
            account: account, number: replica?.number,
            highest: max(replica?.highest ?? 0, intent.id.number.value))
        return decision.verdict
    }

    /// Returns the first verdict on an intent; nil if it has none.
    private mutating func firstVerdict(
        on id: IntentID, _ digest: UInt64
    ) throws(AuthorityFailure) -> Verdict<Event>? {
        if let decided = known[id] {
            guard decided.digest == digest else { return .rejected(.idReused(id)) }
            return try verdict(on: id, at: decided.position)
        }
        guard let (_, decision) = decisions.first(where: { $0.0 == id }) else { return nil }
        return decision.digest == digest ? decision.verdict : .rejected(.idReused(id))
    }

    private mutating func verdict(
        on id: IntentID, at position: Position
    ) throws(AuthorityFailure) -> Verdict<Event> {
        if earlier[position] == nil {
            let wanted = known.filter { $0.value.position == position }.keys
            earlier[position] = try read(position, Set(wanted))
        }
        guard let verdict = earlier[position]?[id] else {
            throw .unavailable(after: nil, reason: "the decision on \(id) is not at \(position)")
        }
        return verdict
    }

    /// Asks the app's rules.
    ///
    /// - Throws: `.failed` if a rejection is longer than a log can keep.
    private func ruling(
        on intent: Submission<Event>, by account: Account
    ) throws(AuthorityFailure) -> Ruling<Event> {
        guard intent.payload.bytes.count <= SpaceLimits.requestBytesMax else {
            let bytes = SpaceLimits.requestBytesMax
            return .reject(
                Rejection(code: "too-large", message: "an event has at most \(bytes) bytes"))
        }
        let ruling = rules.decide(intent, by: account, on: state.value, at: time)
        if case .reject(let rejection) = ruling {
            do throws(CommandError) {
                try Limit.code.require(rejection.code?.utf8.count ?? 0)
                try Limit.message.require(rejection.message.utf8.count)
            } catch { throw .failed(reason: "the rules rejected \(intent.id): \(error)") }
        }
        return ruling
    }

    /// - Throws: `.failed` if the codec cannot encode the rules' event, or it is too large.
    private func effect(_ event: Event) throws(AuthorityFailure) -> Effect<Event> {
        let bytes: [UInt8]
        do { bytes = try codec.inner.encode(event) } catch {
            throw .failed(reason: "the rules' event cannot be encoded: \(error)")
        }
        guard bytes.count <= SpaceLimits.requestBytesMax else {
            throw .failed(
                reason: "the rules' event has \(bytes.count) bytes, and an event has at most "
                    + "\(SpaceLimits.requestBytesMax)")
        }
        return Effect(event: event, format: codec.inner.format, bytes: bytes)
    }

    /// Applies an effect, or makes a rejection of it (N1).
    private mutating func applied(
        _ effect: Effect<Event>, _ id: IntentID,
        as outcome: (Effect<Event>) -> Decision<Event>.Outcome
    ) -> Decision<Event>.Outcome {
        let folded = Folded(payload: effect.payload, context: EventContext(.intent(id)))
        let error = state.apply(folded)
        guard let error else { return outcome(effect) }
        return .rejected(.inapplicable(error))
    }
}

extension Verdict {
    /// What a device is told of an intent that this code cannot read whole (N13).
    static var serverIsOlder: Verdict {
        .later(after: .seconds(3_600), reason: "the server is older than the app")
    }
}
