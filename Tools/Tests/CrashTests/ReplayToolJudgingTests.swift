import Foldback
import FoldbackHistory
import Foundation
import Processes
import Testing

/// Born from the question how commands judge states, and what they report if they cannot:
/// first-break, minimize, rerun.
@Suite(.serialized) struct ReplayToolJudgingTests {
    private let foldback = executable("foldback")
    private let feedReplay = executable("feed-replay")
    private let directory = DiskDirectory()

    private func tool(_ command: String, _ options: String...) throws -> ProcessEnd {
        try run([foldback, command, directory.log.path] + options)
    }

    @Test func `a check command that cannot be run ends the search with an error`() throws {
        try ReplayStory.makeLog(directory.log)
        for command in ["./nosuch.sh", "exit 126"] {
            for look in ["first-break", "minimize"] {
                let seen = try tool(look, "--run", command)
                #expect(seen.status == 2 && seen.output.isEmpty, "\(look): \(seen)")
                #expect(seen.errors.contains("cannot be run: \(command)"), "\(look): \(seen)")
            }
        }
        let killed = try tool("first-break", "--run", "kill -9 $$")
        #expect(killed.status == 3 && killed.errors.contains("status 137"), "\(killed)")
    }

    @Test(arguments: [[], ["--assume-monotone"]])
    func `inconclusive states are reported, and do not count as good`(options: [String]) throws {
        try ReplayStory.makeLog(directory.log)
        let seen = try run(
            [foldback, "first-break", directory.log.path, "--run", "exit 125"] + options)
        #expect(seen.status == 125 && seen.output.contains("7 were inconclusive"), "\(seen)")
        // The last state is bad, and the state before it is inconclusive.
        let check = directory.url.appending(path: "check.sh").path
        try """
        state=$(cat)
        case "$state" in
            *'"sequence":6'*) exit 1 ;;
            *'"sequence":5'*) exit 125 ;;
        esac
        """.write(toFile: check, atomically: true, encoding: .utf8)
        let broken = try run(
            [foldback, "first-break", directory.log.path, "--run", "sh '\(check)'"] + options)
        #expect(broken.status == 1 && broken.output.contains("intent 4"), "\(broken)")
        #expect(broken.output.contains("inconclusive: 5; the first break may be"), "\(broken)")
    }

    @Test func `what-if reports an insert that does not apply, and changed numbers`()
        throws
    {
        try ReplayStory.makeLog(directory.log)
        let seen = try tool(
            "what-if", "--insert", #"1={"op":"delete","key":"z","require":"present"}"#)
        #expect(seen.output.contains("inserted intent 2 does not apply"), "\(seen)")
        #expect(seen.output.contains("intents after a new intent, have other numbers"), "\(seen)")
        #expect(seen.status == 0 && seen.output.contains("no state would have differed"))
    }

    @Test func `each run of a check command ignores the same signals`() throws {
        try ReplayStory.makeLog(directory.log)
        let signals = directory.url.appending(path: "signals").path
        let command = "grep SigIgn /proc/self/status >> '\(signals)'"
        let seen = try run(
            ["env", "--default-signal=PIPE", foldback, "first-break", directory.log.path]
                + ["--run", command])
        #expect(seen.status == 0, "\(seen)")
        let lines = try String(contentsOfFile: signals, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 7 && Set(lines).count == 1, "\(lines)")
    }

    /// Expectations, and whether they hold for the document `{"n":VALUE}`.
    private static let comparisons: [(value: String, expectation: String, holds: Bool)] = [
        ("9007199254740992", "/a/n < 9007199254740993", true),
        ("9007199254740993", "/a/n <= 9007199254740992", false),
        ("9007199254740993", "/a/n > 9007199254740992.0", true),
        ("1.0", "/a/n == 1", true), ("1", "/a/n == 1.0", true), ("1", "/a/n != 1.0", false),
        (#"{"m":[1.0]}"#, #"/a/n == {"m":[1]}"#, true), ("2.5", "/a/n > 2", true),
        ("-2.5", "/a/n < -2", true), ("99999999999999999999", "/a/n > 9223372036854775807", true),
        ("99999999999999999999", "/a/n < 99999999999999999998", false),
        ("-99999999999999999999", "/a/n < -9.5", true), ("1e300", "/a/n > 1", true),
        (#""a == b""#, #"/a/n != "a == b""#, false), (#""b""#, #"/a/n < "c""#, true),
        (#""b""#, "/a/n < 1", false), ("true", "/a/n >= 0", false),
    ]

    @Test func `numbers compare by value, and the first operator ends a place`() throws {
        for (value, expectation, holds) in Self.comparisons {
            let event = try JSON(parsing: #"{"n":\#(value)}"#)
            var documents = Documents()
            try documents.apply(.set("a", event), EventContext(.position(1)))
            #expect(
                try StateExpectation(expectation).holds(of: documents) == holds,
                "\(value) \(expectation)")
        }
        let nothing = Documents()
        for (text, holds) in [
            ("/a == null", true), ("/a != null", false), ("/a == 1", false), ("/a != 1", true),
            ("/a < 1", true), ("/a >= \"x\"", true),
        ] {
            #expect(try StateExpectation(text).holds(of: nothing) == holds, "\(text)")
        }
    }

    @Test func `minimize agrees with first-break, also on a log without entries`() throws {
        let shell = try ShellProcess(directory.log)
        #expect(shell.finish().status == 0)
        let found = try tool("first-break", "--expect", "/a == 1")
        #expect(found.status == 1 && found.output.hasPrefix("before the first entry"), "\(found)")
        let small = try tool("minimize", "--expect", "/a == 1")
        #expect(small.status == 0 && small.errors == "0 of 0 entries, 1 tries\n", "\(small)")
        let fine = try tool("minimize", "--expect", "/a != 1")
        #expect(fine.status == 1 && fine.output.isEmpty, "\(fine)")
    }

    @Test func `minimize gives its check command a private file, and always removes it`() throws {
        try ReplayStory.makeLog(directory.log)
        let scratch = directory.url.appending(path: "scratch")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        let output = directory.url.appending(path: "small.ndjson").path
        func minimize(_ command: String) throws -> ProcessEnd {
            try run(
                ["env", "--default-signal=HUP,INT,TERM,PIPE", "TMPDIR=\(scratch.path)"]
                    + [foldback, "minimize", directory.log.path]
                    + ["-o", output, "--run", command])
        }
        let mode = directory.url.appending(path: "mode").path
        let seen = try minimize(
            "stat -c %a \"$HISTORY\" > '\(mode)'; ! grep -q draft \"$HISTORY\"")
        #expect(seen.status == 0 && seen.output.isEmpty, "\(seen)")
        #expect(seen.errors.hasPrefix("1 of 6 entries, "), "\(seen)")
        let small = try String(contentsOfFile: output, encoding: .utf8)
        #expect(small.contains("draft") && !small.contains("post"), "\(small)")
        #expect(try String(contentsOfFile: mode, encoding: .utf8) == "600\n")
        for name in ["HUP", "INT", "TERM", "PIPE"] {
            let killed = try minimize("kill -\(name) $PPID; exit 1")
            #expect(killed.status != 0, "\(name): \(killed)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).isEmpty)
        }
    }

    @Test func `an option of at, what-if and minimize takes effect or is an error`() throws {
        try ReplayStory.makeLog(directory.log)
        for (options, words) in [
            (["--as", "bundle"], "bundle"), (["--tries", "0"], "at least 1"),
        ] {
            let seen = try run(
                [foldback, "minimize", directory.log.path, "--expect", "/a == 1"] + options)
            #expect(seen.status == 2 && seen.errors.contains(words), "\(seen)")
        }
        let at = try JSON(
            parsing: try tool("at", "6", "--json", "--place", "/post/likes").output
                .trimmingCharacters(in: .newlines))
        #expect(at["view"] == -3 && at["confirmed"] == 1 && at["pending"] == [3, 4], "\(at)")
        let last = try tool("what-if", "--drop", "1", "--json", "--last", "1")
        let all = try tool("what-if", "--drop", "1", "--json")
        #expect(last.output.split(separator: "\n").count == 2, "\(last)")
        #expect(all.output.split(separator: "\n").count > 2, "\(all)")
    }

    @Test func `first-break --assume-monotone finds a lasting break, and import closes gaps`()
        throws
    {
        try ReplayStory.makeLog(directory.log)
        let found = try tool("first-break", "--expect", "/post/likes >= 0", "--assume-monotone")
        let exact = try tool("first-break", "--expect", "/post/likes >= 0")
        #expect(found.status == 1 && found.output.contains("intent"), "\(found)")
        #expect(found.output.hasPrefix(exact.output.prefix { $0 != "\n" }), "\(found)")
        #expect(found.output.contains("the first break, if bad states stay bad"), "\(found)")
        // A state in between was bad. Halving cannot find it, because the last state is good.
        let none = try tool("first-break", "--expect", "/post/likes < 1", "--assume-monotone")
        #expect(none.status == 0 && none.output.hasPrefix("it holds at the end"), "\(none)")
        let line = try tool(
            "first-break", "--expect", "/post/likes < 1", "--assume-monotone", "--json")
        #expect(line.output == #"{"break":null,"exact":false,"untold":0}"# + "\n", "\(line)")
        let file = directory.url.appending(path: "small.ndjson").path
        let small = try tool("minimize", "--expect", "/post/likes >= 0", "-o", file)
        #expect(small.status == 0, "\(small)")
        let other = directory.url.appending(path: "other").path
        let refused = try run([foldback, "import", file, other])
        #expect(refused.status == 3, "\(refused)")
        #expect(try run([foldback, "import", file, other, "--close-gaps"]).status == 0)
        let closed = try run([foldback, "at", other, "2", "--place", "/post/likes"])
        #expect(closed.output == "-1\npending 1 2\n", "\(closed)")
    }

    @Test func `a log of another app's events gets a note, and does not look empty`() throws {
        let demo = executable("foldback-demo")
        #expect(try run([demo, "feed", "--directory", directory.url.path]).status == 0)
        let log = directory.url.appending(path: "feed.log").path
        for question in [
            ["at", log, "5", "--json"], ["diff", log, "0", "view"], ["why", log, "--key", "posts"],
            ["first-break", log, "--expect", "/x == null"], ["what-if", log, "--drop", "1"],
            ["minimize", log, "--expect", "/x == null"],
        ] {
            let seen = try run([foldback] + question)
            #expect(seen.errors.contains("Documents reads none of the log's"), "\(seen)")
            let own = try run([feedReplay] + question)
            #expect(own.status < 2 && !own.errors.contains("reads none"), "\(own)")
        }
    }

    @Test func `minimize exits with 125 if the whole history is inconclusive`() throws {
        try ReplayStory.makeLog(directory.log)
        let seen = try tool("minimize", "--run", "exit 125")
        #expect(seen.status == 125 && seen.errors.contains("cannot tell"), "\(seen)")
    }

    @Test func `rerun compares two types, and lists where their difference changes`() throws {
        let demo = executable("foldback-demo")
        #expect(try run([demo, "feed", "--directory", directory.url.path]).status == 0)
        let log = directory.url.appending(path: "feed.log").path
        let seen = try run([feedReplay, "rerun", log])
        #expect(seen.status == 1, "\(seen)")
        #expect(
            seen.output.hasPrefix(
                "different\n36 entries; the difference changed after 2 of them\n"), "\(seen)")
        #expect(seen.output.contains("  view      + /posts/bo.2.0/isDeleted  false\n"), "\(seen)")
        #expect(
            seen.output.contains("  intent 8 is conflicted in only one of the two folds\n"),
            "\(seen)")
        let json = try run([feedReplay, "rerun", log, "--json", "--comparison", "posts that stay"])
        let lines = try json.output.split(separator: "\n").map { try JSON(parsing: String($0)) }
        #expect(lines.count == 4 && lines[0]["verdict"] == "fine", "\(json)")
        #expect(lines[1]["sequence"] == 20 && lines[1]["conflicts"] == [8], "\(json)")
        let unknown = try run([feedReplay, "rerun", log, "--comparison", "none"])
        #expect(unknown.status == 2 && unknown.errors.contains("posts that stay"), "\(unknown)")
    }
}
