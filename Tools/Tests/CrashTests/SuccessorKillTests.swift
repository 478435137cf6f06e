import Foldback
import FoldbackShell
import Foundation
import Processes
import Testing

/// Born from the question what is left of a user's pending intents if the process is killed while a
/// superseded log continues on a new log (N6). The tests kill real processes at their system calls.
///
/// Property: killed anywhere and begun again, continuing loses no intent and doubles none.
@Suite(.serialized) struct SuccessorKillTests {
    private static let probe = executable("foldback-probe")
    private static let callCountMax = 2_000

    @Sendable private static func open(_ log: URL) async throws -> Store<Documents> {
        try await Store.open(
            at: log, Documents.self, confirmedBy: .downlink, durability: .durable)
    }

    /// Makes a log with events of an authority that is lost, and three pending intents. The present
    /// authority has the first intent.
    private func makeLog(_ log: URL) async throws {
        let store = try await Self.open(log)
        try await store.confirm(
            [ConfirmedEvent(position: 1, event: .set("lost", 1))], from: Lineage("first"))
        try await store.record(.set("a", 1))
        try await store.record(.set("b", 2))
        try await store.record(.set("c", 3), confirmOnly: true)
        await store.close()
    }

    /// Checks that the log is whole: as it was, or continued.
    private func check(_ log: URL, _ note: Comment) async throws -> Bool {
        let store = try await Self.open(log)
        let keys = store.overlay.map { $0.once.map { String($0.suffix(2)) } }
        let isContinued = store.syncPoint.lineage == Lineage("second")
        if isContinued {
            #expect(store.view.json == ["a": 1, "b": 2, "theirs": 2], note)
            #expect(keys == [".2", ".3"], note)
            #expect(store.syncPoint.through == 3, note)
        } else {
            #expect(store.view.json == ["a": 1, "b": 2, "lost": 1], note)
            #expect(keys == [nil, nil, nil], note)
        }
        #expect(try await store.verify().findings == [], note)
        await store.close()
        return isContinued
    }

    @Test(
        .enabled(
            if: Strace.isThere, "strace is not installed, or may not trace: apt-get install strace"),
        arguments: [
            "openat", "flock", "mkdir", "pwrite64", "writev", "fdatasync", "fsync", "rename",
            "renameat2", "unlinkat", "rmdir",
        ])
    func `N6: SIGKILL at any system call of continuing loses and doubles nothing`(
        call: String
    ) async throws {
        let step = call == "openat" ? 7 : 1
        var (kills, continued) = (0, 0)
        for nth in TestEffort.places(1...Self.callCountMax, quickStep: step) {
            let directory = DiskDirectory()
            try await makeLog(directory.log)
            let status = try run(
                Strace.killing(at: call, nth) + [Self.probe, "successor", directory.log.path]
            ).status
            if try await check(directory.log, "\(call) \(nth)") { continued += 1 }
            let again = try run([Self.probe, "successor", directory.log.path])
            #expect(again.status == 0, "\(again)")
            #expect(try await check(directory.log, "\(call) \(nth), again"))
            try await Store<Documents>.finishWipes(in: directory.url)
            let left = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
            #expect(left == [directory.log.lastPathComponent], "\(call) \(nth)")
            guard status != 0 else { break }
            kills += 1
        }
        print("continuing: killed at \(kills) calls of \(call), \(continued) had continued")
        #expect(kills < Self.callCountMax)
    }
}
