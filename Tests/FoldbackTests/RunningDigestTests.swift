import Foldback
import FoldbackHistory
import Foundation
import TestSupport
import Testing

/// Property: a log knows its authority's digest at exactly the position that it covers, or none (N6).
@Suite struct RunningDigestTests {
    private let directory = TemporaryDirectory()
    private let lineage = Lineage("server")!

    private func open(_ url: URL? = nil) async throws -> Store<Board> {
        try await Store.open(
            at: url ?? directory.log, Board.self, confirmedBy: .downlink, durability: .relaxed,
            sources: .counting())
    }

    private func digest(_ text: String) -> RunningDigest { RunningDigest(text)! }

    private func confirm(
        _ store: Store<Board>, through: Position, _ digest: String?
    ) async throws {
        try await store.confirm(
            [ConfirmedEvent(position: through, event: .set("k", Int(through.value)))],
            through: through, from: lineage,
            noting: digest.map { NotedDigest(self.digest($0), at: through) })
    }

    @Test func `a digest has 1 to 255 bytes`() {
        #expect(RunningDigest("") == nil)
        #expect(RunningDigest(String(repeating: "é", count: 128)) == nil)
        #expect(RunningDigest(String(repeating: "e", count: 255)) != nil)
        // Two spellings of one letter are two digests.
        #expect(RunningDigest("\u{E9}") != RunningDigest("e\u{301}"))
    }

    /// Each step is a page, and what the log then sends.
    @Test(arguments: [true, false])
    func `N6: a log sends the digest of what it covers, also after a restart`(
        restarts: Bool
    ) async throws {
        let steps: [(through: Position, digest: String?, sent: String?)] = [
            (3, "d3", "d3"),
            // The same page again, and an earlier page that comes late.
            (3, "d3", "d3"), (2, "d2", "d3"), (3, nil, "d3"),
            // A page without a digest, and then one that has nothing but the digest.
            (5, nil, nil), (3, "d3", nil), (5, "d5", "d5"), (6, "d6", "d6"),
        ]
        var store = try await open()
        for (index, step) in steps.enumerated() {
            try await confirm(store, through: step.through, step.digest)
            if restarts {
                await store.close()
                store = try await open()
            }
            let wanted = SyncPoint(
                lineage: lineage, through: store.status.through, digest: step.sent.map(digest))
            #expect(store.syncPoint == wanted, "step \(index)")
        }
        #expect(store.status.sequence == 3)
        #expect(try await store.verify().findings == [])
        await store.close()
    }

    @Test func `N6: an answer with another digest at a known position is refused`() async throws {
        let store = try await open()
        try await confirm(store, through: 3, "d3")
        let before = (store.syncPoint, store.status.sequence)
        await #expect(throws: CommandError.self) { try await confirm(store, through: 3, "other") }
        #expect(store.superseded == 0)
        #expect(store.syncPoint == before.0 && store.status.sequence == before.1)
        await store.close()
    }

    @Test func `N6: compaction and backup keep the digest`() async throws {
        var store = try await open()
        for position in 1...9 as ClosedRange<UInt64> {
            try await confirm(store, through: Position(position), "d\(position)")
        }
        let known = store.syncPoint
        #expect(known.digest == digest("d9"))
        let backup = directory.url.appending(path: "backup", directoryHint: .isDirectory)
        _ = try await store.backup(to: backup)
        await store.close()
        let copy = try await open(backup)
        #expect(copy.syncPoint == known)
        await copy.close()
        let compaction = try await Store.compact(
            at: directory.log, Board.self, keeping: .entries(2), sources: .counting())
        #expect(compaction.removed > 0)
        store = try await open()
        #expect(store.syncPoint == known)
        await store.close()
    }

    /// The states and the events of an import may be of other data, at the same position.
    @Test func `N6: a log from a state and an imported log have no digest`() async throws {
        var store = try await open()
        try await confirm(store, through: 3, "d3")
        await store.close()
        let reader = try LogReader(at: directory.log)
        let history = try reader.history()
        let imported = directory.url.appending(path: "imported", directoryHint: .isDirectory)
        try await history.importLog(into: imported)
        reader.close()
        let other = try await open(imported)
        #expect(other.syncPoint == SyncPoint(lineage: nil, through: 3))
        await other.close()
        try await Store<Board>.begin(
            at: directory.log, from: [.value(Board())], through: 3, of: lineage)
        store = try await open()
        #expect(store.syncPoint == SyncPoint(lineage: lineage, through: 3))
        await store.close()
    }

    @Test func `L5: a damaged digest is found, and a newer format is refused`() async throws {
        let store = Store.inMemory(
            Board.self, confirmedBy: .downlink, replica: ReplicaID("me"), sources: .counting())
        try await confirm(store, through: 3, "d3")
        let rows = try #require(store.memoryRows)
        var newer = ByteWriter()
        newer.fixed(UInt8(2))
        _ = newer.seal(seed: NotedDigest.key.bytes.withUnsafeBytes { Checksum.of($0, seed: 0) })
        for (bytes, isDamage) in [([1, 2, 3] as [UInt8], true), (newer.bytes, false)] {
            let log = MemoryLog(rows)
            try log.write([TableWrite(.log, .bytes(NotedDigest.key), bytes)])
            let error = #expect(throws: LogError.self) { try log.digest() }
            switch error {
            case .damaged?: #expect(isDamage)
            case .newerFormat?: #expect(!isDamage)
            default: Issue.record("\(String(describing: error))")
            }
        }
    }
}
