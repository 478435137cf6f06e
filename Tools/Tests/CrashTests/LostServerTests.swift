import Foldback
import FoldbackHistory
import FoldbackShell
import Foundation
import Processes
import Testing

/// A new user's app deleted confirmed work on each device when its server was restored from a backup
/// or started with empty data, and rejections that nobody had seen (N6). Real processes, real files.
///
/// Property: what the user did is at the server again, once, or listed, and the old log is there.
@Suite struct LostServerTests {
    @Sendable private static func open(_ log: URL) async throws -> Store<Documents> {
        try await Store.open(
            at: log, Documents.self, confirmedBy: .downlink, durability: .durable)
    }

    /// Makes a log with three confirmed intents, a pending intent, a listed and a dismissed
    /// rejection.
    ///
    /// - Parameter names: whether the server says which intents its events come from. If not, it
    ///   answers with positions.
    private func makeLog(_ log: URL, names: Bool = true) async throws {
        let store = try await Self.open(log)
        for (number, key) in (["a", "b", "c", "d", "e", "f"] as [ExactString]).enumerated() {
            try await store.record(.set(key, .integer(Int64(number + 1))))
        }
        var events: [ConfirmedEvent<Documents.Event>] = []
        for (number, key) in (["a", "b", "c"] as [ExactString]).enumerated() {
            let id = IntentID(
                replica: store.status.replica, number: IntentNumber(UInt64(number + 1)))
            let position = Position(UInt64(number + 1))
            events.append(
                ConfirmedEvent(
                    position: position, event: .set(key, .integer(Int64(number + 1))),
                    origin: names ? id : nil))
            if !names { try await store.acknowledge(id.number, position: position) }
        }
        try await store.confirm(events, through: 9, from: Lineage("first"))
        for number in [5, 6] as [IntentNumber] { try await store.reject(number, message: "no") }
        try await store.dismiss(6)
        await store.close()
    }

    private func continueLog(_ log: URL, _ story: String...) throws -> [String] {
        let end = try run([executable("foldback-probe"), "successor", log.path] + story)
        #expect(end.status == 0, "\(end)")
        return end.output.split(separator: "\n").map { String($0) }
    }

    /// Checks that every tool reads the kept log, which has everything.
    private func checkKept(_ url: URL, intents: ClosedRange<Int>) throws {
        let reader = try LogReader(at: url)
        let count = try reader.history().entries.count {
            if case .intent = $0.content { true } else { false }
        }
        #expect(intents.contains(count))
        reader.close()
        let commands = [
            ["status"], ["log"], ["verify"], ["why", "--key", "a"], ["why", "--intent", "1"],
        ]
        for command in commands {
            let end = try run(
                [executable("foldback"), command[0], url.path] + command.dropFirst())
            #expect(end.status == 0 && !end.output.isEmpty, "\(command): \(end)")
        }
    }

    @Test func `N6: a server restored from a backup gets everything again, once`() async throws {
        let directory = DiskDirectory()
        try await makeLog(directory.log)
        let lines = try continueLog(directory.log, "backup")
        #expect(
            lines == [
                "brought 1 pending, 2 confirmed, 1 rejected; the server lacks 2, unknown 0",
                #"the server has {"a":1,"b":2,"c":3,"d":4,"theirs":2}, from 6 events"#,
            ])
        let kept = try await LogDirectory(at: directory.log).keptLogs()
        try checkKept(try #require(kept.first), intents: 6...6)
        let store = try await Self.open(directory.log)
        #expect(store.overlay.isEmpty && store.rejections.count == 1)
        #expect(try store.intent(store.rejections[0]).event == .set("e", 5))
        await store.close()
    }

    @Test func `N6: a server that starts with empty data again and again gets everything again`()
        async throws
    {
        let directory = DiskDirectory()
        try await makeLog(directory.log)
        for times in 1...3 {
            let lines = try continueLog(directory.log, "nothing")
            let pending = times == 1 ? 1 : 0
            #expect(
                lines == [
                    "brought \(pending) pending, \(4 - pending) confirmed, 1 rejected; "
                        + "the server lacks \(4 - pending), unknown 0",
                    #"the server has {"a":1,"b":2,"c":3,"d":4}, from 4 events"#,
                ])
            let kept = try await LogDirectory(at: directory.log).keptLogs()
            #expect(kept.count == times)
            for url in kept { try checkKept(url, intents: 5...6) }
        }
        let refused = try run([
            executable("foldback-probe"), "successor", directory.log.path, "nothing",
        ])
        #expect(refused.status != 0 && refused.errors.contains(".kept-"), "\(refused)")
    }

    @Test func `N6: with a server that names no origins, pending work and rejections are kept`()
        async throws
    {
        let directory = DiskDirectory()
        try await makeLog(directory.log, names: false)
        let refused = try run([
            executable("foldback-probe"), "successor", directory.log.path, "nothing",
        ])
        #expect(refused.status != 0 && refused.errors.contains("bringing: .pending"), "\(refused)")
        #expect(
            try continueLog(directory.log, "nothing", "pending") == [
                "brought 1 pending, 0 confirmed, 1 rejected; the server lacks 0, unknown 3",
                #"the server has {"d":4}, from 1 events"#,
            ])
        let kept = try await LogDirectory(at: directory.log).keptLogs()
        try checkKept(try #require(kept.first), intents: 6...6)
        let store = try await Self.open(directory.log)
        #expect(store.rejections.count == 1)
        await store.close()
    }
}
