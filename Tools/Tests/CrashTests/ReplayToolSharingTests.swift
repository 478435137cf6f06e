import Foldback
import Foundation
import Processes
import Testing

/// A user's replay tool listed both projections of a log, and still asked for the other one in each command
/// (F9).
@Suite(.serialized) struct ReplayToolSharingTests {
    private let tool = executable("chat-replay")
    private let directory = DiskDirectory()

    private var log: String { directory.log.path }

    /// Makes the log: messages 1 and 2 in channels 1 and 2. Entry 5 rejects channel 1, so the
    /// channels refuse message 1, which leaves all views.
    private func makeLog(_ second: String) throws {
        let seen = try run([tool, "make", log, second])
        #expect(seen.status == 0, "\(seen)")
    }

    private static let channels = "FoldbackExamples.Channels"
    /// The ways to make the log, with the projection of the messages.
    private static let logs = [
        ("value", "chat_replay.Messages"), ("rows", "chat_replay.MessageRows"),
    ]

    /// Questions about the messages, with exit codes and a part of the answers that shows that the
    /// channels decided too.
    private static let questions: [(command: [String], status: Int32, words: String)] = [
        (["at", "4"], 0, #"channels: {"1":1,"2":2}"#),
        (["at", "5"], 0, "channels: {\"2\":2}\npending 2 3 4\nconflicted 2: "),
        (["diff", "4", "5"], 1, "- /channels/1  1"),
        (["why", "--place", "/channels/1"], 0, "view      1 → absent"),
        (["why", "--intent", "2"], 0, "does not apply: FoldbackExamples.Channels: no channel 1"),
        (["first-break", "--run", #"grep -q '"conflicted":\[\]'"#], 1, "rejected 1"),
        (["first-break", "--expect", "/channels/2 != 2"], 1, "intent 4"),
        (["first-break", "--expect", "/channels/2 != 2", "--assume-monotone"], 1, "intent 4"),
        (["what-if", "--drop", "5"], 1, "view      + /channels/1  1"),
        (["minimize", "--expect", "/channels/2 != 2"], 0, #""intent":4,"#),
        (["step", "--from", "5"], 0, "conflicted 2"),
        (["step", "--from", "5", "--json"], 0, #""conflicted":[2]"#),
        (["export", "--as", "bundle", "-o", "/dev/stdout"], 0, #""conflicted":[{"intent":2"#),
        (["export", "--keep", "/nothing"], 0, #""conflicts":[{"#),
        (["log", "--state", "pending"], 0, "intent 4"), (["tail", "-n", "1"], 0, "rejected 1"),
        (["status"], 0, "5"),
    ]

    @Test(arguments: logs)
    func `F9: each command folds the projections of the tool's list that share conflicts`(
        second: String, messages: String
    ) throws {
        try makeLog(second)
        let file = directory.url.appending(path: "file").path
        #expect(try run([tool, "export", log, "-o", file]).status == 0)
        for (command, status, words) in Self.questions {
            for place in [log, file] {
                var line = [tool, command[0], place] + command.dropFirst()
                if !["log", "tail", "status"].contains(command[0]) {
                    line += ["--projection", messages]
                }
                let seen = try run(line)
                #expect(seen.status == status, "\(line): \(seen)")
                #expect(seen.output.contains(words), "\(line): \(seen)")
            }
        }
    }

    @Test(arguments: logs)
    func `verify of an app's tool compares projections that foldback does not know`(
        second: String, messages: String
    ) throws {
        try makeLog(second)
        let own = try run([tool, "verify", log])
        #expect(own.status == 0 && own.output.hasPrefix("sound: "), "\(own)")
        // `foldback` knows documents alone, and these projections share their conflicts.
        let other = try run([executable("foldback"), "verify", log])
        #expect(other.status == 3 && other.errors.contains(Self.channels), "\(other)")
    }

    @Test(arguments: logs)
    func `F9: the other projection is folded too, also for a check and in a copy`(
        second: String, messages: String
    ) throws {
        try makeLog(second)
        let copy = directory.url.appending(path: "copy").path
        let file = directory.url.appending(path: "file").path
        #expect(try run([tool, "export", log, "-o", file]).status == 0)
        #expect(try run([tool, "import", file, copy]).status == 0)
        for place in [log, file, copy] {
            for projection in [Self.channels, messages] {
                let seen = try run([
                    tool, "at", place, "5", "--json", "--projection", projection,
                ])
                #expect(seen.output.contains(#""conflicted":[2]"#), "\(seen)")
            }
            let check = try run([tool, "first-break", place, "--check", "no conflict"])
            #expect(check.status == 1 && check.output.contains("rejected 1"), "\(check)")
        }
    }

    @Test func `F9: rerun folds both versions with the projection that shares conflicts`() throws {
        try makeLog("value")
        let seen = try run([tool, "rerun", log])
        #expect(seen.status == 1 && seen.output.contains("- /channels/2  2"), "\(seen)")
        // After the end, neither version shows message 1.
        let end = seen.output.components(separatedBy: "differences at the end").last ?? ""
        #expect(!end.contains("/channels/1"), "\(seen)")
    }

    @Test func `a projection that the tool lacks is named, with what to do`() throws {
        try makeLog("unlisted")
        for command in [
            ["at", log, "5"], ["diff", log, "4", "5"], ["why", log, "--intent", "2"],
            ["first-break", log, "--expect", "/x == null"], ["what-if", log, "--drop", "5"],
            ["minimize", log, "--expect", "/x == null"], ["step", log],
            ["export", log, "--as", "bundle", "-o", "/dev/stdout"],
            ["export", log, "--keep", "/nothing"],
        ] {
            let seen = try run([tool] + command)
            #expect(seen.status == 3 && !seen.output.contains("/dev"), "\(command): \(seen)")
            #expect(
                seen.errors.contains(
                    "views that need chat_replay.Unlisted too, because these projections share their conflicts; add a ReplayProjection for each to the tool's `projections`"
                ), "\(command): \(seen)")
            #expect(!seen.errors.contains("also:"), "\(command): \(seen)")
        }
        // The entries need no projection.
        for command in [["log", log], ["tail", log], ["status", log], ["export", log]] {
            #expect(try run([tool] + command).status == 0, "\(command)")
        }
        // The messages share nothing in this log.
        let seen = try run([tool, "at", log, "5", "--projection", "chat_replay.Messages"])
        #expect(seen.status == 0 && seen.output.hasPrefix(#"channels: {"1":1,"2":2}"#), "\(seen)")
    }

    @Test func `foldback shows a log that documents as a value and as rows share`() throws {
        let foldback = executable("foldback")
        let file = directory.url.appending(path: "file")
        let projections =
            #"[{"kind":"value","name":"Foldback.Documents"},{"kind":"rows","name":"Foldback.StoredDocuments"}]"#
        let lines = [
            #"{"codec":1,"conflicts":[{"from":0,"projections":\#(projections)}],"foldback":1,"kind":"downlink","replica":"me","version":1}"#,
            #"{"at":1,"event":{"key":"a","op":"set","value":1},"intent":1,"kind":"intent","replica":"me","sequence":1}"#,
        ]
        try lines.map { $0 + "\n" }.joined().write(to: file, atomically: true, encoding: .utf8)
        #expect(try run([foldback, "import", file.path, log]).status == 0)
        for place in [log, file.path] {
            for (projection, shown) in [
                ("Foldback.Documents", "a: 1\npending 1\n"),
                ("Foldback.StoredDocuments", "documents: {\"a\":1}\npending 1\n"),
            ] {
                let seen = try run([foldback, "at", place, "1", "--projection", projection])
                #expect(seen.status == 0 && seen.output == shown, "\(seen)")
            }
        }
        #expect(try run([foldback, "verify", log]).status == 0)
    }
}
