import Foldback
import FoldbackShell
import Foundation
import Processes
import Testing

/// Born from the question what is left of a user's pending intents if the process is killed while a
/// superseded log continues on a new log (N6). The tests kill real processes at their system calls.
///
/// Property: killed anywhere and begun again, continuing loses no intent and doubles none, and the
/// old log is whole, at its path or as a kept log.
@Suite(.serialized) struct SuccessorKillTests {
    private static let probe = executable("foldback-probe")
    private static let callCountMax = 2_000

    @Sendable private static func open(_ log: URL) async throws -> Store<Documents> {
        try await Store.open(
            at: log, Documents.self, confirmedBy: .downlink, durability: .durable)
    }

    /// Makes a log with events of an authority that is lost: an event of others, and intents 1 and 2
    /// of this log. Intents 3 and 4 are pending, and intent 5 is rejected. The present authority has
    /// the first intent.
    private func makeLog(_ log: URL) async throws {
        let store = try await Self.open(log)
        let values: [(key: ExactString, isQuiet: Bool)] = [
            ("a", false), ("b", false), ("c", false), ("d", true), ("e", false),
        ]
        for (number, value) in values.enumerated() {
            try await store.record(
                .set(value.key, .integer(Int64(number + 1))), confirmOnly: value.isQuiet)
        }
        let ids = [1, 2].map { IntentID(replica: store.status.replica, number: $0) }
        try await store.confirm(
            [
                ConfirmedEvent(position: 1, event: .set("lost", 1)),
                ConfirmedEvent(position: 2, event: .set("a", 1), origin: ids[0]),
                ConfirmedEvent(position: 3, event: .set("b", 2), origin: ids[1]),
            ], from: Lineage("first"))
        try await store.reject(5, message: "no")
        await store.close()
    }

    /// Checks that the log is whole: as it was, or continued with the old log beside it.
    private func check(_ log: URL, _ note: Comment) async throws -> Bool {
        let store = try await Self.open(log)
        let keys = store.overlay.map { $0.once.map { String($0.suffix(2)) } }
        let isContinued = store.syncPoint.lineage == Lineage("second")
        let rejected = try store.rejections.map { try store.intent($0) }
        #expect(rejected.map(\.rejection) == [Rejection(message: "no")], note)
        #expect(rejected.map(\.event) == [.set("e", 5)], note)
        if isContinued {
            #expect(store.view.json == ["a": 1, "b": 2, "c": 3, "theirs": 2], note)
            #expect(keys == [".2", ".3", ".4"], note)
            #expect(store.syncPoint.through == 3, note)
            let kept = try await LogDirectory(at: log).keptLogs()
            #expect(kept.count == 1, note)
            for url in kept {
                let old = try await Self.open(url)
                try await checkOld(old, note)
                await old.close()
            }
        } else {
            try await checkOld(store, note)
        }
        #expect(try await store.verify().findings == [], note)
        await store.close()
        return isContinued
    }

    private func checkOld(_ store: Store<Documents>, _ note: Comment) async throws {
        #expect(store.view.json == ["a": 1, "b": 2, "c": 3, "lost": 1], note)
        #expect(store.overlay.map(\.once) == [nil, nil] && store.rejections == [5], note)
        #expect(store.status.sequence == 7, note)
        #expect(try await store.verify().findings == [], note)
    }

    @Test(
        .needsStrace,
        arguments: TracedCall.opening("log") + TracedCall.opening("log.successor")
            + TracedCall.each(
                "flock", "mkdir", "pwrite64", "writev", "fdatasync", "fsync", "rename",
                "renameat2", "unlinkat", "rmdir"))
    func `N6: SIGKILL at any system call of continuing loses and doubles nothing`(
        call: TracedCall
    ) async throws {
        var (kills, continued) = (0, 0)
        for nth in call.places(upTo: Self.callCountMax) {
            let directory = DiskDirectory()
            try await makeLog(directory.log)
            let status = try run(
                call.killing(nth, in: directory) + [Self.probe, "successor", directory.log.path]
            ).status
            if try await check(directory.log, "\(call) \(nth)") { continued += 1 }
            // The second of these finds the work of the kept log already brought.
            for _ in 1...2 {
                let again = try run([Self.probe, "successor", directory.log.path])
                #expect(again.status == 0, "\(again)")
                #expect(try await check(directory.log, "\(call) \(nth), again"))
            }
            try await Store<Documents>.finishWipes(in: directory.url)
            let left = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
            #expect(left.count == 2, "\(call) \(nth): \(left)")
            try await Store<Documents>.wipe(at: directory.log, discardingPending: true)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == [],
                "\(call) \(nth)")
            guard status != 0 else { break }
            kills += 1
        }
        print("continuing: killed at \(kills) calls of \(call), \(continued) had continued")
        #expect(kills < Self.callCountMax && (kills > 0 || !call.opensLogs))
    }
}
