import Foldback
import FoldbackTesting
import TestSupport
import Testing

/// Born from the question whether rows on disk mean what events in memory do: laws for stored projections.
@Suite struct RowLawTests {
    private static let keys = Generator<String>.element(of: ["a", "b", "c"])
    private static let moves = Generator<Move>.oneOf(
        .making(Move.set, keys, .integers(in: 0...9)),
        .making(Move.add, keys, .integers(in: 0...9)),
        .making(Move.claim, keys), .making(Move.remove, keys))

    @Test func `a board of rows keeps the laws`() async throws {
        let report = try await requireLaws(
            of: RowBoard.self, events: Self.moves, failures: .forgotten)
        #expect(report.held.contains(.p2) && report.held.contains(.p10))
    }

    /// Counts how often it was asked.
    private struct Restless: StoredProjection {
        static let cells = RowTable("cells", key: String.self, row: Int.self)
        static let schema = RowSchema(cells)
        static var codec: any EventCodec<Move> { MoveCodec() }
        nonisolated(unsafe) static var calls = 0

        static func apply(
            _ move: Move, _ context: EventContext, to rows: inout TouchedRows
        ) throws {
            calls += 1
            try rows.put(calls, at: "calls", in: cells)
        }
    }

    @Test func `rows that depend on more than the event are found with one event`() async throws {
        let report = await checkLaws(
            of: Restless.self, events: Self.moves, seed: 3, failures: .forgotten)
        let finding = try #require(report.findings.first { $0.law == .p1 })
        #expect(finding.stepCount <= 2)
        #expect("\(finding)".contains("cells"), "\(finding)")
    }
}
