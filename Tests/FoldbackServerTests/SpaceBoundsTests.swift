import Foldback
import FoldbackSync
import FoldbackTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FoldbackServer

/// Born from a review that stopped a space forever with one request: what does a hostile device, or a
/// rule with an odd result, cost the others (N11)?
@Suite struct SpaceBoundsTests {
    /// Replaces a small event by a large one.
    private struct SwellingRules: Rules {
        func decide(
            _ intent: Submission<Move>, by account: Account, on board: Board, at time: Timestamp
        ) -> Ruling<Move> {
            guard case .set("swell", let bytes) = intent.event else { return .accept }
            return .reword(.set(String(repeating: "x", count: bytes), 1))
        }

        func access(of account: Account, to space: SpaceName) async -> Bool { true }
    }

    private let directory = TemporaryDirectory()

    @Test func `a replica's name that the index cannot have is refused, and the space goes on`()
        async throws
    {
        let space = try await Space.open(at: directory.url, rules: BoardRules())
        for count in [1, 248, 255] {
            let name = String(repeating: "\0", count: count)
            await #expect(throws: AuthorityFailure.self) {
                try await space.authority(for: .ann).submit([sent(1, .set("a", 1), of: name)])
            }
        }
        let long = String(repeating: "é", count: 127)
        let answer = try await space.authority(for: .ann).submit([sent(1, .set("a", 1), of: long)])
        #expect(answer.byIntent.count == 1 && space.fault == nil)
        #expect(try await space.store.verify().isSound)
        await space.close()
    }

    @Test func `an event of the rules that is too large fails its request alone`() async throws {
        let space = try await Space.open(at: directory.url, rules: SwellingRules())
        async let large = error { () async throws(AuthorityFailure) in
            try await space.authority(for: .ann).submit([sent(1, .set("swell", 5 << 20))])
        }
        async let small = space.authority(for: .ben).submit([sent(1, .set("b", 1), of: "b")])
        guard case .failed = await large else {
            Issue.record("\(String(describing: await large))")
            return
        }
        #expect(try await small.byIntent.count == 1)
        await space.close()
    }

    @Test func `a group that has grown too large leaves the rest of the request for later`()
        async throws
    {
        let space = await Space.inMemory(rules: SwellingRules())
        let intents = (1...9).map { sent($0, .set("swell", 3 << 20)) }
        let answer = try await space.authority(for: .ann).submit(intents)
        #expect((1..<9).contains(answer.byIntent.count))
        var decided = answer.byIntent.count
        while decided < 9 {
            let rest = try await space.authority(for: .ann).submit(Array(intents[decided...]))
            #expect(!rest.byIntent.isEmpty)
            decided += rest.byIntent.count
        }
    }

    @Test func `the words of an error are cut to what a log can keep`() async throws {
        let space = try await Space.open(at: directory.url, rules: BoardRules())
        let intent = sent(1, .add(String(repeating: "k", count: 200_000), 1))
        let answer = try await space.authority(for: .ann).submit([intent])
        guard case .rejected(let rejection) = answer[id(1)] else {
            Issue.record("\(answer)")
            return
        }
        #expect(rejection.code == "inapplicable" && rejection.message.utf8.count <= 65_536)
        #expect(try await space.authority(for: .ann).submit([intent])[id(1)] == answer[id(1)])
        await space.close()
    }

    @Test func `a page passes over effects that it does not show in pieces`() async throws {
        let space = await Space.inMemory(rules: BoardRules())
        for number in 1...300 {
            _ = try await space.authority(for: .ann).submit([
                sent(UInt64(number), .set("secret", number))
            ])
        }
        let first = try await space.authority(for: .ben).changes(after: 0)
        #expect(first.events.isEmpty && first.hasMore && first.through < space.head)
        let rest = try await space.authority(for: .ben).changes(after: first.through)
        #expect(rest.events.isEmpty && !rest.hasMore && rest.through == space.head)
    }

    @Test func `groups without effects do not stay in memory`() {
        var tail = SpaceTail<Move>(lineage: .fresh(), head: 0, checksum: 7)
        #expect(tail.checksum(at: 0) == 7)
        for position in 1...10_000 as ClosedRange<UInt64> {
            tail.append(DecidedGroup(position: Position(position), []), checksum: position)
        }
        let held = Set(
            (1...10_000 as ClosedRange<UInt64>).filter {
                tail.group(at: Position($0)) != nil
            })
        #expect(held.count <= SpaceLimits.tailCountMax && held.contains(10_000))
        for position in 1...10_001 as ClosedRange<UInt64> {
            let isHeld = held.contains(position)
            #expect(tail.checksum(at: Position(position)) == (isHeld ? position : nil))
        }
    }

    @Test func `N11: a queue has room until 8,192 intents or 32 MiB wait, and again after a group`()
    {
        func ticket(_ count: Int, _ bytes: Int) -> Ticket<Move> {
            let recorded = RecordedEvent(format: .json, bytes: Array(repeating: 32, count: bytes))
            let intents = (1...count).map { number in
                Submission(
                    id: IntentID(replica: ReplicaID("r")!, number: IntentNumber(UInt64(number))),
                    event: Move.set("a", 1), recorded: recorded,
                    time: Timestamp(millisecondsSince1970: 0), info: [:])
            }
            return Ticket(intents, by: .ann, waiting: nil)
        }
        for (intents, bytes, max) in [(256, 1, 32), (1, 4 << 20, 8)] {
            var queue = TicketQueue<Move>()
            for _ in 0..<max {
                #expect(queue.hasRoom)
                queue.append(ticket(intents, bytes))
            }
            #expect(!queue.hasRoom)
            let group = queue.takeGroup()
            #expect(group.count == 1 && queue.hasRoom)
            queue.putBack(group)
            #expect(!queue.hasRoom)
        }
    }

    @Test func `a space that cannot be opened is tried again after some seconds`() async throws {
        let now = Mutex(Timestamp(millisecondsSince1970: 0))
        var sources = SyncSources.system
        sources.now = { now.withLock { $0 } }
        let place = directory.url.appending(path: "main")
        try FileManager.default.createDirectory(
            at: directory.url, withIntermediateDirectories: true)
        try Data("no directory".utf8).write(to: place)
        let spaces = Spaces(in: directory.url, rules: BoardRules(), sources: sources)
        let authority = spaces.authority(for: .ann, in: .main)
        func waitOfFailure() async -> Duration? {
            let failure = await error { () async throws(AuthorityFailure) in
                try await authority.changes(after: 0)
            }
            guard case .unavailable(let after, _) = failure else { return nil }
            return after
        }
        #expect(await waitOfFailure() == .seconds(5))
        try FileManager.default.removeItem(at: place)
        now.withLock { $0 = Timestamp(millisecondsSince1970: 2_000) }
        #expect(await waitOfFailure() == .seconds(3))
        #expect(await spaces.status().faults.keys.map(\.description) == ["main"])
        now.withLock { $0 = Timestamp(millisecondsSince1970: 5_000) }
        // The status shows that it is right again, without a device.
        while await !spaces.status().faults.isEmpty { await Task.yield() }
        #expect(try await authority.changes(after: 0).through == 1)
        await spaces.close()
    }
}
