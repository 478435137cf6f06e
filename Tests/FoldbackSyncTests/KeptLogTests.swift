import Foldback
import FoldbackSync
import FoldbackTesting
import Foundation
import TestSupport
import Testing

/// These tests come from an app that continued after its server was restored: the old log was wiped,
/// with the only copy of what the server had lost. Where is the old log, and until when (N6)?
@Suite struct KeptLogTests {
    private let directory = TemporaryDirectory()

    private static let policy = SyncPolicy(
        intentsPerRequestMax: 3, requestsMax: 1, backoffMin: .seconds(1), backoffMax: .seconds(8),
        delayMax: .seconds(60))

    @Sendable private static func open(_ url: URL) async throws(LogError) -> Store<Board> {
        try await Store.open(
            at: url, Board.self, confirmedBy: .downlink, durability: .relaxed)
    }

    private var names: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted()
        }
    }

    private static func server(_ name: String) -> InProcessAuthority<Board> {
        InProcessAuthority(Board.self, lineage: Lineage(name)!)
    }

    /// Returns the store of a log that has continued a log with one pending intent.
    private func continued(times: Int = 1) async throws -> Store<Board> {
        var store = try await Self.open(directory.log)
        try await store.confirm([], through: 0, from: Lineage("first"))
        try await store.record(.set("a", 1))
        for time in 0..<times {
            _ = store.noteSuperseded(shared: 0)
            store = try await store.continuedLog(
                from: Self.server("server \(time)"), policy: Self.policy, opening: Self.open)
        }
        return store
    }

    private func keptLogs() async throws -> [URL] {
        try await LogDirectory(at: directory.log).keptLogs()
    }

    @Test func `N6: the old log is kept whole beside the new log`() async throws {
        let store = try await Self.open(directory.log)
        try await store.confirm(
            [ConfirmedEvent(position: 1, event: .set("lost", 1))], from: Lineage("first"))
        try await store.record(.set("a", 1))
        let status = store.status
        #expect(try await keptLogs() == [])
        _ = store.noteSuperseded(shared: 0)
        let next = try await store.continuedLog(
            from: Self.server("../second"), policy: Self.policy, opening: Self.open)
        let hash = Checksum.of(Array("\(status.replica)".utf8).span.bytes, seed: 0)
        let digits = String(hash, radix: 16)
        let name = "log.kept-\(String(repeating: "0", count: 16 - digits.count))\(digits)"
        #expect(try names == ["log", name])
        let kept = try #require(try await keptLogs().first)
        #expect(kept.lastPathComponent == name)
        let old = try await Self.open(kept)
        #expect(old.status.replica == status.replica && old.status.sequence == status.sequence)
        #expect(old.view.cells == ["lost": 1, "a": 1])
        #expect(try await old.verify().findings == [])
        await old.close()
        await next.close()
    }

    @Test func `N6: a fourth log is not kept, and nothing changes until one is wiped`()
        async throws
    {
        let store = try await continued(times: 3)
        let kept = try await keptLogs()
        let before = try names
        #expect(kept.count == 3 && before.count == 4)
        _ = store.noteSuperseded(shared: 0)
        let server = Self.server("last")
        let error = await syncError { () throws(SyncError) in
            _ = try await store.continueOnNewLog(
                from: server, policy: Self.policy, bringing: .pending, opening: Self.open)
        }
        guard case .log(.tooManyKeptLogs(let paths)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(paths == kept.map(\.path))
        let text = "\(LogError.tooManyKeptLogs(paths: paths))"
        #expect(paths.allSatisfy { text.contains($0) } && text.contains("Store.wipe(at:"))
        #expect(try names == before)
        try await store.record(.set("b", 1))
        try await Store<Board>.wipe(at: kept[1], discardingPending: true)
        let next = try await store.continuedLog(
            from: server, policy: Self.policy, opening: Self.open)
        #expect(next.view.cells == ["a": 1, "b": 1])
        #expect(try await keptLogs().count == 3)
        await next.close()
    }

    @Test func `N6: an exchange that was cut off between its two steps is completed`()
        async throws
    {
        let store = try await Self.open(directory.log)
        try await store.confirm([], through: 0, from: Lineage("first"))
        try await store.record(.set("a", 1))
        let beside = try await Self.open(URL(filePath: SuccessorLog.path(of: store.status.path)))
        let work = try SupersededWork(of: store)
        _ = try await beside.bring(.pending, of: work, from: store, isFilling: true)
        await beside.close()
        let kept = KeptLogs.path(of: store.status.replica, beside: store.status.path)
        try FileManager.default.moveItem(
            atPath: SuccessorLog.path(of: store.status.path), toPath: kept)
        // An app that finds it at its start brings nothing twice.
        let found = try await Self.open(URL(filePath: kept, directoryHint: .isDirectory))
        _ = try await store.bring(.pending, from: found)
        #expect(store.overlay.count == 1)
        await found.close()
        _ = store.noteSuperseded(shared: 0)
        let next = try await store.continuedLog(
            from: Self.server("second"), policy: Self.policy, opening: Self.open)
        #expect(next.status.replica == beside.status.replica)
        #expect(next.view.cells == ["a": 1] && next.overlay.count == 1)
        #expect(try await keptLogs().map(\.path) == [kept])
        let old = try await Self.open(URL(filePath: kept, directoryHint: .isDirectory))
        #expect(old.status.replica == store.status.replica && old.overlay.count == 1)
        await old.close()
        await next.close()
    }

    /// Two logs with one id exist only in tests and tools.
    @Test func `N6: a kept log is not taken for a log that is being filled`() async throws {
        let store = try await continued()
        let kept = KeptLogs.path(of: store.status.replica, beside: store.status.path)
        let other = Store<Board>.self
        let namesake = try await other.open(
            at: URL(filePath: kept, directoryHint: .isDirectory), Board.self,
            confirmedBy: .downlink, durability: .relaxed, replica: .exactly(store.status.replica))
        await namesake.close()
        let before = try names
        _ = store.noteSuperseded(shared: 0)
        let error = await syncError { () throws(SyncError) in
            _ = try await store.continueOnNewLog(
                from: Self.server("last"), policy: Self.policy, bringing: .pending,
                opening: Self.open)
        }
        guard case .log(.tooManyKeptLogs([kept])) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try names == before)
        await store.close()
    }

    @Test
    func `BK7: wiping a log removes its kept logs, and pending intents in them do not stop it`()
        async throws
    {
        let store = try await continued(times: 2)
        let number = try #require(store.snapshot.pending.first)
        try await store.withdraw(number)
        await store.close()
        let neighbor = directory.url.appending(
            path: "log.kept-0123456789abcde", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: neighbor, withIntermediateDirectories: false)
        try await Store<Board>.wipe(at: directory.log)
        #expect(try names == [neighbor.lastPathComponent])
    }

    @Test func `BK7: a kept log that is open stops a wipe, and nothing changes`() async throws {
        let store = try await continued(times: 2)
        await store.close()
        let before = try names
        let open = try await Self.open(try #require(try await keptLogs().last))
        let error = await #expect(throws: LogError.self) {
            try await Store<Board>.wipe(at: directory.log, discardingPending: true)
        }
        guard case .locked = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try names == before)
        await open.close()
        try await Store<Board>.wipe(at: directory.log, discardingPending: true)
        #expect(try names == [])
    }

    @Test func `BK7: finishing wipes leaves kept logs, and wiping a lost log removes them`()
        async throws
    {
        let store = try await continued()
        await store.close()
        let before = try names
        try await Store<Board>.finishWipes(in: directory.url)
        #expect(try names == before)
        // An older Foldback wipes the log alone.
        try FileManager.default.removeItem(at: directory.log)
        try await Store<Board>.wipe(at: directory.log)
        #expect(try names == [])
    }
}
