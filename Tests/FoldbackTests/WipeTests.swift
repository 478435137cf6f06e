import Foldback
import FoldbackHistory
import Foundation
import TestSupport
import Testing

/// The first user deleted the directory of an open log, which went on answering, and found no way to
/// sign out. What does a wipe remove, and what does it leave alone (BK7)?
@Suite struct WipeTests {
    private let directory = TemporaryDirectory()
    private let manager = FileManager.default

    private func open(
        _ kind: LogKind = .acknowledgement, at url: URL? = nil
    ) async throws(LogError) -> Store<Board> {
        try await Store.open(
            at: url ?? directory.log, Board.self, confirmedBy: kind, durability: .relaxed)
    }

    /// Creates a log with one confirmed and `pending` pending intents.
    private func makeLog(pending: Int = 0, at url: URL? = nil) async throws {
        let store = try await open(at: url)
        try await store.acknowledge(store.record(.set("a", 1)).number)
        for number in 0..<pending { _ = try await store.record(.set("b", number)) }
        await store.close()
    }

    private nonisolated(nonsending) func wipe(
        discardingPending: Bool = false
    ) async throws(LogError) {
        try await Store<Board>.wipe(at: directory.log, discardingPending: discardingPending)
    }

    private func names(in url: URL) throws -> [String] {
        try manager.contentsOfDirectory(atPath: url.path).sorted()
    }

    /// The files of the log, with their bytes.
    private func files() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try names(in: directory.log) {
            files[name] = try Data(contentsOf: directory.log.appending(path: name))
        }
        return files
    }

    @Test func `BK7: a wiped log is gone, and a new log at its path is empty`() async throws {
        try await makeLog()
        try await wipe()
        #expect(try names(in: directory.url) == [])
        let reader = await error { () throws(LogError) in try LogReader(at: directory.log) }
        guard case .missing = reader else {
            Issue.record("\(String(describing: reader))")
            return
        }
        let store = try await open()
        #expect(store.status.sequence == 0)
        await store.close()
    }

    @Test func `BK7: pending intents refuse a wipe, unless they are discarded`() async throws {
        try await makeLog(pending: 2)
        let before = try files()
        let refused = await error { () throws(LogError) in try await wipe() }
        guard case .pendingIntents(directory.log.path, count: 2, held: 0) = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(refused?.description.contains("2 pending intents") == true)
        #expect(try files() == before)
        try await wipe(discardingPending: true)
        #expect(try names(in: directory.url) == [])
    }

    @Test func `BK7: an accepted intent does not refuse a wipe, because the server has it`()
        async throws
    {
        let store = try await open(.downlink)
        try await store.acknowledge(store.record(.set("a", 1)).number, position: 7)
        #expect(store.status.acceptedCount == 1)
        await store.close()
        try await wipe()
        #expect(try names(in: directory.url) == [])
    }

    @Test func `BK7: an open log is not wiped`() async throws {
        let store = try await open()
        for discardingPending in [false, true] {
            let refused = await error { () throws(LogError) in
                try await wipe(discardingPending: discardingPending)
            }
            guard case .locked(_, holder: .thisProcess) = refused else {
                Issue.record("\(String(describing: refused))")
                return
            }
        }
        _ = try await store.record(.set("a", 1))
        await store.close()
        try await wipe(discardingPending: true)
        #expect(try names(in: directory.url) == [])
        let late = await error { () throws(CommandError) in
            try await store.record(.set("a", 1))
        }
        guard case .log(.closed) = late else {
            Issue.record("\(String(describing: late))")
            return
        }
    }

    @Test func `BK7: a log that a reader of this process has open is not wiped`() async throws {
        try await makeLog()
        let reader = try LogReader(at: directory.log)
        let refused = await error { () throws(LogError) in try await wipe() }
        guard case .locked(_, holder: .thisProcess) = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(try reader.history().count == 2)
        reader.close()
        try await wipe()
    }

    @Test func `BK7: wiping what is not there succeeds, and finishes what was cut off`()
        async throws
    {
        try await wipe()
        try await makeLog()
        let left = directory.url.appending(path: ".wiped-01234567-89ab-cdef-0123-456789abcdef")
        try manager.moveItem(at: directory.log, to: left)
        try await wipe()
        #expect(try names(in: directory.url) == [])
        try await Store<Board>.finishWipes(in: directory.log)
    }

    @Test(arguments: ["letter.txt", ".DS_Store", "data.mdb.backup"])
    func `BK7: a directory with a file of others is left alone`(name: String) async throws {
        try await makeLog()
        try Data("a letter".utf8).write(to: directory.log.appending(path: name))
        let before = try files()
        let refused = await error { () throws(LogError) in
            try await wipe(discardingPending: true)
        }
        guard case .notALog(_, let reason) = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(reason.contains(name))
        #expect(try files() == before)
    }

    @Test func `BK7: a directory of logs is not taken for a log`() async throws {
        try await makeLog()
        let refused = await error { () throws(LogError) in
            try await Store<Board>.wipe(at: directory.url, discardingPending: true)
        }
        guard case .notALog = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(try names(in: directory.url) == ["log"])
        await (try open()).close()
    }

    @Test(arguments: ["data.mdb", "lock.mdb", "mark", "writer.pid"])
    func `BK7: a file of the log that is a link is not followed or removed`(
        name: String
    ) async throws {
        try await makeLog()
        let place = directory.log.appending(path: name)
        let target = directory.url.appending(path: "target")
        try manager.moveItem(at: place, to: target)
        try manager.createSymbolicLink(at: place, withDestinationURL: target)
        let before = try files()
        let refused = await error { () throws(LogError) in
            try await wipe(discardingPending: true)
        }
        guard case .unsafeFile = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(try files() == before)
    }

    @Test func `BK7: a data file with a second name is not removed`() async throws {
        try await makeLog()
        try manager.linkItem(
            at: directory.log.appending(path: "data.mdb"),
            to: directory.url.appending(path: "second"))
        let refused = await error { () throws(LogError) in try await wipe() }
        guard case .unsafeFile = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
    }

    @Test func `BK7: a link to a log's directory is not followed`() async throws {
        try await makeLog()
        let link = directory.url.appending(path: "link")
        try manager.createSymbolicLink(at: link, withDestinationURL: directory.log)
        let refused = await error { () throws(LogError) in
            try await Store<Board>.wipe(at: link)
        }
        guard case .unsafeFile = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        await (try open()).close()
    }

    enum Damage: CaseIterable {
        case firstPages, everyPage, dataFileMissing, newerFormat
    }

    private func damage(_ damage: Damage) throws {
        let place = directory.log.appending(path: "data.mdb")
        var bytes = try Data(contentsOf: place)
        switch damage {
        case .firstPages: bytes.replaceSubrange(0..<8_192, with: Data(repeating: 7, count: 8_192))
        case .everyPage:
            for offset in stride(from: 8_192, to: bytes.count, by: 64) { bytes[offset] ^= 255 }
        case .dataFileMissing: return try manager.removeItem(at: place)
        case .newerFormat:
            // The version of LMDB's data format, in both meta pages.
            for offset in [20, 4_096 + 20] { bytes[offset] = 9 }
        }
        try bytes.write(to: place)
    }

    @Test(arguments: Damage.allCases)
    func `BK7: a log that cannot be read is wiped only if its intents are discarded`(
        damage: Damage
    ) async throws {
        try await makeLog(pending: 1)
        try self.damage(damage)
        let before = try files()
        let refused = await error { () throws(LogError) in try await wipe() }
        switch refused {
        case .damaged where damage != .newerFormat: break
        case .newerFormat where damage == .newerFormat: break
        default: Issue.record("\(String(describing: refused))")
        }
        #expect(try files() == before)
        try await wipe(discardingPending: true)
        #expect(try names(in: directory.url) == [])
    }

    @Test func `BK7: a log whose creation was cut off is wiped`() async throws {
        try manager.createDirectory(at: directory.log, withIntermediateDirectories: false)
        try await wipe()
        #expect(try names(in: directory.url) == [])
        try manager.createDirectory(at: directory.log, withIntermediateDirectories: false)
        try Data(repeating: 0, count: 8_192).write(to: directory.log.appending(path: "data.mdb"))
        try await wipe()
        #expect(try names(in: directory.url) == [])
    }

    @Test func `BK7: finishing wipes removes wiped logs, and touches nothing else`() async throws {
        let id = "01234567-89ab-cdef-0123-456789abcde"
        func wiped(_ digit: Int) -> URL {
            directory.url.appending(path: ".wiped-\(id)\(digit)", directoryHint: .isDirectory)
        }
        try await makeLog()
        // A whole log, and a log that has lost its data file.
        try await makeLog(pending: 1, at: wiped(0))
        try await makeLog(at: wiped(1))
        try manager.removeItem(at: wiped(1).appending(path: "data.mdb"))
        // A file, a link to a log, and a directory that also has a letter.
        try Data().write(to: wiped(2))
        try manager.createSymbolicLink(at: wiped(3), withDestinationURL: directory.log)
        try await makeLog(at: wiped(4))
        try Data("a letter".utf8).write(to: wiped(4).appending(path: "letter.txt"))
        // Names of another form.
        for name in [".wiped-", ".wiped-1", ".wiped-\(id)A", "wiped-\(id)0", ".wiped-\(id)0.log"] {
            try manager.createDirectory(
                at: directory.url.appending(path: name), withIntermediateDirectories: false)
        }
        let before = Set(try names(in: directory.url))
        let error = await error { () throws(LogError) in
            try await Store<Board>.finishWipes(in: directory.url)
        }
        guard case .unfinishedWipes(let left) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(left.map(\.path) == [2, 3, 4].map { wiped($0).path })
        guard case .notALog = left[0].error, case .unsafeFile = left[1].error,
            case .notALog(_, let reason) = left[2].error
        else {
            Issue.record("\(left)")
            return
        }
        #expect(reason.contains("letter.txt"))
        let gone = Set([0, 1].map { wiped($0).lastPathComponent })
        #expect(try Set(names(in: directory.url)) == before.subtracting(gone))
        #expect(try names(in: wiped(4)).contains("data.mdb"))
        await (try open()).close()
    }

    @Test func `BK7: finishing wipes leaves a wiped log that is in use, and says so`() async throws
    {
        let wiped = directory.url.appending(path: ".wiped-01234567-89ab-cdef-0123-456789abcdef")
        let store = try await open(at: wiped)
        let error = await error { () throws(LogError) in
            try await Store<Board>.finishWipes(in: directory.url)
        }
        guard case .unfinishedWipes(let left) = error, case .locked = left.first?.error else {
            Issue.record("\(String(describing: error))")
            return
        }
        await store.close()
        try await Store<Board>.finishWipes(in: directory.url)
        #expect(try names(in: directory.url) == [])
    }
}
