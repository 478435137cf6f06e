import Foldback
import FoldbackSync
import Foundation
import TestSupport
import Testing

/// These tests ask how an outbox reacts when inputs come at the worst moment.
@Suite struct OutboxStateTests {
    static let policy = SyncPolicy(
        intentsPerRequestMax: 2, requestsMax: 1, backoffMin: .seconds(1), backoffMax: .seconds(8),
        delayMax: .seconds(100))

    static func at(_ seconds: Double) -> Timestamp {
        Timestamp(millisecondsSince1970: Int64(seconds * 1_000))
    }

    /// An outbox state and a clock. Jitter is 1, so that each wait is its whole backoff.
    struct Played {
        var state: OutboxState
        var now = at(0)

        init(_ policy: SyncPolicy = policy) {
            state = OutboxState(policy: policy)
        }

        mutating func take(_ input: OutboxState.Input) -> [OutboxState.Action] {
            state.take([input], at: now, jitter: 1)
        }

        mutating func record(
            _ numbers: ClosedRange<UInt64>, attempt: Attempt? = nil
        ) -> [OutboxState.Action] {
            take(
                .recorded(
                    numbers.map {
                        PendingIntent(IntentNumber($0), attempt: attempt, isReadable: true)
                    }))
        }

        /// Covers all requests of `actions`, and returns the intents that are sent.
        mutating func sent(_ actions: [OutboxState.Action]) -> [[IntentNumber]] {
            var sent: [[IntentNumber]] = []
            for action in actions {
                guard case .cover(let request, let attempts, _) = action else { continue }
                for action in take(.covered(request, pending: attempts.keys.sorted())) {
                    if case .send(_, let numbers) = action { sent.append(numbers) }
                }
            }
            return sent
        }

        mutating func settle(
            _ request: RequestNumber, _ numbers: [IntentNumber]
        ) -> [OutboxState.Action] {
            let replies = Dictionary(
                uniqueKeysWithValues: numbers.map { ($0, OutboxState.Reply.settled) })
            return take(.attemptAnswered(request, replies))
        }
    }

    private static func first(_ number: IntentNumber = 1, at seconds: Double = 0) -> Attempt {
        Attempt(count: 1, startedAt: at(seconds))
    }

    // MARK: Order

    @Test func `A5: intents are covered, then sent, in order, one request at a time`() {
        var played = Played()
        let actions = played.record(1...3)
        #expect(
            actions == [.cover(1, [1: Self.first(), 2: Self.first()], flushes: true)])
        #expect(played.take(.covered(1, pending: [1, 2])) == [.send(1, [1, 2])])
        #expect(played.record(4...4) == [])
        #expect(
            played.settle(1, [1, 2])
                == [.cover(2, [3: Self.first(), 4: Self.first()], flushes: true)])
    }

    @Test func `several requests are sent at once if the policy allows it`() {
        var played = Played(.concurrent(requestsMax: 3))
        #expect(played.sent(played.record(1...130)).map(\.count) == [64, 64, 2])
        #expect(played.record(131...131) == [])
    }

    @Test func `an intent that is withdrawn before it is covered is not sent`() {
        var played = Played()
        _ = played.record(1...2)
        #expect(played.take(.covered(1, pending: [2])) == [.send(1, [2])])
        _ = played.settle(1, [2])
        #expect(played.state.waitingCount == 0)
        _ = played.record(3...3)
        _ = played.take(.answered([3]))
        #expect(played.take(.covered(2, pending: [3])) == [])
        #expect(played.state.requests.isEmpty)
    }

    @Test func `an unreadable intent is listed, and later intents are sent`() {
        var played = Played()
        let unreadable = PendingIntent(1, attempt: nil, isReadable: false)
        let readable = PendingIntent(2, attempt: nil, isReadable: true)
        #expect(played.sent(played.take(.recorded([unreadable, readable]))) == [[2]])
        #expect(played.state.unreadable == [1])
        _ = played.take(.answered([1]))
        #expect(played.state.unreadable.isEmpty)
    }

    // MARK: Failures

    @Test func `waits double with each failure in a row, up to the bound`() {
        var played = Played()
        var sent = played.sent(played.record(1...1))
        var waits: [Double] = []
        for request in 1...6 as ClosedRange<UInt64> {
            #expect(sent == [[1]])
            let failed = played.take(
                .attemptFailed(RequestNumber(request), .unreachable(reason: "no")))
            guard case .wait(let until) = failed.last else {
                Issue.record("\(failed)")
                return
            }
            waits.append(
                Double((until.millisecondsSince1970 - played.now.millisecondsSince1970)) / 1_000)
            #expect(played.take(.timePassed) == [.wait(until: until)])
            played.now = until
            sent = played.sent(played.take(.timePassed))
        }
        #expect(waits == [1, 2, 4, 8, 8, 8])
    }

    @Test func `a failure is recorded with its reason, and the next attempt counts on`() {
        var played = Played()
        _ = played.sent(played.record(1...1))
        played.now = Self.at(3)
        let noted = Attempt(
            count: 1, startedAt: Self.at(0),
            failure: .init(at: Self.at(3), reason: "no signal"), next: Self.at(4))
        #expect(
            played.take(.attemptFailed(1, .unreachable(reason: "no signal")))
                == [.note([1: noted]), .wait(until: Self.at(4))])
        played.now = Self.at(4)
        let second = Attempt(count: 2, startedAt: Self.at(4), failure: noted.failure)
        #expect(played.take(.timePassed) == [.cover(2, [1: second], flushes: false)])
    }

    @Test func `requests that fail together count as one failure`() {
        var played = Played(.concurrent(requestsMax: 4))
        _ = played.sent(played.record(1...256))
        for request in 1...4 as ClosedRange<UInt64> {
            let actions = played.take(
                .attemptFailed(RequestNumber(request), .unreachable(reason: "no")))
            #expect(actions.last == .wait(until: Self.at(1)))
        }
    }

    @Test func `a wait that the authority asks for is kept, up to the longest wait`() {
        var played = Played()
        _ = played.sent(played.record(1...1))
        _ = played.take(.attemptFailed(1, .unavailable(after: .seconds(30), reason: "busy")))
        #expect(played.take(.told(.wentOnline)) == [.wait(until: Self.at(30))])
        played.now = Self.at(30)
        _ = played.sent(played.take(.timePassed))
        let long = played.take(.attemptFailed(2, .unavailable(after: .seconds(900), reason: "")))
        #expect(long.last == .wait(until: Self.at(130)))
    }

    @Test func `under an ordered policy, a postponed intent delays later intents`() {
        var played = Played()
        _ = played.sent(played.record(1...3))
        let actions = played.take(
            .attemptAnswered(1, [1: .settled, 2: .later(after: .seconds(20), reason: "soon")]))
        #expect(actions.last == .wait(until: Self.at(20)))
        #expect(played.take(.told(.wentOnline)) == [.wait(until: Self.at(20))])
        played.now = Self.at(20)
        #expect(played.sent(played.take(.timePassed)) == [[2, 3]])
    }

    @Test func `under a concurrent policy, a postponed intent delays no other intent`() {
        var played = Played(.concurrent(requestsMax: 2))
        _ = played.sent(played.record(1...2))
        let reply = OutboxState.Reply.later(after: .seconds(20), reason: "soon")
        let actions = played.take(.attemptAnswered(1, [1: reply, 2: .settled]))
        #expect(actions.last == .wait(until: Self.at(20)))
        #expect(played.sent(played.record(3...3)) == [[3]])
    }

    @Test func `an intent without a verdict is sent again after a wait`() {
        var played = Played()
        _ = played.sent(played.record(1...2))
        let actions = played.settle(1, [1])
        #expect(actions.last == .wait(until: Self.at(1)))
        #expect(played.sent(played.take(.told(.wentOnline))) == [[2]])
    }

    // MARK: Pauses

    @Test func `an unauthenticated failure pauses all sending until a user signs in`() {
        var played = Played()
        _ = played.sent(played.record(1...2))
        let failed = played.take(.attemptFailed(1, .unauthenticated(reason: "expired")))
        #expect(failed.count == 1)
        #expect(played.state.link.signedOut == "expired")
        for input in [.told(.wentOnline), .timePassed] as [OutboxState.Input] {
            #expect(played.take(input) == [])
        }
        #expect(played.sent(played.take(.told(.signedIn))) == [[1, 2]])
    }

    @Test func `an offline outbox pauses, and retries at once when it comes online`() {
        var played = Played()
        _ = played.sent(played.record(1...1))
        _ = played.take(.told(.wentOffline))
        let failed = played.take(.attemptFailed(1, .unreachable(reason: "no")))
        #expect(failed.count == 1)
        #expect(played.sent(played.take(.told(.wentOnline))) == [[1]])
    }

    @Test func `a request covered while offline waits, and its next attempt counts on`() {
        var played = Played()
        _ = played.record(1...1)
        _ = played.take(.told(.wentOffline))
        #expect(played.take(.covered(1, pending: [1])) == [])
        let again = Attempt(count: 2, startedAt: Self.at(0))
        #expect(played.take(.told(.wentOnline)) == [.cover(2, [1: again], flushes: false)])
    }

    // MARK: Restart and clocks

    @Test func `a recorded wait and attempt count survive a restart`() {
        var played = Played()
        let attempt = Attempt(count: 3, startedAt: Self.at(-1), next: Self.at(5))
        #expect(played.record(1...1, attempt: attempt) == [.wait(until: Self.at(5))])
        let next = Attempt(count: 4, startedAt: Self.at(0))
        #expect(played.take(.told(.wentOnline)) == [.cover(1, [1: next], flushes: false)])
    }

    @Test func `a clock that is set back makes no wait longer than the longest wait`() {
        var played = Played()
        _ = played.sent(played.record(1...1))
        _ = played.take(.attemptFailed(1, .unreachable(reason: "no")))
        played.now = Self.at(-1_000_000)
        #expect(played.take(.timePassed) == [.wait(until: Self.at(-999_900))])
        played.now = Self.at(-999_900)
        #expect(played.sent(played.take(.timePassed)) == [[1]])
        var restarted = Played()
        let attempt = Attempt(count: 3, startedAt: Self.at(0), next: Self.at(5_000_000))
        #expect(restarted.record(1...1, attempt: attempt) == [.wait(until: Self.at(100))])
        restarted.now = Self.at(100)
        #expect(restarted.sent(restarted.take(.timePassed)) == [[1]])
    }

    @Test func `a refused sign-in of a request from before a new sign-in stops nothing`() {
        let expired = AuthorityFailure.unauthenticated(reason: "expired")
        var played = Played(.concurrent(requestsMax: 2))
        _ = played.sent(played.record(1...1))
        _ = played.sent(played.record(2...2))
        #expect(played.take(.attemptFailed(1, expired)).count == 1)
        #expect(played.state.link.signedOut == "expired")
        #expect(played.sent(played.take(.told(.signedIn))) == [[1]])
        // The answer to the old credentials comes late.
        #expect(played.sent(played.take(.attemptFailed(2, expired))) == [[2]])
        #expect(played.state.link.signedOut == nil)
        _ = played.take(.attemptFailed(3, expired))
        #expect(played.state.link.signedOut == "expired")
    }

    @Test(arguments: [Duration.zero, .seconds(-3)])
    func `an authority that asks for a wait of zero gets backoff`(wait: Duration) {
        var played = Played()
        #expect(played.sent(played.record(1...1)) == [[1]])
        let failed = played.take(.attemptFailed(1, .unavailable(after: wait, reason: "busy")))
        #expect(failed.last == .wait(until: Self.at(1)))
        #expect(played.sent(played.take(.told(.wentOnline))) == [[1]])
        let postponed = played.take(
            .attemptAnswered(2, [1: .later(after: wait, reason: "soon")]))
        #expect(postponed.last == .wait(until: Self.at(2)))
        #expect(played.sent(played.take(.told(.wentOnline))) == [[1]])
    }

    @Test func `full jitter spreads a wait over its whole backoff`() {
        let policy = Self.policy
        #expect(policy.backoff(after: 1, jitter: 0) == .zero)
        #expect(policy.backoff(after: 3, jitter: 0.25) == .seconds(1))
        #expect(policy.backoff(after: .max, jitter: 1) == .seconds(8))
    }

    @Test func `time arithmetic does not overflow`() {
        let end = Timestamp(millisecondsSince1970: .max)
        #expect(end.advanced(by: .seconds(1)) == end)
        #expect(Self.at(0).advanced(by: .seconds(Int64.max)) == end)
        #expect(Self.at(0).advanced(by: .microseconds(1)) == Timestamp(millisecondsSince1970: 1))
        #expect(Self.at(3).duration(since: Self.at(5)) == .zero)
        let start = Timestamp(millisecondsSince1970: .min)
        #expect(end.duration(since: start) > .seconds(1))
    }
}
