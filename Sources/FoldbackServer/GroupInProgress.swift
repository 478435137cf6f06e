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
    /// The place of each intent in ``decisions``.
    private var places: [IntentID: Int] = [:]
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
        for (id, _) in decisions where replicas[id.replica]?.number == nil {
            replicas[id.replica] = nil
        }
        return (state, replicas.count > SpaceLimits.replicasMax ? [:] : replicas)
    }

    /// The decisions as events of the space's log.
    var events: [ConfirmedEvent<DecisionEvent<Event>>] {
        decisions.map { ConfirmedEvent(position: position, event: .decided($1), origin: $0) }
    }

    /// Decides on a request in order.
    ///
    /// The first intent that is postponed ends its lane; without lanes, the request (N5). After a failure, earlier intents of the request
    /// stay decided: they get the same verdicts when they come again.
    mutating func decide(
        _ ticket: Ticket<Event>
    ) -> Result<[IntentID: Verdict<Event>], AuthorityFailure> {
        for intent in ticket.intents {
            let owner = replicas[intent.id.replica]?.account ?? ticket.account
            let isServers = intent.id.replica == ownReplica
            guard owner == ticket.account, !isServers else {  // mutant: replica-owner
                return .failure(.noAccess)
            }
        }
        var verdicts: [IntentID: Verdict<Event>] = [:]
        var endedLanes: Set<Int?> = []
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
        let digest = intent.recorded.digest
        if let place = places[intent.id] {
            let decision = decisions[place].1
            return decision.digest == digest ? decision.verdict : .rejected(.idReused(intent.id))
        }
        if let decided = known[intent.id] {
            guard decided.digest == digest else { return .rejected(.idReused(intent.id)) }
            return try verdict(on: intent.id, at: decided.position)
        }
        let sent = Effect(event: intent.event, recorded: intent.recorded)
        guard codec.membersLeft(of: sent).isEmpty else {
            return .serverIsOlder
        }
        let outcome: Decision<Event>.Outcome
        switch try ruling(on: intent, by: account) {
        case .later(let after, let reason): return .later(after: after, reason: reason)
        case .reject(let rejection): outcome = .rejected(rejection)
        case .accept: outcome = applied(sent, intent.id) { .accepted($0) }
        case .reword(nil): outcome = .reworded(nil)
        case .reword(let event?):
            outcome = applied(try effect(event), intent.id) { .reworded($0) }
        }
        let decision = Decision(
            position: position, account: account, version: R.State.version, digest: digest,
            outcome: outcome)
        places[intent.id] = decisions.count
        decisions.append((intent.id, decision))
        effectBytes += decision.effect?.recorded.bytes.count ?? 0
        let replica = replicas[intent.id.replica]
        replicas[intent.id.replica] = WorkingReplica(
            account: account, number: replica?.number,
            highest: max(replica?.highest ?? 0, intent.id.number.value))
        return decision.verdict
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
        guard intent.recorded.bytes.count <= SpaceLimits.requestBytesMax else {
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
        return Effect(
            event: event, recorded: RecordedEvent(format: codec.inner.format, bytes: bytes))
    }

    /// Applies an effect, or makes a rejection of it (N1).
    private mutating func applied(
        _ effect: Effect<Event>, _ id: IntentID,
        as outcome: (Effect<Event>) -> Decision<Event>.Outcome
    ) -> Decision<Event>.Outcome {
        let payload = Payload(
            bytes: effect.recorded.bytes, format: effect.recorded.format,
            content: .event(effect.event))
        let error = state.apply(Folded(payload: payload, context: EventContext(.intent(id))))
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
