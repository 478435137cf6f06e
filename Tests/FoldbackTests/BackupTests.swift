import Foldback
import FoldbackHistory
import Foundation
import TestSupport
import Testing

/// Question: what has a copy of a log in use, and what can it lose or overwrite (BK1, BK2)?
@Suite struct BackupTests {
    private let directory = TemporaryDirectory()
    private var copy: URL {
        directory.url.appending(path: "backup", directoryHint: .isDirectory)
    }

    private func open(
        at url: URL? = nil, _ kind: LogKind = .downlink
    ) async throws(LogError) -> Store<Board> {
        try await Store.open(
            at: url ?? directory.log, Board.self, also: [AdditionalProjection(RowBoard.self)],
            confirmedBy: kind, durability: .relaxed, checkpoints: .eager)
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted()
    }

    @Test func `BK1: a backup of a log in use has everything up to one commit`() async throws {
        let store = try await open()
        for number in 1...100 { try await store.record(.set("a", number)) }
        async let recording: Void = {
            for number in 101...400 { _ = try await store.record(.set("b", number)) }
        }()
        let last = try await store.backup(to: copy)
        try await recording
        #expect((100...400).contains(Int(last.value)))
        #expect(try names() == ["backup", "log"])
        let reader = try LogReader(at: copy)
        #expect(
            try reader.verify(Board.self, also: [AdditionalProjection(RowBoard.self)]).findings
                == [])
        let entries = try reader.entries(from: 1, countMax: .max).map { "\($0)" }
        reader.close()
        await store.close()
        let original = try LogReader(at: directory.log)
        let expected = try original.entries(from: 1, countMax: entries.count).map { "\($0)" }
        #expect(entries == expected)
        #expect(entries.count == Int(last.value))
        original.close()
    }

    @Test func `BK1: a later backup replaces an earlier one`() async throws {
        let store = try await open()
        try await store.record(.set("a", 1))
        try await store.backup(to: copy)
        try await store.record(.set("b", 1))
        // A reader in another process is told that the file was replaced.
        let reader = try LogReader(at: copy)
        await isRefused(store, "this process reads it") {
            if case .locked(_, .thisProcess) = $0 { true } else { false }
        }
        reader.close()
        #expect(try await store.backup(to: copy) == 2)
        #expect(try names() == ["backup", "log"])
        let again = try LogReader(at: copy)
        #expect(try again.status().pendingCount == 2)
        again.close()
        await store.close()
    }

    @Test func `BK1: a backup replaces nothing that it lacks`() async throws {
        let store = try await open()
        try await store.record(.set("a", 1))
        try await store.backup(to: copy)
        // The backup goes on as a log of its own.
        let restored = try await open(at: copy)
        try await restored.record(.set("b", 1))
        await isRefused(store, "a store has it open") {
            if case .locked(_, .thisProcess) = $0 { true } else { false }
        }
        await restored.close()
        try await store.record(.set("c", 1))
        try await store.record(.set("c", 2))
        await isRefused(store, "it has another entry") {
            if case .notABackup(path: let path, reason: "this log lacks its entry 2") = $0 {
                path == copy.path
            } else {
                false
            }
        }
        let kept = try await open(at: copy)
        #expect(kept.view.cells == ["a": 1, "b": 1])
        await kept.close()
        await store.close()
    }

    private func isRefused(
        _ store: Store<Board>, _ comment: Comment, _ isExpected: (LogError) -> Bool
    ) async {
        let refused = await error { () throws(LogError) in
            _ = try await store.backup(to: copy)
        }
        #expect(refused.map(isExpected) ?? false, "\(comment): \(String(describing: refused))")
    }

    @Test func `BK1: other files at the place, and places inside a log, are left alone`()
        async throws
    {
        let store = try await open()
        try await store.record(.set("a", 1))
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
        let letter = copy.appending(path: "letter.txt")
        try Data("x".utf8).write(to: letter)
        await isRefused(store, "another file") { if case .notALog = $0 { true } else { false } }
        #expect(FileManager.default.fileExists(atPath: letter.path))
        for place in ["inside", "in/side"] {
            let inside = await error { () throws(LogError) in
                _ = try await store.backup(to: directory.log.appending(path: place))
            }
            guard case .notALog = inside else {
                Issue.record("\(String(describing: inside))")
                return
            }
        }
        try FileManager.default.removeItem(at: letter)
        // An empty directory has nothing to lose.
        #expect(try await store.backup(to: copy) == 1)
        await store.close()
        try await Store<Board>.wipe(at: directory.log, discardingPending: true)
    }

    @Test func `BK1: a damaged log makes no backup, and the earlier one stays`() async throws {
        var store = try await open()
        for number in 1...200 { try await store.record(.set("a", number)) }
        try await store.backup(to: copy)
        try await store.record(.set("needle", 1))
        await store.close()
        let file = directory.log.appending(path: "data.mdb")
        // One bit of a record's event, which LMDB does not check.
        var bytes = try Data(contentsOf: file)
        let place = try #require(bytes.range(of: Data("needle".utf8)))
        bytes[place.lowerBound] ^= 1
        try bytes.write(to: file)
        let reader = try LogReader(at: directory.log)
        let refused = await error { () throws(LogError) in
            _ = try await reader.backup(to: copy)
        }
        reader.close()
        guard case .damaged(directory.log.path, _, _) = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(try names() == ["backup", "log"])
        store = try await open(at: copy)
        #expect(store.status.sequence == 200)
        await store.close()
    }

    @Test func `BK1: what a backup that was cut off left is removed by the next`() async throws {
        let store = try await open()
        try await store.record(.set("a", 1))
        let left = directory.url.appending(path: "backup.new", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: left, withIntermediateDirectories: true)
        let half = try Data(contentsOf: directory.log.appending(path: "data.mdb")).prefix(9_000)
        try half.write(to: left.appending(path: "data.mdb"))
        #expect(try await store.backup(to: copy) == 1)
        #expect(try names() == ["backup", "log"])
        await store.close()
    }

    @Test func `BK1: a log in memory has no backup`() async throws {
        let store = Store.inMemory(Board.self, confirmedBy: .downlink)
        let refused = await error { () throws(LogError) in
            _ = try await store.backup(to: copy)
        }
        guard case .missing = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(try names() == [])
    }

    @Test func `BK2: in a backup, pending intents count as sent`() async throws {
        let store = try await open()
        let receipt = try await store.record(.set("a", 1), replacing: "a")
        let draft = try await store.record(.set("d", 1), held: true)
        try await store.backup(to: copy)
        let restored = try await open(at: copy)
        #expect(restored.status.replica != store.status.replica)
        await #expect(throws: CommandError.self) { try await restored.withdraw(receipt.number) }
        // The original may send the first one, so the new value does not take its place.
        let again = try await restored.record(.set("a", 2), replacing: "a")
        #expect(try restored.intent(again.number).replaces == nil)
        let own = try await restored.record(.set("c", 1))
        try await restored.withdraw(own.number)
        let reversed = try await restored.undo(receipt.number, force: true)
        #expect(reversed.withdrawn == [])
        // Nobody has sent the draft as it is.
        try await restored.withdraw(draft.number)
        try await store.withdraw(receipt.number)
        await restored.close()
        await store.close()
    }
}
