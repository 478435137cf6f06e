import Foldback
import FoldbackCollections

/// A group of intents that are sent in order, with one request at a time (S1).
enum Lane: Hashable, Sendable {
    /// The lane of all intents, under a policy that keeps order.
    case shared
    case named(String)
    /// The lane of one intent.
    case alone
}

/// The pending intents that are in no request, and which of them can be sent next, as a pure value (S1).
///
/// Of each lane that has no request on its way, it knows the first intent, the head, and what the head
/// waits for:
///
/// ```
///  lane "a"    5 ─ 8 ─ 9     head 5: ready
///  lane "b"    6 ─ 7         head 6: delayed, so 7 waits too
///  lane "c"   (2 3) ─ 4      2 and 3 are in a request, so no head is filed
///  alone       10            head 10: suspect
/// ```
///
/// An intent that waits for a draft has no place in its lane, so others pass it (F22). An intent that
/// undoes another waits in its place, unless that one is not sent either (F21).
///
/// A change costs O(log n) in intents, and O(n) in those that wait for the changed one. So a decision of
/// the outbox does not depend on the number of lanes.
struct SendingOrder: Sendable {
    typealias Waiting = OutboxState.Waiting

    private struct Queue: Sendable {
        /// The waiting intents that have a place in the lane, by place.
        var order = NumberMap<LogSequence, IntentNumber>()
        /// The number of the lane's intents that are in a request.
        var departedCount = 0
        /// The intent that is filed as the lane's head.
        var head: IntentNumber?
    }

    /// The intents that can be sent and are in no request.
    private(set) var waiting = NumberMap<IntentNumber, Waiting>()
    /// Pending intents that this code cannot read. Newer code will send them. Later intents are
    /// sent now, because the view omits the unreadable intents too (F9, L5).
    private(set) var unreadable: Set<IntentNumber> = []
    /// Drafts that are held (F22). They are not sent, and block nothing but what waits for them.
    private(set) var held: Set<IntentNumber> = []
    /// The intents in requests.
    private var departed: [IntentNumber: OutboxState.Terms] = [:]

    /// Those of the waiting intents that may have to wait for the answers to others.
    private var tied: Set<IntentNumber> = []
    /// The tied intents, by what they may have to wait for.
    private var dependents: [IntentNumber: Set<IntentNumber>] = [:]
    /// Those of the tied intents that have no place in their lanes.
    private var passed: Set<IntentNumber> = []

    /// The lanes with intents. A lane of one intent needs no queue.
    private var queues: [Lane: Queue] = [:]
    /// The heads that can be sent now.
    private var ready = NumberMap<IntentNumber, Lane>()
    /// The heads that are sent apart from others (S3).
    private var suspects = SortedMap<SuspectRank, Lane>()
    /// The heads that wait for a time.
    private var delayed = SortedMap<DelayedHead, Lane>()
    /// Where the suspects and the delayed heads are filed.
    private var ranks: [IntentNumber: SuspectRank] = [:]
    private var delayEnds: [IntentNumber: Timestamp] = [:]

    // MARK: What happens to intents

    /// An intent can be sent, or what is known of it has changed.
    mutating func wait(_ number: IntentNumber, _ intent: Waiting) {
        forget(number)
        set(number, intent)
        recheckDependents(of: number)
    }

    mutating func hold(_ number: IntentNumber) {
        forget(number)
        held.insert(number)
        recheckDependents(of: number)
    }

    mutating func noteUnreadable(_ number: IntentNumber) {
        forget(number)
        unreadable.insert(number)
        recheckDependents(of: number)
    }

    /// An intent has its answer.
    mutating func answer(_ number: IntentNumber) {
        forget(number)
        if let terms = leaveRequest(number) { findHead(of: terms.lane) }
        recheckDependents(of: number)
    }

    /// A waiting intent is in a request now.
    mutating func depart(_ number: IntentNumber) {
        guard let intent = waiting[number] else {
            preconditionFailure("intent \(number) is sent, but does not wait")
        }
        departed[number] = intent.terms
        if intent.terms.lane != .alone {
            queues[intent.terms.lane, default: Queue()].departedCount += 1
        }
        set(number, nil)
    }

    /// An intent of a request waits again.
    mutating func putBack(_ number: IntentNumber, _ attempt: Attempt, _ delay: Delay?) {
        guard let terms = leaveRequest(number) else {
            preconditionFailure("intent \(number) was in no request")
        }
        set(number, Waiting(terms, attempt: attempt, delay: delay))
        recheckDependents(of: number)
    }

    private mutating func leaveRequest(_ number: IntentNumber) -> OutboxState.Terms? {
        guard let terms = departed.removeValue(forKey: number) else { return nil }
        if terms.lane != .alone { queues[terms.lane]?.departedCount -= 1 }
        return terms
    }

    /// Changes what an intent of a request waits for if it has to be sent again.
    mutating func setTerms(of number: IntentNumber, _ terms: OutboxState.Terms) {
        departed[number] = terms  // mutant: terms-again
        recheckDependents(of: number)
    }

    /// Ends the delays that the authority did not ask for.
    mutating func endDelays() {
        for (number, intent) in waiting {
            guard let delay = intent.delay, !delay.isAskedFor else { continue }
            setDelay(nil, of: number)
        }
    }

    private mutating func forget(_ number: IntentNumber) {
        unreadable.remove(number)
        held.remove(number)
        if waiting[number] != nil { set(number, nil) }
    }

    // MARK: What can be sent

    /// The first of the heads that can be sent, by number.
    var firstReady: IntentNumber? { ready.first?.key }

    /// The first of the heads that can be sent apart from others: one that was halved least often, and of
    /// these one that failed least often (S3).
    var firstSuspect: IntentNumber? { suspects.first?.key.number }

    /// The first end of a delay of a head; nil if none is delayed.
    var delayEnd: Timestamp? { delayed.first?.key.until }

    /// Ends delays that are over, and shortens those that are too long, because the clock may have been
    /// set back.
    mutating func passTime(to now: Timestamp, _ policy: SyncPolicy) {
        while let (head, _) = delayed.first, head.until <= now {
            setDelay(nil, of: head.number)
        }
        while let (head, _) = delayed.last, let delay = waiting[head.number]?.delay {
            let bounded = delay.bounded(at: now, policy)
            guard bounded.until < delay.until else { break }
            setDelay(bounded, of: head.number)
        }
    }

    /// Returns the intent that may follow one that is in the same request: the next of its lane, if that
    /// waits for nothing.
    func next(
        after number: IntentNumber, in lane: Lane, at now: Timestamp
    ) -> IntentNumber? {
        // A request has its intents in order of number.
        guard let next = queues[lane]?.order.first?.value, next > number,
            let intent = waiting[next], !waitsForUndone(intent.terms)
        else { return nil }
        if let delay = intent.delay, delay.until > now { return nil }
        return next
    }

    func isInRequest(_ number: IntentNumber) -> Bool {
        departed[number] != nil  // mutant: in-request
    }

    // MARK: Waiting for others

    /// The number of waiting intents that wait for the answers to others.
    var dependentCount: Int {
        tied.count { number in
            waiting[number].map { waits($0.terms) } ?? false
        }
    }

    /// Whether waiting intents wait for the answer to an intent.
    func holdsUpOthers(_ number: IntentNumber) -> Bool {
        dependents[number] != nil || next(inLaneOf: number) != nil
    }

    /// Returns the intents that nothing settles before something else happens: drafts, unreadable
    /// intents, `others`, and the waiting intents that wait for one of these, also by way of other
    /// intents.
    func stuck(with others: some Collection<IntentNumber>) -> Set<IntentNumber> {
        var stuck = held.union(unreadable).union(others)
        var reached = Array(stuck)
        while let number = reached.popLast() {
            var followers = dependents[number] ?? []
            if let next = next(inLaneOf: number) { followers.insert(next) }
            for follower in followers where stuck.insert(follower).inserted {
                reached.append(follower)
            }
        }
        return stuck
    }

    /// The next waiting intent of its lane, which waits for the answer to it. The others of the lane wait for
    /// that one. Nil if it has no place in its lane, so that none waits for it.
    private func next(inLaneOf number: IntentNumber) -> IntentNumber? {
        guard let terms = terms(of: number), hasPlace(terms) else { return nil }
        let next = terms.place.next  // mutant: stuck-lane
        return queues[terms.lane]?.order.first(from: next)?.value
    }

    /// The terms of an intent that waits or is in a request.
    private func terms(of number: IntentNumber) -> OutboxState.Terms? {
        waiting[number]?.terms ?? departed[number]
    }

    /// Whether an intent that must be answered first has no answer (F22).
    private func waitsForDraft(_ terms: OutboxState.Terms) -> Bool {
        terms.after.contains(where: isUnanswered)  // mutant: after-draft
    }

    /// Whether the intent that this one undoes has no answer (F21).
    private func waitsForUndone(_ terms: OutboxState.Terms) -> Bool {
        terms.undoes.map(isUnanswered) ?? false  // mutant: after-undone
    }

    /// Whether it waits for the answers to others.
    private func waits(_ terms: OutboxState.Terms) -> Bool {
        waitsForDraft(terms) || waitsForUndone(terms)
    }

    private func isUnanswered(_ number: IntentNumber) -> Bool {
        waiting[number] != nil || held.contains(number) || unreadable.contains(number)
            || departed[number] != nil
    }

    /// Whether an intent has a place in its lane, so that later ones of the lane wait for it: it is sent
    /// without anything else that happens before but answers.
    private func hasPlace(_ terms: OutboxState.Terms) -> Bool {
        var terms = terms
        while !waitsForDraft(terms), waitsForUndone(terms), let undone = terms.undoes {
            guard let others = self.terms(of: undone) else { return false }
            terms = others
        }
        return !waitsForDraft(terms)
    }

    /// Finds the places of the intents that may have waited for a changed one, and of those that may
    /// have waited for these.
    private mutating func recheckDependents(of number: IntentNumber) {
        var changed = [number]
        while let number = changed.popLast() {
            for dependent in dependents[number] ?? [] {
                guard let intent = waiting[dependent] else { continue }
                let wasPassed = passed.contains(dependent)
                findPlace(of: dependent, intent)
                if wasPassed != passed.contains(dependent) { changed.append(dependent) }
            }
        }
    }

    // MARK: Lanes

    /// Sets or removes a waiting intent.
    private mutating func set(_ number: IntentNumber, _ intent: Waiting?) {
        let old = waiting[number]
        waiting[number] = intent
        if let terms = (intent ?? old)?.terms, terms.isTied {
            if intent == nil { tied.remove(number) } else { tied.insert(number) }
            for other in terms.after + [terms.undoes].compactMap({ $0 }) {
                if intent == nil {
                    dependents[other]?.remove(number)
                    if dependents[other]?.isEmpty ?? false { dependents[other] = nil }
                } else {
                    dependents[other, default: []].insert(number)
                }
            }
        }
        if let intent {
            findPlace(of: number, intent)
        } else if let old {
            leavePlace(of: number, old)
        }
    }

    private mutating func setDelay(_ delay: Delay?, of number: IntentNumber) {
        guard var intent = waiting[number] else { return }
        intent.delay = delay
        waiting[number] = intent
        findPlace(of: number, intent)
    }

    private mutating func findPlace(of number: IntentNumber, _ intent: Waiting) {
        let lane = intent.terms.lane
        let hasPlace = hasPlace(intent.terms)
        if hasPlace { passed.remove(number) } else { passed.insert(number) }
        guard lane != .alone else {
            file(number, intent, in: lane)
            return
        }
        queues[lane, default: Queue()].order[intent.terms.place] = hasPlace ? number : nil
        findHead(of: lane)
    }

    private mutating func leavePlace(of number: IntentNumber, _ intent: Waiting) {
        let lane = intent.terms.lane
        passed.remove(number)
        guard lane != .alone else { return takeFromFile(number) }
        queues[lane]?.order[intent.terms.place] = nil
        findHead(of: lane)
    }

    private mutating func findHead(of lane: Lane) {
        guard let queue = queues[lane] else { return }
        if let head = queue.head { takeFromFile(head) }
        let isFree = queue.departedCount == 0  // mutant: one-request
        let head = isFree ? queue.order.first?.value : nil
        if let head, let intent = waiting[head] { file(head, intent, in: lane) }
        if queue.order.isEmpty, queue.departedCount == 0 {
            queues[lane] = nil
        } else {
            queues[lane]?.head = head
        }
    }

    // MARK: Heads

    /// Files a head by what it waits for.
    private mutating func file(_ number: IntentNumber, _ intent: Waiting, in lane: Lane) {
        takeFromFile(number)
        if waits(intent.terms) { return }
        if let delay = intent.delay {  // mutant: quarantine-retried
            delayEnds[number] = delay.until
            delayed[DelayedHead(until: delay.until, number: number)] = lane
        } else if intent.standing == .normal {
            ready[number] = lane
        } else {
            let rank = SuspectRank(number, intent)
            ranks[number] = rank
            suspects[rank] = lane
        }
    }

    private mutating func takeFromFile(_ number: IntentNumber) {
        ready[number] = nil
        if !ranks.isEmpty, let rank = ranks.removeValue(forKey: number) { suspects[rank] = nil }
        if !delayEnds.isEmpty, let end = delayEnds.removeValue(forKey: number) {
            delayed[DelayedHead(until: end, number: number)] = nil
        }
    }
}

/// The order in which suspects are tried, so that those that only keep failing delay no others.
private struct SuspectRank: SortedKey {
    static let chunkCountMax = 32

    let intentsMax: Int
    let failures: Int
    let number: IntentNumber

    init(_ number: IntentNumber, _ intent: OutboxState.Waiting) {
        intentsMax = intent.standing.intentsMax ?? .max
        failures = intent.attempt?.suspicion.failures ?? 0
        self.number = number
    }

    static func < (one: Self, other: Self) -> Bool {
        if one.intentsMax != other.intentsMax { return one.intentsMax > other.intentsMax }
        return (one.failures, one.number) < (other.failures, other.number)
    }
}

/// A head that waits for a time. They are sorted by time.
private struct DelayedHead: SortedKey {
    static let chunkCountMax = 32

    let until: Timestamp
    let number: IntentNumber

    static func < (one: Self, other: Self) -> Bool {
        (one.until, one.number) < (other.until, other.number)
    }
}
