import Foldback
import Foundation
import Processes
import Testing

/// Found from outside: two shells on hard links of one data file lost durable answers, and a deleted
/// log went on answering.
@Suite(.serialized) struct SharedFileTests {
    private let foldback = executable("foldback")
    private let directory = DiskDirectory()
    private let record = #"{"do":"record","event":{"op":"set","key":"a","value":1}}"#
    private var other: URL { directory.url.appending(path: "other", directoryHint: .isDirectory) }

    private func failsToOpen(_ log: URL, saying words: String) throws {
        for command in ["shell", "status", "log"] {
            let result = try run([foldback, command, log.path])
            #expect(result.status == 3, "\(command): \(result)")
            #expect(result.errors.contains(words), "\(command): \(result.errors)")
        }
    }

    /// As `cp -al log other` does.
    private func linkLog(leavingOut names: [String] = []) throws {
        try #require(try run(["cp", "-al", directory.log.path, other.path]).status == 0)
        for name in names { try FileManager.default.removeItem(at: other.appending(path: name)) }
    }

    @Test(arguments: [[], ["lock.mdb", "writer.pid"]])
    func `L8: a second process is refused on hard links of an open log`(left: [String]) throws {
        let shell = try ShellProcess(directory.log)
        shell.send(record)
        #expect(shell.answer()?["intent"] == 1)
        try linkLog(leavingOut: left)
        try failsToOpen(other, saying: "data.mdb has 2 hard links")
        shell.send(record)
        #expect(shell.answer()?["intent"] == 2)
        // Now the file has one name again, and the first process notices that its name is gone.
        try FileManager.default.removeItem(at: directory.log.appending(path: "data.mdb"))
        let second = try run([foldback, "shell", other.path])
        let reason = left.isEmpty ? "lock.mdb has 2 hard links" : "has it open"
        #expect(second.status == 3 && second.errors.contains(reason), "\(second)")
        shell.send(record)
        #expect(shell.answer()?["error"]?["code"] == "storage")
        #expect(shell.finish().status == 0)
        if left.isEmpty {
            try FileManager.default.removeItem(at: other.appending(path: "lock.mdb"))
        }
        #expect(try run([foldback, "verify", other.path]).status == 0)
    }

    @Test func `L6: a session on a deleted log answers with an error, and a new log can follow`()
        throws
    {
        let shell = try ShellProcess(directory.log)
        shell.send(record)
        #expect(shell.answer()?["ok"] == true)
        try FileManager.default.removeItem(at: directory.log)
        let next = try ShellProcess(directory.log)
        next.send(record)
        #expect(next.answer()?["intent"] == 1)
        for _ in 1...2 {
            shell.send(record)
            let error = shell.answer()?["error"]
            #expect(error?["code"] == "storage")
            #expect(error?["message"]?.stringValue?.contains("while the log was open") == true)
        }
        #expect(shell.finish().status == 0)
        next.send(record)
        #expect(next.answer()?["intent"] == 2)
        #expect(next.finish().status == 0)
    }

    @Test func `A1: a wiped log has another replica id, unless the session names it`()
        throws
    {
        func replica(_ options: [String]) throws -> JSON? {
            let shell = try ShellProcess(directory.log, options)
            shell.send(record, #"{"do":"status"}"#)
            #expect(shell.answer()?["intent"] == 1)
            let replica = shell.answer()?["replica"]
            #expect(shell.finish().status == 0)
            try FileManager.default.removeItem(at: directory.log)
            return replica
        }
        #expect(try replica([]) != replica([]))
        #expect(try replica(["--replica", "phone"]) == "phone")
        #expect(try replica(["--replica", "phone"]) == "phone")
    }

    @Test func `another app's log is refused with the names of its projections`() throws {
        let feed = directory.url.appending(path: "feed.log", directoryHint: .isDirectory)
        let demo = executable("foldback-demo")
        #expect(try run([demo, "feed", "--directory", directory.url.path]).status == 0)
        let refused = try run([foldback, "shell", feed.path])
        #expect(refused.status == 3 && refused.errors.contains("is another app's"), "\(refused)")
        #expect(refused.errors.contains("Feed"), "\(refused)")
        #expect(try run([foldback, "log", feed.path]).status == 0)
    }

    @Test(arguments: ["deleted", "truncated"])
    func `a process that follows a log reports that its file is lost`(loss: String) throws {
        let shell = try ShellProcess(directory.log)
        shell.send(record)
        #expect(shell.answer()?["ok"] == true)
        let tail = try RunningProcess([foldback, "tail", "-f", directory.log.path])
        #expect(tail.nextLine()?.isEmpty == false)
        let file = directory.log.appending(path: "data.mdb")
        if loss == "deleted" {
            try FileManager.default.removeItem(at: file)
        } else {
            #expect(truncate(file.path, 0) == 0)
        }
        let end = tail.waitForEnd()
        #expect(end.reason == .exit && end.status == 3, "\(end)")
        #expect(end.errors.contains("while the log was open"), "\(end)")
        shell.kill()
    }
}
