import Foldback
import TestSupport
import Testing

@testable import FoldbackTesting

/// A review found that P7 failed for a batch that confirms late, and that P8 tried only one order.
@Suite struct AnswerLawTests {
    @Test(
        arguments: [[], [.init(2, .set("c", 1), .none)]] as [[Script<DocumentEvent>.ServerEvent]])
    func `P7: a repeated batch may confirm an intent that the server accepted later`(
        more: [Script<DocumentEvent>.ServerEvent]
    ) async throws {
        let first: [Script<DocumentEvent>.Step] = [
            .record(.set("a", 1)), .confirm([.init(1, .set("b", 1), .none)]),
            .reject(1, message: "no"), .confirm([.init(1, .set("b", 1), .own(1))] + more),
            .acknowledge(1),
        ]
        try await requireLaw(.p7, of: Documents.self, for: Script(.downlink, first))
        let then = first + [.confirm([.init(3, .set("d", 1), .none)])]
        try await requireLaw(.p7, of: Documents.self, for: Script(.downlink, then))
    }

    /// Seed 186783335827293 found this: with the earlier events, the batch was invalid.
    @Test func `P7: a batch below the watermark may come together with earlier events`()
        async throws
    {
        let steps: [Script<DocumentEvent>.Step] = [
            .record(.set("a", 1)), .confirm([.init(3, .set("b", 1), .none)]),
            .confirm([.init(1, .set("a", 1), .own(1))], through: 2),
        ]
        try await requireLaw(.p7, of: Documents.self, for: Script(.downlink, steps))
    }

    @Test func `P8: answers come in several orders, which count in acknowledgement logs`()
        async throws
    {
        let steps: [Script<Move>.Step] = [
            .record(.set("a", 1)), .record(.add("a", 2)), .record(.claim("a")),
            .record(.set("a", 3)), .acknowledge(3), .acknowledge(1),
        ]
        let server = [3, 1, 4, 2]
        for kind in [LogKind.acknowledgement, .downlink] {
            let script = Script(kind, steps)
            try await requireLaw(.p8, of: Board.self, for: script)
            let trial = try await Trial<Board>(script)
            #expect(trial.serversOrder(of: 4) == server)
            for schedule in trial.schedules(server) {
                let answers = schedule.messages.compactMap { word -> Int? in
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
            trial.schedules([2, 1]).map(\.messages) == [
                [.answer(1), .answer(2), .event(2), .event(1)],
                [.event(2), .event(1), .answer(1), .answer(2)],
                [.answer(1), .event(2), .answer(2), .event(1)],
                [.answer(1), .answer(2), .event(2), .event(1)],
                [.event(2), .event(1), .answer(1), .answer(2)],
                [.answer(1), .event(2), .answer(2), .event(1)],
            ])
    }
}
