import Foldback
import Foundation
import Processes
import Testing

/// Born from the question which entries a command prints while a log grows, and when it ends. The
/// same questions go to the filters and to `step`.
@Suite(.serialized) struct ReplayToolFollowingTests {
    private let foldback = executable("foldback")
    private let directory = DiskDirectory()

    @Test(.timeLimit(.minutes(10)))
    func `tail prints new entries, and ends when every intent is answered`() throws {
        let shell = try ShellProcess(directory.log, ["--confirmed-by", "acknowledgement"])
        shell.send(ReplayStory.lines[0])
        #expect(shell.answer()?["intent"] == 1)
        let tail = try RunningProcess([
            foldback, "tail", directory.log.path, "-n", "1", "--until-caught-up", "--json",
        ])
        #expect(tail.nextJSON()?["intent"] == 1)
        shell.send(ReplayStory.lines[2])
        #expect(shell.answer()?["intent"] == 2)
        #expect(tail.nextJSON()?["intent"] == 2)
        shell.send(
            #"{"do":"acknowledge","intent":1}"#, #"{"do":"reject","intent":2,"message":"no"}"#)
        #expect(tail.nextJSON()?["kind"] == "acknowledged")
        #expect(tail.nextJSON()?["kind"] == "rejected")
        #expect(tail.nextJSON() == nil)
        #expect(tail.waitForEnd().status == 0)
        #expect(shell.finish().status == 0)
    }

    @Test(.timeLimit(.minutes(10))) func `tail -f continues until it is interrupted`() throws {
        let shell = try ShellProcess(directory.log, ["--confirmed-by", "acknowledgement"])
        shell.send(ReplayStory.lines[0], ReplayStory.lines[1])
        #expect(shell.answer()?["ok"] == true)
        #expect(shell.answer()?["ok"] == true)
        let tail = try RunningProcess([
            foldback, "tail", "-f", directory.log.path, "-n", "1", "--kind", "acknowledged",
            "--kind",
            "rejected", "--json",
        ])
        #expect(tail.nextJSON()?["intent"] == 1)
        shell.send(ReplayStory.lines[2], #"{"do":"reject","intent":2,"message":"no"}"#)
        #expect(tail.nextJSON()?["intent"] == 2)
        tail.signal(SIGINT)
        #expect(tail.nextJSON() == nil)
        #expect(shell.finish().status == 0)
    }

    @Test func `tail refuses --state while it follows, because a state needs an end`() throws {
        try ReplayStory.makeLog(directory.log)
        for option in ["-f", "--until-caught-up"] {
            let seen = try run([
                foldback, "tail", option, directory.log.path, "--state", "pending",
            ])
            #expect(seen.status == 2 && seen.errors.contains("--state"), "\(seen)")
        }
        let seen = try run([foldback, "tail", directory.log.path, "--state", "pending", "--json"])
        #expect(seen.output.split(separator: "\n").count == 2, "\(seen)")
    }

    @Test func `the moment of --since is included, and the moment of --until is not`() throws {
        let file = directory.url.appending(path: "log.ndjson")
        let day: Int64 = 86_400_000
        try ReplayStory.write(
            [0, day, 2 * day, .max].enumerated().map { index, time in
                #"{"at":\#(time),"event":{"key":"a","op":"set","value":1},"intent":\#(index + 1),"kind":"intent","replica":"me","sequence":\#(index + 1)}"#
            }, to: file)
        func sequences(_ options: String...) throws -> [JSON] {
            try run([foldback, "log", file.path, "--json"] + options).output
                .split(separator: "\n")
                .compactMap { try JSON(parsing: String($0))["sequence"] }
        }
        #expect(try sequences() == [1, 2, 3, 4])
        #expect(try sequences("--since", "1970-01-02") == [2, 3, 4])
        #expect(try sequences("--until", "1970-01-02") == [1])
        #expect(
            try sequences("--since", "1970-01-01T23:59:59Z", "--until", "1970-01-02T00:00:01Z")
                == [2])
        let seen = try run([
            foldback, "log", file.path, "--since", "2027-01-01", "--until", "2026-01-01",
        ])
        #expect(seen.status == 2 && seen.errors.contains("is not before --until"), "\(seen)")
    }

    @Test func `the number in --intent means the log's own intent`() throws {
        let file = directory.url.appending(path: "log.ndjson")
        func confirmed(_ replica: String, _ place: Int) -> String {
            #"{"at":1,"events":[{"event":{"key":"a","op":"set","value":1},"origin":{"intent":1,"replica":"\#(replica)"},"position":\#(place)}],"kind":"confirmed","replica":"me","sequence":\#(place + 1),"through":\#(place)}"#
        }
        let own =
            #"{"at":1,"event":{"key":"a","op":"set","value":1},"intent":1,"kind":"intent","replica":"me","sequence":1}"#
        try ReplayStory.write(
            [own, confirmed("other", 1), confirmed("me", 2)], to: file, kind: .downlink)
        for command in ["log", "tail"] {
            let seen = try run([foldback, command, file.path, "--json", "--intent", "1"])
            let found = try seen.output.split(separator: "\n")
                .map { try JSON(parsing: String($0))["sequence"] }
            #expect(found == [1, 3], "\(seen)")
        }
    }

    @Test func `step moves as its keys say, and reports a wrong key on standard error`()
        throws
    {
        try ReplayStory.makeLog(directory.log)
        func step(_ keys: String, _ options: String = "") throws -> (lines: [JSON], errors: String)
        {
            let seen = try run([
                "sh", "-c",
                "printf '\(keys)' | \(foldback) step \(directory.log.path) --json \(options)",
            ])
            #expect(seen.status == 0, "\(seen)")
            return (
                try seen.output.split(separator: "\n").map { try JSON(parsing: String($0)) },
                seen.errors
            )
        }
        func places(_ keys: String, _ options: String = "") throws -> [JSON?] {
            try step(keys, options).lines.map { $0["state"]?["sequence"] }
        }
        #expect(try places(#"\nn\np\n4\ne\nn\ng\nq\nn\n"#) == [0, 1, 2, 1, 4, 6, 6, 0])
        #expect(try places("p\\n \\n", "--from 5") == [5, 4, 5, 6])
        let seen = try step(#"3\nwhat\n7\n"#)
        #expect(seen.lines.count == 2 && seen.errors.split(separator: "\n").count == 2, "\(seen)")
        #expect(
            seen.lines.last?["changes"] == [["place": "/post/likes", "old": 0, "new": 1]])
        let plain = try run([
            "sh", "-c", "printf '3\\n' | \(foldback) step \(directory.log.path)",
        ])
        #expect(plain.output.contains("+ /post/likes  1\npending 2  accepted none"), "\(plain)")
    }

    @Test func `step moves over the gaps of a history`() throws {
        let file = directory.url.appending(path: "log.ndjson")
        let none = try run([foldback, "step", "-"])
        #expect(none.status == 2 && none.errors.contains("standard input is for keys"), "\(none)")
        // The gap is too wide to visit each sequence.
        let far = Int64.max - 2
        try ReplayStory.write(
            [2, 3, far].map { number in
                #"{"at":1,"event":{"key":"a","op":"set","value":1},"intent":\#(number),"kind":"intent","replica":"me","sequence":\#(number)}"#
            }, to: file)
        let wide = try run([
            "sh", "-c", "printf 'e\\np\\np\\np\\n' | \(foldback) step \(file.path) --json",
        ])
        let places = try wide.output.split(separator: "\n")
            .map { try JSON(parsing: String($0))["entry"]?["sequence"] }
        #expect(places == [nil, .integer(far), 3, 2, nil], "\(wide)")
        try ReplayStory.write(
            [2, 5].map { number in
                #"{"at":1,"event":{"key":"a","op":"set","value":1},"intent":\#(number),"kind":"intent","replica":"me","sequence":\#(number)}"#
            }, to: file)
        let seen = try run([
            "sh", "-c", "printf 'n\\nn\\nn\\np\\n4\\n' | \(foldback) step \(file.path) --json",
        ])
        let entries = try seen.output.split(separator: "\n")
            .map { try JSON(parsing: String($0))["entry"]?["sequence"] }
        #expect(entries == [nil, 2, 5, 5, 2, nil], "\(seen)")
    }
}
