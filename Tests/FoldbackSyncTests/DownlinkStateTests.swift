import Foldback
import FoldbackSync
import TestSupport
import Testing

/// These tests ask how a downlink reacts when inputs come at the worst moment.
///
/// A user's downlink fetched 4.4 seconds after the app had said that the device was online, and
/// retried for 40 seconds without an end.
@Suite struct DownlinkStateTests {
    private static let policy = SyncPolicy(
        intentsPerRequestMax: 2, requestsMax: 1, backoffMin: .seconds(1), backoffMax: .seconds(8),
        delayMax: .seconds(100), waiting: .seconds(20))

    private static func at(_ seconds: Double) -> Timestamp {
        Timestamp(millisecondsSince1970: Int64(seconds * 1_000))
    }

    /// A downlink's state and a clock. Jitter is 1, so that each pause is its whole backoff.
    private struct Played {
        var state = DownlinkState(policy: policy, isNeeded: true)
        var now = at(0)

        mutating func take(_ input: DownlinkState.Input) {
            state.take(input, at: now, jitter: 1)
        }

        mutating func next(_ reader: ReaderNumber = 1) -> DownlinkState.Step {
            state.next(reader, at: now)
        }

        /// Begins a follower that has all events.
        mutating func follow() {
            take(.began(1, .follow))
            #expect(next() == .request(waiting: nil))
            page()
        }

        mutating func page(
            _ reader: ReaderNumber = 1, isEmpty: Bool = true, hasMore: Bool = false
        ) {
            take(
                .pageRecorded(reader, .init(through: 7, isEmpty: isEmpty, hasMore: hasMore)))
        }
    }

    private static let lost = AuthorityFailure.unreachable(reason: "lost")

    @Test func `a follower fetches all pages first, and then asks by long polls`() {
        var played = Played()
        played.take(.began(1, .follow))
        #expect(played.next() == .request(waiting: nil))
        #expect(played.state.isFetching)
        played.page(isEmpty: false, hasMore: true)
        #expect(played.next() == .request(waiting: nil))
        played.page()
        #expect(!played.state.isFetching)
        #expect(played.next() == .request(waiting: .seconds(20)))
        played.now = Self.at(3)
        played.page(isEmpty: false)
        #expect(played.next() == .request(waiting: .seconds(20)))
    }

    @Test func `an empty page that comes early is followed by a pause for the rest of the time`() {
        var played = Played()
        played.follow()
        _ = played.next()
        played.now = Self.at(5)
        played.page()
        #expect(played.next() == .wait(until: Self.at(20)))
        #expect(played.state.nextAttempt == Self.at(20))
        played.now = Self.at(20)
        #expect(played.next() == .request(waiting: .seconds(20)))
        played.now = Self.at(41)
        played.page()
        #expect(played.next() == .request(waiting: .seconds(20)))
    }

    @Test func `a clock that is set back makes no wait longer`() {
        var played = Played()
        played.now = Self.at(1_000)
        played.follow()
        _ = played.next()
        played.now = Self.at(500)
        played.page()
        #expect(played.next() == .wait(until: Self.at(520)))
        played.now = Self.at(0)
        #expect(played.next() == .wait(until: Self.at(20)))
        played.take(.began(2, .fetch))
        _ = played.next(2)
        played.take(.requestFailed(2, .unavailable(after: .seconds(500), reason: "busy")))
        #expect(played.next(2) == .wait(until: Self.at(100)))
        played.now = Self.at(-1_000)
        #expect(played.next(2) == .wait(until: Self.at(-900)))
    }

    @Test func `coming online ends each wait except one that the authority asked for`() {
        var played = Played()
        played.follow()
        _ = played.next()
        played.page()
        played.take(.told(.wentOnline))
        #expect(played.next() == .request(waiting: nil))
        played.take(.requestFailed(1, Self.lost))
        #expect(played.next() == .wait(until: Self.at(1)))
        played.take(.told(.wentOnline))
        #expect(played.next() == .request(waiting: nil))
        played.take(.requestFailed(1, .unavailable(after: .seconds(30), reason: "busy")))
        played.take(.told(.wentOnline))
        #expect(played.next() == .wait(until: Self.at(30)))
    }

    @Test func `coming online repeats a long poll, because its connection may be gone`() {
        var played = Played()
        played.follow()
        _ = played.next()
        #expect(!played.state.isDropped(1))
        played.take(.told(.wentOnline))
        #expect(played.state.isDropped(1))
        played.take(.requestDropped(1))
        #expect(played.next() == .request(waiting: nil))
        // A request for an answer at once goes on: it ends soon.
        played.take(.told(.wentOnline))
        #expect(!played.state.isDropped(1))
    }

    @Test func `a follower waits while offline, and goes on when the device comes online`() {
        var played = Played()
        played.take(.told(.wentOffline))
        played.take(.began(1, .follow))
        #expect(played.next() == .wait(until: nil))
        #expect(played.state.nextAttempt == nil && !played.state.isFetching)
        played.take(.told(.wentOnline))
        #expect(played.next() == .request(waiting: nil))
    }

    @Test func `a missing sign-in ends a fetch, and a follower waits for it`() {
        var played = Played()
        played.follow()
        _ = played.next()
        played.take(.began(2, .fetch))
        _ = played.next(2)
        played.take(.requestFailed(2, .unauthenticated(reason: "expired")))
        #expect(played.next(2) == .end(.failed(.unauthenticated(reason: "expired"))))
        played.page()
        #expect(played.next() == .wait(until: nil))
        played.take(.told(.wentOnline))
        #expect(played.next() == .wait(until: nil))
        played.take(.told(.signedIn))
        #expect(played.next() == .request(waiting: nil))
    }

    @Test func `signing out ends a long poll`() {
        var played = Played()
        played.follow()
        _ = played.next()
        played.take(.told(.signedOut(reason: "by the user")))
        #expect(played.state.isDropped(1))
        played.take(.requestDropped(1))
        #expect(played.next() == .wait(until: nil))
    }

    @Test func `an invalid answer ends a fetch, and a follower tries again`() {
        let failure = AuthorityFailure.invalidAnswer(reason: "HTML")
        var played = Played()
        played.take(.began(1, .follow))
        _ = played.next()
        played.take(.requestFailed(1, failure))
        #expect(played.next() == .wait(until: Self.at(1)))
        #expect(played.state.link.failure == failure)
        played.take(.began(2, .fetch))
        #expect(played.next(2) == .request(waiting: nil))
        played.take(.requestFailed(2, failure))
        #expect(played.next(2) == .end(.failed(failure)))
        played.now = Self.at(3)
        #expect(played.next() == .request(waiting: nil))
        played.page()
        #expect(played.state.link.failure == nil)
    }

    @Test func `another authority ends all readers, and a new call asks again`() {
        var played = Played()
        played.follow()
        _ = played.next()
        played.take(.began(2, .fetch))
        _ = played.next(2)
        played.take(.requestFailed(2, .superseded(shared: 3)))
        played.take(.requestDropped(1))
        #expect(played.next(1) == .end(.superseded(shared: 3)))
        #expect(played.next(2) == .end(.superseded(shared: 3)))
        played.take(.ended(1))
        played.take(.ended(2))
        #expect(played.state.superseded == 3)
        played.take(.began(3, .fetch))
        #expect(played.state.superseded == nil)
        #expect(played.next(3) == .request(waiting: nil))
    }

    @Test func `another authority ends a follower's long poll`() {
        var played = Played()
        played.follow()
        _ = played.next()
        played.take(.began(2, .fetch))
        _ = played.next(2)
        played.take(.requestFailed(2, .superseded(shared: 3)))
        #expect(played.state.isDropped(1))
    }

    @Test func `the first end of a fetch stays, whatever the other readers hear`() {
        var played = Played()
        for reader in 1...4 as ClosedRange<UInt64> {
            played.take(.began(ReaderNumber(reader), .fetch))
            _ = played.next(ReaderNumber(reader))
        }
        played.page(1)
        played.take(.requestFailed(2, .superseded(shared: 3)))
        played.page(3)
        played.take(.requestFailed(4, .invalidAnswer(reason: "HTML")))
        #expect(played.next(1) == .end(.caughtUp(through: 7)))
        for reader in 2...4 as ClosedRange<UInt64> {
            #expect(played.next(ReaderNumber(reader)) == .end(.superseded(shared: 3)))
        }
    }

    @Test func `a refused sign-in of a request that began before a new sign-in stops no reader`() {
        let expired = AuthorityFailure.unauthenticated(reason: "expired")
        var played = Played()
        played.take(.began(1, .follow))
        _ = played.next()
        played.take(.began(2, .fetch))
        _ = played.next(2)
        played.take(.told(.signedIn))
        played.take(.requestFailed(1, expired))
        #expect(played.next() == .request(waiting: nil))
        played.take(.requestFailed(2, expired))
        #expect(played.state.link.signedOut == nil && played.state.link.failure == nil)
        #expect(played.next(2) == .request(waiting: nil))
        played.take(.requestFailed(2, expired))
        #expect(played.next(2) == .end(.failed(expired)))
    }

    @Test(arguments: [Duration.zero, .seconds(-3)])
    func `an authority that asks for a wait of zero gets backoff`(wait: Duration) {
        var played = Played()
        played.take(.began(1, .follow))
        _ = played.next()
        played.take(.requestFailed(1, .unavailable(after: wait, reason: "busy")))
        #expect(played.next() == .wait(until: Self.at(1)))
        played.take(.told(.wentOnline))
        #expect(played.next() == .request(waiting: nil))
    }

    @Test func `failures of several readers during one pause count once`() {
        var played = Played()
        for reader in 1...3 as ClosedRange<UInt64> {
            played.take(.began(ReaderNumber(reader), .fetch))
            _ = played.next(ReaderNumber(reader))
        }
        for reader in 1...3 as ClosedRange<UInt64> {
            played.take(.requestFailed(ReaderNumber(reader), Self.lost))
        }
        #expect(played.next(1) == .wait(until: Self.at(1)))
        played.now = Self.at(1)
        #expect(played.next(1) == .request(waiting: nil))
        played.take(.requestFailed(1, Self.lost))
        #expect(played.next(2) == .wait(until: Self.at(3)))
    }

    @Test func `a fetch begins during a pause after failures, and its page ends the pause`() {
        var played = Played()
        played.take(.began(1, .follow))
        for _ in 0..<4 {
            _ = played.next()
            played.take(.requestFailed(1, Self.lost))
            played.now = played.now.advanced(by: .seconds(8))
        }
        _ = played.next()
        played.take(.requestFailed(1, Self.lost))
        guard case .wait = played.next() else {
            Issue.record("the pause is missing")
            return
        }
        played.take(.began(2, .fetch))
        #expect(played.next(2) == .request(waiting: nil))
        played.page(2)
        #expect(played.next(2) == .end(.caughtUp(through: 7)))
        #expect(played.next() == .request(waiting: nil))
    }

    @Test func `a fetch during a follower's wait begins that wait again`() {
        var played = Played()
        played.follow()
        _ = played.next()
        played.page()
        played.now = Self.at(15)
        played.take(.began(2, .fetch))
        _ = played.next(2)
        played.page(2)
        #expect(played.next() == .wait(until: Self.at(35)))
    }

    @Test func `a closed store ends all readers`() {
        var played = Played()
        played.follow()
        _ = played.next()
        played.take(.storeClosed)
        #expect(played.state.isDropped(1))
        #expect(played.next() == .end(.storeClosed))
    }

    @Test func `F2: a follower of an acknowledgement log never asks`() {
        var state = DownlinkState(policy: Self.policy, isNeeded: false)
        state.take(.began(1, .follow), at: Self.at(0), jitter: 1)
        #expect(state.next(1, at: Self.at(0)) == .wait(until: nil))
        #expect(!state.isFetching)
    }
}
