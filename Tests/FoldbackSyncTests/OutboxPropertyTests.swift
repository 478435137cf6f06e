import Foldback
import FoldbackSync
import Foundation
import TestSupport
import Testing

/// These tests ask whether the outbox keeps its rules under random inputs, in any order and at any
/// time.
///
/// Properties, after each input:
/// 1. The number of requests, and of intents and bytes in a request, is within the policy (S2).
/// 2. No intent is in two requests, and no intent with an answer in the log is sent.
/// 3. No intent overtakes another of its lane, except one that waits for a draft or undoes what is not
///    sent. If the policy keeps order, there is one lane (A5, F21, F22). A lane has at most one
///    request (S1). Without lanes, first attempts begin in order of number.
/// 4. No request is begun or sent while offline or signed out.
/// 5. A request is sent only after it was covered, and a first attempt asks for a flush (A5, L2).
/// 6. If intents that can be sent are pending while online and signed in, there is a request or a
///    wait.
/// 7. No wait is longer than the policy's longest wait, also when the clock jumps.
/// 8. At most one request has suspects, and it has no other intents. A quarantined intent is sent
///    alone (S3).
/// 9. No intent begins before those have their answers that it waits for (F21, F22).
/// 10. A drain does not wait for quarantined intents, nor for what waits for them (S3).
@Suite struct OutboxPropertyTests {
    @Test func `the outbox keeps its properties under random inputs`() {
        let environment = ProcessInfo.processInfo.environment["OUTBOX_SEED"]
        let first = environment.flatMap(UInt64.init) ?? UInt64.random(in: 0...UInt64.max / 2)
        print("outbox: seed \(first) (repeat with OUTBOX_SEED=\(first))")
        for seed in first..<first + TestEffort.value(quick: 250, full: 2_000) {
            var life = OutboxLife(seed: seed)
            for step in 0..<150 {
                life.step()
                guard life.broken.isEmpty else {
                    Issue.record("seed \(seed), step \(step): \(life.broken)\n\(life.story())")
                    return
                }
            }
        }
    }

    @Test func `all intents are settled once no more faults occur`() {
        for seed in 1...TestEffort.value(quick: 150 as UInt64, full: 300) {
            var life = OutboxLife(seed: seed)
            for _ in 0..<100 { life.step() }
            life.heal()
            #expect(
                life.broken.isEmpty && life.pending.isEmpty,
                "seed \(seed): \(life.pending) \(life.broken)")
        }
    }
}

/// An outbox's state with a random log, link and clock. It checks the properties.
struct OutboxLife {
    private var random: SeededGenerator
    private let policy: SyncPolicy
    private var state: OutboxState
    private var now = Timestamp(millisecondsSince1970: 1_000_000)
    private var last: UInt64 = 0
    private var sequence: UInt64 = 1
    private(set) var pending: Set<IntentNumber> = []
    private var bytes: [IntentNumber: Int] = [:]
    private var rows: [IntentNumber: Attempt] = [:]
    private var unreadable: Set<IntentNumber> = []
    /// Drafts that are held. They are not among `pending`.
    private var held: Set<IntentNumber> = []
    private var recorded: [IntentNumber: PendingIntent] = [:]
    private let hasLanes: Bool
    private var attempted: Set<IntentNumber> = []
    private var covering: [RequestNumber: [IntentNumber]] = [:]
    private var sent: [RequestNumber: [IntentNumber]] = [:]
    /// The sent requests that have an intent without an answer. Others hold nothing back.
    private var open: [RequestNumber: [IntentNumber]] {
        sent.filter { !pending.isDisjoint(with: $0.value) }
    }
    private var isOnline = true
    private var isSignedIn = true
    private var signIns = 0
    /// The number of sign-ins before a request was sent.
    private var sentUnder: [RequestNumber: Int] = [:]
    private var wait: Timestamp?
    private var inputs: [OutboxState.Input] = []
    private(set) var broken: [String] = []

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        policy = SyncPolicy(
            intentsPerRequestMax: Int.random(in: 1...4, using: &random),
            requestsMax: random.oneIn(2) ? 1 : Int.random(in: 2...4, using: &random),
            backoffMin: .seconds(1), backoffMax: .seconds(8), delayMax: .seconds(60),
            bytesPerRequestMax: 10, quarantineAfter: Int.random(in: 1...3, using: &random))
        hasLanes = random.oneIn(2)
        state = OutboxState(policy: policy, hasLanes: hasLanes)
    }

    func story() -> String { inputs.suffix(40).map { "\($0)" }.joined(separator: "\n") }

    mutating func step() {
        if random.oneIn(3) { advance() }
        take(input())
        check()
    }

    private mutating func advance() {
        let jump: Int64 =
            switch Int.random(in: 0..<12, using: &random) {
            case 0: -500_000
            case 1: 500_000
            default: Int64.random(in: 0...9_000, using: &random)
            }
        now = Timestamp(millisecondsSince1970: now.millisecondsSince1970 + jump)
    }

    private mutating func input() -> OutboxState.Input {
        switch Int.random(in: 0..<19, using: &random) {
        case 18: return waitForOthers() ?? .timePassed
        case 17: return releaseDraft() ?? .timePassed
        case 16:
            return .released(IntentNumber(UInt64.random(in: 1...last + 1, using: &random)))
        case 0...2: return record()
        case 3:
            // This may repeat an answer, because the log also reports what a request has settled.
            let number = IntentNumber(UInt64.random(in: 1...last + 1, using: &random))
            pending.remove(number)
            unreadable.remove(number)
            held.remove(number)
            return .answered([number])
        case 4...6: return cover() ?? .timePassed
        case 7...11: return end() ?? cover() ?? .timePassed
        case 12:
            isOnline = random.oneIn(3)
            return .told(isOnline ? .wentOnline : .wentOffline)
        case 13:
            isOnline = true
            return .told(.wentOnline)
        case 14:
            isSignedIn = !random.oneIn(4)
            if isSignedIn { signIns += 1 }
            return .told(isSignedIn ? .signedIn : .signedOut(reason: "by hand"))
        default: return .timePassed
        }
    }

    private mutating func record() -> OutboxState.Input {
        var recorded: [PendingIntent] = []
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            last += 1
            let number = IntentNumber(last)
            let isReadable = !random.oneIn(9)
            let isHeld = isReadable && random.oneIn(9)
            // A draft that is undone is withdrawn instead.
            let before = pending.union(unreadable)
            bytes[number] = Int.random(in: 0...12, using: &random)
            let intent = PendingIntent(
                number, attempt: nil, isReadable: isReadable, bytes: bytes[number]!,
                isHeld: isHeld, place: LogSequence(sequence),
                after: random.oneIn(6) ? held.sorted().filter { _ in random.oneIn(2) } : [],
                undoes: random.oneIn(6) ? before.sorted().randomElement(using: &random) : nil,
                lane: hasLanes && !random.oneIn(4)
                    ? "abc".randomElement(using: &random).map(String.init) : nil)
            sequence += 1
            if isHeld {
                held.insert(number)
            } else if isReadable {
                pending.insert(number)
            } else {
                unreadable.insert(number)
            }
            recorded.append(intent)
            self.recorded[number] = intent
        }
        return .recorded(recorded)
    }

    /// The log says that a pending intent waits for other drafts than before, perhaps while it is in a
    /// request.
    private mutating func waitForOthers() -> OutboxState.Input? {
        guard let number = pending.sorted().randomElement(using: &random),
            let old = recorded[number]
        else { return nil }
        let again = PendingIntent(
            number, attempt: rows[number], isReadable: true, bytes: old.bytes,
            released: old.released, place: old.place,
            after: held.sorted().filter { $0 < number && random.oneIn(2) }, undoes: old.undoes,
            lane: old.lane)
        recorded[number] = again
        return .recorded([again])
    }

    private mutating func releaseDraft() -> OutboxState.Input? {
        guard let number = held.sorted().randomElement(using: &random), let draft = recorded[number]
        else { return nil }
        held.remove(number)
        pending.insert(number)
        let released = PendingIntent(
            number, attempt: nil, isReadable: true, bytes: draft.bytes,
            released: LogSequence(sequence), after: draft.after, undoes: draft.undoes,
            lane: draft.lane)
        sequence += 1
        recorded[number] = released
        return .recorded([released])
    }

    // MARK: The rules of order, naively

    private func isUnanswered(_ number: IntentNumber) -> Bool {
        pending.contains(number) || held.contains(number) || unreadable.contains(number)
    }

    private func waitsForDraft(_ number: IntentNumber) -> Bool {
        recorded[number]!.after.contains(where: isUnanswered)
    }

    /// Whether later intents of its lane may be sent before this one.
    private func mayBePassed(_ number: IntentNumber) -> Bool {
        if waitsForDraft(number) { return true }
        guard let undone = recorded[number]!.undoes, isUnanswered(undone) else { return false }
        return !pending.contains(undone) || mayBePassed(undone)
    }

    /// Drafts and unreadable intents, and what waits for these or for `others`, as far as it is in no
    /// request.
    private func stuck(with others: Set<IntentNumber> = []) -> Set<IntentNumber> {
        var stuck = held.union(unreadable).union(others)
        let waiting = pending.subtracting(covering.values.joined()).subtracting(
            open.values.joined())
        var count: Int
        repeat {
            count = stuck.count
            let others = stuck.filter(isUnanswered)
            for number in waiting.subtracting(stuck) where waits(number, forOneOf: others) {
                stuck.insert(number)
            }
        } while stuck.count > count
        return stuck
    }

    private func waits(_ number: IntentNumber, forOneOf others: Set<IntentNumber>) -> Bool {
        let intent = recorded[number]!
        let hasPlace = !mayBePassed(number)
        for other in others {
            if intent.after.contains(other) || intent.undoes == other { return true }
            if hasPlace, pending.contains(other), recorded[other]!.place < intent.place,
                areInOneLane(other, number), !mayBePassed(other)
            {
                return true
            }
        }
        return false
    }

    private func areInOneLane(_ one: IntentNumber, _ other: IntentNumber) -> Bool {
        guard hasLanes else { return policy.keepsOrder }
        return recorded[one]!.lane != nil && recorded[one]!.lane == recorded[other]!.lane
    }

    private mutating func cover() -> OutboxState.Input? {
        guard let (request, intents) = covering.min(by: { $0.key < $1.key }) else { return nil }
        covering[request] = nil
        // The app may withdraw an intent just before it is covered.
        if random.oneIn(5), let first = intents.first { pending.remove(first) }
        return .covered(request, pending: intents.filter { pending.contains($0) })
    }

    private mutating func end() -> OutboxState.Input? {
        guard
            let (request, intents) = sent.sorted(by: { $0.key < $1.key })
                .randomElement(using: &random)
        else { return nil }
        sent[request] = nil
        switch Int.random(in: 0..<14, using: &random) {
        case 8...12: return .attemptFailed(request, .failed(reason: "HTTP 500"))
        case 13: return .attemptFailed(request, .invalidAnswer(reason: "HTML"))
        case 0: return .attemptFailed(request, .unreachable(reason: "on purpose"))
        case 1: return .attemptFailed(request, .unavailable(after: .seconds(90), reason: "busy"))
        case 2:
            if sentUnder[request] == signIns, !pending.isDisjoint(with: intents) {
                isSignedIn = false
            }
            return .attemptFailed(request, .unauthenticated(reason: "expired"))
        default:
            var replies: [IntentNumber: OutboxState.Reply] = [:]
            for intent in intents {
                switch Int.random(in: 0..<6, using: &random) {
                case 0: replies[intent] = .later(after: .seconds(20), reason: "soon")
                case 1: break
                case 2: replies[intent] = .unusable(reason: "strange")
                default:
                    replies[intent] = .settled
                    pending.remove(intent)
                }
            }
            return .attemptAnswered(request, replies)
        }
    }

    private mutating func take(_ input: OutboxState.Input) {
        inputs.append(input)
        let jitter = Double.random(in: 0...1, using: &random)
        wait = nil
        for action in state.take([input], at: now, jitter: jitter) {
            switch action {
            case .cover(let request, let attempts, let flushes):
                begun(attempts, flushes: flushes)
                covering[request] = attempts.keys.sorted()
            case .send(let request, let intents):
                if case .covered(request, let still) = input, Set(intents).isSubset(of: still) {
                } else {
                    broken.append("5: \(intents) are sent without being covered")
                }
                if !isOnline || !isSignedIn {
                    broken.append("4: \(intents) are sent while offline or signed out")
                }
                if !pending.isSuperset(of: intents) {
                    broken.append("2: \(intents) are sent after their answer")
                }
                sent[request] = intents
                sentUnder[request] = signIns
            case .note(let attempts):
                rows.merge(attempts) { _, new in new }
                if attempts.values.contains(where: { $0.failure == nil }) {
                    broken.append("an attempt ended without a failure reason")
                }
            case .wait(let until): wait = until
            }
        }
    }

    private mutating func begun(_ attempts: [IntentNumber: Attempt], flushes: Bool) {
        rows.merge(attempts) { _, new in new }
        let intents = attempts.keys.sorted()
        let sizes = Set(attempts.values.map(\.suspicion.intentsMax))
        if sizes.count > 1 { broken.append("8: \(intents) were not halved equally often") }
        if let max = sizes.first ?? nil, intents.count > max {
            broken.append("8: \(intents) are sent together, and at most \(max) may be")
        }
        let others = (Array(covering.values) + Array(open.values)).joined()
        if sizes != [nil], others.contains(where: { rows[$0]?.suspicion.intentsMax != nil }) {
            broken.append("8: \(intents) are suspects like intents of another request")
        }
        if intents.count > 1, intents.reduce(0, { $0 + bytes[$1]! }) > policy.bytesPerRequestMax {
            broken.append("1: too many bytes in one request: \(intents)")
        }
        if !isOnline || !isSignedIn {
            broken.append("4: \(intents) are begun while offline or signed out")
        }
        if intents.count > policy.intentsPerRequestMax {
            broken.append("1: too many intents in one request: \(intents)")
        }
        let under = Set(covering.values.joined()).union(sent.values.joined())
        if !under.isDisjoint(with: intents) {
            broken.append("2: some of \(intents) are already in a request")
        }
        if !unreadable.isDisjoint(with: intents) {
            broken.append("some of \(intents) cannot be read")
        }
        let new = intents.filter { attempted.insert($0).inserted }
        if new.isEmpty == flushes {
            broken.append("5: flush is \(flushes) for the first attempts of \(new)")
        }
        if !hasLanes, !policy.keepsOrder {
            let isOvertaken = pending.subtracting(attempted).contains { number in
                !isTied(number) && new.contains { number < $0 }
            }
            if isOvertaken { broken.append("3: \(new) overtake lower intents") }
        }
        for number in intents {
            let overtaken = pending.subtracting(intents).filter {
                areInOneLane($0, number) && recorded[$0]!.place < recorded[number]!.place
                    && !mayBePassed($0)
            }
            if !overtaken.isEmpty { broken.append("3: \(number) overtakes \(overtaken)") }
            if others.contains(where: { areInOneLane($0, number) && pending.contains($0) }) {
                broken.append("3: the lane of \(number) has another request")
            }
            let waits =
                waitsForDraft(number) || recorded[number]!.undoes.map(isUnanswered) ?? false
            if waits { broken.append("9: \(number) waits for an answer") }
        }
    }

    private func isTied(_ number: IntentNumber) -> Bool {
        !recorded[number]!.after.isEmpty || recorded[number]!.undoes != nil
    }

    private mutating func check() {
        let requests = covering.count + open.count
        if requests > policy.requestsMax { broken.append("1: too many requests: \(requests)") }
        if let wait, wait > now.advanced(by: policy.delayMax) {
            broken.append("7: the wait until \(wait) is too long")
        }
        if isOnline, isSignedIn, requests == 0, wait == nil, !pending.isSubset(of: stuck()) {
            broken.append("6: \(pending) are pending without a request or a wait")
        }
        // The naive closure takes long.
        guard inputs.count.isMultiple(of: 5) else { return }
        let expected = stuck(with: pending.filter { rows[$0]?.quarantine != nil })
        if state.stuck != expected {
            broken.append("10: stuck are \(state.stuck) instead of \(expected)")
        }
    }

    /// Plays until nothing is pending, without further faults.
    mutating func heal() {
        while let release = releaseDraft() { take(release) }
        let answered = unreadable.sorted()
        unreadable = []
        take(.answered(answered))
        (isOnline, isSignedIn) = (true, true)
        take(.told(.wentOnline))
        take(.told(.signedIn))
        for _ in 0..<2_000 where broken.isEmpty {
            if let (request, intents) = covering.min(by: { $0.key < $1.key }) {
                covering[request] = nil
                take(.covered(request, pending: intents.filter { pending.contains($0) }))
            } else if let (request, intents) = sent.min(by: { $0.key < $1.key }) {
                sent[request] = nil
                pending.subtract(intents)
                take(
                    .attemptAnswered(
                        request, Dictionary(uniqueKeysWithValues: intents.map { ($0, .settled) })))
            } else if let wait {
                now = wait
                take(.timePassed)
            }
            check()
        }
    }
}
