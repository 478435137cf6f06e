import Foldback
import Foundation
import Testing

/// Question: which members of an event does a type not read (E11)?
///
/// The answer comes from what a type asks for and writes again, so it must hold for each way in which
/// types are written.
@Suite struct PartlyReadTests {
    /// Returns the members that the codec leaves of the bytes; nil if it reads the event whole.
    private func left<Event: Codable & Sendable>(
        _: Event.Type, _ json: String, by codec: JSONCodec<Event> = JSONCodec(),
        version: UInt16 = 1
    ) throws -> [String]? {
        let reader = AppCodec(codec: codec)
        var found: [[String]?] = []
        // The second time, the codec knows the members.
        for _ in 1...2 {
            let payload = reader.payload(
                reading: Array(json.utf8), format: EventFormat(codec: 1, version: version))
            if case .unreadable(let why) = payload.content { throw Unreadable(why: why) }
            found.append(payload.unreadPart.map { $0.members.map(\.string).sorted() })
        }
        try #require(found[0] == found[1])
        return found[0]
    }

    private struct Unreadable: Error { let why: String }

    private struct Item: Codable, Sendable, Equatable {
        var title: String
        var priority: Int?
    }

    private enum Event: Codable, Sendable {
        case created(Item, note: String?)
        case many([Item])
        case byName([String: Item])
        case paused
    }

    @Test func `a member that nobody asks for is left, at any depth`() throws {
        #expect(try left(Item.self, #"{"title":"a"}"#) == nil)
        #expect(try left(Item.self, #"{"title":"a","priority":1}"#) == nil)
        #expect(try left(Item.self, #"{"title":"a","priority":null}"#) == nil)
        #expect(try left(Item.self, #"{"title":"a","color":{"red":1}}"#) == ["/color"])
        #expect(try left(Event.self, #"{"created":{"_0":{"title":"a"}}}"#) == nil)
        #expect(
            try left(Event.self, #"{"created":{"_0":{"title":"a","x":1},"note":"b","y":2}}"#)
                == ["/created/_0/x", "/created/y"])
        #expect(
            try left(Event.self, #"{"many":{"_0":[{"title":"a"},{"title":"b","x":[1]}]}}"#)
                == ["/many/_0/*/x"])
        #expect(try left(Event.self, #"{"paused":{}}"#) == nil)
        #expect(try left(Event.self, #"{"paused":{"reason":"x"}}"#) == ["/paused/reason"])
    }

    @Test func `the names in a dictionary are no members`() throws {
        #expect(try left([String: Int].self, #"{"ann":1,"bob":2}"#) == nil)
        let codec = JSONCodec<Event>()
        for name in ["ann", "bob", "title"] {
            #expect(
                try left(Event.self, #"{"byName":{"_0":{"\#(name)":{"title":"a"}}}}"#, by: codec)
                    == nil)
        }
        #expect(
            try left(Event.self, #"{"byName":{"_0":{"x":{"title":"a","y":1}}}}"#, by: codec)
                == ["/byName/_0/*/y"])
    }

    @Test func `values that Foundation reads in a way of its own stay whole`() throws {
        struct Special: Codable, Sendable {
            let date: Date
            let data: Data
            let url: URL
            let price: Decimal
            let prices: [Decimal]
            let links: [String: URL]
            let id: UUID
        }
        let value = Special(
            date: .now, data: Data([1, 2]), url: URL(string: "https://a.b/c")!,
            price: Decimal(string: "1.10")!, prices: [1, 2], links: ["a": URL(string: "d:e")!],
            id: UUID())
        let bytes = try JSONCodec<Special>().encode(value)
        #expect(try left(Special.self, String(decoding: bytes, as: UTF8.self)) == nil)
        let more = String(decoding: bytes, as: UTF8.self).dropLast() + #","more":0}"#
        #expect(try left(Special.self, String(more)) == ["/more"])
    }

    @Test func `a type that writes more than it reads leaves nothing of its own`() throws {
        struct Talkative: Codable, Sendable {
            let name: String

            private enum CodingKeys: CodingKey { case name, length, parts }
            init(from decoder: any Decoder) throws {
                name = try decoder.container(keyedBy: CodingKeys.self)
                    .decode(String.self, forKey: .name)
            }
            func encode(to encoder: any Encoder) throws {
                var keys = encoder.container(keyedBy: CodingKeys.self)
                try keys.encode(name, forKey: .name)
                try keys.encode(name.count, forKey: .length)
                try keys.encode(["first": name], forKey: .parts)
            }
        }
        #expect(try left(Talkative.self, #"{"length":1,"name":"a","parts":{"first":"a"}}"#) == nil)
        #expect(
            try left(Talkative.self, #"{"length":1,"name":"a","parts":{"second":"a"}}"#)
                == ["/parts/second"])
    }

    @Test func `an initializer that asks for old names reads them`() throws {
        enum Renamed: Codable, Sendable {
            case liked(post: String)
            private enum OldKeys: String, CodingKey { case like }
            init(from decoder: any Decoder) throws {
                let old = try decoder.container(keyedBy: OldKeys.self)
                if let post = try old.decodeIfPresent(String.self, forKey: .like) {
                    self = .liked(post: post)
                } else {
                    let liked = try decoder.container(keyedBy: CodingKeys.self)
                        .nestedContainer(keyedBy: LikedCodingKeys.self, forKey: .liked)
                    self = .liked(post: try liked.decode(String.self, forKey: .post))
                }
            }
        }
        #expect(try left(Renamed.self, #"{"like":"42"}"#) == nil)
        #expect(try left(Renamed.self, #"{"liked":{"post":"42"}}"#) == nil)
        #expect(try left(Renamed.self, #"{"like":"42","mood":1}"#) == ["/mood"])
    }

    @Test func `nested containers, base classes and free JSON are read`() throws {
        struct Nested: Codable, Sendable {
            let x: Int
            let tags: [String]
            let rest: JSON
            private enum Outer: CodingKey { case place, tags, rest }
            private enum Inner: CodingKey { case x }
            init(from decoder: any Decoder) throws {
                let outer = try decoder.container(keyedBy: Outer.self)
                x = try outer.nestedContainer(keyedBy: Inner.self, forKey: .place)
                    .decode(Int.self, forKey: .x)
                var list = try outer.nestedUnkeyedContainer(forKey: .tags)
                var tags: [String] = []
                while !list.isAtEnd {
                    let tag = try list.nestedContainer(keyedBy: Inner.self)
                    tags.append("\(try tag.decode(Int.self, forKey: .x))")
                }
                self.tags = tags
                rest = try outer.decode(JSON.self, forKey: .rest)
            }
            func encode(to encoder: any Encoder) throws {
                var outer = encoder.container(keyedBy: Outer.self)
                try outer.encode(rest, forKey: .rest)
            }
        }
        let rest = #""rest":{"a":{"b":[{"c":null}]}}"#
        #expect(
            try left(Nested.self, #"{"place":{"x":1},"tags":[{"x":1}],\#(rest)}"#) == nil)
        #expect(
            try left(Nested.self, #"{"place":{"x":1,"y":2},"tags":[{"x":1,"z":0}],\#(rest)}"#)
                == ["/place/y", "/tags/*/z"])

        class Base: Codable { var name = "a" }
        final class Derived: Base, @unchecked Sendable {
            var size = 1
            private enum Keys: CodingKey { case size }
            override init() { super.init() }
            required init(from decoder: any Decoder) throws {
                let keys = try decoder.container(keyedBy: Keys.self)
                size = try keys.decode(Int.self, forKey: .size)
                try super.init(from: keys.superDecoder())
            }
            override func encode(to encoder: any Encoder) throws {
                var keys = encoder.container(keyedBy: Keys.self)
                try keys.encode(size, forKey: .size)
                try super.encode(to: keys.superEncoder())
            }
        }
        #expect(try left(Derived.self, #"{"size":2,"super":{"name":"b"}}"#) == nil)
        #expect(try left(Derived.self, #"{"size":2,"super":{"id":1,"name":"b"}}"#) == ["/super/id"])
    }

    @Test func `a member that an app ignores on purpose is not left`() throws {
        let codec = JSONCodec<Item>(ignoredMembers: ["/mood", "/tags/*/x"])
        #expect(try left(Item.self, #"{"mood":1,"title":"a"}"#, by: codec) == nil)
        #expect(try left(Item.self, #"{"mood":1,"tags":1,"title":"a"}"#, by: codec) == ["/tags"])
    }

    @Test func `a higher version is read in part, and a lower one whole`() throws {
        let codec = JSONCodec<Item>(version: 2)
        #expect(try left(Item.self, #"{"title":"a"}"#, by: codec, version: 1) == nil)
        #expect(try left(Item.self, #"{"title":"a"}"#, by: codec, version: 3) == [])
    }

    @Test func `escaped names, white space and odd bytes are read as they are`() throws {
        #expect(try left(Item.self, "{ \"ti\\u0074le\" :\n\"a\\\"b\" , \"priority\" : 1 }") == nil)
        #expect(try left(Item.self, #"{"title":"a","mo\u006fd":1}"#) == ["/mood"])
        #expect(try left(Item.self, #"{"title":"a","a/b~c":1}"#) == ["/a~1b~0c"])
    }

    @Test func `members with bytes of the same text but other code points differ`() throws {
        struct Accent: Codable, Sendable {
            let e: Int
            private enum CodingKeys: String, CodingKey { case e = "\u{E9}" }
        }
        #expect(try left(Accent.self, "{\"\u{E9}\":1}") == nil)
        #expect(try left(Accent.self, "{\"\u{E9}\":1,\"f\":2}") == ["/f"])
    }

    @Test func `members come and go in any order`() throws {
        let codec = JSONCodec<Event>()
        let plain = #"{"created":{"_0":{"title":"a"}}}"#
        let more = #"{"created":{"_0":{"title":"a","x":1}}}"#
        for _ in 1...3 {
            #expect(try left(Event.self, plain, by: codec) == nil)
            #expect(try left(Event.self, more, by: codec) == ["/created/_0/x"])
            #expect(try left(Event.self, #"{"paused":{}}"#, by: codec) == nil)
            #expect(
                try left(Event.self, #"{"created":{"_0":{"priority":1,"title":"a"}}}"#, by: codec)
                    == nil)
        }
    }

    @Test func `an app's own codec notes the version alone`() throws {
        struct Own: EventCodec {
            let format = EventFormat(codec: 130, version: 2)
            func encode(_ event: Item) throws -> [UInt8] { try JSONCodec<Item>().encode(event) }
            func decode(_ bytes: RawSpan, format: EventFormat) throws -> Item {
                try JSONCodec<Item>().decode(bytes, format: .json)
            }
        }
        let reader = AppCodec(codec: Own())
        let bytes = Array(#"{"title":"a","x":1}"#.utf8)
        func part(_ version: UInt16) -> UnreadPart? {
            reader.payload(reading: bytes, format: EventFormat(codec: 130, version: version))
                .unreadPart
        }
        #expect(part(1) == nil && part(2) == nil)
        #expect(part(3) == UnreadPart(isNewer: true, members: []))
        #expect(!reader.notesMembers && AppCodec(codec: JSONCodec<Item>()).notesMembers)
    }

    @Test func `a sample of a state has its members and few elements`() {
        struct State: Codable {
            var items: [String: Item]
            var log: [Item]
        }
        let state = #"""
            {"items":{"a":{"title":"1"},"b":{"title":"2"},"c":{"priority":1,"title":"3"},\#
            "d":{"title":"4"}},"log":[{"title":"5"},{"title":"6"},{"priority":2,"title":"7"}]}
            """#
        let excerpt = StateExcerpt(JSONStateCodec<State>())
        #expect(
            String(decoding: excerpt.sample(of: Array(state.utf8)), as: UTF8.self) == #"""
                {"items":{"a":{"title":"1"},"c":{"priority":1,"title":"3"}},\#
                "log":[{"title":"5"},{"title":"6"},{"priority":2,"title":"7"}]}
                """#)
    }

    @Test func `a sample of a state can be decoded if its parts come in pairs`() throws {
        struct State: Codable {
            var span: ClosedRange<Int>
            var wait: Duration
            var items: [UUID: Item]
        }
        let items = (0..<9).map { (UUID(), Item(title: "a", priority: $0 > 4 ? $0 : nil)) }
        let state = State(
            span: 1...3, wait: .seconds(2), items: Dictionary(uniqueKeysWithValues: items))
        let bytes = try JSONStateCodec<State>().encode(state)
        let sample = StateExcerpt(JSONStateCodec<State>()).sample(of: bytes)
        #expect(sample.count < bytes.count)
        _ = try JSONStateCodec<State>().decode(sample.span.bytes)
        let left = try StateExcerpt(JSONStateCodec<State>()).membersLeft(in: sample, of: [])
        #expect(left.isEmpty)
    }

    @Test func `JSON that decoders accept, and that is not strict, is looked at`() throws {
        for odd in [#""\ud800""#, "1e999", "1,\"mood\":2"] {
            #expect(try left(Item.self, #"{"title":"a","mood":\#(odd)}"#) == ["/mood"], "\(odd)")
        }
    }

    @Test func `keys that refuse some names are those of a dictionary`() throws {
        struct Votes: Codable, Sendable {
            struct Key: CodingKey {
                let stringValue: String
                var intValue: Int? { nil }
                init?(stringValue: String) {
                    guard stringValue.hasPrefix("u") else { return nil }
                    self.stringValue = stringValue
                }
                init?(intValue: Int) { nil }
            }
            init(from decoder: any Decoder) throws {
                let votes = try decoder.container(keyedBy: Key.self)
                for key in votes.allKeys { _ = try votes.decode(Int.self, forKey: key) }
            }
            func encode(to encoder: any Encoder) throws {}
        }
        let reader = JSONBytes<Votes>()
        let names = try #require(reader.naming)
        let tree = names.members(of: [Array(#"{"u1":1,"u2":2}"#.utf8)])
        for bytes in [#"{"u7":1}"#, #"{"u8":1,"u9":2}"#] {
            #expect(names.places(in: Array(bytes.utf8)).map { "\($0.place)" }.contains("/*"))
        }
        #expect(tree.count == names.members(of: [Array(#"{"u5":1}"#.utf8)]).count)
    }

    @Test func `free JSON of any depth is read`() throws {
        let deep = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
        #expect(try left(JSON.self, deep) == nil)
        let objects =
            String(repeating: #"{"a":"#, count: 200) + "1" + String(repeating: "}", count: 200)
        #expect(try left(JSON.self, objects) == nil)
    }

    @Test func `a note is one more only for a new member, and its samples show all members`() {
        let codec = AppCodec(codec: JSONCodec<Item>())
        var notes = PartlyReadEvents()
        for (number, more) in [#""x":1"#, #""x":2"#, #""x":1,"y":1"#, #""y":1"#].enumerated() {
            notes.append(
                codec.payload(reading: Array(#"{"title":"a",\#(more)}"#.utf8), format: .json),
                at: LogSequence(UInt64(number + 1)))
        }
        #expect(notes.count == 4 && notes.notes.map(\.first) == [1, 3])
        struct WithY: Codable, Sendable { var title: String, y: Int? }
        let reading = AppCodec(codec: JSONCodec<WithY>())
        #expect(notes.read(by: codec).more == nil && notes.read(by: reading).more?.first == 3)
        let ignoring = AppCodec(codec: JSONCodec<Item>(ignoredMembers: ["/x", "/y"]))
        #expect(notes.read(by: ignoring).more == nil && notes.read(by: ignoring).notes.isEmpty)
    }
}
