import Foldback
import FoldbackSync
import FoldbackTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// These tests ask whether a downlink keeps its rules under random inputs, in any order and at any
/// time.
///
/// Properties, after each input:
/// 1. No request begins while offline or signed out.
/// 2. A reader that is online and signed in has a request, or a wait of at most the policy's longest
///    wait, also when the clock jumps.
/// 3. A follower ends only if the store is closed or the authority is superseded.
/// 4. Requests that bring nothing do not follow each other without time or an input of the app in
///    between.
///
/// Once there are no more faults, every follower has all events within the longest wait.
@Suite struct DownlinkPropertyTests {
    @Test func `the downlink keeps its properties under random inputs`() {
        let first = testSeed("downlink", variable: "DOWNLINK_SEED")
        for seed in first..<first + 500 {
            var life = DownlinkLife(seed: seed)
            for step in 0..<200 {
                life.step()
                guard life.broken.isEmpty else {
                    Issue.record("seed \(seed), step \(step): \(life.broken)\n\(life.story)")
                    return
                }
            }
            life.heal()
            #expect(life.broken.isEmpty, "seed \(seed): \(life.broken)\n\(life.story)")
        }
    }

    /// The same with a real store: the authority gets events while calls fail at random.
    @Test func `a follower has every event soon after the last fault`() async throws {
        let first = testSeed("follower", variable: "FOLLOWER_SEED")
        for seed in first..<first + 60 {
            let time = VirtualTime(seed: seed, order: seed)
            let faults = RandomFaults(seed: seed)
            let authority = InProcessAuthority(
                Board.self, eventsPerPageMax: 2, sources: time.sources)
            // Half of the authorities answer long polls at once.
            let link: any Authority<Move> =
                seed % 2 == 0 ? authority : OldAuthority(base: authority)
            let faulty = FaultyAuthority(link) { _ in faults.next() }
            let policy = SyncPolicy(
                intentsPerRequestMax: 1, requestsMax: 1, backoffMin: .seconds(1),
                backoffMax: .seconds(8), delayMax: .seconds(30), waiting: .seconds(10))
            try await time.run {
                let store = Store.inMemory(
                    Board.self, confirmedBy: .downlink, replica: ReplicaID("me"),
                    sources: .counting())
                let downlink = Downlink(
                    store, from: faulty, policy: policy, sources: time.sources)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await downlink.follow() }
                    for number in 1...12 as ClosedRange<UInt64> {
                        _ = try await authority.submit([
                            Submission(
                                id: IntentID(replica: ReplicaID("other")!, number: .init(number)),
                                event: .set("k\(number % 3)", Int(number)))
                        ])
                        await time.sleep(.milliseconds(Int64(number &* seed % 9_000)))
                        if number % 3 == 0 { downlink.tell(.signedIn) }
                    }
                    faults.heal()
                    downlink.tell(.signedIn)
                    await time.sleep(.seconds(31))
                    #expect(store.status.through == 12, "seed \(seed)")
                    #expect(store.confirmed == authority.state, "seed \(seed)")
                    group.cancelAll()
                }
            }
        }
    }
}

/// An authority without long polls.
struct OldAuthority: Authority {
    let base: any Authority<Move>

    func submit(
        _ intents: [Submission<Move>], from device: SyncPoint
    ) async throws(AuthorityFailure) -> Verdicts<Move> {
        try await base.submit(intents, from: device)
    }

    func changes(after device: SyncPoint) async throws(AuthorityFailure) -> Changes<Move> {
        try await base.changes(after: device)
    }
}

/// A random fault for two of three calls, until it is healed.
private final class RandomFaults: Sendable {
    private let random: Mutex<SeededGenerator?>

    init(seed: UInt64) { random = Mutex(SeededGenerator(seed: seed)) }

    func heal() { random.withLock { $0 = nil } }

    func next() -> FaultyAuthority<Move>.Fault? {
        random.withLock { random in
            guard random != nil else { return nil }
            switch Int.random(in: 0..<12, using: &random!) {
            case 0, 1: return .lostBefore
            case 2, 3: return .lostAfter
            case 4: return .duplicated
            case 5: return .unavailable(after: nil)
            case 6: return .unavailable(after: .seconds(12))
            case 7: return .unauthenticated
            default: return nil
            }
        }
    }
}

/// A downlink's state with random readers, link and clock. It checks the properties.
private struct DownlinkLife {
    private enum Phase: Equatable {
        case request(Duration?)
        case wait(Timestamp?)
    }

    private static let policy = SyncPolicy(
        intentsPerRequestMax: 1, requestsMax: 1, backoffMin: .seconds(1), backoffMax: .seconds(8),
        delayMax: .seconds(60), waiting: .seconds(25))

    private var random: SeededGenerator
    private var state = DownlinkState(policy: policy, isNeeded: true)
    private var now = Timestamp(millisecondsSince1970: 1_000_000)
    private var isOnline = true
    private var isSignedIn = true
    private var signIns = 0
    /// The number of sign-ins before a reader's request began.
    private var begunUnder: [ReaderNumber: Int] = [:]
    private var last: UInt64 = 0
    private var readers: [ReaderNumber: (purpose: DownlinkState.Purpose, phase: Phase)] = [:]
    /// The time when each reader's last request began.
    private var begun: [ReaderNumber: Timestamp] = [:]
    /// For each follower, the long polls without an event since the last passing of time or input.
    private var emptyPolls: [ReaderNumber: Int] = [:]
    private var inputs: [String] = []
    private(set) var broken: [String] = []

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    var story: String { inputs.suffix(30).joined(separator: "\n") }

    private var isSuperseded = false

    mutating func step() {
        if random.oneIn(3) { advance() }
        switch Int.random(in: 0..<14, using: &random) {
        case 0: if readers.count < 4 { begin() }
        case 1: end()
        case 2:
            isOnline = random.oneIn(2)
            take(.told(isOnline ? .wentOnline : .wentOffline))
        case 3:
            isSignedIn = random.oneIn(2)
            if isSignedIn { signIns += 1 }
            take(.told(isSignedIn ? .signedIn : .signedOut(reason: "by hand")))
        default: answer()
        }
        askAll()
    }

    private mutating func advance() {
        let jump: Int64 =
            switch Int.random(in: 0..<12, using: &random) {
            case 0: -500_000
            case 1: 500_000
            default: Int64.random(in: 0...20_000, using: &random)
            }
        now = Timestamp(millisecondsSince1970: now.millisecondsSince1970 + jump)
        emptyPolls = [:]
    }

    private mutating func begin() {
        last += 1
        let hasFollower = readers.values.contains { $0.purpose == .follow }
        let purpose: DownlinkState.Purpose = hasFollower ? .fetch : .follow
        take(.began(ReaderNumber(last), purpose))
        readers[ReaderNumber(last)] = (purpose, .wait(nil))
    }

    private mutating func end() {
        guard let reader = readers.keys.sorted().randomElement(using: &random) else { return }
        readers[reader] = nil
        take(.ended(reader))
    }

    private mutating func answer() {
        let asking = readers.filter {
            if case .request = $0.value.phase { true } else { false }
        }
        guard let reader = asking.keys.sorted().randomElement(using: &random) else { return }
        switch Int.random(in: 0..<12, using: &random) {
        case 0: take(.requestFailed(reader, .unreachable(reason: "lost")))
        case 1: take(.requestFailed(reader, .unavailable(after: .seconds(90), reason: "busy")))
        case 2: take(.requestFailed(reader, .invalidAnswer(reason: "HTML")))
        case 3: take(.requestFailed(reader, .failed(reason: "500")))
        case 4:
            if begunUnder[reader] == signIns { isSignedIn = false }
            take(.requestFailed(reader, .unauthenticated(reason: "expired")))
        case 5 where random.oneIn(9):
            isSuperseded = true
            take(.requestFailed(reader, .superseded(shared: 3)))
        case 6: take(.requestDropped(reader))
        default: page(reader, isEmpty: random.oneIn(2), hasMore: random.oneIn(3))
        }
        readers[reader]?.phase = .wait(nil)
    }

    private mutating func page(_ reader: ReaderNumber, isEmpty: Bool, hasMore: Bool) {
        if isEmpty, !hasMore, case .request(let waiting?) = readers[reader]?.phase,
            now.duration(since: begun[reader] ?? now) < waiting
        {
            emptyPolls[reader, default: 0] += 1
        }
        take(
            .pageRecorded(
                reader, .init(through: 7, isEmpty: isEmpty && !hasMore, hasMore: hasMore)))
    }

    private mutating func take(_ input: DownlinkState.Input) {
        inputs.append("\(now.millisecondsSince1970): \(input)")
        switch input {
        case .told(.wentOnline), .told(.signedIn), .requestFailed, .requestDropped, .began:
            emptyPolls = [:]
        default: break
        }
        state.take(input, at: now, jitter: Double.random(in: 0...1, using: &random))
    }

    /// Asks for the steps of all readers without a request, as the loops do after each input.
    private mutating func askAll() {
        for reader in readers.keys.sorted() {
            guard let (purpose, phase) = readers[reader] else { continue }
            if case .request = phase { continue }
            switch state.next(reader, at: now) {
            case .request(let waiting):
                if !isOnline || !isSignedIn { broken.append("1: a request begins") }
                if emptyPolls[reader, default: 0] > 0 {
                    broken.append("4: a request follows an empty poll at once")
                }
                readers[reader]?.phase = .request(waiting)
                begun[reader] = now
                begunUnder[reader] = signIns
            case .wait(let until):
                if isOnline, isSignedIn, until == nil {
                    broken.append("2: reader \(reader) waits for nothing")
                }
                if let until, until > now.advanced(by: Self.policy.delayMax) {
                    broken.append("2: the wait until \(until) is too long")
                }
                readers[reader]?.phase = .wait(until)
            case .end(let ending):
                if purpose == .follow {
                    guard case .superseded = ending, isSuperseded else {
                        broken.append("3: a follower ends: \(ending)")
                        return
                    }
                }
                readers[reader] = nil
                take(.ended(reader))
            }
        }
    }

    /// Ends all faults, and checks that each reader gets a page within the longest wait.
    mutating func heal() {
        take(.told(.wentOnline))
        take(.told(.signedIn))
        (isOnline, isSignedIn) = (true, true)
        var waiting = Set(readers.keys)
        // The clock may have been set back, so the readers ask how long they have to wait now.
        askAll()
        now = now.advanced(by: Self.policy.delayMax)
        for _ in 0..<9 {
            askAll()
            for (reader, (_, phase)) in readers {
                guard case .request = phase else { continue }
                waiting.remove(reader)
                page(reader, isEmpty: false, hasMore: false)
                readers[reader]?.phase = .wait(nil)
            }
            waiting.formIntersection(readers.keys)
        }
        if !waiting.isEmpty { broken.append("readers \(waiting) do not ask") }
    }
}
