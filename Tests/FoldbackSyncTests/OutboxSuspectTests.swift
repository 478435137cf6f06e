import Foldback
import FoldbackSync
import TestSupport
import Testing

/// Question: one intent makes the server fail, or the server fails on everything. Which intents
/// wait, and for how long? It comes from an app whose four intents were all pending after 62
/// attempts, because the server refused the request of one of them.
@Suite struct OutboxSuspectTests {
    private static let day = Duration.seconds(86_400)

    private static func policy(
        _ requestsMax: Int, intents: Int = 4, bytes: Int = 1 << 20
    ) -> SyncPolicy {
        SyncPolicy(
            intentsPerRequestMax: intents, requestsMax: requestsMax, backoffMin: .seconds(1),
            backoffMax: .seconds(8), delayMax: .seconds(100), bytesPerRequestMax: bytes)
    }

    // MARK: Halving

    @Test func `S3: a request that fails three times is halved until one intent is left`() {
        var play = OutboxPlay(Self.policy(1), server: OutboxPlay.poisoned([4]))
        play.record(6)
        play.play(for: .seconds(60))
        let all: [[IntentNumber]] = [[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]]
        let halves: [[IntentNumber]] = [[1, 2], [3, 4], [3, 4], [3, 4], [3]]
        #expect(play.requests == all + halves + Array(repeating: [4], count: 8))
        #expect(play.pending.keys.sorted() == [4, 5, 6])
        #expect(play.state.quarantined.keys.sorted() == [4])
        #expect(play.rows[4]?.quarantine?.reason == "HTTP 500")
        #expect(play.rows[4]?.failuresAlone == 8)
        #expect(play.broken.isEmpty)
    }

    /// With waits of up to a minute between all failures, it took a quarter of an hour.
    @Test func `S3: one intent among 64 is found in four minutes`() {
        for poison in [1, 33, 64] as [IntentNumber] {
            for policy in [SyncPolicy.ordered, .concurrent(requestsMax: 2)] {
                var play = OutboxPlay(policy, server: OutboxPlay.poisoned([poison]))
                play.record(64)
                play.play(for: .seconds(240))
                #expect(play.state.quarantined.keys.sorted() == [poison], "\(policy.requestsMax)")
                #expect(play.broken.isEmpty)
            }
        }
    }

    @Test(arguments: [SyncPolicy.ordered, .concurrent(requestsMax: 2)])
    func `S3: a server that fails everything gets at most two requests a minute and 60 more`(
        policy: SyncPolicy
    ) {
        let end = Timestamp(millisecondsSince1970: 0).advanced(by: Self.day)
        var play = OutboxPlay(policy, server: OutboxPlay.failing(until: end))
        play.record(1_000)
        play.play(for: .seconds(3_600))
        #expect(play.sent.count <= 2 * 60 + 60, "\(play.sent.count)")
        #expect(play.broken.isEmpty)
    }

    /// Without a bound on the halvings that end a wait, 302 requests came in three hours.
    @Test(arguments: [SyncPolicy.ordered, .concurrent(requestsMax: 2)])
    func `S3: if all intents become suspects, the server gets one request a minute and 60 more`(
        policy: SyncPolicy
    ) {
        var play = OutboxPlay(
            policy, server: OutboxPlay.failing(until: .init(millisecondsSince1970: .max)))
        play.record(200)
        play.play(for: .seconds(3 * 3_600))
        #expect(play.sent.count <= 3 * 60 + 60, "\(play.sent.count)")
        #expect(play.broken.isEmpty)
    }

    @Test func `S3: the intent of a request of one is a suspect after one failure`() {
        var play = OutboxPlay(Self.policy(1), server: OutboxPlay.poisoned([1]))
        play.record(1)
        play.play(for: .seconds(1))
        #expect(
            play.rows[1]?.suspicion
                == Attempt.Suspicion(failures: 1, intentsMax: 1, quarantine: nil))
        play.record(3)
        play.play(for: .seconds(60))
        #expect(play.requests == Array(repeating: [1], count: 8))
        #expect(play.state.quarantined.keys.sorted() == [1])
    }

    @Test func `S3: an answer without a verdict on an intent counts against this intent only`() {
        var play = OutboxPlay(Self.policy(1)) { _, intents in .settles(intents.filter { $0 != 2 }) }
        play.record(4)
        play.play(for: .seconds(200))
        #expect(play.requests == [[1, 2, 3, 4]] + Array(repeating: [2], count: 9))
        #expect(play.settledAt.keys.sorted() == [1, 3, 4])
        #expect(play.state.quarantined.keys.sorted() == [2])
    }

    @Test(arguments: [1, 2])
    func `S3: failures of the link lead to no suspicion`(requestsMax: Int) {
        for failure in [
            .unreachable(reason: "no"), .unavailable(after: nil, reason: "busy"),
        ] as [AuthorityFailure] {
            var play = OutboxPlay(
                Self.policy(requestsMax),
                server: OutboxPlay.failing(until: .init(millisecondsSince1970: .max), failure))
            play.record(3)
            play.play(for: Self.day)
            #expect(play.rows.values.allSatisfy { $0.suspicion == .none })
            #expect(play.sent.count > 5_000 && play.state.quarantined.isEmpty)
        }
    }

    // MARK: Poison

    @Test func `S3: under a concurrent policy, intents that fail block no others`() {
        let poison: Set<IntentNumber> = [1, 5, 6, 30]
        for seed in 1...50 as ClosedRange<UInt64> {
            var play = OutboxPlay(
                Self.policy(2), jitter: nil, seed: seed, server: OutboxPlay.poisoned(poison))
            play.record(40)
            play.play(for: .seconds(2_000))
            #expect(Set(play.pending.keys) == poison, "seed \(seed)")
            #expect(Set(play.state.quarantined.keys) == poison)
            // An intent that is recorded while others are in quarantine is sent at once.
            let start = play.now
            play.record(1)
            play.play(for: .seconds(1))
            #expect(play.settledAt[41]?.duration(since: start) == .milliseconds(100))
            #expect(play.broken.isEmpty, "seed \(seed)")
        }
    }

    @Test func `S3: under an ordered policy, an intent that fails blocks only later intents`() {
        for seed in 1...50 as ClosedRange<UInt64> {
            var play = OutboxPlay(
                Self.policy(1, intents: 8), jitter: nil, seed: seed,
                server: OutboxPlay.poisoned([6]))
            play.record(20)
            play.play(for: .seconds(1_000))
            #expect(play.settledAt.keys.sorted() == [1, 2, 3, 4, 5])
            #expect(play.state.quarantined.keys.sorted() == [6])
            // The server is repaired. The intent is tried again within the longest wait.
            play.server = OutboxPlay.poisoned([])
            let start = play.now
            let sent = play.sent.count
            play.play(for: .seconds(110))
            #expect(play.pending.isEmpty && play.broken.isEmpty, "seed \(seed)")
            #expect(play.requests.dropFirst(sent).first == [6])
            #expect(play.settledAt[20]!.duration(since: start) < .seconds(102))
            // Requests are full again after the suspects.
            #expect(play.requests.last == [17, 18, 19, 20])
            #expect(play.requests.contains([9, 10, 11, 12, 13, 14, 15, 16]))
        }
    }

    @Test func `S3: a quarantined intent is tried once in each longest wait`() {
        for requestsMax in [1, 3] {
            var play = OutboxPlay(Self.policy(requestsMax), server: OutboxPlay.poisoned([1]))
            play.record(1)
            play.play(for: .seconds(500))
            let before = play.sent.count
            play.play(for: .seconds(10_000))
            #expect((99...100).contains(play.sent.count - before))
        }
    }

    @Test func `S3: a quarantined intent is tried at each start, and when the device comes online`()
    {
        var play = OutboxPlay(Self.policy(1), server: OutboxPlay.poisoned([1]))
        play.record(1)
        play.play(for: .seconds(300))
        for _ in 1...3 {
            var before = play.sent.count
            play.restart()
            #expect(play.sent.count == before + 1)
            #expect(play.state.quarantined.keys.sorted() == [1])
            play.play(for: .seconds(1))
            before = play.sent.count
            play.take(.told(.wentOnline))
            #expect(play.sent.count == before + 1)
            play.play(for: .seconds(1))
        }
    }

    @Test(arguments: [1, 2])
    func `S3: the search for an intent that fails goes on after restarts`(requestsMax: Int) {
        var play = OutboxPlay(
            Self.policy(requestsMax, intents: 64), server: OutboxPlay.poisoned([50]))
        play.record(64)
        // The app runs for half a minute at a time.
        for _ in 1...20 {
            play.play(for: .seconds(30))
            play.restart()
        }
        #expect(play.state.quarantined.keys.sorted() == [50])
        #expect(play.broken.isEmpty)
    }

    // MARK: The end of a quarantine

    @Test func `S3: a release ends a quarantine, and the intent is sent at once`() {
        var play = OutboxPlay(Self.policy(1), server: OutboxPlay.poisoned([1]))
        play.record(2)
        play.play(for: .seconds(300))
        #expect(play.state.quarantined.keys.sorted() == [1])
        play.server = OutboxPlay.poisoned([])
        play.take(.released(1))
        #expect(play.state.quarantined.isEmpty)
        #expect(play.rows[1]?.suspicion == Attempt.Suspicion.none)
        play.play(for: .seconds(1))
        #expect(play.pending.isEmpty)
        play.take(.released(1))
    }

    @Test func `S3: an answer from anywhere ends a quarantine, and later intents are sent`() {
        var play = OutboxPlay(Self.policy(1), server: OutboxPlay.poisoned([1]))
        play.record(3)
        play.play(for: .seconds(300))
        play.settle(1)
        #expect(play.state.quarantined.isEmpty)
        play.play(for: .seconds(1))
        #expect(play.pending.isEmpty && play.broken.isEmpty)
    }

    @Test func `S3: a postponed intent is not a suspect any more`() {
        var played = OutboxStateTests.Played()
        let attempt = Attempt(
            count: 9, startedAt: OutboxStateTests.at(0),
            suspicion: .init(
                failures: 9, intentsMax: 1,
                quarantine: .init(since: OutboxStateTests.at(0), reason: "no")))
        #expect(played.sent(played.record(1...1, attempt: attempt)) == [[1]])
        _ = played.take(
            .attemptAnswered(1, [1: .later(after: .seconds(3), reason: "soon")]))
        #expect(played.state.quarantined.isEmpty)
    }

    @Test func `S3: a release is kept that comes before the run knows the intent`() {
        var played = OutboxStateTests.Played()
        let attempt = Attempt(
            count: 9, startedAt: OutboxStateTests.at(0),
            suspicion: .init(
                failures: 9, intentsMax: 1,
                quarantine: .init(since: OutboxStateTests.at(0), reason: "no")))
        #expect(played.take(.released(1)) == [])
        // The row was read before the release.
        #expect(played.sent(played.record(1...2, attempt: attempt)) == [[1]])
        #expect(played.state.quarantined.keys.sorted() == [2])
    }

    @Test func `S3: a release of a known intent counts for no later quarantine`() {
        var played = OutboxStateTests.Played(.concurrent(requestsMax: 2))
        #expect(played.sent(played.record(1...1)) == [[1]])
        // Nothing is known against it yet.
        #expect(played.take(.released(1)) == [])
        let attempt = Attempt(
            count: 9, startedAt: OutboxStateTests.at(0),
            suspicion: .init(
                failures: 9, intentsMax: 1,
                quarantine: .init(since: OutboxStateTests.at(0), reason: "no")))
        _ = played.take(.attemptFailed(1, .unreachable(reason: "on purpose")))
        // The log says later that it waits for others than before.
        _ = played.record(1...1, attempt: attempt)
        #expect(played.state.quarantined.keys.sorted() == [1])
    }

    @Test func `S3: the suspects' pause is not recorded as a wait of other intents`() {
        let failure = AuthorityFailure.failed(reason: "HTTP 500")
        var played = OutboxStateTests.Played(.concurrent(requestsMax: 2))
        let suspect = Attempt(
            count: 1, startedAt: OutboxStateTests.at(0),
            suspicion: .init(failures: 1, intentsMax: 1, quarantine: nil))
        #expect(played.sent(played.record(1...1, attempt: suspect)) == [[1]])
        for request in 1...4 as ClosedRange<UInt64> {
            _ = played.take(.attemptFailed(RequestNumber(request), failure))
            played.now = played.now.advanced(by: .seconds(60))
            #expect(played.sent(played.take(.timePassed)) == [[1]])
        }
        // From now on, suspects pause for 16 seconds.
        _ = played.take(.attemptFailed(5, failure))
        #expect(played.sent(played.record(2...3)) == [[2, 3]])
        let noted = Attempt(
            count: 1, startedAt: played.now,
            failure: .init(at: played.now, reason: "HTTP 500"),
            next: played.now.advanced(by: .seconds(1)),
            suspicion: .init(failures: 1, intentsMax: nil, quarantine: nil))
        let actions = played.take(.attemptFailed(6, failure))
        #expect(actions.first == .note([2: noted, 3: noted]))
    }

    // MARK: Outages

    @Test(arguments: [1, 2, 4])
    func `S3: a server fails everything for a day, then heals, and all settles by itself`(
        requestsMax: Int
    ) {
        let policy = SyncPolicy(
            intentsPerRequestMax: 64, requestsMax: requestsMax, backoffMin: .seconds(1),
            backoffMax: .seconds(60), delayMax: .seconds(3_600))
        let end = Timestamp(millisecondsSince1970: 0).advanced(by: Self.day)
        for seed in 1...1 as ClosedRange<UInt64> {
            for restarts in [0, 10] {
                var play = OutboxPlay(
                    policy, jitter: nil, seed: seed, server: OutboxPlay.failing(until: end))
                play.record(100)
                for _ in 0...restarts {
                    play.play(for: Self.day / (restarts + 1))
                    play.record(3)
                    if restarts > 0 { play.restart() }
                }
                #expect(play.settledAt.isEmpty)
                // One request of suspects at a time, and the others, wait half of 60 seconds.
                #expect(play.sent.count < 2 * 86_400 / 30 + 200, "seed \(seed)")
                play.play(for: policy.delayMax + .seconds(600))
                #expect(play.pending.isEmpty, "seed \(seed): \(play.pending.count)")
                #expect(play.state.quarantined.isEmpty && play.broken.isEmpty)
            }
        }
    }

    @Test func `S3: a failure is reported while only suspects wait`() {
        var play = OutboxPlay(
            Self.policy(2), server: OutboxPlay.failing(until: .init(millisecondsSince1970: .max)))
        play.record(4)
        play.play(for: .seconds(60))
        play.restart()
        #expect(play.state.link.failure == nil)
        play.play(for: .seconds(1))
        #expect(play.state.link.failure == .failed(reason: "HTTP 500"))
        // Another intent is sent all the same.
        play.server = OutboxPlay.poisoned([1, 2, 3, 4])
        play.record(1)
        play.play(for: .milliseconds(200))
        #expect(play.settledAt[5] != nil)
    }

    @Test func `S3: one request at a time of a concurrent policy does not keep order`() {
        let policy = SyncPolicy.concurrent(requestsMax: 1)
        #expect(!policy.keepsOrder && SyncPolicy.ordered.keepsOrder)
        var play = OutboxPlay(policy, server: OutboxPlay.poisoned([1]))
        play.record(10)
        play.play(for: .seconds(1_000))
        #expect(play.pending.keys.sorted() == [1])
        #expect(play.broken.isEmpty)
    }

    // MARK: Bytes

    @Test func `S2: a request is bounded by bytes, and a larger intent is sent alone`() {
        for requestsMax in [1, 2] {
            var play = OutboxPlay(
                Self.policy(requestsMax, intents: 10, bytes: 100),
                server: OutboxPlay.poisoned([]))
            play.record(3, bytes: 40)
            play.record(1, bytes: 1_000)
            play.record(2, bytes: 50)
            play.play(for: .seconds(1))
            #expect(play.pending.isEmpty && play.broken.isEmpty)
            #expect(play.requests.sorted { $0[0] < $1[0] }.last == [5, 6])
            #expect(play.requests.contains([4]))
        }
    }
}
