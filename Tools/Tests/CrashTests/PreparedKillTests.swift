import Foldback
import Foundation
import Processes
import Testing

/// Born from the question what a compaction in the background leaves if the process is killed while it
/// prepares, or while it opens the log again (C10). The tests kill real processes at their system calls.
///
/// Property: after a kill, the log opens with everything, with the same replica id. As the app opens it again,
/// the log is compacted, and what was left beside it goes.
@Suite(.serialized) struct PreparedKillTests {
    /// The calls to kill at. Each place takes long, because such a log is large.
    private static var calls: [Int] {
        let few = [1, 2].shuffled().prefix(TestEffort.value(quick: 1, full: 2))
        return TestEffort.isFull ? Array(1...60) : Array(few)
    }

    /// A store compacts a log by itself only if 100,000 entries can go.
    private static let entryCount = 101_024

    /// Makes a log of ``entryCount`` entries or a few more.
    private func makeLog(_ log: URL) async throws {
        let store = try await Store.open(
            at: log, Documents.self, confirmedBy: .downlink, durability: .relaxed)
        let events = (0..<1_024).map { DocumentEvent.set("a", .integer($0)) }
        var position: UInt64 = 0
        while store.status.sequence.value < UInt64(Self.entryCount) {
            let receipts = try await store.record(contentsOf: events)
            position += 1
            let confirmed = receipts.map {
                ConfirmedEvent(position: Position(position), event: events[0], origin: $0.id)
            }
            try await store.confirm(confirmed, through: Position(position))
        }
        await store.close()
    }

    private func open(_ log: URL, under prefix: [String] = []) throws -> ProcessEnd {
        try run(prefix + [executable("foldback-probe"), "keeping", log.path])
    }

    private func check(
        _ log: URL, verifies: Bool = false, _ note: Comment
    ) async throws -> StoreStatus {
        let store = try await Store.open(
            at: log, Documents.self, confirmedBy: .downlink, durability: .relaxed)
        #expect(store.confirmed.json == ["a": 0], note)
        if verifies { #expect(try await store.verify().findings == [], note) }
        await store.close()
        return store.status
    }

    @Test(
        .needsStrace,
        arguments: ["rename", "renameat2", "fsync", "unlinkat"].prefix(TestEffort.isFull ? 4 : 1))
    func `C10: SIGKILL while a log compacts itself loses nothing`(call: String) async throws {
        let whole = DiskDirectory()
        try await makeLog(whole.log)
        var kills = 0
        for nth in Self.calls {
            let directory = DiskDirectory()
            // A copy takes a fresh replica id at its first opening.
            try FileManager.default.copyItem(at: whole.log, to: directory.log)
            let replica = try await check(directory.log, "the copy").replica
            let note: Comment = "\(call) \(nth)"
            // Every second log is killed while it takes over what was prepared before.
            let isPrepared = nth / 2 % 2 == 0
            if isPrepared { #expect(try open(directory.log).output == "prepared\n", note) }
            let status = try open(directory.log, under: Strace.killing(at: call, nth)).status
            let left = try await check(directory.log, verifies: true, note)
            #expect(left.replica == replica, note)
            #expect(left.pendingCount >= (isPrepared ? 1 : 0), note)
            for _ in 1...2 { #expect(try open(directory.log).output == "prepared\n", note) }
            // An app does this when it starts.
            try await Store<Documents>.finishWipes(in: directory.url)
            let beside = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
            #expect(beside == ["log"], note)
            let done = try await check(directory.log, verifies: true, note)
            #expect(done.base > 100_000 && done.replica == replica, note)
            #expect(done.pendingCount == left.pendingCount + 2, note)
            try await Store<Documents>.wipe(at: directory.log, discardingPending: true)
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
            #expect(names == [], note)
            // A run with fewer calls of that name ends without a kill.
            guard status != 0 else { break }
            kills += 1
        }
        print("prepared: killed at \(kills) calls of \(call)")
        #expect(kills > 0 || call != "rename")
    }
}
