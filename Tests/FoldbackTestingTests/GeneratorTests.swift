import FoldbackTesting
import Foundation
import Testing

/// Events like those of an app: cases without labels, with labels, with one to three values, and with inner
/// events.
enum SampleEvent: Sendable, Hashable {
    case cleared
    case posted(text: String)
    case commented(String, stars: Int)
    case moved(x: Int8, y: Int8, z: Int8)
    case tagged(Set<String>?)
    indirect case all([SampleEvent])

    static let generator = Generator<SampleEvent>.recursive(
        depthMax: 3,
        .oneOf(
            .constant(.cleared),
            .making(SampleEvent.posted, .strings()),
            .making(SampleEvent.commented, .strings(), .integers(in: 1...5)),
            .making(SampleEvent.moved, .integers(), .integers(), .integers()),
            .making(
                SampleEvent.tagged,
                .optionals(
                    of: Generator<[String]>.arrays(of: .strings(), count: 0...3).map { Set($0) })))
    ) { event in
        .making(SampleEvent.all, .arrays(of: event, count: 0...4))
    }
}

/// One generator of each kind, with values as text.
private let kinds: [(name: String, Generator<String>)] = [
    ("integers", described(Generator<Int>.integers())),
    ("unsigned", described(Generator<UInt64>.integers())),
    ("range", described(Generator<Int16>.integers(in: -300...9))),
    ("booleans", described(Generator<Bool>.booleans)),
    ("strings", described(Generator<String>.strings(count: 2...9))),
    ("uuids", described(Generator<UUID>.uuids)),
    ("cases", described(Generator<Weekday>.cases())),
    ("arrays", described(.arrays(of: Generator<Int>.integers(in: 0...9), count: 1...5))),
    (
        "dictionaries",
        Generator<[Int: Bool]>.dictionaries(of: .integers(in: 0...4), to: .booleans, count: 2...4)
            .map { "\($0.sorted { $0.key < $1.key })" }
    ),
    ("filter", described(Generator<Int>.integers(in: 0...99).filter { $0 % 3 == 1 })),
    ("never", described(Generator<Int>.integers().filter { _ in false })),
    (
        "weighted",
        described(
            .weighted((0, .constant("never")), (1, .constant("rarely")), (9, .strings())))
    ),
    (
        "dependent",
        described(
            Generator<Int>.integers(in: 1...20).flatMap { n in
                .arrays(of: Generator<Int>.integers(in: 0...n), count: n...n)
            })
    ),
    (
        "generic",
        described(
            Generator<Envelope<Bool>>.recursive(
                depthMax: 2,
                .making(Envelope<Bool>.sent, .booleans, .optionals(of: .integers(in: 0...3)))
            ) { envelope in .making(Envelope<Bool>.forwarded, envelope) })
    ),
    (
        "events",
        Generator<[String]>.arrays(of: SampleEvent.generator.map(describedInOrder), count: 0...6)
            .map { $0.joined(separator: ", ") }
    ),
]

/// Cases with values of a generic type.
indirect enum Envelope<Body: Sendable>: Sendable {
    case sent(Body, to: Int?)
    case forwarded(Envelope)
}

private enum Weekday: CaseIterable { case monday, tuesday, sunday }

private func described<Value>(_ generator: Generator<Value>) -> Generator<String> {
    generator.map { "\($0)" }
}

/// The order of a set differs between processes.
private func describedInOrder(_ event: SampleEvent) -> String {
    switch event {
    case .tagged(let tags?): "tagged(\(tags.sorted()))"
    case .all(let events): "all(\(events.map(describedInOrder)))"
    default: "\(event)"
    }
}

private func values<Value>(_ generator: Generator<Value>, count: UInt64) throws -> [Value] {
    try (0..<count).map { seed in
        var choices = Choices(seed: seed)
        return try generator.generate(from: &choices)
    }
}

/// A value that changes between runs, or shrinks to a value that its generator cannot make, makes a report
/// useless.
@Suite struct GeneratorTests {
    @Test func `a replayed recording leads to the same value and the same recording`() {
        for (name, generator) in kinds {
            for seed in 0..<200 as Range<UInt64> {
                var drawn = Choices(seed: seed)
                let value = try? generator.generate(from: &drawn)
                var replayed = Choices(replaying: drawn.recording.values)
                let again = try? generator.generate(from: &replayed)
                #expect(value == again, "\(name), seed \(seed)")
                #expect(drawn.recording == replayed.recording, "\(name), seed \(seed)")
            }
        }
    }

    @Test func `any choices lead to a value or to none, and never to a trap`() {
        var random = SplitMix64(seed: 20_261_121)
        for round in 0..<2_000 {
            let fuzz = (0..<random.next(upTo: 60)).map { _ -> UInt64 in
                switch random.next(upTo: 3) {
                case 0: 0
                case 1: .max
                case 2: random.next(upTo: 5)
                default: random.next()
                }
            }
            for (name, generator) in kinds {
                var choices = Choices(replaying: fuzz)
                let value = try? generator.generate(from: &choices)
                #expect(value == nil ? ["never", "dictionaries", "filter"].contains(name) : true)
                let recording = choices.recording
                #expect(zip(recording.values, recording.bounds).allSatisfy { $0 <= $1 })
                // The recording leads to itself.
                var again = Choices(replaying: recording.values)
                #expect((try? generator.generate(from: &again)) == value, "\(name), round \(round)")
                #expect(again.recording == recording, "\(name), round \(round)")
            }
        }
    }

    @Test func `an empty recording leads to the simplest value`() throws {
        func simplest<Value>(_ generator: Generator<Value>) throws -> Value {
            var choices = Choices(replaying: [])
            return try generator.generate(from: &choices)
        }
        #expect(try simplest(.integers()) == 0)
        #expect(try simplest(.integers(in: 5...9)) == 5)
        #expect(try simplest(.integers(in: -9 ... -5)) == -5)
        #expect(try simplest(.booleans) == false)
        #expect(try simplest(.strings()) == "")
        #expect(try simplest(.strings(count: 1...2)) == "a")
        #expect(try simplest(.arrays(of: Generator<Int>.integers(), count: 2...8)) == [0, 0])
        #expect(try simplest(.optionals(of: .booleans)) == nil)
        #expect(try simplest(.uuids).uuidString == "00000000-0000-4000-8000-000000000000")
        #expect(try simplest(SampleEvent.generator) == .cleared)
        #expect(throws: Discarded.self) {
            try simplest(Generator<Int>.integers().filter { $0 > 5 })
        }
        #expect(throws: Discarded.self) {
            try simplest(.dictionaries(of: .booleans, to: .booleans, count: 2...2))
        }
    }

    /// Reports name seeds, so the values of a seed are a format.
    @Test func `a seed has the same values in every process`() {
        let golden = [
            "integers: -491537085524", "unsigned: 983074171048", "range: -48", "booleans: true",
            #"strings: X\u{2028}\u{FFFF}6wTpG+"#, "uuids: 96A2C661-4430-4401-A83B-8BA1B2E287E1",
            "cases: tuesday", "arrays: [7]",
            "dictionaries: [(key: 3, value: false), (key: 4, value: false)]", "filter: 28",
            "never: nothing", #"weighted: \u{2028}\u{FFFF}6wTpG+\u{592F}\"~"#,
            "dependent: [0, 0, 3, 0, 0, 0, 6, 6]",
            "generic: forwarded(FoldbackTestingTests.Envelope<Swift.Bool>.forwarded("
                + "FoldbackTestingTests.Envelope<Swift.Bool>.sent(false, to: Optional(1))))",
            #"events: all([\"moved(x: -61, y: -126, z: 127)\"]), all([])"#,
        ]
        let drawn = kinds.map { name, generator in
            var choices = Choices(seed: 156)
            let value = (try? generator.generate(from: &choices)) ?? "nothing"
            return name + ": " + value.unicodeScalars.map { $0.escaped(asASCII: true) }.joined()
        }
        #expect(drawn == golden)
    }

    @Test(arguments: [-128...127, -3...100, -100...3, 0...0, 5...9, -9 ... -5, -128...0])
    func `integers have all numbers of a range, in order of simplicity`(range: ClosedRange<Int8>)
        throws
    {
        let integers = Generator<Int8>.integers(in: range)
        let inOrder = try (0..<UInt64(range.count)).map { choice in
            var choices = Choices(replaying: [choice])
            return try integers.generate(from: &choices)
        }
        let origin = min(max(0, Int(range.lowerBound)), Int(range.upperBound))
        let expected = range.sorted {
            let (left, right) = (Int($0) - origin, Int($1) - origin)
            return (abs(left), -left) < (abs(right), -right)
        }
        #expect(inOrder == expected)
    }

    @Test func `integers include bounds, their neighbors, and small numbers`() throws {
        func expect<N: FixedWidthInteger & Sendable>(_ range: ClosedRange<N>, _ wanted: [N]) throws
        {
            let met = Set(try values(.integers(in: range), count: 1_500))
            #expect(met.isSuperset(of: wanted), "\(range): \(Set(wanted).subtracting(met))")
            #expect(met.allSatisfy(range.contains))
        }
        try expect(Int.min ... .max, [.min, .min + 1, -2, -1, 0, 1, 2, .max - 1, .max])
        try expect(UInt64.min ... .max, [0, 1, 2, .max - 1, .max])
        try expect(Int8.min ... .max, [.min, .min + 1, -1, 0, 1, .max - 1, .max])
        try expect(
            -1_000_000...3_000_000_000, [-1_000_000, -1, 0, 1, 2_999_999_999, 3_000_000_000])
        try expect(-3_000_000_000...1_000_000, [-3_000_000_000, -1, 0, 1, 999_999, 1_000_000])
        try expect(5...9, [5, 6, 7, 8, 9])
        try expect(Int64.min...(-7), [.min, .min + 1, -8, -7])
    }

    @Test func `strings include difficult text`() throws {
        let strings = try values(.strings(), count: 3_000)
        #expect(strings.contains(""))
        let scalars = Set(strings.flatMap(\.unicodeScalars))
        for scalar in "\0\"\\\n\r\t\u{301}\u{200D}\u{5D0}\u{130}\u{131}\u{FEFF}\u{FFFF}\u{10FFFF}"
            .unicodeScalars
        {
            #expect(scalars.contains(scalar), "U+\(String(scalar.value, radix: 16))")
        }
        #expect(strings.contains { $0.contains { $0.unicodeScalars.count > 30 } })
        #expect(strings.contains { $0.unicodeScalars.first == "\u{301}" })
        // Equal strings with different bytes.
        #expect(
            strings.contains { a in
                strings.contains { a == $0 && Array(a.utf8) != Array($0.utf8) }
            })
        #expect(Set(strings.map(\.count)).isSuperset(of: 0...8))
    }

    @Test func `lists have every length of their range, and dictionaries every count of keys`()
        throws
    {
        let arrays = Generator<[Bool]>.arrays(of: .booleans, count: 2...9)
        #expect(Set(try values(arrays, count: 500).map(\.count)) == Set(2...9))
        let dictionaries = Generator<[Int: Bool]>.dictionaries(
            of: .integers(in: 0...5), to: .booleans, count: 3...5)
        #expect(Set(try values(dictionaries, count: 500).map(\.count)) == Set(3...5))
    }

    @Test func `alternatives occur as often as their weights say`() throws {
        let weighted = Generator<Int>.weighted(
            (0, .constant(0)), (1, .constant(1)), (9, .constant(2)))
        let counts = Dictionary(grouping: try values(weighted, count: 2_000)) { $0 }
            .mapValues(\.count)
        #expect(counts[0] == nil)
        #expect((120...280).contains(counts[1] ?? 0))
        let events = try values(SampleEvent.generator, count: 500)
        let names = Set(events.map { "\($0)".prefix { $0 != "(" } })
        #expect(names == ["cleared", "posted", "commented", "moved", "tagged", "all"])
        #expect(Set(events.map(\.depth)) == [0, 1, 2, 3])
    }

    @Test func `a seed has the same value each time`() throws {
        let strings = Generator<String>.strings()
        let values = try (0..<40).map { try strings.value(seed: $0) }
        #expect(try (0..<40).map { try strings.value(seed: $0) } == values)
        #expect(Set(values).count > 10)
        #expect(throws: Discarded.self) {
            _ = try strings.filter { _ in false }.value(seed: 1)
        }
    }

    @Test func `UUIDs are valid, and depend only on choices`() throws {
        let uuids = try values(.uuids, count: 100)
        #expect(Set(uuids).count == 100)
        #expect(uuids == (try values(.uuids, count: 100)))
        #expect(uuids.allSatisfy { $0.uuid.6 >> 4 == 4 && $0.uuid.8 >> 6 == 2 })
    }

    @Test func `spans nest, and a span without choices is not kept`() {
        var choices = Choices(replaying: [1, 2, 3, 4])
        choices.span { choices in
            choices.span { _ in }
            choices.span { choices in _ = choices.draw(upTo: 9, .uniform) }
            choices.span { choices in
                _ = choices.draw(upTo: 9, .uniform)
                choices.span { choices in _ = choices.draw(upTo: 1, .uniform) }
            }
        }
        choices.span { choices in _ = choices.draw(upTo: 9, .uniform) }
        let recording = choices.recording
        #expect(recording.values == [1, 2, 1, 4])
        #expect(recording.bounds == [9, 9, 1, 9])
        #expect(recording.spans.map(\.range) == [0..<3, 0..<1, 1..<3, 2..<3, 3..<4])
        #expect(recording.spans.map(\.depth) == [0, 1, 1, 2, 0])
        #expect(recording.siblings == [[0..<3, 3..<4], [0..<1, 1..<3], [2..<3]])
    }
}

extension SampleEvent {
    fileprivate var depth: Int {
        if case .all(let events) = self { 1 + (events.map(\.depth).max() ?? 0) } else { 0 }
    }
}
