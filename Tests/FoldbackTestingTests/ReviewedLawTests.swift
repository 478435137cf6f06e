import Foldback
import TestSupport
import Testing

@testable import FoldbackTesting

/// Born from a review that found laws broken by projections that keep them, laws that tried nothing, and
/// histories that nothing made or that were read as others.
@Suite struct ReviewedLawTests {
    private typealias Step = Script<DocumentEvent>.Step

    private static let documentIDs = ItemIDs<Documents> { $0.byKey.keys }

    // MARK: P13

    @Test func `making fewer items on another base is no renaming`() async throws {
        let both = DocumentEvent.all([.set("a", 2), .set("b", 2)])
        try await requireLaw(
            .p13, of: Documents.self,
            for: Script(
                .downlink, [.record(.set("a", 1)), .record(both), .reject(1, message: "no")]),
            itemIDs: Self.documentIDs)
    }

    @Test func `making the one item or the other, as the base has it, is no renaming`() async throws
    {
        let both = DocumentEvent.all([.set("a", 2), .set("b", 2)])
        try await requireLaw(
            .p13, of: Documents.self,
            for: Script(
                .downlink,
                [
                    .record(.set("a", 1)), .record(both),
                    .confirm([.init(1, .set("b", 1), .none)]), .reject(1, message: "no"),
                    .confirm([.init(2, .delete("b"), .none), .init(3, .set("a", 3), .none)]),
                    .confirm([.init(4, .delete("a"), .none), .init(5, .set("b", 3), .none)]),
                ]),
            itemIDs: Self.documentIDs)
    }

    /// Counts by key, and all of them: which the places of an event do not say.
    private struct Totals: Projection, Codable, Equatable {
        typealias Event = Move
        static var codec: any EventCodec<Move> { MoveCodec() }
        var cells: [String: Int] = [:]
        var total = 0

        mutating func apply(_ event: Move, _ context: EventContext) {
            guard case .set(let key, let value) = event else { return }
            cells[key] = value
            if value > 5 { total += 1 }
        }

        static func places(touchedBy event: Move, _ context: EventContext) -> [JSONPointer]? {
            guard case .set(let key, _) = event else { return [] }
            return [JSONPointer(["cells", ExactString(key)])]
        }
    }

    @Test func `P9: an event changes nothing outside of the places that it is said to touch`()
        async throws
    {
        let said = Script<Move>(.downlink, [.record(.set("a", 1)), .record(.set("b", 5))])
        try await requireLaw(.p9, of: Totals.self, for: said)
        let unsaid = Script<Move>(.downlink, [.record(.set("a", 1)), .record(.set("b", 6))])
        let error = await #expect(throws: LawsBroken.self) {
            try await requireLaw(.p9, of: Totals.self, for: unsaid)
        }
        #expect("\(error as Any)".contains("changes /total"))
    }

    private struct Numbered: Projection, Codable, Equatable {
        typealias Event = Move
        static var codec: any EventCodec<Move> { MoveCodec() }
        var items: [Int] = []
        mutating func apply(_ event: Move, _ context: EventContext) { items.append(items.count) }
    }

    @Test(
        arguments: [
            [.record(.remove("a")), .record(.remove("b")), .reject(1, message: "no")],
            [.record(.remove("a")), .confirm([.init(1, .remove("b"), .none)])],
        ] as [[Script<Move>.Step]])
    func `ids that are counted are renamed`(steps: [Script<Move>.Step]) async throws {
        await #expect(throws: LawsBroken.self) {
            try await requireLaw(
                .p13, of: Numbered.self, for: Script(.downlink, steps),
                itemIDs: ItemIDs { $0.items })
        }
    }

    // MARK: P1 and P11

    private struct Mean: Projection, Codable, Equatable {
        enum Event: Codable, Equatable, Sendable { case noted(Double) }
        var mean = Double.nan
        var sign = 0
        mutating func apply(_ event: Event, _ context: EventContext) {
            guard case .noted(let number) = event else { return }
            sign = number.sign == .minus ? -1 : 1
        }
    }

    @Test func `a state with a number that is none is the same twice`() async throws {
        let history = Script<Mean.Event>(.downlink, [.record(.noted(1))])
        try await requireLaw(.p1, of: Mean.self, for: history)
        #expect(!Mean.areSame(Mean(mean: .nan, sign: 1), Mean(mean: .nan, sign: 2)))
    }

    @Test func `a negative zero is one in its file`() async throws {
        let history = Script<Mean.Event>(.downlink, [.record(.noted(-0.0))])
        let text = try history.ndjson(Mean.codec, title: "Mean")
        let read = try Script<Mean.Event>(ndjson: text, Mean.codec)
        #expect("\(read.steps)" == "\(history.steps)")
        try await requireLaw(.p1, of: Mean.self, for: history)
    }

    private enum Wordy: CustomStringConvertible {
        case one
        var description: String { "one\n\ttwo" }
    }

    @Test func `an enum whose description has lines is one line`() {
        let text = StateText([Wordy.one])
        #expect(text.lines.count == 1)
        #expect(StateText(parsing: text.text) == text)
    }

    // MARK: P7

    @Test(
        arguments: [[], [.init(2, .set("c", 1), .none)]] as [[Script<DocumentEvent>.ServerEvent]])
    func `a batch confirms late what the server has changed its mind about`(
        more: [Script<DocumentEvent>.ServerEvent]
    ) async throws {
        let first: [Step] = [
            .record(.set("a", 1)), .confirm([.init(1, .set("b", 1), .none)]),
            .reject(1, message: "no"), .confirm([.init(1, .set("b", 1), .own(1))] + more),
            .acknowledge(1),
        ]
        try await requireLaw(.p7, of: Documents.self, for: Script(.downlink, first))
        let then = first + [.confirm([.init(3, .set("d", 1), .none)])]
        try await requireLaw(.p7, of: Documents.self, for: Script(.downlink, then))
    }

    // MARK: P8

    @Test func `answers come in several orders, and confirm in theirs where there is no downlink`()
        async throws
    {
        let steps: [Script<Move>.Step] = [
            .record(.set("a", 1)), .record(.add("a", 2)), .record(.claim("a")),
            .record(.set("a", 3)), .acknowledge(3), .acknowledge(1),
        ]
        let server = [3, 1, 4, 2]
        for kind in [LogKind.acknowledgement, .downlink] {
            let history = Script(kind, steps)
            try await requireLaw(.p8, of: Board.self, for: history)
            let trial = try await Trial<Board>(history)
            #expect(trial.serversOrder(of: 4) == server)
            for schedule in trial.schedules(server) {
                let answers = schedule.words.compactMap { word -> Int? in
                    if case .answer(let place) = word { place } else { nil }
                }
                #expect(schedule.end == (kind == .downlink ? server : answers))
                #expect(answers.sorted() == [1, 2, 3, 4])
            }
            let ends = Set(trial.schedules(server).map(\.end))
            #expect(ends.count == (kind == .downlink ? 1 : 3))
        }
        let trial = try await Trial<Board>(Script(.downlink, steps))
        #expect(
            trial.schedules([2, 1]).map(\.words) == [
                [.answer(1), .answer(2), .event(2), .event(1)],
                [.event(2), .event(1), .answer(1), .answer(2)],
                [.answer(1), .event(2), .answer(2), .event(1)],
                [.answer(1), .answer(2), .event(2), .event(1)],
                [.event(2), .event(1), .answer(1), .answer(2)],
                [.answer(1), .event(2), .answer(2), .event(1)],
            ])
    }

    // MARK: Histories and what is seen of them

    @Test func `histories have own origins never recorded, and retries of what is not rejected`()
        throws
    {
        let histories = Generator<Int>.integers(in: 0...3).scripts(.downlink, steps: 24)
        var origins = 0
        var retries = 0
        for seed in 0..<300 as Range<UInt64> {
            let steps = try histories.value(seed: seed).steps
            for (index, step) in steps.enumerated() {
                switch step {
                case .confirm(let told, _):
                    for case .foreign(let id) in told.map(\.origin) where id.replica == .own {
                        #expect(id.number.value > UInt64(steps.count))
                        origins += 1
                    }
                case .change(let place, .retry, _):
                    let isRejected = steps[..<index].contains { before in
                        if case .reject(place, _, _) = before { true } else { false }
                    }
                    retries += isRejected ? 0 : 1
                default: break
                }
            }
        }
        #expect(origins >= 5 && retries >= 5)
    }

    @Test func `a rejection's message, what is retried and when it was answered are seen`()
        async throws
    {
        func sight(_ steps: [Script<Move>.Step]) async throws -> Observation<Board> {
            let trial = try await Trial<Board>(Script(.downlink, steps))
            let last = try #require(trial.passages.last)
            #expect(last.sight.difference(from: try #require(trial.refolded.last).sight) == nil)
            return last.sight
        }
        let start: [Script<Move>.Step] = [.record(.set("a", 1)), .record(.set("b", 1))]
        let no = try await sight(start + [.reject(1, message: "no")])
        let never = try await sight(start + [.reject(1, message: "never")])
        #expect(no.difference(from: never)?.manner == "states")

        let retried = try await sight(start + [.reject(1, message: "no"), .retry(1)])
        let anew = try await sight(
            start + [.reject(1, message: "no"), .record(.set("a", 1))])
        #expect(retried.difference(from: anew, [.states])?.manner == "states")
        #expect(retried.standings[2].retries == 1 && retried.standings[0].isDismissed)

        let early = try await sight(start + [.acknowledge(1), .acknowledge(2)])
        let late = try await sight(start + [.acknowledge(2), .acknowledge(1)])
        #expect(early.difference(from: late)?.manner == "states")
    }

    // MARK: Files

    private static func read(
        _ text: String, confirmedBy kind: LogKind? = .downlink
    ) throws -> Script<DocumentEvent> {
        try Script(ndjson: text, Documents.codec, confirmedBy: kind)
    }

    @Test func `entries are of the replicas that recorded them, whatever they are called`() throws {
        let set = #""event":{"op":"set","key":"a","value":1}"#
        let history = try Self.read(
            """
            {"sequence":1,"kind":"intent","replica":"phone","intent":41,\(set)}
            {"sequence":2,"kind":"intent","replica":"tablet","intent":42,\(set)}
            {"sequence":3,"kind":"rejected","intent":42,"message":"no","code":"x"}
            {"sequence":4,"kind":"intent","replica":"tablet","intent":43,"retries":42,\(set)}
            {"sequence":5,"kind":"withdrawn","intent":1}
            {"sequence":6,"kind":"intent","replica":"tablet","intent":44,"retries":40,\(set)}
            {"sequence":7,"kind":"confirmed","through":4,"events":[\
            {"position":1,\(set),"origin":{"replica":"phone","intent":41}},\
            {"position":2,\(set),"origin":{"replica":"phone","intent":42}},\
            {"position":3,\(set),"origin":{"replica":"tablet","intent":43}},\
            {"position":4,\(set),"origin":{"replica":"me","intent":41}}]}
            """)
        func foreign(_ replica: String, _ number: IntentNumber) -> Script<DocumentEvent>.Origin {
            .foreign(IntentID(replica: .named(replica), number: number))
        }
        let event = DocumentEvent.set("a", 1)
        let expected: [Step] = [
            .record(event, force: true), .record(event, force: true),
            .reject(2, code: "x", message: "no"),
            .retry(2, force: true), .withdraw(0), .record(event, force: true),
            .confirm(
                [
                    .init(1, event, .own(1)), .init(2, event, foreign("phone", 42)),
                    .init(3, event, .own(3)), .init(4, event, foreign("me", 41)),
                ], through: 4),
        ]
        #expect("\(history.steps)" == "\(expected)")
    }

    @Test func `an own number never recorded is somebody else's in the file as well`() throws {
        let id = IntentID(replica: .own, number: 1_000_000)
        let event = DocumentEvent.set("a", 1)
        let history = Script<DocumentEvent>(
            .downlink, [.record(event), .confirm([.init(1, event, .foreign(id))])])
        let read = try Self.read(try history.ndjson(Documents.codec, title: ""), confirmedBy: nil)
        #expect("\(read.steps)" == "\(history.steps)")
    }

    @Test func `an unknown number stays unknown in the file`() async throws {
        let unknown: IntentNumber = 1_000_003
        let steps: [Script<Move>.Step] = [
            .record(.set("a", 1)), .withdraw(unknown), .retry(unknown, force: true),
            .reject(unknown, code: "x", message: "no"), .acknowledge(unknown),
        ]
        let script = Script(.downlink, steps)
        let read = try Script<Move>(ndjson: try script.ndjson(MoveCodec(), title: ""), MoveCodec())
        #expect("\(read.steps)" == "\(steps)")
        let trial = try await Trial<Board>(script)
        #expect(
            trial.passages.dropFirst().map(\.outcome)
                == Array(repeating: .refused("unknownIntent"), count: 4))
    }

    /// Place 0 in a file of an excerpt was used as an index.
    @Test func `steps that name no intent keep the laws`() async throws {
        let steps: [Script<Move>.Step] = [
            .record(.set("a", 1)), .withdraw(0), .reject(0, message: "no"), .acknowledge(0),
            .confirm([.init(1, .set("b", 1), .own(0))]),
        ]
        for law in [Law.p1, .p2, .p7, .p8] {
            try await requireLaw(law, of: Board.self, for: Script(.downlink, steps))
        }
    }

    @Test func `a place that is recorded later is named by nothing in the file`() async throws {
        let history = Script<Move>(
            .downlink, [.confirm([.init(1, .claim("a"), .own(1))]), .record(.claim("b"))])
        try await requireLaw(.p1, of: Board.self, for: history)
    }

    @Test func `entries alone do not say what kind their log is of`() throws {
        let text = #"{"sequence":1,"kind":"withdrawn","intent":1}"#
        #expect(try Self.read(text, confirmedBy: .acknowledgement).kind == .acknowledgement)
        let error = #expect(throws: ScriptFileError.self) {
            _ = try Self.read(text, confirmedBy: nil)
        }
        #expect(error?.description == "line 1: confirmedBy is missing, the log's kind")
    }

    @Test func `a generator's value of a seed is the same each time`() throws {
        let strings = Generator<String>.strings()
        let values = try (0..<40).map { try strings.value(seed: $0) }
        #expect(try (0..<40).map { try strings.value(seed: $0) } == values)
        #expect(Set(values).count > 10)
        #expect(throws: Discarded.self) {
            _ = try strings.filter { _ in false }.value(seed: 1)
        }
    }
}
