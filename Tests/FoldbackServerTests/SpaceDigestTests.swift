import Foldback
import FoldbackTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FoldbackServer
@testable import FoldbackSync

/// Question: does a server notice that it runs on an older image of its disk?
///
/// An image of a whole disk brings back inodes and birth times, so a log does not see that it was copied
/// (L11), and its lineage stays the same. New decisions then hide what is gone.
@Suite struct SpaceDigestTests {
    private let directory = TemporaryDirectory()
    private let device = TemporaryDirectory()

    private func open(adopting isAdopting: Bool = false) async throws -> Space<BoardRules> {
        try await Space.open(at: directory.url, rules: BoardRules(), adopting: isAdopting)
    }

    @Sendable private static func open(_ url: URL) async throws(LogError) -> Store<Board> {
        try await Store.open(at: url, Board.self, confirmedBy: .downlink, durability: .relaxed)
    }

    /// Sends everything that is pending, and fetches its effects.
    private func exchange(
        _ store: Store<Board>, with authority: any Authority<Move>
    ) async throws {
        let outbox = Outbox(store, to: authority, policy: .ordered)
        let sending = Task { try await outbox.run() }
        for intent in store.overlay where intent.state == .pending {
            _ = try await store.receipt(for: intent.id.number).answer()
        }
        sending.cancel()
        try await sending.value
        _ = try await Downlink(store, from: authority, policy: .ordered).fetch()
    }

    // MARK: An older image

    /// Returns a store with an intent that the space confirmed after the image which it runs on now. Since
    /// then, the space has made three other decisions.
    private func restored(
        of wrapped: (SpaceAuthority<BoardRules>) -> any Authority<Move>
    ) async throws -> (Store<Board>, Space<BoardRules>) {
        var space = try await open()
        let lineage = space.lineage
        let store = try await Self.open(device.log)
        try await store.record(.set("kept", 1))
        try await exchange(store, with: wrapped(space.authority(for: .ann)))
        await space.close()
        let image = try DiskImage(of: directory.url)
        space = try await open()
        try await store.record(.set("lost", 2))
        try await exchange(store, with: wrapped(space.authority(for: .ann)))
        #expect(store.overlay.isEmpty && store.syncPoint.through == 3)
        await space.close()
        try image.restore()
        space = try await open()
        #expect(space.lineage == lineage && space.head == 2, "the log knows that it was copied")
        for number in 1...3 as ClosedRange<UInt64> {
            _ = try await space.authority(for: .ben).submit([
                sent(number, .set("other", Int(number)), of: "b")
            ])
        }
        return (store, space)
    }

    @Test func `N6: a space on an older image supersedes a device that has more`() async throws {
        var (store, space) = try await restored { $0 }
        #expect(store.syncPoint.digest != nil)
        let before = (store.syncPoint, store.status.sequence)
        // Without this, the outbox would go on below.
        try await #require(throws: AuthorityFailure.superseded(shared: 0)) {
            try await space.authority(for: .ann).changes(after: store.syncPoint)
        }
        await #expect(throws: AuthorityFailure.superseded(shared: 0)) {
            try await space.authority(for: .ann).submit(
                [sent(1, .set("x", 1), of: "c")], from: store.syncPoint)
        }
        #expect(space.head == 5)
        // Both sides know it after a restart, too.
        await store.close()
        await space.close()
        store = try await Self.open(device.log)
        space = try await open()
        #expect(store.syncPoint == before.0)
        let authority = space.authority(for: .ann)
        await #expect(throws: SyncError.self) {
            try await Downlink(store, from: authority, policy: .ordered).fetch()
        }
        #expect(store.superseded == 0 && store.status.sequence == before.1)

        try await store.record(.set("pending", 3))
        await #expect(throws: SyncError.self) {
            try await Outbox(store, to: authority, policy: .ordered).run()
        }
        let result = try await store.continueOnNewLog(
            from: authority, policy: .ordered, bringing: .pendingAndConfirmed, opening: Self.open)
        guard case .continued(let next, let brought) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(brought.lacking == 1)
        try await exchange(next, with: authority)
        #expect(next.overlay.isEmpty && next.view == space.store.view.state)
        #expect(next.view.cells == ["kept": 1, "lost": 2, "other": 3, "pending": 3])
        await next.close()
        await space.close()
    }

    /// A client that is older than digests.
    private struct WithoutDigests: Authority {
        typealias Event = Move

        let base: SpaceAuthority<BoardRules>

        func submit(
            _ intents: [Submission<Move>], from device: SyncPoint
        ) async throws(AuthorityFailure) -> Verdicts<Move> {
            #expect(device.digest == nil)
            return try await base.submit(intents, from: device)
        }

        func changes(after device: SyncPoint) async throws(AuthorityFailure) -> Changes<Move> {
            let page = try await base.changes(after: device)
            return Changes(
                events: page.events, through: page.through, hasMore: page.hasMore,
                lineage: page.lineage, head: page.head)
        }
    }

    /// This is what digests are for.
    @Test func `without digests, nobody notices an older image`() async throws {
        let (store, space) = try await restored { WithoutDigests(base: $0) }
        #expect(store.syncPoint.digest == nil)
        try await exchange(store, with: WithoutDigests(base: space.authority(for: .ann)))
        #expect(store.syncPoint.through == space.head)
        #expect(store.confirmed.cells["lost"] == 2)
        #expect(space.store.view.state.cells["lost"] == nil)
        // From here on, this device compares too.
        try await exchange(store, with: space.authority(for: .ann))
        #expect(store.syncPoint.digest != nil)
        await store.close()
        await space.close()
    }

    /// A device whose events are the same goes on with its log. It would be superseded again and again if it
    /// kept the digest.
    @Test func `N6: a device that cannot see the difference goes on`() async throws {
        var space = try await open()
        await space.close()
        let image = try DiskImage(of: directory.url)
        var store = try await Self.open(device.log)
        for secret in [1, 2] {
            space = try await open()
            _ = try await space.authority(for: .ben).submit([
                sent(1, .set("secret", secret), of: "b\(secret)")
            ])
            if secret == 1 {
                try await exchange(store, with: space.authority(for: .ann))
                #expect(store.syncPoint.through == 2 && store.syncPoint.digest != nil)
                await space.close()
                try image.restore()
            }
        }
        let authority = space.authority(for: .ann)
        await #expect(throws: SyncError.self) {
            try await Downlink(store, from: authority, policy: .ordered).fetch()
        }
        let result = try await store.continueOnNewLog(
            from: authority, policy: .ordered, bringing: .pending, opening: Self.open)
        guard case .notSuperseded = result else {
            Issue.record("\(result)")
            return
        }
        #expect(store.syncPoint.digest == nil)
        await store.close()
        store = try await Self.open(device.log)
        #expect(store.syncPoint.digest == nil)
        try await store.record(.set("a", 1))
        try await exchange(store, with: authority)
        #expect(store.confirmed.cells == ["a": 1] && store.syncPoint.through == 3)
        #expect(store.syncPoint.digest != nil)
        await store.close()
        await space.close()
    }

    /// Sources whose waits end with the test, and a bell that rings when a wait begins.
    private final class Waits: Sendable {
        private let begun = Mutex(0)
        private let bell = Signal()
        private let never = Signal()

        var sources: SyncSources {
            SyncSources(
                now: SyncSources.system.now,
                sleep: { [self] _ in
                    begun.withLock { $0 += 1 }
                    bell.ring()
                    await never.wait { false }
                }, jitter: { 0 })
        }

        func reach(_ count: Int) async {
            await bell.wait { [self] in begun.withLock { $0 } >= count }
        }
    }

    @Test func `N6: a long poll that waits over a restored image is superseded`() async throws {
        let waits = Waits()
        let spaces = Spaces(
            in: directory.url, rules: BoardRules(), openMax: 1, sources: waits.sources)
        // Opening another space closes this one.
        func closeMain() async throws {
            try await spaces.using(SpaceName("other")!) { _ in }
        }
        let (ann, ben) = (
            spaces.authority(for: .ann, in: .main), spaces.authority(for: .ben, in: .main)
        )
        _ = try await ann.changes(after: 0)
        try await closeMain()
        let image = try DiskImage(of: directory.url.appending(path: SpaceName.main.folder))
        _ = try await ann.submit([sent(1, .set("lost", 1))])
        let poll = Task {
            try await ben.changes(
                after: SyncPoint(lineage: nil, through: 2), waiting: .seconds(50))
        }
        await waits.reach(1)
        try await closeMain()
        try image.restore()
        _ = try await ann.submit([sent(2, .set("other", 1))])
        await #expect(throws: AuthorityFailure.superseded(shared: 0)) { try await poll.value }
        await spaces.close()
    }

    // MARK: The digests of a space

    /// Property: a position keeps its digest over restarts and in an adopted copy, in memory and on disk. On
    /// an older image, it has another one from the first other decision on. A device with the digest of its
    /// position is served, and a device with any other digest is superseded.
    @Test func `N6: a digest stands for all decisions up to its position`() async throws {
        let first = testSeed("SpaceDigestTests", variable: "SPACE_DIGEST_SEED")
        for seed in first..<first + TestEffort.value(quick: 10, full: 200) {
            try await play(seed)
        }
    }

    private func play(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let place = TemporaryDirectory()
        func open(_ url: URL, adopting: Bool = false) async throws -> Space<BoardRules> {
            try await Space.open(at: url, rules: BoardRules(), adopting: adopting)
        }
        var space = try await open(place.url)
        var digests: [Position: RunningDigest] = [:]
        var number: UInt64 = 0
        /// Decides some groups, restarts now and then, and compares each position.
        func decide(_ space: inout Space<BoardRules>, groups: Int) async throws {
            for _ in 0..<groups {
                let intents = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                    number += 1
                    let cell = ["a", "no", "secret", "nothing"].randomElement(using: &random)!
                    return sent(number, .set(cell, Int.random(in: 0..<3, using: &random)))
                }
                _ = try await space.authority(for: .ann).submit(intents)
                if random.oneIn(4) {
                    await space.close()
                    space = try await open(place.url)
                }
                try expectDigests(of: space, like: &digests, seed)
            }
        }
        try await decide(&space, groups: Int.random(in: 1...6, using: &random))
        await space.close()
        let image = try DiskImage(of: place.url)
        let shared = space.head
        space = try await open(place.url)
        try await decide(&space, groups: Int.random(in: 1...6, using: &random))
        await space.close()
        let copy = TemporaryDirectory()
        try FileManager.default.removeItem(at: copy.url)
        try FileManager.default.copyItem(at: place.url, to: copy.url)
        let adopted = try await open(copy.url, adopting: true)
        try expectDigests(of: adopted, like: &digests, seed)
        await adopted.close()

        let lost = digests.filter { $0.key > shared }
        digests = digests.filter { $0.key <= shared }
        try image.restore()
        space = try await open(place.url)
        try await decide(&space, groups: Int.random(in: 1...6, using: &random))
        for (position, digest) in lost { #expect(digests[position] != digest, "seed \(seed)") }
        for (position, digest) in digests.merging(lost, uniquingKeysWith: { $1 }) {
            let device = SyncPoint(lineage: space.lineage, through: position, digest: digest)
            let page = try? await space.authority(for: .ben).changes(after: device)
            #expect((page != nil) == (lost[position] == nil), "seed \(seed), \(position)")
        }
        await space.close()
    }

    private func expectDigests(
        of space: Space<BoardRules>, like known: inout [Position: RunningDigest], _ seed: UInt64
    ) throws {
        for value in 1...space.head.value {
            let position = Position(value)
            let held = space.tail.withLock { $0.checksum(at: position) }
            let digest = try space.digest(at: position, held: held)
            #expect(digest != nil && digest == known[position] ?? digest, "seed \(seed)")
            #expect(try space.digest(at: position, held: nil) == digest, "seed \(seed)")
            // A device could check guesses of hidden effects with the record's own checksum.
            let checksum = try space.store.checksum(at: LogSequence(value))
            #expect(digest != RunningDigest(String(checksum, radix: 16)), "seed \(seed)")
            known[position] = digest
        }
        #expect(Set(known.values).count == known.count, "seed \(seed)")
    }
}

/// An image of the disk that a log is on.
private struct DiskImage {
    private let log: URL
    private let bytes: Data
    /// Another name of the marker file. A store that writes puts a new file in its place.
    private let mark: URL
    private let folder = TemporaryDirectory()

    init(of log: URL) throws {
        self.log = log
        bytes = try Data(contentsOf: log.appending(path: "data.mdb"))
        mark = folder.url.appending(path: "mark")
        try FileManager.default.linkItem(at: log.appending(path: "mark"), to: mark)
    }

    /// Brings the files back, each with its inode.
    func restore() throws {
        try bytes.write(to: log.appending(path: "data.mdb"), options: [])
        try FileManager.default.removeItem(at: log.appending(path: "mark"))
        try FileManager.default.linkItem(at: mark, to: log.appending(path: "mark"))
    }
}
