import Foldback
import FoldbackHistory
import FoldbackTesting
import TestSupport
import Testing

/// The question behind these tests: does P16 find parts that would make a rerun miss a difference?
@Suite struct PartLawTests {
    enum Event: Codable, Hashable, Sendable { case counted(String, Int), cleared(String) }

    static let events = Generator<Event>.oneOf(
        .making(Event.counted, keys, .integers(in: 0...9)), .making(Event.cleared, keys))
    static let keys = Generator<String>.element(of: ["a", "b"])

    static func key(of event: Event) -> String {
        switch event {
        case .counted(let key, _), .cleared(let key): key
        }
    }

    /// Parts show the counts.
    struct Counts: TraceableProjection, Codable, Equatable {
        typealias Event = PartLawTests.Event
        var counts: [String: Int] = [:]

        mutating func apply(_ event: Event, _ context: EventContext) {
            switch event {
            case .counted(let key, let number): counts[key, default: 0] += number
            case .cleared(let key): counts[key] = nil
            }
        }

        static func keys(touchedBy event: Event, _ context: EventContext) -> [String] {
            [key(of: event)]
        }

        func part(at key: String) -> Int? { counts[key] }
    }

    /// Counts all events too. The part of a key lacks that count.
    struct Total: TraceableProjection, Codable, Equatable {
        typealias Event = PartLawTests.Event
        var counts = Counts()
        var total = 0

        mutating func apply(_ event: Event, _ context: EventContext) {
            counts.apply(event, context)
            total += 1
        }

        static func keys(touchedBy event: Event, _ context: EventContext) -> [String] {
            [key(of: event)]
        }

        func part(at key: String) -> Int? { counts.part(at: key) }
    }

    /// As ``Total``, but the total is in every part. So an event changes all parts.
    struct SharedTotal: TraceableProjection, Codable, Equatable {
        typealias Event = PartLawTests.Event
        var total = Total()

        mutating func apply(_ event: Event, _ context: EventContext) { total.apply(event, context) }

        static func keys(touchedBy event: Event, _ context: EventContext) -> [String] {
            [key(of: event)]
        }

        func part(at key: String) -> [Int?]? { [total.part(at: key), total.total] }
    }

    /// A version of ``Counts`` that shows twice the count. Its parts have the count itself.
    struct Doubled: TraceableProjection, Codable, Equatable, CustomReflectable {
        typealias Event = PartLawTests.Event
        var counts = Counts()

        mutating func apply(_ event: Event, _ context: EventContext) {
            counts.apply(event, context)
        }

        static func keys(touchedBy event: Event, _ context: EventContext) -> [String] {
            [key(of: event)]
        }

        func part(at key: String) -> Int? { counts.part(at: key) }

        var customMirror: Mirror {
            Mirror(self, children: ["counts": counts.counts.mapValues { 2 * $0 }])
        }
    }

    private static let effort = Effort(
        scriptsMax: TestEffort.value(quick: 30, full: 100), durationMax: nil, stepsMax: 12,
        candidatesMax: 1_000, stepMax: .seconds(30))

    private func finding<P: Projection>(_: P.Type, _ events: Generator<P.Event>) async -> String? {
        let report = await checkLaws(
            of: P.self, events: events, laws: [.p16], effort: Self.effort, failures: .forgotten)
        return report.isClean ? nil : "\(report)"
    }

    @Test func `P16: parts with everything that events change keep the law`() async throws {
        #expect(await finding(Counts.self, Self.events) == nil)
        #expect(await finding(Versions<Counts, Counts>.self, Self.events) == nil)
    }

    @Test func `P16: a part lacks something that an event changes`() async throws {
        let found = try #require(await finding(Total.self, Self.events))
        #expect(found.contains("changes /total") && found.contains("part(at:)"))
    }

    @Test func `P16: an event changes the part of a key that it does not touch`() async throws {
        let found = try #require(await finding(SharedTotal.self, Self.events))
        #expect(found.contains("keys(touchedBy:) does not name"))
    }

    @Test func `P16: equal parts of two versions mean different things`() async throws {
        #expect(await finding(Doubled.self, Self.events) == nil)
        let found = try #require(await finding(Versions<Counts, Doubled>.self, Self.events))
        #expect(found.contains("The two versions differ"))
    }

    @Test func `P16: documents keep the law`() async throws {
        let keys = Generator<ExactString>.element(of: ["a", "b"])
        let change = Generator<DocumentEvent>.oneOf(
            keys.map { .set($0, ["n": 1, "m": [1, 2]]) }, keys.map { .delete($0) },
            keys.map { .increment($0, field: "n", by: .integer(1)) },
            keys.map { .merge($0, ["k": true]) })
        let events = Generator<DocumentEvent>.oneOf(
            change, Generator<[DocumentEvent]>.arrays(of: change, count: 1...3).map { .all($0) })
        #expect(await finding(Documents.self, events) == nil)
    }
}
