import Foldback
import Foundation
import Processes
import Testing

/// Born from a user who had only a log, and did not know which of twenty commands to run.
@Suite(.serialized) struct ReplayToolSummaryTests {
    private let foldback = executable("foldback")
    private let directory = DiskDirectory()

    /// Something of each kind that can be open: a rejection, a conflict, a fault, and pending intents.
    private func makeLog() throws {
        let set = { (key: String) in #"{"op":"set","key":"\#(key)","value":1}"# }
        try ReplayStory.makeLog(
            directory.log,
            [
                #"{"do":"record","event":\#(set("a"))}"#,
                #"{"do":"record","event":{"op":"set","key":"b","value":2,"require":"absent"}}"#,
                #"{"do":"record","event":\#(set("c"))}"#,
                #"{"do":"reject","intent":1,"code":"forbidden","message":"not yours"}"#,
                #"{"do":"confirm","events":[{"position":1,"event":\#(set("b"))},{"position":2,"event":{"op":"delete","key":"none","require":"present"}}]}"#,
            ], kind: .downlink)
    }

    @Test func `a log alone is summarized: what is open, why, and what to run next`() throws {
        try makeLog()
        let time = #/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z/#
        let seen = try run([
            "sh", "-c", "cd '\(directory.url.path)' && '\(foldback)' log",
        ])
        #expect(seen.status == 2, "log is a command, so it needs a log: \(seen)")
        let path = directory.log.path
        let text = try run([foldback, path]).output.replacing(time, with: "TIME")
        #expect(
            text == """
                \(path): 5 entries of replica me, from TIME to TIME, confirmed by downlink.

                Rejected: 1 rejection is neither dismissed nor tried again.
                  TIME  intent 1    set a to 1  (forbidden: not yours)

                Conflicted: 1 intent does not apply, so the view has no effect of it.
                  TIME  intent 2    set b to 2 (must be absent)  ("b" is present.)

                Pending: 2 intents wait for the server.
                  TIME  intent 2    set b to 2 (must be absent)  ("b" is present.)
                  TIME  intent 3    set c to 1

                Faults: 1 confirmed event does not apply. The last:
                  entry 5: "none" is absent.

                Next:
                  foldback why \(path) --intent 1  why it was rejected
                  foldback log \(path) --last 20   the last entries
                  foldback at \(path) 5            the view now
                  foldback inspect \(path) --open  the whole log in a browser

                """)
        #expect(try run([foldback, "summary", path]).output == run([foldback, path]).output)
        let json = try run([foldback, path, "--json"]).output.trimmingCharacters(in: .newlines)
        let object = try JSON(parsing: json)
        #expect(object["conflicted"] == 1 && object["faults"] == 1 && object["pending"] == 2)
        #expect(object["open"]?["rejected"]?.arrayValue?.first?["intent"] == 1, "\(json)")
    }

    /// Born from a review: the summary of a compacted log was an error, the latest rejection was missing
    /// among many, and drafts waited for the server.
    @Test func `a compacted log has a summary, with its oldest intents and its latest rejections`()
        throws
    {
        let set = { (key: String) in #"{"op":"set","key":"\#(key)","value":1}"# }
        let record = (1...9).map { #"{"do":"record","event":\#(set("k\($0)"))}"# }
        let draft = #"{"do":"record","event":\#(set("draft")),"held":true}"#
        let reject = ([3, 4, 5, 6, 7, 8] + [2]).map {
            #"{"do":"reject","intent":\#($0),"message":"no \#($0)"}"#
        }
        let confirm = (1...9).map {
            #"{"do":"confirm","events":[{"position":\#($0),"event":\#(set("c"))}]}"#
        }
        try ReplayStory.makeLog(
            directory.log, record + [draft] + reject + confirm, kind: .downlink)
        let compacted = try run([foldback, "compact", directory.log.path, "--keep-entries", "2"])
        #expect(compacted.status == 0, "\(compacted)")
        let seen = try run([foldback, directory.log.path])
        #expect(seen.status == 0 && seen.output.contains("were removed."), "\(seen)")
        for line in [
            "Pending: 2 intents wait for the server.", "  intent 1    set k1 to 1",
            "Drafts: 1 intent is not sent before it is released.", "  intent 10   set draft to 1",
            "Rejected: 7 rejections are neither dismissed nor tried again. The 5 latest:",
            " why \(directory.log.path) --intent 2 ",
        ] { #expect(seen.output.contains(line), "\(line): \(seen)") }
    }

    @Test func `a log where nothing is open says so, and a closed log has no process`() throws {
        try ReplayStory.makeLog(
            directory.log,
            [
                #"{"do":"record","event":{"op":"delete","key":"a"}}"#,
                #"{"do":"acknowledge","intent":1}"#,
            ])
        let text = try run([foldback, directory.log.path]).output
        #expect(text.contains("Everything is settled.") && !text.contains("has it open"), "\(text)")
        let shell = try ShellProcess(directory.log)
        defer { _ = shell.finish() }
        shell.send(#"{"do":"status"}"#)
        _ = shell.answer()
        let open = try run([foldback, directory.log.path]).output
        #expect(open.contains("has it open."), "\(open)")
    }

    @Test func `help has four groups, and the command that removes a log is last`() throws {
        let help = try run([foldback]).output
        #expect(try run([foldback, "--help"]).output == help)
        let titles = ["LOOK AT A LOG:", "ASK WHY:", "CHECK AND COPY:", "ONLY IN FOLDBACK:"]
        let places = titles.compactMap { help.range(of: "\n\($0)\n")?.lowerBound }
        #expect(places.count == 4 && places == places.sorted(), "\(help)")
        let commands = help.split(separator: "\n").filter {
            $0.hasPrefix("  ") && !$0.hasPrefix("   ")
        }
        #expect(commands.last { !$0.contains("foldback help") }?.hasPrefix("  wipe ") == true)
        let version = try run([foldback, "--version"])
        #expect(version.status == 0 && version.output.contains("log format 2"), "\(version)")
        let script = try run([foldback, "--generate-completion-script", "bash"])
        #expect(script.status == 0 && script.output.contains("first-break"))
    }

    @Test func `minimize has its old name, too`() throws {
        try ReplayStory.makeLog(directory.log)
        let options = [directory.log.path, "--expect", "/draft == null"]
        let new = try run([foldback, "minimize"] + options)
        let old = try run([foldback, "minimise"] + options)
        #expect(new.status == 0 && new.output == old.output, "\(new)")
    }

    @Test func `log prints the last entries, whole in a pipe and cut to a terminal's width`() throws
    {
        let text = String(repeating: "long ", count: 40)
        try ReplayStory.makeLog(
            directory.log,
            (1...9).map { number in
                #"{"do":"record","event":{"op":"set","key":"k\#(number)","value":"\#(text)"}}"#
            })
        let all = try run([foldback, "log", directory.log.path]).output.split(separator: "\n")
        let last = try run([foldback, "log", directory.log.path, "--last", "2"])
        #expect(last.output.split(separator: "\n") == all.suffix(2) && all.count == 9)
        #expect(all.allSatisfy { $0.contains(text) })
        let rejected = try run([
            foldback, "log", directory.log.path, "--kind", "rejected", "--last", "2",
        ])
        #expect(rejected.status == 0 && rejected.output.isEmpty)
        let command = "stty cols 70; NO_COLOR=1 '\(foldback)' log '\(directory.log.path)'"
        let shown = try run(["script", "-q", "-e", "-c", command, "/dev/null"]).output
            .split(whereSeparator: \.isNewline)
        #expect(shown.count == 9, "\(shown)")
        #expect(shown.allSatisfy { $0.count == 70 && $0.hasSuffix("\u{2026}") }, "\(shown)")
    }

    @Test func `an event of an app is a sentence, with who did it`() throws {
        let demo = executable("foldback-demo")
        #expect(try run([demo, "feed", "--directory", directory.url.path]).status == 0)
        let log = directory.url.appending(path: "feed.log").path
        let lines = try run([executable("feed-replay"), "log", log]).output
        #expect(lines.contains("commented: "), "\(lines)")
        #expect(!lines.contains("{\"by\""), "an event is shown as JSON: \(lines)")
    }
}
