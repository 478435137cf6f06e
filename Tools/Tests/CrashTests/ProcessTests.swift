import Foldback
import FoldbackHistory
import Foundation
import Processes
import Testing

/// Born from the question what a user at a terminal sees: errors, exit codes, and several processes
/// on one log.
@Suite(.serialized) struct ProcessTests {
    private let foldback = executable("foldback")
    private let directory = DiskDirectory()
    private let record = #"{"do":"record","event":{"op":"set","key":"a","value":1}}"#

    private func expectFailure(
        _ command: [String], code: Int32, saying words: String..., line: Int = #line
    ) throws {
        let result = try run(command)
        let place = SourceLocation(
            fileID: #fileID, filePath: #filePath, line: line, column: 1)
        #expect(result.status == code, "\(result)", sourceLocation: place)
        #expect(result.output.isEmpty, "\(result.output)", sourceLocation: place)
        #expect(result.errors.hasSuffix("\n"), sourceLocation: place)
        #expect(result.errors.split(separator: "\n").count == 1, "\(result)", sourceLocation: place)
        for word in words {
            #expect(result.errors.contains(word), "\(result.errors)", sourceLocation: place)
        }
    }

    @Test func `L8: a second process gets an error that names the first process`() throws {
        let shell = try ShellProcess(directory.log)
        shell.send(record)
        #expect(shell.answer()?["intent"] == 1)
        try expectFailure(
            [foldback, "shell", directory.log.path], code: 3,
            saying: "process \(shell.process.id) has it open", directory.log.path)
        #expect(shell.finish().status == 0)
        #expect(try run([foldback, "shell", directory.log.path]).status == 0)
    }

    @Test func `a web address is not a path of a log`() throws {
        for command in ["shell", "status"] {
            let address = "https://example.org\(directory.log.path)"
            let refused = try run([foldback, command, address])
            #expect(refused.status != 0 && refused.errors.contains(address), "\(refused)")
        }
        #expect(!FileManager.default.fileExists(atPath: directory.log.path))
        #expect(!FileManager.default.fileExists(atPath: "https:"))
    }

    @Test func `L9: repeated reads of a live log leave no reader slot taken`() throws {
        let shell = try ShellProcess(directory.log)
        for number in 1...150 {
            shell.send(record)
            #expect(shell.answer()?["intent"] == .integer(Int64(number)))
            let seen = try run([foldback, "status", directory.log.path, "--json"])
            let status = try JSON(parsing: seen.output.trimmingCharacters(in: .newlines))
            #expect(status["sequence"] == .integer(Int64(number)), "\(seen)")
        }
        let log = try run([foldback, "log", directory.log.path, "--json"])
        #expect(log.output.split(separator: "\n").count == 150)
        #expect(shell.finish().status == 0)
    }

    @Test func `a store opens, writes and closes a log during a long replay`()
        throws
    {
        let first = try ShellProcess(directory.log)
        first.send(record)
        #expect(first.finish().status == 0)
        let reader = try LogReader(at: directory.log)
        var replay = try reader.replay(Documents.self)
        #expect(try replay.next() != nil)
        for number in 2...4 {
            // The replay does not read in round 2. In rounds 3 and 4 it reads while a store has the
            // log open.
            let shell = try ShellProcess(directory.log)
            shell.send(record)
            #expect(shell.answer()?["intent"] == .integer(Int64(number)))
            if number != 2 {
                #expect(try replay.next()?.sequence == LogSequence(UInt64(number - 1)))
            }
            #expect(shell.finish().status == 0)
        }
        #expect(try replay.next()?.sequence == 4)
        #expect(try replay.next() == nil && reader.status().sequence == 4)
        reader.close()
    }

    @Test func `a read of a closed log shows its entries and changes no byte`() throws {
        let shell = try ShellProcess(directory.log)
        shell.send(record)
        #expect(shell.answer()?["ok"] == true)
        #expect(shell.finish().status == 0)
        let before = try Data(contentsOf: directory.log.appending(path: "data.mdb"))
        let log = try run([foldback, "log", directory.log.path])
        #expect(log.output.contains("intent 1"))
        #expect(log.output.contains("set a to 1"))
        #expect(try Data(contentsOf: directory.log.appending(path: "data.mdb")) == before)
    }

    @Test func `verify names each damaged place, and exits with 1`() throws {
        let log = directory.log.path
        try expectFailure([foldback, "verify", log], code: 3, saying: "no log exists at", log)
        let shell = try ShellProcess(directory.log)
        shell.send(record, record, #"{"do":"reject","intent":1,"message":"no"}"#)
        #expect(shell.finish().status == 0)
        let sound = try run([foldback, "verify", log])
        #expect(sound.status == 0)
        #expect(sound.output == "sound: 3 entries folded, 0 checkpoints compared\n")
        let file = directory.log.appending(path: "data.mdb")
        var bytes = try Data(contentsOf: file)
        // Damages a letter of the message in each copy of the rejection that a commit left.
        let message = Data([2, UInt8(ascii: "n"), UInt8(ascii: "o")])
        var rest = bytes.startIndex..<bytes.endIndex
        while let found = bytes.range(of: message, in: rest) {
            bytes[found.lowerBound + 1] = UInt8(ascii: "N")
            rest = found.upperBound..<bytes.endIndex
        }
        try bytes.write(to: file, options: [])
        let damaged = try run([foldback, "verify", log])
        #expect(damaged.status == 1, "\(damaged)")
        #expect(damaged.output.contains("entry 3: its checksum does not fit its bytes"))
        #expect(damaged.output.hasSuffix("not sound: 1 thing is wrong\n"), "\(damaged)")
        let lines = try run([foldback, "verify", log, "--json"]).output.split(separator: "\n")
        #expect(try lines.map { try JSON(parsing: String($0)) }.last?["sound"] == false)
    }

    @Test func `wrong usage exits with 2 and an unusable log with 3, on one line`() throws {
        let log = directory.log.path
        try expectFailure([foldback, "status", log], code: 3, saying: "no log exists at", log)
        try expectFailure([foldback, "log", log], code: 3, saying: "no log exists at", log)
        try expectFailure([foldback, "fly"], code: 2, saying: "fly")
        try expectFailure([foldback, "shell"], code: 2, saying: "log")
        try expectFailure(
            [foldback, "shell", log, "--durability", "maybe"], code: 2, saying: "maybe")
        try expectFailure(
            [foldback, "shell", log, "--store", "disk"], code: 2, saying: "disk", "store")
        try expectFailure([foldback, "shell", log, "--replica", ""], code: 2, saying: "replica")
        #expect(try run([foldback, "shell", log, "--confirmed-by", "downlink"]).status == 0)
        try expectFailure(
            [foldback, "shell", log, "--confirmed-by", "acknowledgement"], code: 2,
            saying: "confirmed by downlink")
        try "text".write(toFile: log + ".txt", atomically: true, encoding: .utf8)
        try expectFailure([foldback, "shell", log + ".txt"], code: 3, saying: "not a directory")
        let help = try run([foldback, "shell", "--help"])
        #expect(help.status == 0)
        #expect(help.output.contains("Example"))
    }

    @Test func `the error for a directory without permission names it`() throws {
        guard getuid() == 0 else {
            try FileManager.default.createDirectory(
                at: directory.log, withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o500])
            try expectFailure(
                [foldback, "shell", directory.log.path], code: 3, saying: "Permission denied")
            return
        }
        // Root has every permission, so the tool runs as another user. If this process wrote the copy, a
        // process that another test starts meanwhile could inherit the open file ("Text file busy").
        let tool = directory.url.appending(path: "foldback").path
        try #require(try run(["cp", foldback, tool]).isSuccess)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: directory.url.path)
        let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", tool]
        let refused = try run(nobody + ["shell", directory.log.path])
        #expect(refused.status == 3, "\(refused)")
        #expect(refused.errors.contains("Permission denied"), "\(refused)")
        #expect(refused.errors.contains(directory.log.path), "\(refused)")
    }

    @Test(arguments: DocumentStore.allCases)
    func `a real shell gives the answers that the worked histories state`(
        store: DocumentStore
    ) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent()
            .appending(path: "ShellTests/Histories")
        let files = try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil
        ).filter { $0.pathExtension == "ndjson" }
        #expect(files.count == 28)
        for file in files {
            let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                .map { try JSON(parsing: String($0)) }
            let replica = try #require(lines[0]["replica"]?.stringValue)
            let kind = try #require(lines[0]["confirmedBy"]?.stringValue)
            let log = directory.url.appending(path: file.lastPathComponent)
            let shell = try ShellProcess(
                log, ["--replica", replica, "--confirmed-by", kind], over: store)
            for line in lines.dropFirst() {
                shell.send(try #require(line["send"]).description)
                let answer = try #require(shell.answer())
                for (name, value) in line["expect"]?.objectValue?.members ?? [] {
                    let isMet =
                        name == "error"
                        ? answer[name]?["code"] == value["code"] : answer[name] == value
                    #expect(isMet, "\(file.lastPathComponent), \(line): \(answer)")
                }
            }
            #expect(shell.finish().status == 0)
        }
    }

    @Test(arguments: zip(DocumentStore.allCases, DocumentStore.allCases.reversed()))
    func `the end of input closes the log with everything that was answered`(
        store: DocumentStore, later: DocumentStore
    ) throws {
        let first = try ShellProcess(directory.log, ["--replica", "me"], over: store)
        first.send(record, record, #"{"do":"reject","intent":1,"message":"no"}"#)
        #expect(first.finish().status == 0)
        for command in ["log", "status", "verify"] {
            let result = try run([foldback, command, directory.log.path])
            #expect(result.status == 0, "\(command): \(result)")
        }
        let again = try ShellProcess(directory.log, ["--replica", "other"], over: later)
        again.send(#"{"do":"status"}"#, #"{"do":"rejections"}"#, "{\"do\":\"view\"}")
        #expect(again.answer()?["replica"] == "me")
        #expect(again.answer()?["intents"] == [1])
        #expect(again.answer()?["pending"] == [2])
        #expect(again.finish().status == 0)
    }

    @Test func `the demo resumes a killed session of any Unicode, and compares its text`() throws {
        let patches = [
            #"[[0,0,"h\u00e9"]]"#, #"[[2,0,"\ud83d\ude00e\u0301"],[0,1,"H"]]"#, #"[[2,1,""]]"#,
        ]
        let trace =
            #"{"startContent":"","endContent":"H\u00e9e\u0301","txns":[{"patches":\#(patches[0])},{"patches":\#(patches[1])},{"patches":\#(patches[2])}]}"#
        let file = directory.url.appending(path: "trace.json")
        try trace.write(to: file, atomically: true, encoding: .utf8)
        let demo = executable("foldback-demo")
        let folder = directory.url.appending(path: "demo").path
        let short = try run([demo, "session", "--directory", folder, file.path])
        #expect(short.errors.isEmpty, "\(short)")
        #expect(short.status == 0)
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let readme = root.appending(path: "README.md").path
        let typed = try run([demo, "session", "--directory", folder, "--text", readme])
        #expect(typed.status == 0, "\(typed)")
        #expect(typed.output.contains("killed and resumed                  2 times"), "\(typed)")
        let broken = trace.replacingOccurrences(of: #""H\u00e9e\u0301""#, with: #""no""#)
        try broken.write(to: file, atomically: true, encoding: .utf8)
        let wrong = try run([demo, "session", "--directory", folder, file.path])
        #expect(wrong.status == 1)
        #expect(wrong.errors.contains("the view is not the session's last text"), "\(wrong)")
    }

    @Test func `the feed's story meets its expectations, and prints the same every time`() throws {
        let demo = executable("foldback-demo")
        let story = [demo, "feed", "--directory", directory.url.path]
        let first = try run(story)
        #expect(first.errors.isEmpty, "\(first.errors)")
        #expect(first.status == 0)
        let conflict = "[8 pending, conflicted: bo deleted it]"
        #expect(first.output.contains(conflict), "\(first.output)")
        let wide = first.output.split(separator: "\n").filter {
            $0.count > 100 && !$0.hasSuffix("feed.log")
        }
        #expect(wide.isEmpty)
        let second = try run(story)
        #expect(second.output == first.output)
        #expect(second.status == 0)
    }
}
