import Foldback
import TestSupport
import Testing

/// Question: does ``NumberMap`` behave like a sorted dictionary, also after it was copied?
@Suite struct NumberMapTests {
    @Test func `a map behaves like a sorted dictionary, and its copies do not change`() {
        for seed in 0..<12 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var map = NumberMap<IntentNumber, Int>()
            var model: [UInt64: Int] = [:]
            for step in 0..<8_000 {
                let copy = map
                let before = model
                let key =
                    random.oneIn(2)
                    ? (model.keys.max() ?? 0) + 1 : UInt64.random(in: 1...6_000, using: &random)
                switch Int.random(in: 0..<100, using: &random) {
                case 0..<60: (map[IntentNumber(key)], model[key]) = (step, step)
                case 60..<70:
                    // Adds the step to the value, and removes every other sum.
                    let sum = map.change(
                        IntentNumber(key), or: 0, removedIf: { $0.isMultiple(of: 2) }
                    ) { value -> Int in
                        value += step
                        return value
                    }
                    #expect(sum == (model[key] ?? 0) + step)
                    model[key] = sum.isMultiple(of: 2) ? nil : sum
                case 70..<99: (map[IntentNumber(key)], model[key]) = (nil, nil)
                default:
                    map.removeAll(from: IntentNumber(key))
                    model = model.filter { $0.key < key }
                }
                guard step % 97 == 0 else { continue }
                #expect(map.keys.map(\.value) == model.keys.sorted())
                #expect(map.count == model.count)
                #expect(map.last?.key.value == model.keys.max())
                #expect(copy.keys.map(\.value) == before.keys.sorted())
                let tail = map.from(IntentNumber(key)).map(\.key.value)
                #expect(tail == model.keys.filter { $0 >= key }.sorted())
                #expect(map[IntentNumber(key)] == model[key])
                let offsets = stride(from: 0, to: map.count, by: 37)
                let keys = model.keys.sorted()
                #expect(
                    offsets.allSatisfy { map.pair(atOffset: $0).key.value == keys[$0] })
            }
        }
    }
}

/// Question: does the difference of two maps have every change, at the cost of the changes?
@Suite struct NumberMapChangeTests {
    private typealias Map = NumberMap<IntentNumber, Int>

    private func changes(_ new: Map, since old: Map) -> [UInt64: [Int?]] {
        var found: [UInt64: [Int?]] = [:]
        var last: IntentNumber?
        new.forEachChange(since: old, areSame: ==) { key, before, after in
            #expect(last.map { $0 < key } ?? true)
            last = key
            found[key.value] = [before, after]
        }
        return found
    }

    @Test func `the changes since an earlier copy are those of two dictionaries`() {
        for seed in 0..<12 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var map = Map()
            var model: [UInt64: Int] = [:]
            for _ in 0..<60 {
                let (old, oldModel) = (map, model)
                for step in 0..<Int.random(in: 0...400, using: &random) {
                    let key =
                        random.oneIn(2)
                        ? (model.keys.max() ?? 0) + 1 : UInt64.random(in: 1...6_000, using: &random)
                    switch Int.random(in: 0..<100, using: &random) {
                    case 0..<60: (map[IntentNumber(key)], model[key]) = (step, step)
                    case 60..<99: (map[IntentNumber(key)], model[key]) = (nil, nil)
                    default:
                        map.removeAll(from: IntentNumber(key))
                        model = model.filter { $0.key < key }
                    }
                }
                var expected: [UInt64: [Int?]] = [:]
                for key in Set(model.keys).union(oldModel.keys) where model[key] != oldModel[key] {
                    expected[key] = [oldModel[key], model[key]]
                }
                #expect(changes(map, since: old) == expected)
                #expect(changes(map, since: Map()).count == model.count)
            }
        }
    }

    @Test func `a change among 100,000 values compares at most 64 values`() {
        var map = Map()
        for number in 1...100_000 as ClosedRange<UInt64> { map[IntentNumber(number)] = 0 }
        for number in [1, 2_048, 50_000, 100_000] as [IntentNumber] {
            var changed = map
            changed[number] = number == 2_048 ? nil : 1
            var compared = 0
            let areSame = { (first: Int, second: Int) in
                compared += 1
                return first == second
            }
            var found: [IntentNumber] = []
            changed.forEachChange(since: map, areSame: areSame) { key, _, _ in found.append(key) }
            #expect(found == [number])
            #expect(compared <= 64)
        }
    }
}

/// Question: does the JSON parser keep every value exactly, and does it refuse all other text?
@Suite struct JSONTests {
    @Test func `a JSON value reads back as it was written`() throws {
        let texts = [
            "null", "true", "-12", "0", "9223372036854775807", "-9223372036854775808",
            "18446744073709551616", "1.5", "1.0", "1e+100", #""""#, #""é\"\\\n\u0001 😀""#, "[]",
            "[1,[2]]", "{}", #"{"a":{"b":[null,false]},"b":1}"#,
        ]
        for text in texts { #expect(try JSON(parsing: text).description == text) }
    }

    @Test func `printed JSON escapes each character that controls a display, and encoded does not`()
        throws
    {
        let scalars = (0...0x10FFFF as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init)
        var wrong: [Unicode.Scalar] = []
        for scalar in scalars {
            let isControl =
                switch scalar.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator: true
                default: scalar.properties.isBidiControl
                }
            if scalar.isDisplayControl != isControl { wrong.append(scalar) }
        }
        #expect(wrong.isEmpty)
        let text = String(String.UnicodeScalarView(scalars.filter { $0.value < 0x3000 })) + "😀"
        let json: JSON = ["a\u{202E}": .array([.string(text)]), "b": 1]
        let printed = json.printed
        #expect(try JSON(parsing: printed) == json)
        let shown = String(decoding: printed, as: UTF8.self)
        let isPlain = !shown.unicodeScalars.contains { $0.isDisplayControl }
        #expect(isPlain)
        #expect(shown.hasPrefix(#"{"a\u202e":["\u0000\u0001"#) && shown.contains(#"~\u007f\u0080"#))
        #expect(JSON.string("\u{7F}\u{202E}").encoded == Array("\"\u{7F}\u{202E}\"".utf8))
        #expect(JSON.string("\u{7F}é").description == "\"\u{7F}é\"")
    }

    @Test func `the JSON parser reads escapes and white space`() throws {
        #expect(try JSON(parsing: " { \"a\" : [ 1 , 2 ] } ").description == #"{"a":[1,2]}"#)
        let text = #""\ud83d\ude00\/\t\u00e9""#
        #expect(try JSON(parsing: text).stringValue == "\u{1F600}/\t\u{E9}")
        #expect(try JSON(parsing: "1.0") == 1.0)
        #expect(try JSON(parsing: "1") != 1.0)
    }

    @Test func `invalid JSON is an error`() {
        let texts = [
            "", " ", "{", "[1,]", "{\"a\":1,}", "01", "-", "1.", ".5", "1e", "+1", "nul", "tru e",
            "\"", "\"\u{1}\"", "\"\\x\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\u12g4\"", "1 2",
            "{1:2}", "{\"a\" 1}", "{\"a\":1,\"a\":2}", "1e999", "NaN", "'a'",
            String(repeating: "[", count: 600) + String(repeating: "]", count: 600),
        ]
        for text in texts {
            #expect(throws: JSONError.self, "\(text.prefix(20))") { try JSON(parsing: text) }
        }
        #expect(throws: JSONError.self) { try JSON(parsing: [0x22, 0xFF, 0x22]) }
    }

    @Test func `names are compared by their bytes`() throws {
        let json = try JSON(parsing: "{\"\u{E9}\":1,\"e\u{301}\":2}")
        #expect(json["\u{E9}"] == 1)
        #expect(json["e\u{301}"] == 2)
        #expect(ExactString("\u{E9}") != ExactString("e\u{301}"))
        #expect(JSON.string("\u{E9}") != JSON.string("e\u{301}"))
        #expect(Set([ExactString("\u{E9}"), ExactString("e\u{301}")]).count == 2)
    }

    @Test func `merging follows RFC 7396, appendix A`() throws {
        let cases = [
            (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
            (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
            (#"{"a":"b"}"#, #"{"a":null}"#, #"{}"#),
            (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
            (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
            (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
            (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
            (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
            (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#), (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#),
            (#"{"a":"foo"}"#, "null", "null"), (#"{"a":"foo"}"#, #""bar""#, #""bar""#),
            (#"{"e":null}"#, #"{"a":1}"#, #"{"a":1,"e":null}"#),
            (#"[1,2]"#, #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
            ("{}", #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
        ]
        for (target, patch, result) in cases {
            let merged = try JSON(parsing: target).merged(with: JSON(parsing: patch))
            #expect(merged.description == result)
        }
    }
}

/// Question: does a document event apply completely or not at all, and does it read back as
/// written?
@Suite struct DocumentsTests {
    private func applied(_ texts: String...) throws -> Documents {
        var documents = Documents()
        for text in texts {
            let event = try DocumentEvent(json: JSON(parsing: text))
            #expect(try DocumentEvent(json: event.json) == event)
            try documents.apply(event, EventContext(.position(1)))
        }
        return documents
    }

    @Test func `an increment keeps integers exact and adds doubles as doubles`() throws {
        let sums = [
            (#"{"n":1}"#, "2", "3"), ("{}", "-4", "-4"), (#"{"n":1.5}"#, "1", "2.5"),
            (#"{"n":1}"#, "0.5", "1.5"), (#"{"n":9007199254740993}"#, "0", "9007199254740993"),
            (#"{"n":9223372036854775806}"#, "1", "9223372036854775807"),
            (#"{"n":9223372036854775808}"#, "-1", "9223372036854775807"),
            (#"{"n":18446744073709551616}"#, "0.5", "1.8446744073709552e+19"),
        ]
        for (start, amount, sum) in sums {
            let documents = try applied(
                #"{"op":"set","key":"a","value":\#(start)}"#,
                #"{"op":"increment","key":"a","field":"n","by":\#(amount)}"#)
            #expect(documents["a"]?["n"]?.description == sum)
        }
    }

    @Test func `an event that does not apply throws and changes nothing`() throws {
        let start = #"{"op":"set","key":"a","value":{"n":9223372036854775807,"s":"x","z":null}}"#
        let events = [
            #"{"op":"increment","key":"a","field":"n","by":1}"#,
            #"{"op":"increment","key":"a","field":"s","by":1}"#,
            #"{"op":"increment","key":"a","field":"z","by":1}"#,
            #"{"op":"increment","key":"b","field":"n","by":1}"#,
            #"{"op":"set","key":"a","value":1,"require":"absent"}"#,
            #"{"op":"delete","key":"b","require":"present"}"#,
            #"{"op":"all","events":[{"op":"set","key":"b","value":1},{"op":"delete","key":"c","require":"present"}]}"#,
        ]
        for text in events {
            var documents = try applied(start)
            let before = documents
            let event = try DocumentEvent(json: JSON(parsing: text))
            #expect(throws: DocumentConflict.self, "\(text)") {
                try documents.apply(event, EventContext(.position(1)))
            }
            #expect(documents == before)
        }
    }

    @Test func `JSON that does not describe an event is refused`() throws {
        let texts = [
            "1", "{}", #"{"op":"put","key":"a"}"#, #"{"op":"set","key":"a"}"#,
            #"{"op":"set","key":1,"value":1}"#, #"{"op":"set","key":"a","value":1,"valeu":2}"#,
            #"{"op":"increment","key":"a","field":"n","by":"1"}"#,
            #"{"op":"increment","key":"a","by":1}"#,
            #"{"op":"all","events":[],"require":"absent"}"#,
            #"{"op":"delete","key":"a","require":"maybe"}"#, #"{"op":"all","events":[1]}"#,
        ]
        for text in texts {
            let json = try JSON(parsing: text)
            #expect(throws: DocumentEventError.self, "\(text)") { try DocumentEvent(json: json) }
        }
    }

    @Test func `a value that cannot be read back is not recorded`() async throws {
        let store = Store.inMemory(Documents.self, confirmedBy: .downlink)
        var deep = JSON.null
        for _ in 0..<600 { deep = [deep] }
        for value in [deep, .double(.nan), .double(.infinity), .digits("5"), .digits("1]")] {
            let refused = await error { () throws(CommandError) in
                try await store.record(.set("a", value))
            }
            guard case .notEncodable = refused else {
                Issue.record("\(String(describing: refused))")
                continue
            }
        }
        #expect(store.view["a"] == nil)
    }

    @Test func `an event names the keys that it touches`() throws {
        let event = try DocumentEvent(
            json: JSON(
                parsing:
                    #"{"op":"all","events":[{"op":"delete","key":"a"},{"op":"delete","key":"b"},{"op":"delete","key":"a"}]}"#
            ))
        #expect(Set(Documents.keys(touchedBy: event, EventContext(.position(1)))) == ["a", "b"])
    }
}
