import Foundation
import Processes
import Testing

/// Found by kills at the mapping of files: a writer that is killed while it opens a log leaves LMDB's lock file
/// unfinished. A process that waited for it took the lock file as it was, and a reader reported damage.
@Suite(.serialized) struct LockFileTests {
    private let directory = DiskDirectory()
    private var lockFile: URL { directory.log.appending(path: "lock.mdb") }
    private let record = #"{"do":"record","event":{"op":"increment","key":"a","field":"n","by":1}}"#

    private func makeLog() throws {
        let set = #"{"do":"record","event":{"op":"set","key":"a","value":{"n":0}}}"#
        try ReplayStory.makeLog(directory.log, [set, record, record], kind: .downlink)
    }

    /// Runs `body` while a writer opens the log, and kills the writer after that. Then LMDB's lock file names no
    /// commit.
    private func killWriter(after body: () throws -> Void = {}) throws {
        let before = try Data(contentsOf: lockFile)
        // LMDB maps the lock file, resets it, and then maps the data file.
        let files = ["lock.mdb", "data.mdb"].map { directory.log.appending(path: $0) }
        let writer = try ShellProcess(
            directory.log,
            under: Strace.delaying("mmap", 2, milliseconds: 60_000, on: files))
        try wait { try Data(contentsOf: lockFile) != before }
        try body()
        let text = try String(
            contentsOf: directory.log.appending(path: "writer.pid"), encoding: .utf8)
        kill(try #require(pid_t(text.dropLast())), SIGKILL)
        writer.kill()
    }

    private func wait(until condition: () throws -> Bool) throws {
        let end = ContinuousClock.now.advanced(by: .seconds(60))
        while try !condition() {
            try #require(.now < end, "nothing happened within a minute")
            usleep(10_000)
        }
    }

    /// Whether a process waits for a lock of another one (proc(5)).
    private func waits(_ process: RunningProcess) throws -> Bool {
        try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n").contains {
            $0.contains("->") && $0.contains(" \(process.id) ")
        }
    }

    /// Holds the lock file as LMDB does, until the object goes.
    private func holdLockFile(seconds: Int) throws -> RunningProcess {
        let program = """
            import fcntl, sys, time
            file = open(sys.argv[1], "rb")
            fcntl.lockf(file, fcntl.LOCK_SH, 1)
            print("held", flush=True)
            time.sleep(int(sys.argv[2]))
            """
        let holder = try RunningProcess(["python3", "-c", program, lockFile.path, "\(seconds)"])
        #expect(holder.nextLine() == "held")
        return holder
    }

    private static let straceIsThere = ConditionTrait.enabled(
        if: Strace.isThere, "strace is not installed, or may not trace: apt-get install strace")

    @Test(straceIsThere)
    func `L9: a reader that waits for a writer reads on when the writer is killed`() throws {
        try makeLog()
        var reader: RunningProcess?
        try killWriter {
            let started = try RunningProcess([
                executable("foldback"), "at", directory.log.path, "3",
            ])
            reader = started
            try wait { try waits(started) }
        }
        let end = try #require(reader).waitForEnd()
        #expect(end.status == 0 && end.output.contains(#"{"n":2}"#), "\(end)")
    }

    @Test(straceIsThere)
    func `L8: a writer waits for a process that has an unfinished lock file`() throws {
        try makeLog()
        try killWriter()
        let holder = try holdLockFile(seconds: 1)
        let shell = try ShellProcess(directory.log)
        shell.send(record)
        #expect(shell.answer()?["sequence"] == 4)
        #expect(shell.finish().status == 0)
        #expect(holder.waitForEnd().status == 0)
        #expect(
            try run([executable("foldback"), "at", directory.log.path, "4"]).output.contains(
                #"{"n":3}"#)
        )
    }

    @Test(straceIsThere)
    func `L8: a process that keeps an unfinished lock file keeps writers out, and is named`() throws
    {
        try makeLog()
        try killWriter()
        let holder = try holdLockFile(seconds: 60)
        let refused = try run([executable("foldback"), "shell", directory.log.path])
        #expect(refused.status == 3 && refused.errors.contains("is reading it"), "\(refused)")
        holder.signal(SIGKILL)
        let verified = try run([executable("foldback"), "verify", directory.log.path])
        #expect(verified.output.hasPrefix("sound: 3 entries"), "\(verified)")
    }
}
