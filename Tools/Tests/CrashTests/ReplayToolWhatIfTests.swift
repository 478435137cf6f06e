import Foldback
import Foundation
import Processes
import Testing

/// Born from the question which edits `what-if` can make, and what it reports about the others.
@Suite(.serialized) struct ReplayToolWhatIfTests {
    private let foldback = executable("foldback")
    private let directory = DiskDirectory()

    private func whatIf(
        _ edits: [String], _ log: URL? = nil
    ) throws -> ProcessEnd {
        try run([foldback, "what-if", (log ?? directory.log).path] + edits)
    }

    @Test func `an edit that cannot be made is an error that names the cause`() throws {
        try ReplayStory.makeLog(directory.log)
        let event = #"1={"op":"delete","key":"post"}"#
        let cases: [(edits: [String], words: String)] = [
            (["--drop", "3", "--drop", "3"], "entry 3 was taken out by another edit already"),
            (["--drop", "1", "--drop", "2"], "entry 2 was taken out by another edit already"),
            (["--drop", "1", "--edit", event], "intent 1 was taken out by another edit already"),
            (["--drop", "1", "--insert", event], "entry 1 was taken out by another edit already"),
            (["--drop", "0"], "entry 0 is not in this history"),
            (["--drop", "7"], "sequence 7 is not there yet; the last is 6"),
            (["--reject", "5"], "no intent 5 was ever recorded"),
            (["--reject", "1", "--acknowledge", "1"], "leave out --reject 1 or --acknowledge 1"),
            (["--edit", event, "--edit", event], "both are about intent 1"),
        ]
        for (edits, words) in cases {
            let seen = try whatIf(edits)
            #expect(
                seen.status == 2 && seen.output.isEmpty && seen.errors.contains(words),
                "\(edits): \(seen)")
        }
        let file = directory.url.appending(path: "file")
        let small = try run(
            [foldback, "minimize", directory.log.path, "--expect", "/draft == null"]
                + ["-o", file.path])
        #expect(small.status == 0, "\(small)")
        let gap = try whatIf(["--drop", "2"], file)
        #expect(gap.status == 2 && gap.errors.contains("entry 2 is not in this"), "\(gap)")
    }

    @Test func `a retry of nothing is reported, and answers that went with their intent are not`()
        throws
    {
        try ReplayStory.makeLog(
            directory.log,
            ReplayStory.lines[0...2] + [
                #"{"do":"reject","intent":2,"message":"no"}"#, #"{"do":"retry","intent":2}"#,
            ])
        for edits in [["--drop", "3"], ["--acknowledge", "2"]] {
            let seen = try whatIf(edits)
            #expect(
                seen.output.hasPrefix(
                    "intent 3 retries nothing: the intent that it retried is not rejected\nafter entry "
                ),
                "\(seen)")
        }
        // After the swap, the answer comes before the intent is recorded, so it is impossible.
        let seen = try whatIf(["--swap", "3", "4"])
        #expect(
            seen.output.hasPrefix("left out because they are no longer possible: entries 4\n"),
            "\(seen)")
    }

    @Test func `the JSON maps the branch's intent numbers to the log's numbers`() throws {
        try ReplayStory.makeLog(directory.log)
        let seen = try whatIf(["--insert", #"3={"op":"set","key":"a","value":1}"#, "--json"])
        let end = try JSON(parsing: String(seen.output.split(separator: "\n").last ?? ""))
        #expect(end["inserted"] == [3] && end["end"]?["pending"] == [3, 4, 5], "\(seen)")
        #expect(
            end["renumbered"] == [["intent": 4, "was": 3], ["intent": 5, "was": 4]], "\(seen)")
        #expect(end["retryingNothing"] == [] && end["leftOut"] == [], "\(seen)")
    }
}
