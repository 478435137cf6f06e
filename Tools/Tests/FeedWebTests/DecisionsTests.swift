import Foldback
import FoldbackExamples
import Foundation
import Processes
import Testing

@testable import feed_web

/// Question: what does a replay tool of three lines say about a server's log?
@Suite struct DecisionsTests {
    private let folder: Folder
    private var log: String { folder.url.appending(path: "authority").path }

    /// Decides on a post, a rejected comment, a boost that the server completes, and a comment with other
    /// words.
    init() async throws {
        folder = try Folder()
        let authority = try await FeedAuthority(in: folder)
        let comment = FeedAction.commented(post: "mia.1.0", text: "Bad")
        try await authority.decide("mia", 1, .posted("Hello"))
        try await authority.decide("ben", 1, comment, .reject("Not like this."))
        try await authority.decide("mia", 2, .boosted(post: "mia.1.0", reach: nil))
        try await authority.decide("ben", 2, comment, .reword("Good"))
        await authority.space.close()
    }

    private func output(_ arguments: String..., status: Int32 = 0) throws -> String {
        let end = try run([executable("feed-decisions")] + arguments)
        #expect(end.status == status, "\(arguments): \(end)")
        return end.output
    }

    @Test func `log shows each decision with its account and its outcome`() throws {
        let lines = try output("log", log).split(separator: "\n")
        let decisions = [
            #"{"founded":""#,
            #"2 (mia.1) {"accepted":{"by":"mia","did":{"posted":{"_0":"Hello"}}},"account":"mia","#,
            #"3 (ben.1) {"account":"ben","position":3,"rejected":{"code":"staged","message":"Not like this."}}"#,
            #"4 (mia.2) {"account":"mia","position":4,"reworded":{"by":"mia","did":{"boosted":{"post":"mia.1.0","reach":40}}}}"#,
            #"5 (ben.2) {"account":"ben","position":5,"reworded":{"by":"ben","did":{"commented":{"post":"mia.1.0","text":"Good"}}}}"#,
        ]
        #expect(lines.count == decisions.count)
        for (line, words) in zip(lines, decisions) {
            #expect(line.contains(words), "\(line)")
        }
        #expect(try output("tail", log, "-n", "1").contains(#""text":"Good""#))
    }

    @Test func `with --json, each decision has its account as actor, and its outcome`() throws {
        let entries = try output("log", log, "--json").split(separator: "\n")
            .map { try JSON(parsing: String($0)) }
        let events = entries.compactMap { $0["events"]?.arrayValue?.first }
        let actors = events.map { $0["actor"]?.stringValue ?? "none" }
        #expect(actors == ["none", "mia", "ben", "mia", "ben"])
        let outcomes = events.map { $0["outcome"]?.stringValue ?? "none" }
        #expect(outcomes == ["none", "accepted", "rejected", "reworded", "reworded"])
        #expect(events[2]["event"]?["rejected"]?["message"] == "Not like this.")
        #expect(events[2]["origin"]?["replica"] == "ben")
        let last = try output("tail", log, "-n", "1", "--json")
        #expect(try JSON(parsing: last) == entries[4])
        let place = try output("why", log, "--place", "/posts/mia.1.0/reach", "--json")
        #expect(place.contains(#""actor":"mia""#), "\(place)")
    }

    @Test func `an exported log has the bytes, so that it can be imported`() throws {
        let file = folder.url.appending(path: "authority.ndjson").path
        let copy = folder.url.appending(path: "copy").path
        _ = try output("export", log, "-o", file)
        #expect(!(try String(contentsOfFile: file, encoding: .utf8)).contains("actor"))
        _ = try output("import", file, copy)
        #expect(try output("log", copy, "--json") == output("log", log, "--json"))
        #expect(try output("log", file, "--json") == output("log", log, "--json"))
    }

    @Test func `why explains an intent, and a value`() throws {
        let rejected = try output("why", log, "--intent", "ben.1")
        #expect(rejected.contains("Not like this.") && rejected.contains(#""account":"ben""#))
        #expect(rejected.split(separator: "\n").count == 1)
        let boosted = try output("why", log, "--intent", "mia.2")
        #expect(boosted.contains("/posts/mia.1.0/reach  40"), "\(boosted)")
        let post = try output("why", log, "--place", "/posts/mia.1.0")
        #expect(["(mia.1)", "(mia.2)", "(ben.2)"].allSatisfy(post.contains), "\(post)")
        #expect(!post.contains("(ben.1)"))
        // An account's decisions on a value, by its name at the top of the app's state.
        let all = try output("why", log, "--key", "posts")
        #expect(all.contains(#""account":"mia""#) && all.contains("(ben.2)"), "\(all)")
        _ = try output("why", log, "--intent", "ben.3", status: 2)
    }

    @Test func `the decisions and their index are sound`() throws {
        for projection in ["decided FoldbackExamples.Feed", "decisions"] {
            #expect(
                try output("verify", log, "--projection", projection).hasPrefix("sound: 5 entries"))
        }
    }
}
