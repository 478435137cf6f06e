import Foldback
import FoldbackHistory
import FoldbackShell
import Foundation
import Processes
import Testing

/// Born from the question what a wipe leaves if its process is killed (BK7). The tests kill real
/// processes at their system calls.
///
/// Property: after a kill, the log is complete, or no opening finds it. Then wiping it again, or
/// finishing the wipes, leaves nothing.
@Suite(.serialized) struct WipeKillTests {
    /// More than the calls of one name in a wipe.
    private static let callCountMax = 1_000

    private func makeLog(_ log: URL) async throws {
        let store = try await Store.open(
            at: log, Documents.self, confirmedBy: .acknowledgement, durability: .durable)
        for number in 1...3 as ClosedRange<Int64> {
            let receipt = try await store.record(.set("a", .integer(number)))
            try await store.acknowledge(receipt.number)
        }
        _ = try await store.record(.set("b", 1))
        await store.close()
    }

    private func names(in url: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.path)
    }

    private func wipe(
        _ directory: DiskDirectory, killedAt call: TracedCall, _ nth: Int
    ) throws -> Int32 {
        try run(
            call.killing(nth, in: directory) + [
                executable("foldback"), "wipe", directory.log.path, "--discard-pending",
            ]
        ).status
    }

    /// Checks that the log is complete or gone, and returns whether it is gone.
    private func check(_ log: URL, _ note: Comment) async throws -> Bool {
        let isGone = !FileManager.default.fileExists(atPath: log.path)
        let left = try names(in: log.deletingLastPathComponent())
        #expect(left.allSatisfy { $0 == log.lastPathComponent || $0.hasPrefix(".wiped-") }, note)
        guard !isGone else { return true }
        #expect(left == [log.lastPathComponent], note)
        let store = try await Store.open(
            at: log, Documents.self, confirmedBy: .acknowledgement, durability: .durable)
        #expect(store.status.sequence == 7, note)
        #expect(store.view.json == ["a": 3, "b": 1], note)
        #expect(store.status.pendingCount == 1, note)
        await store.close()
        return false
    }

    @Test(
        .needsStrace,
        arguments: TracedCall.opening("log")
            + TracedCall.each("flock", "rename", "fsync", "unlinkat", "rmdir"))
    func `BK7: SIGKILL at any system call of a wipe leaves a whole log or none`(
        call: TracedCall
    ) async throws {
        var (kills, gone) = (0, 0)
        for nth in call.places(upTo: Self.callCountMax) {
            let directory = DiskDirectory()
            try await makeLog(directory.log)
            let status = try wipe(directory, killedAt: call, nth)
            if status != 0 { kills += 1 }
            if try await check(directory.log, "\(call) \(nth)") { gone += 1 }
            if nth % 2 == 0 {
                try await Store<Documents>.wipe(at: directory.log, discardingPending: true)
            } else {
                try await Store<Documents>.finishWipes(in: directory.url)
                if FileManager.default.fileExists(atPath: directory.log.path) { continue }
            }
            #expect(try names(in: directory.url) == [], "\(call) \(nth)")
            // A run with fewer calls of that name ends without a kill.
            guard status != 0 else { break }
        }
        print("wipe: killed at \(kills) calls of \(call), the log was gone after \(gone) runs")
        #expect(kills > 0 && kills < Self.callCountMax)
    }

    /// The wipe before was killed between the rename and the first removal.
    @Test(
        .needsStrace,
        arguments: TracedCall.each("flock", "fsync", "unlinkat", "rmdir"))
    func `BK7: SIGKILL at any system call of finishing leaves nothing that opens`(
        call: TracedCall
    ) async throws {
        var kills = 0
        for nth in call.places(upTo: Self.callCountMax) {
            let directory = DiskDirectory()
            try await makeLog(directory.log)
            _ = try wipe(directory, killedAt: TracedCall.each("unlinkat")[0], 1)
            #expect(try names(in: directory.url).allSatisfy { $0.hasPrefix(".wiped-") })
            let status = try wipe(directory, killedAt: call, nth)
            #expect(!FileManager.default.fileExists(atPath: directory.log.path))
            try await Store<Documents>.finishWipes(in: directory.url)
            #expect(try names(in: directory.url) == [], "\(call) \(nth)")
            guard status != 0 else { break }
            kills += 1
        }
        print("finishing wipes: killed at \(kills) calls of \(call)")
        #expect(kills < Self.callCountMax)
    }

    /// A log that has continued two logs, which have pending intents.
    @Test(
        .needsStrace,
        arguments: TracedCall.each("flock", "rename", "fsync", "unlinkat", "rmdir"))
    func `N6, BK7: a wipe with kept logs that is killed is completed by the next`(
        call: TracedCall
    ) async throws {
        var kills = 0
        for nth in call.places(upTo: Self.callCountMax) {
            let directory = DiskDirectory()
            for digit in ["1", "2"] {
                let name = "log.kept-\(String(repeating: digit, count: 16))"
                try await makeLog(directory.url.appending(path: name, directoryHint: .isDirectory))
            }
            try await makeLog(directory.log)
            let status = try wipe(directory, killedAt: call, nth)
            let left = try names(in: directory.url)
            // While a kept log is there, so is the log, and the app sees that the wipe was cut off.
            let isThere = left.contains(directory.log.lastPathComponent)
            #expect(isThere || left.allSatisfy { $0.hasPrefix(".wiped-") }, "\(call) \(nth)")
            try await Store<Documents>.wipe(at: directory.log, discardingPending: true)
            #expect(try names(in: directory.url) == [], "\(call) \(nth)")
            guard status != 0 else { break }
            kills += 1
        }
        print("wiping with kept logs: killed at \(kills) calls of \(call)")
        #expect(kills > 0 && kills < Self.callCountMax)
    }

    private func wipe(_ log: URL) throws -> ProcessEnd {
        try run([
            executable("foldback"), "wipe", log.path, "--discard-pending",
        ])
    }

    @Test func `BK7: a reader of a log that another process wipes gets a typed error`() async throws
    {
        let directory = DiskDirectory()
        try await makeLog(directory.log)
        let reader = try LogReader(at: directory.log)
        #expect(try reader.history().count == 7)
        #expect(try wipe(directory.log).status == 0)
        do throws(HistoryError) {
            _ = try reader.history()
            Issue.record("the wiped log was read")
        } catch {
            guard case .log(.storage(let failure)) = error, failure.reason == .fileLost else {
                throw error
            }
        }
        reader.close()
        do throws(LogError) {
            _ = try LogReader(at: directory.log)
            Issue.record("the wiped log was opened")
        } catch {
            guard case .missing = error else { throw error }
        }
    }

    @Test func `BK7: a log that another process has open is not wiped`() async throws {
        let directory = DiskDirectory()
        try await makeLog(directory.log)
        let shell = try ShellProcess(directory.log)
        shell.send(record)
        #expect(shell.answer()?["ok"] == true)
        let refused = try wipe(directory.log)
        #expect(refused.status == 3)
        #expect(refused.errors.contains("is in use"), "\(refused.errors)")
        shell.send(record)
        #expect(shell.answer()?["ok"] == true)
        #expect(shell.finish().status == 0)
        #expect(try wipe(directory.log).status == 0)
        #expect(try names(in: directory.url) == [])
    }

    private let record = #"{"do":"record","event":{"op":"set","key":"a","value":1}}"#

    /// The wipe comes after the creation of the directory, and before its lock.
    @Test(
        .needsStrace
    )
    func `L8, BK7: an opening creates its directory again if it was wiped at once`() throws {
        let directory = DiskDirectory()
        // The first flush is that of the new directory's name.
        let shell = try ShellProcess(
            directory.log, under: Strace.delaying("fsync", 1, milliseconds: 1_000))
        while rmdir(directory.log.path) != 0, shell.process.isRunning { usleep(1_000) }
        shell.send(record)
        #expect(shell.answer()?["ok"] == true)
        #expect(shell.finish().status == 0)
        #expect(try names(in: directory.url) == ["log"])
    }

    /// Each process opens, records and wipes at one path, as fast as it can.
    @Test func `L8, BK7: processes that open and wipe one path at once get typed errors`()
        async throws
    {
        let directory = DiskDirectory()
        let rounds = TestEffort.value(quick: 40, full: 200)
        let log = directory.log
        async let others = loop(log, rounds)
        for round in 0..<rounds {
            let store: Store<Documents>
            do throws(LogError) {
                store = try await Store.open(
                    at: log, Documents.self, confirmedBy: .acknowledgement, durability: .relaxed)
            } catch .locked {
                continue
            }
            _ = try await store.record(.set("a", .integer(Int64(round))))
            await store.close()
        }
        #expect(try await others > 0)
        try await Store<Documents>.wipe(at: directory.log, discardingPending: true)
        #expect(try names(in: directory.url) == [])
    }

    /// Wipes the log again and again in processes of their own, and returns how often it was wiped.
    private func loop(_ log: URL, _ rounds: Int) async throws -> Int {
        var wipes = 0
        for _ in 0..<rounds {
            let ended = try wipe(log)
            let isLocked = ended.errors.contains("is in use")
            #expect(ended.status == 0 || isLocked, "\(ended.errors)")
            wipes += ended.status == 0 ? 1 : 0
            await Task.yield()
        }
        return wipes
    }
}
