import Foldback
import FoldbackHistory
import FoldbackShell
import Foundation
import Processes
import Testing

/// Born from the question what a backup leaves if its process is killed, or if the disk is full (BK1). A
/// store in another process has the log open, and real processes are killed at their system calls.
///
/// Property: at the place of the backup is a whole log or what was there before, and the next backup
/// removes the rest. A process that reads the place, as a widget does, sees the earlier backup until it is told
/// that the file was replaced, and then the new backup.
@Suite(.serialized) struct BackupKillTests {
    private static let callCountMax = 1_000

    private let directory = DiskDirectory()
    private var copy: URL {
        directory.url.appending(path: "copy", directoryHint: .isDirectory)
    }

    private let record = #"{"do":"record","event":{"op":"set","key":"a","value":1}}"#

    private func backup(under prefix: [String] = []) throws -> ProcessEnd {
        try run(prefix + [executable("foldback"), "backup", directory.log.path, copy.path])
    }

    /// Checks the copy, and returns its last entry; nil if nothing is there.
    private func lastEntry(_ note: Comment) throws -> LogSequence? {
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
        #expect(Set(names).isSubset(of: ["copy", "copy.new", "log"]), note)
        guard names.contains("copy") else { return nil }
        let reader = try LogReader(at: copy)
        defer { reader.close() }
        #expect(try reader.verify(Documents.self).findings == [], note)
        return try reader.status().sequence
    }

    @Test(
        .needsStrace,
        arguments: TracedCall.opening("copy.new")
            + TracedCall.each(
                "flock", "mkdir", "write", "rename", "renameat2", "fsync", "unlink", "unlinkat",
                "rmdir"), [false, true])
    func `BK1: SIGKILL at any system call of a backup leaves a whole log or what was before`(
        call: TracedCall, hasEarlier: Bool
    ) throws {
        let shell = try ShellProcess(directory.log)
        func recordOne() {
            shell.send(record)
            #expect(shell.answer()?["ok"] == true)
        }
        recordOne()
        let reader = try ReadingProcess()
        func content(_ last: LogSequence?) -> String {
            last.map {
                ReadingProcess.content(
                    base: 0, last: $0, pending: Int($0.value), confirmed: .object([:]))
            } ?? ReadingProcess.missing
        }
        var (kills, last) = (0, LogSequence(0))
        for nth in call.places(upTo: Self.callCountMax) {
            let note: Comment = "\(call) \(nth), \(hasEarlier ? "replacing" : "new")"
            if hasEarlier {
                #expect(try backup().status == 0, note)
                last = try #require(try lastEntry(note))
                let names = try FileManager.default.contentsOfDirectory(
                    atPath: directory.url.path)
                #expect(Set(names) == ["copy", "log"], note)
            } else {
                try? FileManager.default.removeItem(at: copy)
                last = 0
            }
            reader.begin(copy)
            recordOne()
            let status = try backup(under: call.killing(nth, in: directory)).status
            let found = try lastEntry(note)
            #expect(found.map { $0 >= last } ?? (last == 0), note)
            try reader.expect(content(found), after: content(last == 0 ? nil : last), note)
            // A run with fewer calls of that name ends without a kill.
            guard status != 0 else { break }
            kills += 1
        }
        print("backup: killed at \(kills) calls of \(call)\(hasEarlier ? ", replacing" : "")")
        #expect(kills < Self.callCountMax && (kills > 0 || !call.opensLogs))
        #expect(shell.finish().status == 0)
    }

    @Test func `BK1: a full disk makes no backup, at any size, and keeps the earlier one`() throws {
        let shell = try ShellProcess(directory.log)
        for _ in 1...200 {
            shell.send(record)
            #expect(shell.answer()?["ok"] == true)
        }
        #expect(shell.finish().status == 0)
        // In blocks of 512 bytes, up to the size of the whole copy.
        var sizes = 0
        for blocks in stride(from: 0, through: 1_024, by: TestEffort.step(quick: 24, full: 4)) {
            let limited = ["/bin/sh", "-c", #"ulimit -f "$0"; exec "$@""#, "\(blocks)"]
            let end = try backup(under: limited)
            guard end.status != 0 else { break }
            sizes += 1
            #expect(end.status == 3, "\(blocks): \(end.errors)")
            #expect(try lastEntry("\(blocks)") == nil, "\(blocks)")
        }
        print("backup: \(sizes) sizes of a full disk")
        #expect(sizes > 1)
        #expect(try backup().status == 0)
        #expect(try lastEntry("at the end") == 200)
        let end = try backup(under: ["/bin/sh", "-c", "ulimit -f 8; exec \"$0\" \"$@\""])
        #expect(end.status == 3)
        #expect(end.errors.contains("nothing was changed"), "\(end.errors)")
        #expect(try lastEntry("after a full disk") == 200)
    }
}
