import Foldback
import FoldbackServer
import FoldbackSync
import Foundation
import Processes
import Testing

/// Born from the question what a server's space holds after its process was killed, or after its disk failed.
/// The tests use real processes, in which 50 devices send intents at once.
///
/// Property, counted from the verdicts that the devices received: each answered intent, sent again with the same
/// bytes, gets an equal verdict. None is lost, decided twice, or moved to another position. The state is the
/// fold of the accepted intents, and the log is sound (N2, N3, N4).
@Suite(.serialized) struct SpaceKillTests {
    private let folder = DiskDirectory()

    /// The folder of the space `main`. ``Spaces`` opens it under the same name.
    private func ledger(_ form: String = "alone", textBytes: Int = 20) -> SpaceLedger {
        var ledger = SpaceLedger(folder.url.appending(path: "main", directoryHint: .isDirectory))
        (ledger.form, ledger.textBytes) = (form, textBytes)
        return ledger
    }

    // MARK: Kills

    private static let roundCount = TestEffort.value(quick: 5, full: 500)
    /// A new space begins after so many kills. A check reads the whole log.
    private static let roundsOfSpace = 5

    @Test func `SIGKILL at a random moment loses and repeats no answered decision`() async throws {
        var random = SystemRandomNumberGenerator()
        var (ledger, answers) = (ledger(), 0)
        for round in 0..<Self.roundCount {
            if round % Self.roundsOfSpace == 0, round > 0 {
                answers += ledger.count
                try FileManager.default.removeItem(at: ledger.directory)
                ledger = self.ledger()
            }
            ledger.form = round % 2 == 0 ? "alone" : "spaces"
            let process = try RunningProcess(ledger.command(sending: 100_000))
            // Every fourth process dies while it opens the space.
            let line = round % 4 == 3 ? nil : process.nextLine()
            let microseconds = UInt64.random(in: 0...60_000, using: &random)
            let killer = Task.detached {
                try? await Task.sleep(for: .microseconds(microseconds))
                process.signal(SIGKILL)
            }
            let end = process.waitForEnd()
            await killer.value
            ledger.note((line.map { $0 + "\n" } ?? "") + end.output)
            #expect(end.status == SIGKILL && ledger.failures == [], "\(end.errors)")
            try await ledger.check("round \(round), killed after \(microseconds) us")
        }
        print("space: \(Self.roundCount) kills, \(answers + ledger.count) answers, all the same")
    }

    /// More than the calls of a name in one process.
    private static let callCountMax = 1_000

    @Test(
        .needsStrace,
        arguments: ["pwrite64", "writev", "fdatasync"])
    func `SIGKILL at any system call of a group loses and repeats no answered decision`(
        call: String
    ) async throws {
        var (ledger, kills) = (ledger(), 0)
        let step = call == "pwrite64" ? 3 : 2
        for nth in TestEffort.places(1...Self.callCountMax, quickStep: step) {
            let end = try run(Strace.killing(at: call, nth) + ledger.command(sending: 2))
            ledger.note(end.output)
            #expect(ledger.failures == [])
            try await ledger.check("\(call) \(nth)")
            // A process with fewer calls of that name ends without a kill.
            guard end.status != 0 else { break }
            kills += 1
        }
        print("space: killed at \(kills) calls of \(call), \(ledger.count) answers")
        #expect(kills < Self.callCountMax)
    }

    // MARK: A disk that fails

    @Test(
        .needsStrace,
        arguments: [
            ("alone", "fdatasync", "EIO"), ("alone", "pwrite64", "ENOSPC"),
            ("alone", "writev", "EIO"), ("spaces", "fdatasync", "EIO"),
        ])
    func `L6: a failed write makes the space unavailable, and it goes on when it is opened again`(
        form: String, call: String, error: String
    ) async throws {
        var (ledger, faults) = (ledger(form), 0)
        // The files exist, so that they can be traced.
        ledger.note(try run(ledger.command(sending: 1)).output)
        let trace = folder.url.appending(path: "trace")
        // Strace counts the calls of each thread alone. So with `spaces`, the call fails again in each store
        // that is opened again, and each must get further.
        let (first, step) = form == "alone" ? (1, 4) : (3, 1)
        for nth in TestEffort.places(first...Self.callCountMax, quickStep: step) {
            let before = ledger.failures.count
            let strace = Strace.failing(
                call, nth, with: error, on: [ledger.directory.appending(path: "data.mdb").path],
                to: trace)
            let end = try run(strace + ledger.command(sending: 3))
            #expect(end.status == 0, "\(end)")
            ledger.note(end.output)
            let new = ledger.failures.dropFirst(before)
            let note: Comment = "\(form), \(call) \(nth), \(new)"
            #expect(
                new.allSatisfy { $0.contains(" unavailable: ") || $0.hasPrefix("closed ") }, note)
            // Through `Spaces`, each device gets every answer in the end.
            #expect(form == "alone" || ledger.count == 50 * (ledger.nextNumber - 1), note)
            try await ledger.check(note)
            guard try String(contentsOf: trace, encoding: .utf8).contains("(INJECTED)") else {
                break
            }
            faults += 1
        }
        print("space: \(call) failed in \(faults) processes, \(form), \(ledger.count) answers")
        #expect(ledger.failures.count > 0 || !TestEffort.isFull)
    }

    private static let isUnderThreadSanitizer =
        ProcessInfo.processInfo.environment["TSAN_OPTIONS"] != nil

    @Test(.disabled(if: isUnderThreadSanitizer, "ThreadSanitizer's own files may not grow either"))
    func `L6: a file at its size limit makes the space unavailable, and a higher limit ends that`()
        async throws
    {
        var ledger = ledger(textBytes: 3_000)
        let limit = ["bash", "-c", "ulimit -f 800; exec \"$@\"", "-"]
        let end = try run(limit + ledger.command(sending: 200))
        ledger.note(end.output)
        #expect(end.status == 0 && ledger.count > 50, "\(end.output.suffix(900))")
        #expect(ledger.failures.count == 50)
        #expect(ledger.failures.allSatisfy { $0.contains(" unavailable: ") })
        try await ledger.check("ulimit -f")
        ledger.note(try run(ledger.command(sending: 2)).output)
        #expect(ledger.failures.count == 50)
        try await ledger.check("after the limit")
    }

    @Test(arguments: ["tmpfs", "ext4"])
    func `L6: a full disk makes the space unavailable, and the same process goes on with more room`(
        type: String
    ) async throws {
        guard let disk = try SmallDisk(type, at: folder.url.appending(path: "disk")) else {
            print("skipped: \(type) cannot be mounted here (needs root, and mkfs.ext4 for ext4)")
            return
        }
        defer { disk.unmount() }
        let ballast = disk.url.appending(path: "ballast")
        try Data(repeating: 1, count: 1 << 20).write(to: ballast)
        var ledger = SpaceLedger(disk.url.appending(path: "main", directoryHint: .isDirectory))
        (ledger.form, ledger.textBytes) = ("spaces", 3_000)
        let process = try RunningProcess(ledger.command(sending: 10_000))
        var (output, isFull, more) = ("", false, 0)
        while more < 60, let line = process.nextLine() {
            output += line + "\n"
            if line.hasPrefix("failed "), !isFull {
                isFull = true
                #expect(line.contains(" unavailable: "), "\(line)")
                try FileManager.default.removeItem(at: ballast)
            }
            if isFull, !line.hasPrefix("failed ") { more += 1 }
        }
        process.signal(SIGKILL)
        output += process.waitForEnd().output
        ledger.note(output)
        #expect(isFull && more == 60, "\(output.suffix(900))")
        #expect(ledger.failures.allSatisfy { $0.contains(" unavailable: ") })
        try await ledger.check("\(type)")
    }

    // MARK: An older copy

    @Test(arguments: [false, true])
    func `N6: an older copy in place of the space has another lineage, unless it is adopted`(
        isAdopted: Bool
    ) async throws {
        var ledger = ledger()
        ledger.note(try run(ledger.command(sending: 3)).output)
        try await ledger.check("before the copy")
        var restored = ledger
        let copy = folder.url.appending(path: "copy").path
        #expect(try run(["cp", "-a", ledger.directory.path, copy]).isSuccess)
        ledger.note(try run(ledger.command(sending: 3)).output)
        try FileManager.default.removeItem(at: ledger.directory)
        #expect(try run(["mv", copy, ledger.directory.path]).isSuccess)
        let lineage = restored.lineage
        if !isAdopted { restored.lineage = nil }
        try await restored.check(adopting: isAdopted, "adopted: \(isAdopted)")
        #expect((restored.lineage == lineage) == isAdopted)
        // The next process finds the same log, which is no longer a copy.
        restored.note(try run(restored.command(sending: 3)).output)
        #expect(restored.failures == [])
        try await restored.check("the next process")
    }
}
