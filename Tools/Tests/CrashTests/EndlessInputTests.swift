import Foldback
import Foundation
import Processes
import Testing

/// Born from `foldback log /dev/zero`, which used all memory, and from 300 MB without a newline,
/// which cost 553 MB before the first line was judged.
@Suite(.serialized) struct EndlessInputTests {
    private let foldback = executable("foldback")
    private let probe = executable("foldback-probe")
    private let directory = DiskDirectory()

    /// The tools use about 30 MB. A sanitizer needs several times as much.
    private static let peakMaxKiB = 100 << 10
    private static let isSanitized = ["TSAN_OPTIONS", "ASAN_OPTIONS"].contains {
        ProcessInfo.processInfo.environment[$0] != nil
    }

    /// Runs a script in the directory. In it, `foldback` is the tool, and leaves its peak.
    private func sh(_ script: String) throws -> ProcessEnd {
        let start =
            "cd '\(directory.url.path)' && foldback() { '\(probe)' peak peak '\(foldback)' \"$@\"; }"
        return try run(["sh", "-c", "\(start) && \(script)"])
    }

    /// The most memory that the last tool of a script used, in KiB.
    private func peak() throws -> Int {
        let file = directory.url.appending(path: "peak")
        return try #require(Int(try String(contentsOf: file, encoding: .utf8)))
    }

    private func expectLittleMemory(_ note: String, line: Int = #line) throws {
        let kiB = try peak()
        let place = SourceLocation(fileID: #fileID, filePath: #filePath, line: line, column: 1)
        #expect(
            Self.isSanitized || kiB < Self.peakMaxKiB, "\(note): \(kiB) KiB", sourceLocation: place)
    }

    @Test(arguments: [
        "foldback log /dev/zero", "foldback log /dev/urandom", "foldback log - < /dev/zero",
        "cat /dev/zero | foldback log -", "yes junk | tr -d '\\n' | foldback log -",
        "yes '[' | foldback status -", "yes ' {' | tr -d '\\n' | foldback log -",
        "foldback import /dev/zero new", "foldback import - new < /dev/urandom",
        "truncate -s 300M zeros && foldback log zeros",
        "yes junk | tr -d '\\n' | head -c 300000000 > junk && foldback export junk -o out",
        "yes '{\"a\":1}' | head -c 300000000 > lines && foldback log lines",
    ])
    func `a file that is not a history is refused at its first line`(command: String) throws {
        let seen = try sh(command)
        #expect(seen.status == 3, "\(command): \(seen.errors.prefix(500))")
        #expect(seen.output.isEmpty)
        // The first random bytes may be empty lines, which are skipped.
        let line = command.contains("urandom") ? "line " : "line 1: "
        #expect(seen.errors.contains(line), "\(command): \(seen.errors.prefix(500))")
        #expect(seen.errors.utf8.count < 1_000, "\(command): \(seen.errors.prefix(500))")
        try expectLittleMemory(command)
    }

    @Test(arguments: [
        "cat /dev/zero", "yes junk | tr -d '\\n'", "yes '{' | tr -d '\\n'", "yes '{\"a\":1}'",
        "yes '{\"at\":x' | tr -d '\\n'",
    ])
    func `a wrong line after a right header is refused before the next line`(rest: String) throws {
        try ReplayStory.makeLog(directory.log)
        let seen = try sh(
            "'\(foldback)' export log | sed -n 1p > head && (cat head; \(rest)) | foldback log -")
        #expect(seen.status == 3 && seen.output.isEmpty, "\(seen.errors.prefix(500))")
        #expect(seen.errors.contains("standard input: line 2: "), "\(seen.errors.prefix(500))")
        try expectLittleMemory(rest)
    }

    @Test func `an endless line that may be an entry is refused at the limit`() throws {
        try ReplayStory.makeLog(directory.log)
        let seen = try sh(
            "'\(foldback)' export log | sed -n 1p > head && (cat head; printf '{\"event\":\"'; yes a | tr -d '\\n') 2>/dev/null | foldback log -"
        )
        #expect(seen.status == 3 && seen.output.isEmpty, "\(seen.errors.prefix(500))")
        #expect(
            seen.errors
                == "foldback: standard input: line 2: the line has more than 403701760 bytes, and no such line needs as many; make it smaller\n"
        )
        // The limit, and a copy while the buffer grows.
        #expect(try Self.isSanitized || peak() < 1 << 20)
    }

    @Test func `the number of a wrong line is right after long lines`() throws {
        let text = String(repeating: "long ", count: 60_000)
        func entry(_ number: Int) -> String {
            #"{"at":0,"event":{"key":"a","op":"set","value":"\#(text)"},"intent":\#(number),"kind":"intent","replica":"me","sequence":\#(number)}"#
        }
        let file = directory.url.appending(path: "file")
        try ReplayStory.write([entry(1), entry(2), "", entry(3)], to: file)
        let good = try sh("foldback log file --json")
        #expect(good.output.split(separator: "\n").count == 3, "\(good.errors)")
        #expect(good.output.components(separatedBy: text).count == 4)
        try ReplayStory.write([entry(1), entry(2), "", entry(3), "{\"kind\":\"what\"}"], to: file)
        let wrong = try sh("foldback log file")
        #expect(wrong.errors == "foldback: file: line 6: \"kind\" is not a kind of entry\n")
    }

    @Test func `the shell answers a line without an end, and goes on at the next line`() throws {
        let status = #"{"do":"status"}"#
        let seen = try sh(
            "(echo '\(status)'; head -c 300000000 /dev/zero; echo; echo '\(status)'; yes '{\"do\":' | tr -d '\\n' | head -c 300000000; echo; echo '\(status)') | foldback shell log"
        )
        #expect(seen.status == 0, "\(seen.errors)")
        let answers = try seen.output.split(separator: "\n").map { try JSON(parsing: String($0)) }
        #expect(answers.map { $0["ok"] } == [true, false, true, false, true])
        #expect(answers[1]["error"]?["code"] == "bad_request")
        #expect(
            answers[1]["error"]?["message"]
                == "the line is not a JSON object: no object starts like this at byte 0")
        try expectLittleMemory("shell")
        // The answer does not wait for the line's end.
        let shell = try ShellProcess(directory.log)
        let zeros = String(repeating: "\0", count: 1 << 17)
        shell.send(zeros)
        #expect(shell.answer()?["ok"] == false)
        shell.send(status)
        #expect(shell.answer()?["ok"] == true)
        #expect(shell.finish().status == 0)
    }

    @Test func `step skips an endless line of keys`() throws {
        try ReplayStory.makeLog(directory.log)
        let seen = try sh("(head -c 300000000 /dev/zero; echo; echo e) | foldback step log")
        #expect(seen.status == 0, "\(seen.errors)")
        #expect(seen.errors == "the line is too long for keys\n")
        #expect(seen.output.contains("entry 6"))
        try expectLittleMemory("step")
    }

    @Test(arguments: ["session --directory . /dev/zero", "session --directory . --text /dev/zero"])
    func `the demo refuses an endless file`(command: String) throws {
        let demo = executable("foldback-demo")
        let seen = try run([
            "sh", "-c",
            "cd '\(directory.url.path)' && '\(probe)' peak peak '\(demo)' \(command)",
        ])
        #expect(seen.status == 2 && seen.errors.contains("/dev/zero has more than"), "\(seen)")
        #expect(try Self.isSanitized || peak() < 3 * Self.peakMaxKiB)
    }
}
