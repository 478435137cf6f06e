import Foldback
import Foundation
import Processes
import Testing

/// Born from the question what the page shows while another process writes the log, is killed, or
/// closes the terminal.
@Suite(.serialized) struct InspectorLiveTests {
    private let directory = DiskDirectory()

    @Test(.timeLimit(.minutes(10)))
    func `the inspector follows a log that another process writes, and tells that it was killed`()
        throws
    {
        let shell = try ShellProcess(directory.log, ["--confirmed-by", "acknowledgement"])
        shell.send(ReplayStory.lines[0])
        #expect(shell.answer()?["intent"] == 1)
        let inspector = try InspectorProcess([directory.log.path])
        let head = try inspector.get("/api/head")
        #expect(head["isLive"] == true && head["status"]?["sequence"] == 1)
        let process = JSON.integer(Int64(shell.process.id))
        #expect(head["writer"] == ["isThere": true, "process": process])
        #expect(try inspector.get("/api/rows?kind=acknowledged")["count"] == 0)
        for number in 2...4 {
            shell.send(ReplayStory.lines[number == 2 ? 1 : 2])
            #expect(shell.answer()?["ok"] == true)
            let later = try inspector.get("/api/changes?after=\(number - 1)")
            #expect(later["status"]?["sequence"] == .integer(Int64(number)))
            let rows = try inspector.get("/api/rows")
            #expect(rows["count"] == .integer(Int64(number)))
            let state = try inspector.get("/api/at?sequence=\(number)")
            #expect(state["sequence"] == .integer(Int64(number)))
        }
        #expect(try inspector.get("/api/rows?kind=acknowledged")["count"] == 1)
        #expect(try inspector.get("/api/rows?state=pending")["count"] == 2)
        shell.kill()
        // A killed writer's lock ends with its process.
        var gone = try inspector.get("/api/head")
        while gone["writer"]?["isThere"] == true { gone = try inspector.get("/api/head") }
        #expect(gone["writer"] == ["isThere": false])
        #expect(try inspector.get("/api/rows")["count"] == 4)
        #expect(try inspector.get("/api/at?sequence=4")["pending"] == [2, 3])
        let next = try ShellProcess(directory.log)
        next.send(ReplayStory.lines[2])
        #expect(next.answer()?["ok"] == true)
        let back = try inspector.get("/api/changes?after=4")
        #expect(back["writer"]?["isThere"] == true && back["status"]?["sequence"] == 5)
        // The old result is shown until the search of the longer log ends.
        var pending = try inspector.get("/api/rows?state=pending")
        while pending["isWhole"] != true {
            #expect(pending["count"] == 2)
            pending = try inspector.get("/api/rows?state=pending")
        }
        #expect(pending["count"] == 3)
        #expect(next.finish().status == 0)
    }

    @Test(.timeLimit(.minutes(10)))
    func `a request for changes ends when the writer is killed`() throws {
        let shell = try ShellProcess(directory.log)
        shell.send(ReplayStory.lines[0])
        #expect(shell.answer()?["ok"] == true)
        let inspector = try InspectorProcess([directory.log.path])
        let waiting = try RunningProcess([
            "curl", "-sS", "-b", inspector.cookie,
            "http://127.0.0.1:\(inspector.port)/api/changes?after=1&writer=\(shell.process.id)",
        ])
        let start = ContinuousClock.now
        // Whichever comes first, the request or the kill, the answer says that nobody writes.
        shell.kill()
        let head = try JSON(parsing: waiting.waitForEnd().output)
        #expect(head["writer"] == ["isThere": false])
        let late = try inspector.get("/api/changes?after=1&writer=\(shell.process.id)")
        #expect(late["writer"] == ["isThere": false])
        // A request without a change waits for 20 seconds.
        #expect(ContinuousClock.now - start < .seconds(18))
    }

    @Test(.timeLimit(.minutes(10)), arguments: [SIGHUP, SIGINT, SIGTERM])
    func `a signal of the terminal ends the inspector`(signal: Int32) throws {
        try ReplayStory.makeLog(directory.log)
        let inspector = try InspectorProcess([directory.log.path])
        #expect(try inspector.send("/api/head").status == 200)
        inspector.process.signal(signal)
        let end = inspector.process.waitForEnd()
        #expect(end.reason == .uncaughtSignal && end.status == signal)
    }

    @Test(.timeLimit(.minutes(10)))
    func `the inspector ends with its terminal, also in another session`() throws {
        try ReplayStory.makeLog(directory.log)
        let pipe = directory.url.appending(path: "address").path
        #expect(mkfifo(pipe, 0o600) == 0)
        let tool = executable("foldback")
        // A process in a session of its own gets no SIGHUP from this terminal.
        let terminal = try RunningProcess(
            [
                "script", "-qec", "setsid -w \(tool) inspect \(directory.log.path) > \(pipe)",
                "/dev/null",
            ], input: .pipe, output: .none)
        let output = try #require(FileHandle(forReadingAtPath: pipe))
        let address = String(decoding: output.availableData, as: UTF8.self)
        #expect(address.hasPrefix("http://127.0.0.1:") && address.hasSuffix("\n"))
        terminal.signal(SIGKILL)
        // The stream ends with the process.
        #expect(output.readDataToEndOfFile().isEmpty)
        terminal.waitUntilExit()
    }

    @Test(.timeLimit(.minutes(10)))
    func `the end of an input that is not a terminal changes nothing`()
        throws
    {
        try ReplayStory.makeLog(directory.log)
        // The input of every inspector in these tests is at its end from the start.
        let inspector = try InspectorProcess([directory.log.path])
        for _ in 1...3 { #expect(try inspector.send("/api/head").status == 200) }
        #expect(inspector.process.isRunning)
    }
}
