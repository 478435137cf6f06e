import Foldback
import Foundation
import Processes
import Testing

/// Born from the question whether people can read and trust the text that commands print.
@Suite(.serialized) struct ReplayToolTextTests {
    private let foldback = executable("foldback")
    private let directory = DiskDirectory()

    private var file: URL { directory.url.appending(path: "file") }

    @Test func `a time is printed to the millisecond, also before 1970`() throws {
        let times: [(Int64, String)] = [
            (0, "1970-01-01 00:00:00.000Z"), (1, "1970-01-01 00:00:00.001Z"),
            (-1, "1969-12-31 23:59:59.999Z"), (-1_000, "1969-12-31 23:59:59.000Z"),
            (-1_001, "1969-12-31 23:59:58.999Z"), (1_795_312_179_592, "2026-11-22 01:49:39.592Z"),
        ]
        try ReplayStory.write(
            times.enumerated().map { index, time in
                #"{"at":\#(time.0),"event":{"key":"a","op":"delete"},"intent":\#(index + 1),"kind":"intent","replica":"me","sequence":\#(index + 1)}"#
            }, to: file)
        let seen = try run([foldback, "log", file.path]).output.split(separator: "\n")
        #expect(seen.count == times.count)
        for ((_, text), line) in zip(times, seen) {
            #expect(line.contains("  \(text)  "), "\(line)")
        }
        // A Double cannot hold these fractions, and rounding down once lost a millisecond.
        try ReplayStory.write(
            (0..<1_000).map { number in
                #"{"at":\#(1_795_312_179_000 + number),"event":{"key":"a","op":"delete"},"intent":\#(number + 1),"kind":"intent","replica":"me","sequence":\#(number + 1)}"#
            }, to: file)
        let lines = try run([foldback, "log", file.path]).output.split(separator: "\n")
        #expect(lines.count == 1_000)
        for (number, line) in lines.enumerated() {
            #expect(line.contains(".\(String(1_000 + number).dropFirst())Z"), "\(line)")
        }
    }

    @Test func `why prints the events of a batch that changed the value, and counts the others`()
        throws
    {
        let events = ["a", "b", "c", "b"].enumerated().map { index, key in
            #"{"position":\#(index + 1),"event":{"op":"set","key":"\#(key)","value":\#(index)}}"#
        }
        try ReplayStory.makeLog(
            directory.log, [#"{"do":"confirm","events":[\#(events.joined(separator: ","))]}"#],
            kind: .downlink)
        let why = [foldback, "why", directory.log.path, "--key"]
        let text = try run(why + ["b"]).output
        #expect(text.contains("and 2 other events"))
        #expect(!text.contains(#""key":"a""#) && !text.contains(#""key":"c""#))
        #expect(try run(why + ["a"]).output.contains("and 3 other events"))
        let json = try run(why + ["b", "--json"]).output
        #expect(try JSON(parsing: json)["positions"] == [2, 4])
    }

    @Test func `a line says what an intent has beside its event, and what became of it`() throws {
        let set = { (key: String) in #"{"op":"set","key":"\#(key)","value":1}"# }
        try ReplayStory.makeLog(
            directory.log,
            [
                #"{"do":"record","event":\#(set("a")),"replacing":"k"}"#,
                #"{"do":"record","event":\#(set("a")),"replacing":"k","held":true}"#,
                #"{"do":"together","events":[\#(set("b")),\#(set("c"))]}"#,
                #"{"do":"release","intent":2}"#, #"{"do":"acknowledge","intent":2}"#,
                #"{"do":"undo","intent":2}"#, #"{"do":"undo","intent":3}"#,
            ], kind: .downlink)
        let lines = try run([foldback, "log", directory.log.path]).output.split(separator: "\n")
        let ends = [
            "replaceable by k", "(a draft, replaceable by k, replaces intent 1)",
            "first of several together", "together with intent 3",
            "released 2        it may be sent",
            "acknowledged 2", "undoes intent 2", "undone 4          taken back by undo or redo",
            "undone 3          taken back by undo or redo",
        ]
        try #require(lines.count == ends.count)
        for (line, end) in zip(lines, ends) { #expect(line.contains(end), "\(line)") }
        let story = try run([foldback, "why", directory.log.path, "--intent", "2"]).output
        #expect(story.contains("released 2") && story.contains("undoes intent 2"))
        let undone = try run([foldback, "log", directory.log.path, "--kind", "undone"]).output
        #expect(undone.split(separator: "\n").count == 2)
        #expect(try run([foldback, "status", directory.log.path]).output.contains("held        0"))
    }

    @Test func `a document's text stays on its line, and reads from left to right`() throws {
        let forged = #"a\npending 7\u202e\u2066\u200f\u2028"#
        try ReplayStory.makeLog(
            directory.log,
            [
                #"{"do":"record","event":{"op":"set","key":"\#(forged)","value":"\#(forged)"}}"#,
                #"{"do":"record","event":{"op":"delete","key":"\#(forged)"}}"#,
                #"{"do":"reject","intent":1,"code":"\#(forged)","message":"\#(forged)"}"#,
            ])
        let commands = [
            ["at", "1"], ["log"], ["tail"], ["diff", "0", "1"], ["why", "--intent", "1"],
            ["why", "--place", ""], ["what-if", "--drop", "1"], ["status"],
            ["first-break", "--expect", "/nothing != null"],
        ]
        for command in commands {
            let seen = try run([foldback, command[0], directory.log.path] + command.dropFirst())
            #expect(seen.status < 2 && !seen.output.isEmpty, "\(command): \(seen)")
            let scalars = (seen.output + seen.errors).unicodeScalars
            #expect(
                !scalars.contains { $0 != "\n" && ($0.value < 0x20 || $0.properties.isBidiControl) }
                    && !scalars.contains("\u{2028}"), "\(command): \(seen)")
        }
        let at = try run([foldback, "at", directory.log.path, "1"]).output
        #expect(
            at
                == #"a\npending 7\u{202E}\u{2066}\u{200F}\u{2028}: "a\npending 7\u{202E}\u{2066}\u{200F}\u{2028}""#
                + "\npending 1\n")
        let json = try run([foldback, "at", directory.log.path, "1", "--json"]).output
        let view = try JSON(parsing: json.trimmingCharacters(in: .newlines))["view"]
        #expect(view?["a\npending 7\u{202E}\u{2066}\u{200F}\u{2028}"] != nil, "\(json)")
        let wrong = try run([foldback, "at", "no\u{202E}\nlog", "1"])
        #expect(!wrong.errors.contains("\u{202E}"), "\(wrong)")
    }

    @Test func `a usage error names the mistake and the command's help`() throws {
        try ReplayStory.makeLog(directory.log)
        let log = directory.log.path
        for (command, words) in [
            (["at", log, "-1"], "-1 is read as an option; see foldback at --help"),
            (["what-if", log, "--drop", "-1"], "-1 is read as an option; see foldback what-if"),
            (["why", log, "--key", "a", "--last", "0"], "--last must be at least 1, not 0"),
            (["first-break", log, "--check", "x"], "check x does not exist; this tool has none"),
            (["what-fi", log], "what-fi is neither a command nor a log; did you mean what-if;"),
            (["frobnicate", log], "neither a command nor a log; see foldback --help"),
            (["help", "lgo"], "lgo is not a command; did you mean log;"),
        ] {
            let seen = try run([foldback] + command)
            #expect(seen.status == 2 && seen.errors.contains(words), "\(command): \(seen)")
        }
        let help = try run([foldback, "--help"]).output
        #expect(help.contains("125 inconclusive"), "\(help)")
    }

    @Test func `step prints its place first, and reports a move beyond an end`() throws {
        try ReplayStory.makeLog(directory.log)
        func step(_ keys: String) throws -> (output: [Substring], errors: String) {
            let seen = try run([
                "sh", "-c", "printf '\(keys)' | \(foldback) step \(directory.log.path)",
            ])
            return (seen.output.split(separator: "\n"), seen.errors)
        }
        let seen = try step("2\\n")
        #expect(seen.output[0] == "before the first entry, and the last is 6")
        #expect(seen.output[2].hasPrefix("entry 2, and the last is 6  2"), "\(seen)")
        #expect(seen.output[2].hasSuffix("Z  acknowledged 1"), "\(seen)")
        #expect(try step("p\\n").errors == "there is nothing before the first entry\n")
        #expect(try step("e\\nn\\n").errors == "entry 6 is the last\n")
        #expect(try step("7\\n").errors == "entry 7 does not exist; the last is 6\n")
    }

    @Test func `import refuses a directory with other files, also with --dry-run`() throws {
        try ReplayStory.makeLog(directory.log)
        #expect(try run([foldback, "export", directory.log.path, "-o", file.path]).status == 0)
        let folder = directory.url.appending(path: "folder", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try Data().write(to: folder.appending(path: "file"))
        for options in [["--dry-run"], []] {
            let seen = try run([foldback, "import", file.path, folder.path] + options)
            #expect(seen.status == 3 && seen.output.isEmpty, "\(seen)")
            #expect(seen.errors.contains("has other files, such as file); choose"), "\(seen)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names == ["file"])
    }

    @Test func `the error for an import with gaps names the option that closes them`() throws {
        try ReplayStory.makeLog(directory.log)
        let small = file.path
        #expect(
            try run(
                [foldback, "minimize", directory.log.path, "--expect", "/draft == null"]
                    + ["-o", small]
            ).status == 0)
        let seen = try run([foldback, "import", small, directory.url.appending(path: "x").path])
        #expect(seen.status == 3, "\(seen)")
        #expect(seen.errors.hasPrefix("foldback: \(small): entry "), "\(seen)")
        #expect(seen.errors.hasSuffix("; close gaps with --close-gaps\n"), "\(seen)")
    }
}
