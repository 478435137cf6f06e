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
        let (before, earlier) = (try Data(contentsOf: lockFile), try writerProcess())
        // LMDB maps the lock file, resets it, and then maps the data file.
        let files = ["lock.mdb", "data.mdb"].map { directory.log.appending(path: $0) }
        let writer = try ShellProcess(
            directory.log,
            under: Strace.delaying("mmap", 2, milliseconds: 60_000, on: files))
        // Without strace, the writer would go on.
        defer {
            if let process = try? writerProcess(), process != earlier { kill(process, SIGKILL) }
            writer.kill()
        }
        try wait(for: "the lock file is reset", by: writer.process) {
            try Data(contentsOf: lockFile) != before
        }
        try body()
    }

    /// The process that has written its number into the log, as each writer does before it opens the lock file.
    private func writerProcess() throws -> pid_t {
        let file = directory.log.appending(path: "writer.pid")
        return try #require(pid_t(String(contentsOf: file, encoding: .utf8).dropLast()))
    }

    private func wait(
        for event: Comment, by process: RunningProcess, until condition: () throws -> Bool
    ) throws {
        let end = ContinuousClock.now.advanced(by: .seconds(60))
        while try !condition() {
            try #require(
                process.isRunning, "the process ended before \(event): \(process.waitForEnd())")
            try #require(.now < end, "a minute passed before \(event)")
            usleep(10_000)
        }
    }

    /// Whether a process has the lock file open. It asks for the lock of it next (mdb_env_setup_locks).
    private func hasLockFile(_ process: RunningProcess) -> Bool {
        let open = "/proc/\(process.id)/fd"
        // A process that has ended has none.
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: open)) ?? []
        return numbers.contains {
            let file = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(open)/\($0)")
            return file == lockFile.path
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

    @Test(.needsStrace)
    func `L9: a reader that waits for a writer reads on when the writer is killed`() throws {
        try makeLog()
        var reader: RunningProcess?
        try killWriter {
            let started = try RunningProcess([
                executable("foldback"), "at", directory.log.path, "3",
            ])
            reader = started
            try wait(for: "the reader opens the lock file", by: started) {
                hasLockFile(started)
            }
            // It waits for the lock soon.
            usleep(200_000)
        }
        let end = try #require(reader).waitForEnd()
        #expect(end.status == 0 && end.output.contains(#"{"n":2}"#), "\(end)")
    }

    @Test(.needsStrace)
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

    @Test(.needsStrace)
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
