import Foldback
import Foundation
import Processes
import Testing

/// Born from the question what commands do if an input or output is a pipe or a device, is full, or
/// is closed.
@Suite(.serialized) struct ReplayToolStreamsTests {
    private let foldback = executable("foldback")
    private let directory = DiskDirectory()

    private func path(_ name: String) -> String { directory.url.appending(path: name).path }

    private func sh(_ script: String) throws -> ProcessEnd {
        try run(["sh", "-c", "cd '\(directory.url.path)' && \(script)"])
    }

    @Test(arguments: ["2>/dev/full", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
    func `an error that cannot be printed keeps its exit code`(closed: String) throws {
        try ReplayStory.makeLog(directory.log)
        #expect(try sh("\(foldback) log missing \(closed)").status == 3)
        #expect(try sh("\(foldback) at log x \(closed)").status == 2)
        #expect(try sh("\(foldback) minimize log --expect '/a == null' \(closed)").status == 1)
    }

    @Test func `output never gets into a log that has a closed stream's number`()
        throws
    {
        try ReplayStory.makeLog(directory.log)
        let data = directory.log.appending(path: "data.mdb")
        let before = try Data(contentsOf: data)
        for closed in [">&-", "<&- >&-"] {
            let seen = try sh("\(foldback) log log \(closed)")
            #expect(seen.status == 3, "\(seen)")
            #expect(
                seen.errors == "foldback: standard output cannot be written: Bad file descriptor\n")
        }
        #expect(try Data(contentsOf: data) == before)
        let shell = try sh("echo '\(ReplayStory.lines[0])' | \(foldback) shell log >&- 2>&-")
        #expect(shell.status == 3, "\(shell)")
        #expect(try sh("\(foldback) verify log").status == 0)
    }

    @Test func `a failed write names the given file, and leaves no part of it`() throws {
        try ReplayStory.makeLog(directory.log)
        let limited = try sh("ulimit -f 0; \(foldback) export log -o file")
        #expect(
            limited.status == 3
                && limited.errors == "foldback: file cannot be written: File too large\n",
            "\(limited)")
        let printed = try sh("ulimit -f 0; \(foldback) export log > printed")
        #expect(
            printed.errors == "foldback: standard output cannot be written: File too large\n",
            "\(printed)")
        let full = try sh("\(foldback) export log > /dev/full")
        #expect(full.status == 3 && full.errors.contains("No space left on device"), "\(full)")
        let missing = try sh("\(foldback) export log -o no/file")
        #expect(
            missing.errors == "foldback: no/file cannot be written: No such file or directory\n",
            "\(missing)")
        let left = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
        #expect(Set(left) == ["log", "printed"], "\(left)")
    }

    @Test func `pipes, devices and standard input are read like files`() throws {
        try ReplayStory.makeLog(directory.log)
        let whole = try sh("\(foldback) log log")
        #expect(whole.status == 0 && !whole.output.isEmpty)
        for file in ["-", "/dev/stdin"] {
            let seen = try sh("\(foldback) export log | \(foldback) log \(file)")
            #expect(seen.status == 0 && seen.output == whole.output, "\(seen)")
        }
        let pipe = try sh("mkfifo pipe; \(foldback) export log > pipe & \(foldback) log pipe")
        #expect(pipe.status == 0 && pipe.output == whole.output, "\(pipe)")
        let imported = try sh(
            "\(foldback) export log | \(foldback) import /dev/stdin other && \(foldback) log other")
        #expect(imported.output.hasSuffix(whole.output), "\(imported)")
        let nothing = try sh("\(foldback) log /dev/null")
        #expect(nothing.status == 3 && nothing.errors.contains("the file is empty"), "\(nothing)")
        let log = try sh("\(foldback) import log another")
        #expect(
            log.status == 3 && log.errors.contains("log is a directory, and not a file"), "\(log)")
    }

    @Test(.timeLimit(.minutes(10))) func `tail does not wait for a file to grow`() throws {
        try ReplayStory.makeLog(directory.log)
        let all = try sh("\(foldback) export log -o all && \(foldback) tail all -n 1")
        #expect(all.status == 0 && all.output.contains("intent 4"), "\(all)")
        let followed = try sh("\(foldback) tail -f all")
        #expect(followed.status == 2 && followed.output.isEmpty, "\(followed)")
        #expect(followed.errors.contains("all is a file and does not grow"), "\(followed)")
        let waiting = try sh("\(foldback) tail --until-caught-up all -n 1")
        #expect(waiting.status == 1 && waiting.output == all.output, "\(waiting)")
        #expect(waiting.errors.contains("2 intents are pending, 0 accepted"), "\(waiting)")
        let caughtUp = try sh("sed '5,$d' all > some; \(foldback) tail --until-caught-up some")
        #expect(caughtUp.status == 1, "\(caughtUp)")
        let answered = try sh("sed '4,$d' all > few; \(foldback) tail --until-caught-up few")
        #expect(answered.status == 0 && answered.errors.isEmpty, "\(answered)")
    }

    @Test func `tail -n counts matching entries, across any gap`() throws {
        func intent(_ number: Int, _ sequence: Int64) -> String {
            #"{"at":1,"event":{"key":"a","op":"set","value":1},"intent":\#(number),"kind":"intent","replica":"me","sequence":\#(sequence)}"#
        }
        func rejected(_ number: Int, _ sequence: Int64) -> String {
            #"{"at":1,"intent":\#(number),"kind":"rejected","message":"no","replica":"me","sequence":\#(sequence)}"#
        }
        // The entries need two reads, and a wide gap follows them.
        let start = (1...400).flatMap { number in
            let sequence = Int64(2 * number)
            return [intent(number, sequence), rejected(number, sequence + 1)]
        }
        let last = Int64.max - 1
        try ReplayStory.write(
            start + [intent(401, last)], to: directory.url.appending(path: "file"))
        func sequences(_ options: String...) throws -> [JSON] {
            try run([foldback, "tail", path("file"), "--json"] + options).output
                .split(separator: "\n").compactMap { try JSON(parsing: String($0))["sequence"] }
        }
        #expect(try sequences("-n", "2") == [801, .integer(last)])
        #expect(try sequences("-n", "2", "--kind", "rejected") == [799, 801])
        #expect(try sequences("-n", "1", "--intent", "1") == [3])
        #expect(try sequences("-n", "0") == [])
        #expect(try sequences("-n", "9", "--kind", "withdrawn") == [])
        #expect(try sequences("-n", "801").count == 801)
        #expect(try sequences("-n", "\(UInt64.max)").count == 801)
    }
}
