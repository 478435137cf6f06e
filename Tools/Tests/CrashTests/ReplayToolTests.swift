import Foldback
import Foundation
import Processes
import Testing

/// Born from the question what the tool shows a user about the past of a log.
@Suite(.serialized) struct ReplayToolTests {
    private let foldback = executable("foldback")
    private let directory = DiskDirectory()

    private func makeLog() throws { try ReplayStory.makeLog(directory.log) }

    private var bytes: Data {
        get throws { try Data(contentsOf: directory.log.appending(path: "data.mdb")) }
    }

    /// Commands that read, with their exit codes on the log of the story.
    private static let looks: [(command: [String], status: Int32)] = [
        (["log", "--kind", "intent", "--key", "post", "--state", "confirmed"], 0),
        (["tail", "-n", "2"], 0), (["status"], 0), (["at", "4"], 0), (["at", "0"], 0),
        (["diff", "1", "6"], 1), (["diff", "6", "view"], 0), (["diff", "confirmed", "view"], 1),
        (["why", "--key", "post"], 0), (["why", "--intent", "2"], 0),
        (["first-break", "--expect", "/post/likes >= 0"], 1),
        (["first-break", "--expect", "/post/likes < 9", "--assume-monotone"], 0),
        (["first-break", "--run", "grep -q -v -- -3"], 1),
        (["what-if", "--drop", "3"], 1), (["what-if", "--acknowledge", "3"], 1),
        (["minimize", "--expect", "/post/likes >= 0"], 0), (["export"], 0),
        (["plot", "--of", "bytes"], 0), (["export", "--keep", "/value/likes"], 0), (["verify"], 0),
    ]

    @Test func `L9: commands that read change no byte, agree on a live log, and print JSON`()
        throws
    {
        try makeLog()
        let before = try bytes
        func look(_ command: [String], _ more: [String] = []) throws -> (
            status: Int32, output: String
        ) {
            let result = try run(
                [foldback, command[0], directory.log.path] + command.dropFirst() + more)
            return (result.status, result.output)
        }
        var closed: [String] = []
        for (command, status) in Self.looks {
            let seen = try look(command)
            #expect(seen.status == status, "\(command): \(seen)")
            closed.append(seen.output)
            let json = try look(command, ["--json"])
            #expect(json.status == status, "\(command): \(json)")
            for line in json.output.split(separator: "\n") {
                #expect(throws: Never.self) { try JSON(parsing: String(line)) }
            }
        }
        #expect(try bytes == before)
        let shell = try ShellProcess(directory.log)
        shell.send(#"{"do":"status"}"#)
        #expect(shell.answer()?["ok"] == true)
        for ((command, _), seen) in zip(Self.looks, closed) where command[0] != "status" {
            #expect(try look(command).output == seen, "\(command)")
        }
        #expect(shell.finish().status == 0)
    }

    @Test func `wrong usage exits with 2 and an unusable log with 3, on one line`() throws {
        try makeLog()
        let log = directory.log.path
        let cases: [(command: [String], status: Int32, words: String)] = [
            (["at", log, "7"], 2, "the last is 6"),
            (["at", log, "x"], 2, "see foldback at --help"),
            (["why", log], 2, "give one of"), (["why", log, "--intent", "9"], 2, "no intent 9"),
            (["first-break", log, "--expect", "likes"], 2, "is not a comparison"),
            (["first-break", log, "--check", "all"], 2, "check all does not exist"),
            (["what-if", log], 2, "at least one edit"), (["what-if", log, "--drop", "9"], 2, "9"),
            (["what-if", log, "--edit", "1={}"], 2, "is not an event"),
            (["diff", log, "1", "later"], 2, "is not a sequence"),
            (["log", log, "--since", "yesterday"], 2, "is not a moment"),
            (["rerun", log], 2, "names no versions"),
            (["export", log, "--as", "test"], 2, "needs -o"),
            (["at", log + "x", "1"], 3, "no log exists at"),
            (["import", log + "x", log], 3, "cannot be read"),
        ]
        for (command, status, words) in cases {
            let result = try run([foldback] + command)
            #expect(result.status == status, "\(command): \(result)")
            #expect(result.errors.contains(words), "\(command): \(result.errors)")
            #expect(result.errors.split(separator: "\n").count == 1 && result.output.isEmpty)
        }
    }

    @Test func `help shows which commands take a file instead of a log`() throws {
        for (command, takesFile) in [
            ("at", true), ("export", true), ("verify", false), ("shell", false), ("import", false),
        ] {
            let help = try run([foldback, command, "--help"]).output
                .split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(help.contains("also a file of `export`") == takesFile, "\(help)")
        }
    }

    @Test func `an imported export is the same log with another replica`() throws {
        try makeLog()
        let other = directory.url.appending(path: "other").path
        let file = directory.url.appending(path: "log.ndjson").path
        for form in ["ndjson", "bundle"] {
            let log = other + form
            #expect(
                try run([foldback, "export", directory.log.path, "--as", form, "-o", file]).status
                    == 0)
            let dry = try run([foldback, "import", file, log, "--dry-run"])
            #expect(dry.status == 0 && dry.output.contains("would import 6 entries"), "\(dry)")
            #expect(try run([foldback, "status", log]).status == 3)
            #expect(try run([foldback, "import", file, log]).status == 0)
            #expect(try run([foldback, "import", file, log]).status == 3)
            for command in [
                ["at", "6", "--json"], ["log", "--json"], ["why", "--intent", "2", "--json"],
            ] {
                func seen(_ log: String) throws -> String {
                    try run([foldback, command[0], log] + command.dropFirst()).output
                }
                #expect(try seen(log) == seen(directory.log.path), "\(command)")
            }
            let shell = try ShellProcess(URL(filePath: log))
            shell.send(#"{"do":"status"}"#, ReplayStory.lines[0])
            #expect(shell.answer()?["replica"] != "me")
            #expect(shell.answer()?["intent"] == 5)
            #expect(shell.finish().status == 0)
        }
    }

    @Test func `an app's own tool explains the feed of the demo`() throws {
        let demo = executable("foldback-demo")
        #expect(try run([demo, "feed", "--directory", directory.url.path]).status == 0)
        let tool = executable("feed-replay")
        let log = directory.url.appending(path: "feed.log").path
        let why = try run([tool, "why", "--intent", "6", log])
        #expect(why.status == 0 && why.output.hasSuffix("intent 6 is rejected\n"), "\(why)")
        #expect(why.output.contains("- /posts/cleo.1.0/comments/0"), "\(why)")
        let diff = try run([tool, "diff", log, "15", "16"])
        #expect(
            diff.status == 1 && diff.output.hasPrefix("- /posts/cleo.1.0/comments/0"), "\(diff)")
        let found = try run([
            tool, "first-break", log, "--expect", "/posts/bo.2.0/isDeleted != true",
        ])
        #expect(found.status == 1 && found.output.contains("deleted"), "\(found)")
    }

    /// The written test is a part of ShellTests: `FeedLogTests`, which is compiled and run there.
    @Test func `export --as test writes the test that ShellTests runs`() throws {
        let kept = ReplayStory.root.appending(path: "Tools/Tests/ShellTests/Recorded")
        let log = directory.url.appending(path: "feed")
        let history = kept.appending(path: "feed.ndjson").path
        #expect(try run([foldback, "import", history, log.path]).status == 0)
        let tests = directory.url.appending(path: "Tests")
        #expect(
            try run([foldback, "export", log.path, "--as", "test", "-o", tests.path]).status == 0)
        for name in ["FeedLogTests.swift", "feed.expected.json"] {
            let made = try String(contentsOf: tests.appending(path: name), encoding: .utf8)
            #expect(
                try made == String(contentsOf: kept.appending(path: name), encoding: .utf8),
                "\(name)")
        }
    }
}
