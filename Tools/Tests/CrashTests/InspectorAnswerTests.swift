import Foldback
import Foundation
import Processes
import Testing

/// Born from the question whether the page and the command line can tell different things about one
/// log.
@Suite(.serialized) struct InspectorAnswerTests {
    private let directory = DiskDirectory()
    private let foldback = executable("foldback")

    private static let lines =
        ReplayStory.lines + [
            #"{"do":"reject","intent":3,"code":"forbidden","message":"not yours"}"#,
            #"{"do":"retry","intent":3}"#,
            #"{"do":"record","event":{"op":"delete","key":"post"}}"#,
            #"{"do":"record","force":true,"event":{"op":"increment","key":"draft","field":"a","by":1}}"#,
            #"{"do":"withdraw","intent":4}"#,
            #"{"do":"acknowledge","intent":6}"#,
            #"{"do":"acknowledge","intent":7}"#,
        ]

    private static func entries(_ rows: JSON) -> [JSON] {
        (rows["rows"]?.arrayValue ?? []).map { $0["entry"] ?? .null }
    }

    private func lines(_ command: String...) throws -> [JSON] {
        try run([foldback] + command).output.split(separator: "\n")
            .map { try JSON(parsing: String($0)) }
    }

    @Test func `rows with each filter are the lines of log`() throws {
        try ReplayStory.makeLog(directory.log, Self.lines)
        let inspector = try InspectorProcess([directory.log.path])
        let log = directory.log.path
        let filters: [[(name: String, value: String)]] = [
            [], [("kind", "intent")], [("kind", "intent"), ("kind", "rejected")],
            [("intent", "2")], [("key", "post")], [("state", "pending")], [("state", "rejected")],
            [("since", "2020-01-01")], [("until", "2020-01-01")],
            [("since", "2020-01-01T00:00:00Z"), ("kind", "withdrawn")],
            [("kind", "intent"), ("key", "draft"), ("state", "rejected")],
            [("with", "conflict")], [("with", "fault")],
            [("with", "conflict"), ("kind", "rejected")],
        ]
        for filter in filters {
            let words = filter.flatMap { ["--\($0.name)", $0.value] }
            let seen = try run([foldback, "log", log, "--json"] + words).output
                .split(separator: "\n").map { try JSON(parsing: String($0)) }
            let query = filter.map { "&\($0.name)=\($0.value.queried)" }.joined()
            let answer = try inspector.get("/api/rows?offset=0&count=500\(query)")
            #expect(Self.entries(answer) == seen, "\(filter)")
            #expect(answer["count"] == .integer(Int64(seen.count)), "\(filter)")
            #expect(answer["isWhole"] == true, "\(filter)")
            let some = try inspector.get("/api/rows?offset=1&count=2\(query)")
            let piece = Array(seen.dropFirst().prefix(2))
            #expect(Self.entries(some) == piece, "\(filter)")
            for sequence in 1...Self.lines.count {
                let place = try inspector.get("/api/place?sequence=\(sequence)\(query)")
                let index = seen.count { ($0["sequence"]?.integerValue ?? 0) < sequence }
                #expect(place["offset"] == .integer(Int64(index)), "\(filter), \(sequence)")
            }
        }
    }

    @Test func `log --with has the entries after which a state has more trouble`() throws {
        try ReplayStory.makeLog(directory.log, Self.lines)
        let log = directory.log.path
        let states = try (0...Self.lines.count).map { try lines("at", log, "\($0)", "--json")[0] }
        var wanted: [String: [Int64]] = ["conflict": [], "fault": []]
        for (sequence, (before, now)) in zip(Int64(1)..., zip(states, states.dropFirst())) {
            let old = before["conflicted"]?.arrayValue ?? []
            let new = now["conflicted"]?.arrayValue ?? []
            if new.contains(where: { !old.contains($0) }) { wanted["conflict"]?.append(sequence) }
            if before["faults"] != now["faults"] { wanted["fault"]?.append(sequence) }
        }
        let inspector = try InspectorProcess([log])
        let marks = try inspector.get("/api/marks?after=0")
        #expect(marks["through"] == .integer(Int64(Self.lines.count)))
        for (trouble, name) in [("conflict", "conflicted"), ("fault", "faulted")] {
            let sequences = try #require(wanted[trouble])
            #expect(!sequences.isEmpty, "\(trouble)")
            let seen = try lines("log", log, "--json", "--with", trouble)
            #expect(seen.compactMap { $0["sequence"]?.integerValue } == sequences, "\(trouble)")
            // The search for the last ones goes back in the log.
            let last = try lines("log", log, "--json", "--with", trouble, "--last", "1")
            #expect(last.compactMap { $0["sequence"]?.integerValue } == sequences.suffix(1))
            #expect(marks[ExactString(name)] == .array(sequences.map { .integer($0) }))
        }
        #expect(try run([foldback, "log", log, "--with", "luck"]).status == 2)
    }

    @Test func `intents are found by their numbers`() throws {
        try ReplayStory.makeLog(directory.log, Self.lines)
        let inspector = try InspectorProcess([directory.log.path])
        let recorded = try lines("log", directory.log.path, "--json", "--kind", "intent")
        var all = JSON.Object()
        for entry in recorded {
            all[ExactString("\(entry["intent"]?.integerValue ?? 0)")] = entry
        }
        let numbers = (1...recorded.count).map { "\($0)" }.joined(separator: ",")
        for _ in 1...2 {
            let found = try inspector.get("/api/intents?numbers=\(numbers),99,0")
            #expect(found == ["intents": .object(all)])
        }
        let some = try inspector.get("/api/intents?numbers=2")
        #expect(some["intents"]?["2"] == all["2"] && some["intents"]?["1"] == nil)
        let many = (1...101).map { "\($0)" }.joined(separator: ",")
        for wrong in ["", "?numbers=", "?numbers=1,", "?numbers=x", "?numbers=\(many)"] {
            #expect(try inspector.send("/api/intents\(wrong)").status == 400, "\(wrong)")
        }
        let file = directory.url.appending(path: "log.ndjson")
        try run([foldback, "export", directory.log.path]).output
            .write(to: file, atomically: true, encoding: .utf8)
        let ofFile = try InspectorProcess([file.path])
        #expect(try ofFile.get("/api/intents?numbers=\(numbers)") == ["intents": .object(all)])
    }

    @Test func `a search ignores case, and covers the JSON of entries`() throws {
        try ReplayStory.makeLog(
            directory.log,
            Self.lines + [
                #"{"do":"record","event":{"op":"set","key":"ÜBER","value":"Größe"}}"#
            ])
        let inspector = try InspectorProcess([directory.log.path])
        for (text, count): (String, Int64) in [
            ("HELLO", 1), ("forbidden", 1), ("\"op\":\"Increment\"", 3), ("nothing", 0),
            ("über", 1), ("GRÖSSE", 0), ("größe", 1), ("a+b", 0), ("hello, world", 1),
        ] {
            let answer = try inspector.get("/api/rows?text=\(text.queried)")
            #expect(answer["count"] == .integer(count), "\(text): \(answer)")
        }
        #expect(try inspector.get("/api/rows?text=hello,+WORLD&kind=intent")["count"] == 1)
        #expect(try inspector.get("/api/rows?text=hello&kind=rejected")["count"] == 0)
    }

    @Test(arguments: ["Foldback.Documents", "Foldback.StoredDocuments"])
    func `the state after each entry is that of at`(projection: String) throws {
        try ReplayStory.makeLog(directory.log, Self.lines)
        let inspector = try InspectorProcess([directory.log.path])
        let option = "projection=\(projection)"
        var states: [JSON] = []
        for sequence in 0...Self.lines.count {
            states += try lines(
                "at", directory.log.path, "\(sequence)", "--projection", projection, "--json")
        }
        for (sequence, state) in states.enumerated() {
            #expect(try inspector.get("/api/at?sequence=\(sequence)&\(option)") == state)
            let from = try inspector.get("/api/frames?from=\(sequence + 1)&count=2&\(option)")
            #expect(from["state"] == state, "\(sequence)")
            let frames = from["frames"]?.arrayValue ?? []
            #expect(frames.count == min(2, Self.lines.count - sequence), "\(sequence)")
            for (index, frame) in frames.enumerated() {
                #expect(
                    frame["entry"]?["sequence"] == .integer(Int64(sequence + 1 + index)), "\(frame)"
                )
                #expect(frame["patch"]?.arrayValue != nil, "\(frame)")
            }
        }
        let beyond = try inspector.send("/api/at?sequence=\(states.count)")
        #expect(beyond.status == 400 && beyond.json["error"] != nil, "\(beyond)")
    }

    @Test func `rows show the number of changes of the view`() throws {
        try ReplayStory.makeLog(directory.log, Self.lines)
        let inspector = try InspectorProcess([directory.log.path])
        var rows = try inspector.get("/api/rows")["rows"]?.arrayValue ?? []
        // The changes are counted in the background.
        while rows.contains(where: { $0["changes"] == nil }) {
            rows = try inspector.get("/api/rows")["rows"]?.arrayValue ?? []
        }
        let frames = try inspector.get("/api/frames?from=1")["frames"]?.arrayValue ?? []
        let counts: [Int] = frames.map { frame in
            (frame["patch"]?.arrayValue ?? []).count {
                $0["path"]?.stringValue?.hasPrefix("/view") ?? false
            }
        }
        #expect(rows.map { $0["changes"]?.integerValue } == counts.map { Int64($0) })
        #expect(counts.contains { $0 > 0 })
    }

    @Test func `answers to questions are the lines of the commands`() throws {
        try ReplayStory.makeLog(directory.log, Self.lines)
        let log = directory.log.path
        let inspector = try InspectorProcess([log])
        for place in ["", "/post", "/post/likes", "/draft", "/nothing"] {
            let causes = try inspector.get("/api/why?place=\(place.queried)")["causes"]
            let seen = try lines("why", log, "--place", place, "--json")
            #expect(causes == .array(seen), "\(place)")
        }
        for intent in 1...7 {
            let story = try inspector.get("/api/story?intent=\(intent)")
            var seen = try lines("why", log, "--intent", "\(intent)", "--json")
            let end = seen.removeLast()
            #expect(story["chapters"] == .array(seen), "\(intent)")
            #expect(story["intent"] == end["intent"] && story["state"] == end["state"])
        }
        #expect(try inspector.send("/api/story?intent=99").status == 400)
        for expect in ["/post/likes >= 0", "/post/likes >= -9"] {
            let found = try inspector.get("/api/first-break?expect=\(expect.queried)")
            let seen = try lines("first-break", log, "--expect", expect, "--json")
            #expect([found] == seen)
        }
        for wrong in ["", "?expect=x", "?check=x", "?expect=/a==1&check=x"] {
            #expect(try inspector.send("/api/first-break\(wrong)").status == 400, "\(wrong)")
        }
        let verified = try inspector.get("/api/verify")
        #expect(verified["sound"] == true && verified["findings"] == [])
        let verdict = try #require(try lines("verify", log, "--json").last)
        #expect(verified["entries"] == verdict["entries"])
        #expect(verified["checkpoints"] == verdict["checkpoints"])
        let status = try #require(try lines("status", log, "--json").first)
        #expect(try inspector.get("/api/head")["status"] == status)
    }

    @Test func `a branch is that of what-if`() throws {
        try ReplayStory.makeLog(directory.log, Self.lines)
        let log = directory.log.path
        let inspector = try InspectorProcess([log])
        let event = #"{"op":"set","key":"new","value":1}"#
        let branches: [(edits: String, options: [String])] = [
            (#"{"drop":3}"#, ["--drop", "3"]),
            (#"{"swap":[3,4]}"#, ["--swap", "3", "4"]),
            (#"{"edit":1,"event":\#(event)}"#, ["--edit", "1=\(event)"]),
            (#"{"insert":2,"event":\#(event)}"#, ["--insert", "2=\(event)"]),
            (#"{"reject":2}"#, ["--reject", "2"]),
            (
                #"{"acknowledge":3},{"reject":2},{"drop":2}"#,
                ["--acknowledge", "3", "--reject", "2", "--drop", "2"]
            ),
        ]
        for (number, branch) in branches.enumerated() {
            let answer = try inspector.post("/api/what-if", #"{"edits":[\#(branch.edits)]}"#)
            try #require(answer.status == 200, "\(branch): \(answer)")
            let found = answer.json
            var seen = try run([foldback, "what-if", log, "--json"] + branch.options).output
                .split(separator: "\n").map { try JSON(parsing: String($0)) }
            let end = seen.removeLast()
            #expect(found["divergences"] == .array(seen), "\(branch)")
            for name in ["leftOut", "inserted", "retryingNothing", "end"] as [ExactString] {
                #expect(found[name] == end[name], "\(branch): \(name)")
            }
            let renumbered = (end["renumbered"]?.arrayValue ?? []).map { pair -> JSON in
                ["new": pair["intent"] ?? .null, "old": pair["was"] ?? .null]
            }
            #expect(found["renumbered"] == .array(renumbered), "\(branch)")
            #expect(found["differs"] == .bool(!seen.isEmpty))
            let rows = found["rows"]?.arrayValue ?? []
            let actual = rows.compactMap { $0["actual"]?.integerValue }
            #expect(actual == Array(1...Int64(Self.lines.count)), "\(branch): \(rows)")
            let branched = rows.compactMap { $0["branch"]?.integerValue }
            let last = try #require(branched.last)
            let id = try #require(found["id"]?.stringValue)
            #expect(id == "\(number + 1)")
            let state = try inspector.get("/api/branch?id=\(id)&sequence=\(last)")
            #expect(state["state"] == found["end"], "\(branch)")
            #expect(state["entry"]?["sequence"] == .integer(last), "\(branch)")
        }
        #expect(try inspector.send("/api/branch?id=1&sequence=1").status == 404)
        for wrong in [
            #"{}"#, #"{"edits":[]}"#, #"{"edits":[{"drop":"x"}]}"#, #"{"edits":[{"swap":[1]}]}"#,
            #"{"edits":[{"edit":1}]}"#, #"{"edits":[{"reject":1},{"acknowledge":1}]}"#,
            #"{"edits":[{"drop":99}]}"#, #"{"edits":[{"nothing":1}]}"#,
        ] {
            #expect(try inspector.post("/api/what-if", wrong).status == 400, "\(wrong)")
        }
    }
}
