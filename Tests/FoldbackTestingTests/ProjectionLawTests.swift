import Foldback
import FoldbackHistory
import TestSupport
import Testing

@testable import FoldbackTesting

/// A review found laws that projections broke although they keep them, and laws that checked nothing.
@Suite struct ProjectionLawTests {
    private static let documentIDs = ItemIDs<Documents> { $0.byKey.keys }

    // MARK: P13

    @Test func `P13: an event may make fewer items on another base`() async throws {
        let both = DocumentEvent.all([.set("a", 2), .set("b", 2)])
        try await requireLaw(
            .p13, of: Documents.self,
            for: Script(
                .downlink, [.record(.set("a", 1)), .record(both), .reject(1, message: "no")]),
            itemIDs: Self.documentIDs)
    }

    @Test func `P13: an event may make another item if the base has the first`() async throws {
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
    func `P13: counted ids change on another base`(steps: [Script<Move>.Step]) async throws {
        await #expect(throws: LawsBroken.self) {
            try await requireLaw(
                .p13, of: Numbered.self, for: Script(.downlink, steps),
                itemIDs: ItemIDs { $0.items })
        }
    }

    // MARK: P9

    /// Also counts all cells, which `places(touchedBy:)` does not name.
    private struct Totals: TraceableProjection, Codable, Equatable {
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

    @Test func `P9: an event changes only the places that it names`()
        async throws
    {
        let named = Script<Move>(.downlink, [.record(.set("a", 1)), .record(.set("b", 5))])
        try await requireLaw(.p9, of: Totals.self, for: named)
        let unnamed = Script<Move>(.downlink, [.record(.set("a", 1)), .record(.set("b", 6))])
        let error = await #expect(throws: LawsBroken.self) {
            try await requireLaw(.p9, of: Totals.self, for: unnamed)
        }
        #expect("\(error as Any)".contains("changes /total"))
    }

    // MARK: P1

    struct Mean: Projection, Codable, Equatable {
        enum Event: Codable, Equatable, Sendable { case noted(Double) }
        var mean = Double.nan
        var sign = 0
        mutating func apply(_ event: Event, _ context: EventContext) {
            guard case .noted(let number) = event else { return }
            sign = number.sign == .minus ? -1 : 1
        }
    }

    @Test func `P1: a state with NaN equals itself`() async throws {
        let script = Script<Mean.Event>(.downlink, [.record(.noted(1))])
        try await requireLaw(.p1, of: Mean.self, for: script)
        #expect(!Mean.areSame(Mean(mean: .nan, sign: 1), Mean(mean: .nan, sign: 2)))
    }

    /// Place 0, from a file with a part of a log, was used as an index.
    @Test func `steps that name no intent keep the laws`() async throws {
        let steps: [Script<Move>.Step] = [
            .record(.set("a", 1)), .withdraw(0), .reject(0, message: "no"), .acknowledge(0),
            .confirm([.init(1, .set("b", 1), .own(0))]),
        ]
        for law in [Law.p1, .p2, .p7, .p8] {
            try await requireLaw(law, of: Board.self, for: Script(.downlink, steps))
        }
    }
}
