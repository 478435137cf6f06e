import Foldback
import FoldbackSync
import FoldbackTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// These tests ask whether a downlink follows and fetches correctly with a real store. They run in
/// virtual time.
@Suite struct DownlinkTests {
    private static let policy = SyncPolicy(
        intentsPerRequestMax: 3, requestsMax: 1, backoffMin: .seconds(1), backoffMax: .seconds(8),
        delayMax: .seconds(60), waiting: .seconds(20))

    private let time = VirtualTime()
    private let store = Self.store(.downlink)

    private static func store(_ kind: LogKind) -> Store<Board> {
        Store.inMemory(
            Board.self, confirmedBy: kind, replica: ReplicaID("me"), sources: .counting())
    }

    private func makeDownlink(from authority: any Authority<Move>) -> Downlink<Board> {
        Downlink(store, from: authority, policy: Self.policy, sources: time.sources)
    }

    private static func submission(_ number: UInt64) -> Submission<Move> {
        Submission(
            id: IntentID(replica: ReplicaID("other")!, number: IntentNumber(number)),
            event: .set("k", Int(number)))
    }

    private static func seconds(_ time: VirtualTime) -> Double { time.passed / .seconds(1) }

    /// Calls `body` while the downlink follows, and cancels it after that.
    private static func following(
        _ downlink: Downlink<Board>, _ body: () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await downlink.follow() }
            try await body()
            group.cancelAll()
        }
        #expect(downlink.status.pause == .stopped)
    }

    /// Counts the calls of `changes`, with their times.
    private final class Counting: Authority {
        private let base: any Authority<Move>
        private let time: VirtualTime
        private let calls = Mutex<[(at: Double, waiting: Duration?)]>([])

        init(_ base: any Authority<Move>, _ time: VirtualTime) {
            self.base = base
            self.time = time
        }

        var times: [Double] { calls.withLock { $0.map(\.at) } }
        var polls: Int { calls.withLock { $0.count { $0.waiting != nil } } }

        func submit(
            _ intents: [Submission<Move>], from device: SyncPoint
        ) async throws(AuthorityFailure) -> Verdicts<Move> {
            try await base.submit(intents, from: device)
        }

        func changes(after device: SyncPoint) async throws(AuthorityFailure) -> Changes<Move> {
            calls.withLock { $0.append((seconds(time), nil)) }
            return try await base.changes(after: device)
        }

        func changes(
            after device: SyncPoint, waiting: Duration
        ) async throws(AuthorityFailure) -> Changes<Move> {
            calls.withLock { $0.append((seconds(time), waiting)) }
            return try await base.changes(after: device, waiting: waiting)
        }
    }

    // MARK: Following

    @Test func `a follower gets each event at once from an authority with long polls`()
        async throws
    {
        let authority = InProcessAuthority(Board.self, sources: time.sources)
        let counting = Counting(authority, time)
        try await time.run {
            let downlink = makeDownlink(from: counting)
            try await Self.following(downlink) {
                for number in 1...3 as ClosedRange<UInt64> {
                    await time.sleep(.seconds(7))
                    _ = try await authority.submit([Self.submission(number)])
                    await time.sleep(.milliseconds(1))
                    #expect(store.status.through == Position(number))
                }
                await time.sleep(.seconds(100))
            }
        }
        // One request for an answer at once, one poll for each event, and one every 20 seconds.
        #expect(counting.times.count == 10 && counting.polls == 9)
    }

    @Test func `an authority without long polls is asked at intervals`() async throws {
        let authority = InProcessAuthority(Board.self)
        let counting = Counting(OldAuthority(base: authority), time)
        try await time.run {
            let downlink = makeDownlink(from: counting)
            try await Self.following(downlink) {
                await time.sleep(.seconds(30))
                _ = try await authority.submit([Self.submission(1)])
                await time.sleep(.seconds(15))
                #expect(store.status.through == 1)
            }
        }
        #expect(counting.times == [0, 0, 20, 40, 40])
    }

    @Test func `a follower asks at once when the device comes online`() async throws {
        let authority = InProcessAuthority(Board.self, sources: time.sources)
        _ = try await authority.submit([Self.submission(1)])
        let isDown = Mutex(true)
        let link = FaultyAuthority(authority) { _ in isDown.withLock { $0 } ? .lostBefore : nil }
        try await time.run {
            let downlink = makeDownlink(from: link)
            try await Self.following(downlink) {
                await time.sleep(.seconds(40))
                guard case .failing(.unreachable) = downlink.status.pause else {
                    Issue.record("\(downlink.status)")
                    return
                }
                #expect(downlink.status.nextAttempt != nil && !downlink.status.isFetching)
                isDown.withLock { $0 = false }
                downlink.tell(.wentOnline)
                await time.sleep(.milliseconds(1))
                #expect(store.status.through == 1)
                #expect(downlink.status.pause == nil)
            }
        }
    }

    @Test func `an offline follower asks nothing, and neither does a follower that is signed out`()
        async throws
    {
        let authority = InProcessAuthority(Board.self, sources: time.sources)
        let counting = Counting(authority, time)
        try await time.run {
            let downlink = makeDownlink(from: counting)
            downlink.tell(.wentOffline)
            try await Self.following(downlink) {
                await time.sleep(.seconds(100))
                #expect(downlink.status.pause == .offline && counting.times.isEmpty)
                downlink.tell(.signedOut(reason: "by the user"))
                downlink.tell(.wentOnline)
                await time.sleep(.seconds(100))
                #expect(downlink.status.pause == .signedOut(reason: "by the user"))
                #expect(counting.times.isEmpty)
                downlink.tell(.signedIn)
                await time.sleep(.seconds(1))
                #expect(counting.times == [200, 200])
                // Signing out ends the long poll, so an event does not come.
                downlink.tell(.signedOut(reason: "again"))
                _ = try await authority.submit([Self.submission(1)])
                await time.sleep(.seconds(100))
                #expect(store.status.through == 0)
            }
        }
    }

    @Test func `a follower ends with an error if the authority is another one`() async throws {
        let first = InProcessAuthority(Board.self, sources: time.sources)
        try await time.run {
            _ = try await first.submit([Self.submission(1)])
            let old = makeDownlink(from: first)
            _ = try await old.fetch()
            let second = InProcessAuthority(Board.self, sources: time.sources)
            let downlink = makeDownlink(from: second)
            for _ in 0..<2 {
                let failure = await error { () throws(SyncError) in
                    try await downlink.follow()
                }
                guard case .superseded(shared: 0) = failure else {
                    Issue.record("\(String(describing: failure))")
                    return
                }
                #expect(downlink.status.pause == .superseded(shared: 0))
            }
            #expect(store.status.through == 1)
        }
    }

    @Test func `closing the store ends a follower and a fetch`() async throws {
        let authority = InProcessAuthority(Board.self, sources: time.sources)
        try await time.run {
            let downlink = makeDownlink(from: authority)
            let offline = makeDownlink(from: authority)
            offline.tell(.wentOffline)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await downlink.follow() }
                group.addTask {
                    let result = try await offline.fetch()
                    #expect(result == .stopped)
                }
                await time.sleep(.seconds(5))
                await store.close()
                try await group.waitForAll()
            }
            #expect(time.passed == .seconds(5))
        }
    }

    @Test func `F2: a follower of an acknowledgement log asks nothing until it is canceled`()
        async throws
    {
        let stub = StubAuthority<Move>([])
        try await time.run {
            let downlink = Downlink(
                Self.store(.acknowledgement), from: stub, policy: Self.policy,
                sources: time.sources)
            try await Self.following(downlink) { await time.sleep(.seconds(100)) }
            #expect(stub.asked.isEmpty)
        }
    }

    // MARK: Two calls

    @Test func `a second follower is refused, also of another downlink of the store`() async throws
    {
        let authority = InProcessAuthority(Board.self, sources: time.sources)
        try await time.run {
            let downlink = makeDownlink(from: authority)
            let other = makeDownlink(from: authority)
            try await Self.following(downlink) {
                await time.sleep(.seconds(1))
                for second in [downlink, other] {
                    let failure = await error { () throws(SyncError) in
                        try await second.follow()
                    }
                    guard case .alreadyRunning = failure else {
                        Issue.record("\(String(describing: failure))")
                        return
                    }
                }
                // The first follower goes on.
                _ = try await authority.submit([Self.submission(1)])
                await time.sleep(.seconds(1))
                #expect(store.status.through == 1)
            }
        }
    }

    /// A screen that was closed and opened trapped, because its authority took 0.5 seconds to notice
    /// the cancellation.
    @Test func `a follower waits for a canceled follower that is ending`() async throws {
        let authority = InProcessAuthority(Board.self, sources: time.sources)
        // It notices a cancellation half a second late.
        let slow = SlowToEnd(base: authority, time: time)
        try await time.run {
            let downlink = makeDownlink(from: slow)
            let first = Task(executorPreference: time) { try await downlink.follow() }
            await time.sleep(.seconds(1))
            first.cancel()
            let waiting = Task(executorPreference: time) { try await downlink.follow() }
            let second = Task(executorPreference: time) { try await downlink.follow() }
            // A follower that is canceled while it waits just returns.
            waiting.cancel()
            try await waiting.value
            await time.sleep(.milliseconds(100))
            #expect(downlink.status.pause != .stopped)
            try await first.value
            _ = try await authority.submit([Self.submission(1)])
            await time.sleep(.seconds(1))
            #expect(store.status.through == 1)
            second.cancel()
            try await second.value
        }
    }

    private struct SlowToEnd: Authority {
        let base: any Authority<Move>
        let time: VirtualTime

        func submit(
            _ intents: [Submission<Move>], from device: SyncPoint
        ) async throws(AuthorityFailure) -> Verdicts<Move> {
            try await base.submit(intents, from: device)
        }

        func changes(after device: SyncPoint) async throws(AuthorityFailure) -> Changes<Move> {
            try await base.changes(after: device)
        }

        func changes(
            after device: SyncPoint, waiting: Duration
        ) async throws(AuthorityFailure) -> Changes<Move> {
            do throws(AuthorityFailure) {
                return try await base.changes(after: device, waiting: waiting)
            } catch {
                // A canceled task does not sleep, so another task does.
                let time = time
                await Task(executorPreference: time) { await time.sleep(.milliseconds(500)) }.value
                throw error
            }
        }
    }

    @Test func `a fetch returns at once while a follower waits for events`() async throws {
        let authority = InProcessAuthority(Board.self)
        try await time.run {
            let downlink = makeDownlink(from: OldAuthority(base: authority))
            try await Self.following(downlink) {
                await time.sleep(.seconds(5))
                _ = try await authority.submit([Self.submission(1)])
                let result = try await downlink.fetch()
                #expect(result == .caughtUp(through: 1))
                #expect(time.passed == .seconds(5))
                // The follower's next request is a whole interval later.
                #expect(downlink.status.nextAttempt == time.now.advanced(by: .seconds(20)))
            }
        }
    }

    // MARK: Bounded fetches

    /// A fetch had not returned after 40 seconds without a connection.
    @Test func `a bounded fetch returns in time and says why`() async throws {
        let stub = StubAuthority<Move>([])
        let lost = FaultyAuthority(stub) { _ in .lostBefore }
        try await time.run {
            let downlink = makeDownlink(from: lost)
            let result = try await downlink.fetch(within: .seconds(10))
            guard case .timedOut(through: 0, failure: .unreachable?) = result else {
                Issue.record("\(result)")
                return
            }
            #expect(time.passed == .seconds(10))
            downlink.tell(.wentOffline)
            let offline = try await downlink.fetch(within: .seconds(10))
            #expect(
                offline
                    == .timedOut(
                        through: 0, failure: .unreachable(reason: "the device is offline")))
            #expect(time.passed == .seconds(20))
            #expect(downlink.status.pause == .stopped)
        }
    }

    @Test func `a bounded fetch cancels a request that takes too long`() async throws {
        let authority = InProcessAuthority(Board.self, eventsPerPageMax: 1)
        let calls = Mutex(0)
        let far = DelayedAuthority(
            authority,
            there: {
                calls.withLock {
                    $0 += 1; return $0 == 1 ? .zero : .seconds(90)
                }
            },
            sleep: time.sleep)
        try await time.run {
            _ = try await authority.submit([Self.submission(1), Self.submission(2)])
            let downlink = makeDownlink(from: far)
            let result = try await downlink.fetch(within: .seconds(10))
            // It keeps the first page.
            #expect(result == .timedOut(through: 1, failure: nil))
            #expect(time.passed == .seconds(10))
        }
    }

    @Test func `a bounded fetch that is done earlier returns earlier`() async throws {
        let authority = InProcessAuthority(Board.self)
        try await time.run {
            _ = try await authority.submit([Self.submission(1)])
            let downlink = makeDownlink(from: authority)
            let result = try await downlink.fetch(within: .seconds(10))
            #expect(result == .caughtUp(through: 1))
            #expect(time.passed == .zero)
        }
    }

    @Test func `a canceled fetch stops`() async throws {
        let lost = FaultyAuthority(StubAuthority<Move>([])) { _ in .lostBefore }
        try await time.run {
            let downlink = makeDownlink(from: lost)
            for limit in [nil, Duration.seconds(50)] {
                let task = Task(executorPreference: time) {
                    if let limit { return try await downlink.fetch(within: limit) }
                    return try await downlink.fetch()
                }
                await time.sleep(.seconds(5))
                task.cancel()
                let result = try await task.value
                #expect(result == .stopped)
            }
        }
    }

    // MARK: Status

    @Test func `the next status after a call includes the call's effect`() async throws {
        let authority = InProcessAuthority(Board.self, sources: time.sources)
        try await time.run {
            let downlink = makeDownlink(from: authority)
            var statuses = downlink.statuses.makeAsyncIterator()
            #expect(await statuses.next()?.pause == .stopped)
            try await Self.following(downlink) {
                await time.sleep(.seconds(1))
                #expect(await statuses.next()?.pause == nil)
                downlink.tell(.wentOffline)
                #expect(await statuses.next()?.pause == .offline)
                // A slow reader gets the latest state.
                downlink.tell(.wentOnline)
                downlink.tell(.signedOut(reason: "a"))
                downlink.tell(.signedOut(reason: "b"))
                #expect(await statuses.next()?.pause == .signedOut(reason: "b"))
                downlink.tell(.signedIn)
                await time.sleep(.seconds(1))
                _ = try await authority.submit([Self.submission(1)])
                _ = try await downlink.fetch()
                #expect(await statuses.next()?.through == 1)
                try await store.confirm([ConfirmedEvent(position: 2, event: .set("x", 1))])
                #expect(await statuses.next()?.through == 2)
            }
            await store.close()
            while await statuses.next() != nil {}
        }
    }

    @Test func `a status is fetching until the log has all events`() async throws {
        let authority = InProcessAuthority(Board.self, eventsPerPageMax: 1, sources: time.sources)
        let far = DelayedAuthority(authority, there: { .seconds(1) }, sleep: time.sleep)
        try await time.run {
            _ = try await authority.submit((1...3).map { Self.submission($0) })
            let downlink = makeDownlink(from: far)
            try await Self.following(downlink) {
                var seen: [DownlinkStatus] = []
                for await status in downlink.statuses {
                    seen.append(status)
                    if status.through == 3, !status.isFetching { break }
                }
                #expect(seen.dropFirst().dropLast().allSatisfy { $0.isFetching })
                #expect(seen.map(\.through).last == 3)
            }
        }
    }

    @Test func `the status changes when a request begins after a wait`() async throws {
        let link = FaultyAuthority(InProcessAuthority(Board.self)) { _ in .lostBefore }
        let far = DelayedAuthority(link, there: { .seconds(1) }, sleep: time.sleep)
        try await time.run {
            let downlink = makeDownlink(from: far)
            try await Self.following(downlink) {
                var statuses = downlink.statuses.makeAsyncIterator()
                while await statuses.next()?.nextAttempt == nil {}
                let status = await statuses.next()
                #expect(status?.isFetching == true && status?.nextAttempt == nil)
            }
        }
    }

    @Test func `a task that waits for a status ends when it is canceled`() async throws {
        try await time.run {
            let downlink = makeDownlink(from: StubAuthority<Move>([]))
            let task = Task(executorPreference: time) {
                var count = 0
                for await _ in downlink.statuses { count += 1 }
                return count
            }
            await time.sleep(.seconds(1))
            task.cancel()
            #expect(await task.value == 1)
        }
    }
}
