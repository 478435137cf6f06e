import Foldback
import Foundation
import Processes
import Testing

/// Born from exports that were reported as redacted, and still had names and messages in them. The
/// tests ask what a redacted export contains.
@Suite(.serialized) struct ReplayToolRedactionTests {
    private let foldback = executable("foldback")
    private let feedReplay = executable("feed-replay")
    private let directory = DiskDirectory()

    private var file: URL { directory.url.appending(path: "log.ndjson") }

    /// An entry of each kind, with private text in every place that can have text.
    private static let entries = [
        #"{"at":1,"event":{"key":"ann@mail.com","op":"set","require":"absent","value":{"bob@x.org":"secret one","likes":5}},"info":{"user ann@x.org":"secret two"},"intent":1,"kind":"intent","once":"card 4111","replica":"alice@example.com","sequence":1}"#,
        #"{"at":2,"event":{"by":-4,"field":"likes","key":"ann@mail.com","op":"increment"},"intent":2,"kind":"intent","replica":"alice@example.com","sequence":2}"#,
        #"{"at":3,"event":{"events":[{"key":"bob@mail.com","op":"set","require":"absent","value":"secret one"},{"key":"note","op":"set","value":[true,0,-7,2.5]}],"op":"all"},"intent":3,"kind":"intent","replica":"alice@example.com","sequence":3}"#,
        #"{"at":4,"code":"user 4711 banned","intent":2,"kind":"rejected","message":"no such user bob@example.com","replica":"alice@example.com","sequence":4}"#,
        #"{"at":5,"events":[{"event":{"key":"ann@mail.com","op":"merge","value":{"alice@example.com.3.0":null}},"origin":{"intent":7,"replica":"carol@example.com"},"position":1}],"kind":"confirmed","replica":"alice@example.com","sequence":5,"through":1}"#,
    ]

    private func export(_ options: String...) throws -> ProcessEnd {
        try run([foldback, "export", file.path] + options)
    }

    /// Returns the entries, without the first line.
    private func lines(_ output: String) throws -> [JSON] {
        try output.split(separator: "\n").dropFirst().map { try JSON(parsing: String($0)) }
    }

    @Test func `an export with --keep has no other text, and keeps its structure`() throws {
        try ReplayStory.write(Self.entries, to: file, kind: .downlink, replica: "alice@example.com")
        let seen = try export("--keep", "/nothing")
        #expect(seen.status == 0 && seen.errors == "--keep /nothing: 0\n", "\(seen)")
        for word in ["@", "secret", "4111", "4711", "user", "likes", "note", "com", "org"] {
            #expect(!seen.output.contains(word), "\(word): \(seen.output)")
        }
        let lines = try lines(seen.output)
        #expect(
            lines[0]["event"]
                == [
                    "op": "set", "require": "absent", "key": "xxxxxxxxxxx4",
                    "value": ["xxxxxxxx5": "xxxxxxxxx6", "xxxx7": 1],
                ])
        #expect(
            lines[1]["event"]
                == ["op": "increment", "key": "xxxxxxxxxxx4", "field": "xxxx7", "by": -1])
        #expect(
            lines[2]["event"]?["events"]?.arrayValue?.last?["value"] == [false, 0, -1, 1.0])
        let bundle = directory.url.appending(path: "bundle").path
        #expect(try export("--keep", "/nothing", "--as", "bundle", "-o", bundle).status == 0)
        #expect(try !String(contentsOfFile: bundle, encoding: .utf8).contains("@"))
    }

    @Test func `a kept place stays, with the names on the way to it`() throws {
        try ReplayStory.write(Self.entries, to: file, kind: .downlink, replica: "alice@example.com")
        let seen = try export(
            "--keep", "/value/likes", "--keep", "/key", "--redact", "/value/likes/0")
        #expect(seen.status == 2, "a rule that does nothing: \(seen)")
        let kept = try export("--keep", "/value/likes", "--keep", "/key")
        #expect(kept.errors == "--keep /value/likes: 1\n--keep /key: 5\n", "\(kept)")
        let lines = try lines(kept.output)
        #expect(lines[0]["event"]?["key"] == "ann@mail.com")
        #expect(lines[0]["event"]?["value"]?["likes"] == 5)
        #expect(lines[1]["event"]?["field"] == "likes")
        #expect(!kept.output.contains("secret") && !kept.output.contains("bob@x"))
    }

    @Test func `redacted places and keys are written over, and free texts with them`() throws {
        try ReplayStory.write(Self.entries, to: file, kind: .downlink, replica: "alice@example.com")
        let places = try export("--redact", "/value/bob@x.org", "--redact", "/by")
        #expect(places.errors == "--redact /value/bob@x.org: 1\n--redact /by: 1\n", "\(places)")
        let key = try export("--redact-key", "bob@mail.com")
        #expect(key.errors == "--redact-key bob@mail.com: 1\n", "\(key)")
        for (seen, count) in [(places, 1), (key, 1)] {
            #expect(seen.output.components(separatedBy: "secret one").count == count + 1, "\(seen)")
            for word in ["4111", "no such user", "secret two"] {
                #expect(!seen.output.contains(word), "\(word): \(seen.output)")
            }
            for word in ["user 4711 banned", "user ann@x.org", "alice@example.com", "ann@mail.com"]
            {
                #expect(seen.output.contains(word), "\(word): \(seen.output)")
            }
        }
        let lines = try lines(key.output)
        #expect(lines[2]["event"]?["events"]?.arrayValue?.last?["value"] == [true, 0, -7, 2.5])
    }

    @Test func `the inverse of an event and a replacing key are redacted too`() throws {
        let event = #"{"key":"note","op":"set","value":"secret new"}"#
        let inverse = #"{"key":"note","op":"set","value":"secret old"}"#
        let entry =
            #"{"at":1,"event":\#(event),"intent":1,"inverse":{"event":\#(inverse),"format":[1,1]},"kind":"intent","replacing":"card 4111","replica":"me","sequence":1}"#
        try ReplayStory.write([entry], to: file, kind: .downlink)
        for (rule, count) in [
            (["--redact", "/value"], 2), (["--redact-key", "note"], 2), (["--keep", "/key"], 2),
        ] {
            let seen = try export(rule[0], rule[1])
            #expect(seen.errors == "\(rule[0]) \(rule[1]): \(count)\n", "\(seen)")
            #expect(!seen.output.contains("secret") && !seen.output.contains("4111"), "\(seen)")
            let line = try lines(seen.output)[0]
            #expect(line["inverse"]?["event"]?["op"] == "set")
            #expect(line["inverse"]?["event"]?["key"] == line["event"]?["key"])
            #expect(line["inverse"]?["event"]?["value"] != line["event"]?["value"])
        }
        let unreadable =
            #"{"at":1,"event":\#(event),"intent":1,"inverse":{"bytes":"AP8=","format":[200,1]},"kind":"intent","replica":"me","sequence":1}"#
        try ReplayStory.write([unreadable], to: file, kind: .downlink)
        let refused = try export("--redact", "/value")
        #expect(refused.status != 0 && refused.errors.contains("is not JSON"), "\(refused)")
    }

    @Test func `a rule without a match is an error, and no file is written`() throws {
        try ReplayStory.write(Self.entries, to: file, kind: .downlink)
        let output = directory.url.appending(path: "out")
        for rule in [
            ["--redact", "/valu/text"], ["--redact-key", "drft"], ["--redact", "/events/0/value"],
        ] {
            let seen = try run([foldback, "export", file.path, "-o", output.path] + rule)
            #expect(
                seen.status == 2 && seen.errors.contains(rule.joined(separator: " ")), "\(seen)")
            #expect(seen.errors.contains("nothing was written"), "\(seen)")
            #expect(!FileManager.default.fileExists(atPath: output.path))
        }
        let app = try run([feedReplay, "export", file.path, "--redact-key", "ann"])
        #expect(app.status == 2 && app.errors.contains("only for logs of documents"), "\(app)")
    }

    @Test func `redacted keys stay distinct, and a changed meaning is reported`() throws {
        try ReplayStory.write(Self.entries, to: file, kind: .downlink, replica: "alice@example.com")
        let keys = try export("--redact", "/key")
        #expect(keys.status == 0 && keys.errors == "--redact /key: 5\n", "\(keys)")
        try ReplayStory.makeLog(directory.log)
        for (rule, words) in [
            ("/op", "after entry 1 intent 1 is conflicted: the event cannot be read"),
            ("/field", "at the end the view has another shape"),
        ] {
            let seen = try run([foldback, "export", directory.log.path, "--redact", rule])
            #expect(seen.status == 0, "\(seen)")
            #expect(
                seen.errors.contains(
                    "the redacted log behaves differently from the log: Foldback.Documents: \(words)"
                ),
                "\(seen)")
        }
    }

    @Test func `an app's events keep their member names, also if they look like documents`() throws
    {
        let event =
            #"{"events":[{"name":"Ann"}],"field":"pw","key":{"card":"4111 1111"},"op":"all"}"#
        let entry =
            #"{"at":1,"event":\#(event),"intent":1,"kind":"intent","replica":"me","sequence":1}"#
        try ReplayStory.write([entry], to: file)
        for tool in [foldback, feedReplay] {
            let seen = try run([tool, "export", file.path, "--keep", "/nothing"])
            #expect(
                try lines(seen.output)[0]["event"]
                    == [
                        "events": [["name": "xx2"]], "field": "x3", "key": ["card": "xxxxxxxx4"],
                        "op": "xx5",
                    ], "\(seen)")
        }
        // Member names in a document are data. Member names in an app's event are part of its code.
        let document = #"{"key":"a","op":"set","value":{"name":"Ann"}}"#
        try ReplayStory.write([entry.replacing(event, with: document)], to: file)
        let seen = try run([feedReplay, "export", file.path, "--keep", "/nothing"])
        #expect(try lines(seen.output)[0]["event"]?["value"]?["name"] == "xx4", "\(seen)")
    }

    @Test func `an app's log behaves the same without its texts`() throws {
        let demo = executable("foldback-demo")
        #expect(try run([demo, "feed", "--directory", directory.url.path]).status == 0)
        let log = directory.url.appending(path: "feed.log").path
        let seen = try run([feedReplay, "export", log, "--keep", "/nothing"])
        #expect(seen.status == 0 && seen.errors == "--keep /nothing: 0\n", "\(seen.errors)")
        for name in ["ann", "bo", "cleo", "dan"] {
            #expect(!seen.output.contains("\"\(name)\""), "\(name): \(seen.output)")
            #expect(!seen.output.contains("\"\(name)."), "\(name): \(seen.output)")
        }
    }

    @Test func `the codec decides whether an event is JSON, and its bytes do not`() throws {
        let bytes = Array(#"{"op":"set","key":"a","value":"secret"}"#.utf8)
        let entry =
            #"{"at":1,"event":{"bytes":\#(bytes)},"intent":1,"kind":"intent","replica":"me","sequence":1}"#
        try ReplayStory.write([entry], to: file)
        let unsorted = try export("--redact", "/value")
        #expect(
            try lines(unsorted.output)[0]["event"] == ["op": "set", "key": "a", "value": "xxxxx1"],
            "\(unsorted)")
        for looks in ["4711", #"{"bytes":[52,55,49,49]}"#] {
            let own = entry.replacing("{\"bytes\":\(bytes)}", with: looks)
            try ReplayStory.write([own], to: file, codec: 130)
            let seen = try export("--keep", "/nothing")
            #expect(seen.status == 3 && seen.output.isEmpty, "\(seen)")
            #expect(seen.errors.contains("(codec 130, version 1) is not JSON"), "\(seen)")
        }
    }
}
