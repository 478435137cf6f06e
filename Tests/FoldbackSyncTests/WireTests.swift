import Foldback
import FoldbackSync
import Foundation
import TestSupport
import Testing

/// These tests hold the JSON of ids, positions, requests and answers, because it becomes the wire of
/// people's servers. A first user wrote 26 lines of structs for it.
@Suite struct WireTests {
    private enum Like: Codable, Hashable, Sendable {
        case liked(post: String)
        case counted(UInt64)
    }

    private static let me = ReplicaID("4f1e")!
    private static let liked = RecordedEvent(
        format: EventFormat(codec: 1, version: 2), bytes: Array(#"{"liked":{"post":"42"}}"#.utf8))
    private static let packed = RecordedEvent(
        format: EventFormat(codec: 128, version: 3), bytes: [0, 255, 16])

    private static func id(_ number: UInt64, of replica: ReplicaID = me) -> IntentID {
        IntentID(replica: replica, number: IntentNumber(number))
    }

    /// Checks that the value has this JSON, in Foldback's JSON and in Foundation's coders.
    private func expect<V: JSONForm & Equatable>(
        _ value: V, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(
            String(decoding: try value.jsonBytes(), as: UTF8.self) == text,
            sourceLocation: sourceLocation)
        #expect(try V(jsonBytes: Array(text.utf8)) == value, sourceLocation: sourceLocation)
        let encoder = JSONEncoder()
        // A coder's strategy for keys changes nothing.
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let data = try encoder.encode(value)
        #expect(
            try JSON(parsing: Array(data)) == JSON(parsing: text), sourceLocation: sourceLocation)
        #expect(
            try JSONDecoder().decode(V.self, from: data) == value, sourceLocation: sourceLocation)
    }

    @Test func `ids and numbers are single values`() throws {
        let data = try JSONEncoder().encode([Position(.max)])
        #expect(String(decoding: data, as: UTF8.self) == "[18446744073709551615]")
        #expect(try JSONDecoder().decode([Position].self, from: data) == [Position(.max)])
        struct Ids: Codable, Equatable {
            var replica = WireTests.me
            var intent: IntentNumber = 17
            var sequence: LogSequence = 3
            var time = Timestamp(millisecondsSince1970: -5)
            var lineage = Lineage("9b6d")!
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let ids = try encoder.encode(Ids())
        #expect(
            String(decoding: ids, as: UTF8.self)
                == #"{"intent":17,"lineage":"9b6d","replica":"4f1e","sequence":3,"time":-5}"#)
        #expect(try JSONDecoder().decode(Ids.self, from: ids) == Ids())
        let wrong: [String] = [#"[""]"#, "[7]", "[\"\(String(repeating: "x", count: 256))\"]"]
        for text in wrong {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode([ReplicaID].self, from: Data(text.utf8))
            }
        }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([Position].self, from: Data("[-1]".utf8))
        }
    }

    @Test func `an intent's id and a sync point are objects`() throws {
        try expect(Self.id(17), #"{"intent":17,"replica":"4f1e"}"#)
        try expect(SyncPoint(lineage: nil, through: 90), #"{"through":90}"#)
        try expect(
            SyncPoint(lineage: Lineage("9b6d"), through: 90),
            #"{"lineage":"9b6d","through":90}"#)
        try expect(
            SyncPoint(
                lineage: Lineage("9b6d"), through: 90, digest: RunningDigest("5f0c")),
            #"{"digest":"5f0c","lineage":"9b6d","through":90}"#)
        for digest in [#""""#, "7", #""\#(String(repeating: "5", count: 256))""#] {
            #expect(throws: JSONFormError.self) {
                try SyncPoint(jsonBytes: Array(#"{"through":90,"digest":\#(digest)}"#.utf8))
            }
        }
    }

    @Test func `an event carries its format, and is JSON for codec 1 and base64 otherwise`() throws
    {
        try expect(Self.liked, #"{"event":{"liked":{"post":"42"}},"format":[1,2]}"#)
        try expect(Self.packed, #"{"bytes":"AP8Q","format":[128,3]}"#)
        // Bytes that claim to be JSON and are not still arrive.
        try expect(
            RecordedEvent(format: .json, bytes: [0x7B]), #"{"bytes":"ew==","format":[1,1]}"#)
        try expect(
            RecordedEvent(format: .json, bytes: Array("null".utf8)),
            #"{"event":null,"format":[1,1]}"#)
    }

    @Test func `whole numbers of 64 bits stay exact, and Foldback's JSON keeps the rest too`()
        throws
    {
        let bytes = Array(#"{"a":18446744073709551615,"b":-9223372036854775808,"c":0.1}"#.utf8)
        let event = RecordedEvent(format: .json, bytes: bytes)
        let data = try JSONEncoder().encode(event)
        #expect(try JSONDecoder().decode(RecordedEvent.self, from: data) == event)
        let long = RecordedEvent(
            format: .json, bytes: Array(#"{"a":1.0,"b":123456789012345678901234567890}"#.utf8))
        #expect(try RecordedEvent(jsonBytes: long.jsonBytes()) == long)
    }

    @Test func `an event whose numbers JSON values would change is sent as base64`() throws {
        func hasBytes(_ text: String) throws -> Bool {
            let event = RecordedEvent(format: .json, bytes: Array(text.utf8))
            let json = event.json()
            let read = try RecordedEvent(json: json)
            if json.objectValue?["bytes"] != nil {
                #expect(read == event && json.objectValue?["event"] == nil)
                return true
            }
            #expect(try JSON(parsing: read.bytes) == JSON(parsing: text))
            return false
        }
        for text in [
            #"{"amount":1234567890123456.78}"#, "[0.1000000000000000055511151231257827]", "-0",
            "[1, -0]", "1e-400", "1.00000000000000000001", "1e-99999999999999999999999",
            "9007199254740993.0", "123456789012345678901234567890.5",
        ] {
            #expect(try hasBytes(text), "\(text)")
        }
        for text in [
            "0", "-1", "0.1", "0.10", "1.0", "1e3", "1E+3", "-0.0", "-2.50e-7", "1e22",
            "12345678901234567890123", #"{"a":"1234567890123456.78","b\"-0":[true,false,null]}"#,
            #"{"a\\":-1.5,"e":[]}"#, "0e5", "0.000", "100.0", "1234567890123456.8",
        ] {
            #expect(try !hasBytes(text), "\(text)")
        }
    }

    @Test(arguments: [500, 506, 507, 508, 509, 512])
    func `a message with the deepest event can be read`(depth: Int) throws {
        let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let event = RecordedEvent(format: .json, bytes: Array(text.utf8))
        let id = IntentID(replica: try #require(ReplicaID("r")), number: 1)
        let verdicts = Verdicts<Like>([id: .accepted(position: 1, replacement: .recorded(event))])
        let message = try verdicts.json().encoded
        let read = try Verdicts<Like>(json: JSON(parsing: message), answering: id.replica)
        #expect(read[id] == .accepted(position: 1, replacement: .recorded(event)))
    }

    @Test func `a page of changes has the form of the protocol`() throws {
        let page = Changes<Like>(
            events: [
                ConfirmedEvent(position: 91, recorded: Self.liked, origin: Self.id(17)),
                ConfirmedEvent(position: 92, recorded: Self.packed),
            ], through: 95, hasMore: false)
        try expect(
            page,
            #"{"events":[{"event":{"liked":{"post":"42"}},"format":[1,2],"#
                + #""origin":{"intent":17,"replica":"4f1e"},"position":91},"#
                + #"{"bytes":"AP8Q","format":[128,3],"position":92}],"more":false,"through":95}"#)
        try expect(
            Changes<Like>(
                events: [], through: 9_007_199_254_740_993, hasMore: true,
                lineage: Lineage("9b6d"), head: 9_007_199_254_740_995),
            #"{"events":[],"head":9007199254740995,"lineage":"9b6d","more":true,"#
                + #""through":9007199254740993}"#)
    }

    @Test func `verdicts have the form of the protocol`() throws {
        let verdicts = Verdicts<Like>([
            Self.id(17): .accepted(position: 91, replacement: nil),
            Self.id(18): .accepted(position: 92, replacement: .recorded(Self.liked)),
            Self.id(19): .rejected(Rejection(code: "blocked", message: "no")),
            Self.id(20): .later(after: .seconds(30), reason: "payment pending"),
            Self.id(21): .later(after: .milliseconds(1_500), reason: "soon"),
            Self.id(22): .accepted(position: nil, replacement: nil),
            Self.id(23): .rejected(Rejection(message: "no")),
            Self.id(24): .later(after: nil, reason: "busy"),
        ])
        try expect(
            verdicts,
            #"{"replica":"4f1e","verdicts":[{"accepted":{"position":91},"number":17},"#
                + #"{"accepted":{"event":{"liked":{"post":"42"}},"format":[1,2],"position":92},"#
                + #""number":18},"#
                + #"{"number":19,"rejected":{"code":"blocked","message":"no"}},"#
                + #"{"later":{"afterSeconds":30,"reason":"payment pending"},"number":20},"#
                + #"{"later":{"afterSeconds":1.5,"reason":"soon"},"number":21},"#
                + #"{"accepted":{},"number":22},{"number":23,"rejected":{"message":"no"}},"#
                + #"{"later":{"reason":"busy"},"number":24}]}"#)
        try expect(
            Verdicts<Like>([:], lineage: Lineage("9b6d"), head: 7),
            #"{"head":7,"lineage":"9b6d","verdicts":[]}"#)
    }

    /// A server computed "deadline - now". All verdicts of its answer were lost.
    @Test func `a wait that is not positive is read, and loses no other verdict`() throws {
        let waits: [Duration] = [
            .zero, .seconds(-1), .milliseconds(-1_500), .seconds(-4_000_000_000),
        ]
        let limit = Duration.seconds(-3_200_000_000)
        for wait in waits {
            let sent = Verdicts<Like>([
                Self.id(1): .accepted(position: 91, replacement: nil),
                Self.id(2): .later(after: wait, reason: "soon"),
            ])
            let read = try Verdicts<Like>(jsonBytes: try sent.jsonBytes())
            #expect(read[Self.id(1)] == .accepted(position: 91, replacement: nil))
            #expect(read[Self.id(2)] == .later(after: max(wait, limit), reason: "soon"))
        }
        let least = #"{"later":{"afterSeconds":-9223372036854775808,"reason":"soon"}}"#
        #expect(
            try Verdict<Like>(jsonBytes: Array(least.utf8)) == .later(after: limit, reason: "soon"))
        let double = #"{"later":{"afterSeconds":-1e300,"reason":"soon"}}"#
        #expect(
            try Verdict<Like>(jsonBytes: Array(double.utf8)) == .later(after: limit, reason: "soon")
        )
        let text = #"{"later":{"afterSeconds":"1","reason":"soon"}}"#
        #expect(throws: JSONFormError.self) { try Verdict<Like>(jsonBytes: Array(text.utf8)) }
    }

    @Test func `an answer need not repeat the request's replica`() throws {
        let json = try JSON(parsing: #"{"verdicts":[{"number":17,"accepted":{"position":91}}]}"#)
        let verdicts = try Verdicts<Like>(json: json, answering: Self.me)
        #expect(verdicts == Verdicts([Self.id(17): .accepted(position: 91, replacement: nil)]))
        #expect(throws: JSONFormError.self) { try Verdicts<Like>(json: json) }
    }

    @Test func `an example of the protocol is read: a request and its answer`() throws {
        let sent =
            #"{"replica":"4f1e","through":90,"intents":[{"number":17,"format":[1,2],"#
            + #""event":{"liked":{"post":"42"}}}]}"#
        let request = try SubmitRequest<Like>(jsonBytes: Array(sent.utf8))
        #expect(request.device == SyncPoint(lineage: nil, through: 90))
        #expect(request.intents.map(\.id) == [Self.id(17)])
        #expect(request.intents[0].event == .liked(post: "42"))
        let answer = #"""
            {"verdicts":[{"number":17,"accepted":{"position":91}},
                         {"number":18,"accepted":{"position":92,"format":[1,2],"event":{"liked":{"post":"42"}}}},
                         {"number":19,"rejected":{"code":"blocked","message":"cleo takes no comments from mia"}},
                         {"number":20,"later":{"afterSeconds":30,"reason":"payment pending"}}]}
            """#
        let verdicts = try Verdicts<Like>(
            jsonBytes: Array(answer.utf8), answering: request.intents.first?.id.replica)
        let blocked = Rejection(code: "blocked", message: "cleo takes no comments from mia")
        #expect(
            verdicts
                == Verdicts([
                    Self.id(17): .accepted(position: 91, replacement: nil),
                    Self.id(18): .accepted(position: 92, replacement: .recorded(Self.liked)),
                    Self.id(19): .rejected(blocked),
                    Self.id(20): .later(after: .seconds(30), reason: "payment pending"),
                ]))
    }

    @Test func `an example of the protocol is read: a page of changes`() throws {
        let text =
            #"{"events":[{"position":91,"format":[1,2],"event":{"liked":{"post":"42"}},"#
            + #""origin":{"replica":"4f1e","intent":17}}],"through":95,"more":false,"behind":0,"#
            + #""digest":"5f0c"}"#
        let event = ConfirmedEvent<Like>(
            position: 91, recorded: Self.liked, origin: Self.id(17))
        #expect(
            try Changes<Like>(jsonBytes: Array(text.utf8))
                == Changes(
                    events: [event], through: 95, hasMore: false, digest: RunningDigest("5f0c")))
    }

    @Test func `a replacement without its format is an error, and not an acceptance without one`()
        throws
    {
        for text in [
            #"{"accepted":{"position":9,"event":{}}}"#, #"{"accepted":{"bytes":"AA=="}}"#,
            #"{"accepted":{"format":[1,2]}}"#,
        ] {
            #expect(throws: JSONFormError.self, "\(text)") {
                try Verdict<Like>(jsonBytes: Array(text.utf8))
            }
        }
        let none = #"{"accepted":{"position":9,"format":null,"bytes":null}}"#
        #expect(
            try Verdict<Like>(jsonBytes: Array(none.utf8))
                == .accepted(position: 9, replacement: nil))
    }

    /// After a log was copied, it sends intents of its old and its new replica id.
    @Test func `a request and its answer can name several replicas`() throws {
        let old = ReplicaID("01d")!
        try expect(
            Verdicts<Like>([
                Self.id(1, of: old): .accepted(position: 1, replacement: nil),
                Self.id(2): .accepted(position: 2, replacement: nil),
            ]),
            #"{"replica":"01d","verdicts":[{"accepted":{"position":1},"number":1},"#
                + #"{"accepted":{"position":2},"number":2,"replica":"4f1e"}]}"#)
        let intents = [(Self.id(1, of: old)), Self.id(2)].map {
            Submission(
                id: $0, event: Self.liked, recorded: Self.liked,
                time: Timestamp(millisecondsSince1970: 5), info: [:])
        }
        let request = SubmitRequest(intents, from: SyncPoint(lineage: nil, through: 0))
        try expect(
            request,
            #"{"intents":[{"event":{"liked":{"post":"42"}},"format":[1,2],"number":1,"time":5},"#
                + #"{"event":{"liked":{"post":"42"}},"format":[1,2],"number":2,"#
                + #""replica":"4f1e","time":5}],"replica":"01d","through":0}"#)
    }

    @Test func `a request has the form of the protocol, and its events can be read`() throws {
        let intent = Submission(
            id: Self.id(17), event: Like.liked(post: "42"), recorded: Self.liked,
            time: Timestamp(millisecondsSince1970: 1_795_209_600_000), info: ["screen": "feed"])
        let request = SubmitRequest(
            [intent],
            from: SyncPoint(
                lineage: Lineage("9b6d"), through: 90, digest: RunningDigest("5f0c")))
        let text =
            #"{"digest":"5f0c","intents":[{"event":{"liked":{"post":"42"}},"format":[1,2],"#
            + #""info":{"screen":"feed"},"number":17,"time":1795209600000}],"#
            + #""lineage":"9b6d","replica":"4f1e","through":90}"#
        try expect(request, text)
        try expect(
            intent,
            #"{"event":{"liked":{"post":"42"}},"format":[1,2],"info":{"screen":"feed"},"#
                + #""number":17,"replica":"4f1e","time":1795209600000}"#)
        // A server that does not know the type passes the event on.
        let passed = try SubmitRequest<RecordedEvent>(jsonBytes: Array(text.utf8)).intents[0]
        #expect(passed.event == Self.liked && passed.recorded == Self.liked)
        #expect(try passed.read(by: JSONCodec<Like>()) == intent)
    }

    @Test func `unknown members are ignored, and missing members are errors`() throws {
        let text = #"{"events":[],"through":1,"more":false,"behind":0,"lineage":null}"#
        #expect(
            try Changes<Like>(jsonBytes: Array(text.utf8))
                == Changes(events: [], through: 1, hasMore: false))
        let missing = [
            #"{"through":1,"more":false}"#, #"{"events":[],"more":false}"#,
            #"{"events":[],"through":1}"#, #"{"events":[{"position":1}],"through":1,"more":false}"#,
            #"{"events":[{"position":1,"format":[1,1]}],"through":1,"more":false}"#,
            #"{"events":[{"position":1,"format":[128,1],"event":7}],"through":1,"more":false}"#,
            #"{"events":[{"position":1,"format":[1],"event":7}],"through":1,"more":false}"#,
            #"{"events":[],"through":-1,"more":false}"#,
            #"{"events":[],"through":1.5,"more":false}"#,
            #"{"events":[],"through":1,"more":0}"#, "[]",
        ]
        for text in missing {
            #expect(throws: JSONFormError.self, "\(text)") {
                try Changes<Like>(jsonBytes: Array(text.utf8))
            }
            #expect(throws: DecodingError.self, "\(text)") {
                try JSONDecoder().decode(Changes<Like>.self, from: Data(text.utf8))
            }
        }
        for text in [#"{}"#, #"{"later":{}}"#, #"{"rejected":{"code":"a"}}"#, #"{"later":7}"#] {
            #expect(throws: JSONFormError.self, "\(text)") {
                try Verdict<Like>(jsonBytes: Array(text.utf8))
            }
        }
        let twice =
            #"{"replica":"a","verdicts":[{"number":1,"accepted":{}},{"number":1,"accepted":{}}]}"#
        #expect(throws: JSONFormError.self) { try Verdicts<Like>(jsonBytes: Array(twice.utf8)) }
    }

    @Test func `an event without bytes is not encoded by guessing its format`() throws {
        let page = Changes<Like>(
            events: [ConfirmedEvent(position: 1, event: .liked(post: "42"))], through: 1,
            hasMore: false)
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(page) }
        let recorded = try page.recorded(by: JSONCodec<Like>(version: 2))
        #expect(recorded.events[0].delivered == .recorded(Self.liked))
        let verdicts = Verdicts<Like>([
            Self.id(1): .accepted(position: 1, replacement: .event(.liked(post: "42")))
        ])
        #expect(throws: JSONFormError.self) { try verdicts.jsonBytes() }
        #expect(
            try verdicts.recorded(by: JSONCodec<Like>(version: 2))[Self.id(1)]
                == .accepted(position: 1, replacement: .recorded(Self.liked)))
    }
}
