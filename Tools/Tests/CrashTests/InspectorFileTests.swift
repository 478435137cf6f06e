import Foldback
import Foundation
import Processes
import Testing

/// Born from the question what the inspector does with files: whether it changes a log's file, and
/// how it shows exports, redacted logs and damaged logs.
@Suite(.serialized) struct InspectorFileTests {
    private let directory = DiskDirectory()
    private let foldback = executable("foldback")

    @Test func `L9: a session that asks everything changes no byte and creates no file`() throws {
        try ReplayStory.makeLog(directory.log)
        func contents() throws -> [String: Data] {
            var contents: [String: Data] = [:]
            for name in try FileManager.default.contentsOfDirectory(atPath: directory.log.path) {
                contents[name] = try Data(contentsOf: directory.log.appending(path: name))
            }
            return contents
        }
        let before = try contents()
        let inspector = try InspectorProcess([directory.log.path])
        for path in [
            "/", "/api/head", "/api/changes?after=0", "/api/rows", "/api/rows?text=x",
            "/api/rows?state=pending", "/api/place?sequence=3&kind=intent", "/api/frames?from=1",
            "/api/at?sequence=6", "/api/why?place=/post", "/api/story?intent=1", "/api/verify",
            "/api/first-break?expect=/post/likes%20%3E%3D%200", "/api/export?as=ndjson",
            "/api/export?as=ndjson&kind=intent", "/api/export?as=bundle&to=3",
            "/api/export?as=test",
        ] {
            #expect(try inspector.send(path).status == 200, "\(path)")
        }
        #expect(
            try inspector.post("/api/what-if", #"{"edits":[{"reject":1}]}"#).status == 200)
        let small = try inspector.post("/api/minimize", #"{"expect":"/post/likes >= 0"}"#)
        #expect(small.status == 200 && small.json["entries"] == 2, "\(small)")
        #expect(small.json["files"]?.arrayValue?.count == 3)
        let fine = try inspector.post("/api/minimize", #"{"expect":"/post/likes >= -9"}"#)
        #expect(fine.json == ["entries": .null])
        inspector.process.signal(SIGTERM)
        inspector.process.waitUntilExit()
        #expect(try contents() == before)
    }

    @Test func `an export of the inspector is that of the command`() throws {
        try ReplayStory.makeLog(directory.log)
        let inspector = try InspectorProcess([directory.log.path])
        let whole = try inspector.get("/api/export?as=ndjson")["files"]?.arrayValue?.first
        let seen = try run([foldback, "export", directory.log.path])
        #expect(whole == ["name": "log.ndjson", "text": .string(seen.output)])
        let part = try inspector.get("/api/export?as=bundle&to=3")["files"]?.arrayValue?.first
        let text = try #require(part?["text"]?.stringValue)
        let file = directory.url.appending(path: "part.ndjson")
        try text.write(to: file, atomically: true, encoding: .utf8)
        let state = try run([foldback, "at", file.path, "3", "--json"])
        #expect(try JSON(parsing: state.output) == inspector.get("/api/at?sequence=3"))
        let head = try JSON(parsing: String(text.prefix { $0 != "\n" }))
        #expect(head["bundle"]?["tool"] == "foldback")
        // A selection is what it says, also if its entries do not follow from each other.
        let answers = try inspector.get("/api/export?as=ndjson&kind=acknowledged")
        let chosen = try #require(answers["files"]?.arrayValue?.first?["text"]?.stringValue)
        let lines = try seen.output.split(separator: "\n")
            .filter { try JSON(parsing: String($0))["kind"] != "intent" }
        #expect(chosen.split(separator: "\n") == lines)
        let refused = try inspector.send("/api/export?as=test&kind=intent")
        #expect(refused.status == 400 && refused.body.contains("as=ndjson"), "\(refused)")
    }

    @Test func `an export with gaps is shown as it is, and does not grow`() throws {
        let file = directory.url.appending(path: "log.ndjson")
        try ReplayStory.write(
            [2, 5, 9].map { number in
                #"{"at":1,"event":{"key":"k\#(number)","op":"set","value":1},"intent":\#(number),"kind":"intent","replica":"me","sequence":\#(number)}"#
            }, to: file)
        let inspector = try InspectorProcess([file.path])
        let head = try inspector.get("/api/head")
        #expect(head["isLive"] == false && head["writer"] == nil)
        let rows = try inspector.get("/api/rows?offset=1&count=5")
        #expect(rows["count"] == 3)
        #expect(
            rows["rows"]?.arrayValue?.map { $0["entry"]?["sequence"]?.integerValue } == [5, 9])
        for (sequence, offset): (Int, Int64) in [(0, 0), (2, 0), (3, 1), (5, 1), (6, 2), (10, 3)] {
            let place = try inspector.get("/api/place?sequence=\(sequence)")
            #expect(place["offset"] == .integer(offset), "\(sequence)")
        }
        for sequence in 0...9 {
            let state = try run([foldback, "at", file.path, "\(sequence)", "--json"])
            let seen = try inspector.get("/api/at?sequence=\(sequence)")
            #expect(try seen == JSON(parsing: state.output), "\(sequence)")
        }
        let frames = try inspector.get("/api/frames?from=3&count=1")
        #expect(frames["state"]?["sequence"] == 2)
        #expect(frames["frames"]?.arrayValue?.first?["entry"]?["sequence"] == 5)
    }

    @Test func `a redacted log shows no redacted text`() throws {
        try ReplayStory.makeLog(directory.log)
        let inspector = try InspectorProcess([
            directory.log.path, "--redact", "/value/text",
        ])
        #expect(try inspector.get("/api/head")["isRedacted"] == true)
        for path in [
            "/api/head", "/api/rows", "/api/frames?from=1", "/api/at?sequence=6",
            "/api/export?as=test", "/api/why?place=/post",
        ] {
            let answer = try inspector.send(path)
            #expect(answer.status == 200 && !answer.body.contains("hello"), "\(answer)")
        }
        #expect(try inspector.get("/api/rows?text=hello")["count"] == 0)
        let wrong = try run([
            foldback, "inspect", directory.log.path, "--redact", "/nothing/here",
        ])
        #expect(wrong.status == 2 && wrong.output.isEmpty, "\(wrong)")
    }

    @Test func `a damaged log is shown up to the damage, which the head names`() throws {
        try ReplayStory.makeLog(
            directory.log,
            ReplayStory.lines + [#"{"do":"reject","intent":4,"message":"zebra"}"#])
        let file = directory.log.appending(path: "data.mdb")
        var bytes = try Data(contentsOf: file)
        let message = Data("zebra".utf8)
        var rest = bytes.startIndex..<bytes.endIndex
        while let found = bytes.range(of: message, in: rest) {
            bytes[found.lowerBound] = UInt8(ascii: "Z")
            rest = found.upperBound..<bytes.endIndex
        }
        try bytes.write(to: file, options: [])
        let inspector = try InspectorProcess([directory.log.path])
        let rows = try inspector.get("/api/rows")
        #expect(rows["count"] == 6 && rows["rows"]?.arrayValue?.count == 6, "\(rows)")
        let head = try inspector.get("/api/head")
        #expect(head["damage"]?.stringValue?.contains("at sequence 7") == true, "\(head)")
        #expect(head["status"]?["entries"] == 7, "\(head)")
        let folder = directory.url.lastPathComponent
        #expect(head["damage"]?.stringValue?.contains(folder) == false, "\(head)")
        let marks = try inspector.get("/api/marks?after=0")
        #expect(marks["through"] == 6 && marks["isOver"] == true, "\(marks)")
        #expect(try inspector.get("/api/at?sequence=6")["sequence"] == 6)
        #expect(try inspector.get("/api/frames?from=5")["frames"]?.arrayValue?.count == 2)
        #expect(try inspector.get("/api/rows?kind=intent")["count"] == 4)
        let at = try inspector.send("/api/at?sequence=7")
        #expect(at.status == 500 && at.json["error"] != nil, "\(at)")
        let verdict = try inspector.get("/api/verify")
        #expect(verdict["sound"] == false && verdict["findings"] != [], "\(verdict)")
    }

    @Test func `an app's tool shows its projections and reruns`() throws {
        let demo = executable("foldback-demo")
        #expect(try run([demo, "feed", "--directory", directory.url.path]).status == 0)
        let logs = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
            .filter { $0.hasSuffix(".log") }.sorted()
        let log = directory.url.appending(path: try #require(logs.first)).path
        let inspector = try InspectorProcess([log], of: "feed-replay")
        let head = try inspector.get("/api/head")
        #expect(head["tool"] == "feed-replay")
        let names = head["projections"]?.arrayValue?.compactMap { $0["name"]?.stringValue } ?? []
        #expect(!names.isEmpty)
        let replay = executable("feed-replay")
        let last = try #require(head["status"]?["sequence"]?.integerValue)
        for name in names {
            let state = try run([replay, "at", log, "\(last)", "--projection", name, "--json"])
            let seen = try inspector.get("/api/at?sequence=\(last)&projection=\(name.queried)")
            #expect(try seen == JSON(parsing: state.output), "\(name)")
        }
        for rerun in head["reruns"]?.arrayValue?.compactMap(\.stringValue) ?? [] {
            let lines = try run([
                replay, "rerun", log, "--comparison", rerun, "--first", "1000", "--json",
            ]).output.split(separator: "\n").map { try JSON(parsing: String($0)) }
            let seen = try inspector.get("/api/rerun?name=\(rerun.queried)")
            #expect(seen["lines"] == .array(lines), "\(rerun)")
        }
    }
}
