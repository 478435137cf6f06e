import Foldback
import Synchronization
import TestSupport
import Testing

@testable import FoldbackTesting

/// Question: does a compacted log show the same as a log that has all entries, and does law P19 find the
/// projections whose logs do not?
@Suite struct CompactionLawTests {
    private static let keys = Generator<String>.element(of: ["a", "b", "c"])
    private static let moves = Generator<Move>.oneOf(
        .making(Move.set, keys, .integers(in: 0...9)),
        .making(Move.add, keys, .integers(in: 0...9)),
        .making(Move.claim, keys), .making(Move.remove, keys), .making(Move.sweep, keys, keys))

    private static func effort(_ scriptsMax: Int, _ stepsMax: Int = 24) -> Effort {
        Effort(
            scriptsMax: scriptsMax, durationMax: nil, stepsMax: stepsMax, candidatesMax: 1_000,
            stepMax: .seconds(60))
    }

    // MARK: Logs that show the same

    enum Logs: CaseIterable { case value, rows, twoValues, valueAndRows }

    /// 10,000 histories with full effort.
    @Test(arguments: Logs.allCases)
    func `P19: over random histories, a compacted log shows the same as a log that never is`(
        logs: Logs
    ) async {
        let effort = Self.effort(TestEffort.value(quick: 10, full: 2_500), 40)
        let seed = testSeed("P19, \(logs)", variable: "COMPACTION_SEED")
        let report =
            switch logs {
            case .value:
                await checkLaws(
                    of: Board.self, events: Self.moves, laws: [.p19], effort: effort, seed: seed,
                    failures: .forgotten)
            case .rows:
                await checkLaws(
                    of: RowBoard.self, events: Self.moves, laws: [.p19], effort: effort,
                    seed: seed, failures: .forgotten)
            case .twoValues:
                await checkLaws(
                    of: Board.self, also: SloppyBoard.self, events: Self.moves, laws: [.p19],
                    effort: effort, seed: seed, failures: .forgotten)
            case .valueAndRows:
                await checkLaws(
                    of: SloppyBoard.self, also: RowBoard.self, events: Self.moves, laws: [.p19],
                    effort: effort, seed: seed, failures: .forgotten)
            }
        print(report)
        #expect(report.isClean && report.held == [.p19], "\(report)")
        #expect(report.counts["scripts on disk"] == effort.scriptsMax)
    }

    // MARK: Projections that break the law

    /// Its rows depend on how many events this process has folded.
    struct Counting: StoredProjection {
        static let cells = RowTable("cells", key: String.self, row: Int.self)
        static let schema = RowSchema(cells)
        static var codec: any EventCodec<Move> { MoveCodec() }
        private static let calls = Mutex(0)

        static func apply(
            _ move: Move, _ context: EventContext, to rows: inout TouchedRows
        ) throws {
            let count = calls.withLock { count in
                count += 1
                return count
            }
            try rows.put(count, at: "calls", in: cells)
        }
    }

    private func finding(
        _ report: LawReport, _ sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Finding {
        print(report)
        let finding = try #require(report.findings.first, sourceLocation: sourceLocation)
        #expect(finding.law == .p19, sourceLocation: sourceLocation)
        return finding
    }

    @Test func `P19: a state codec that forgets something breaks it`() async throws {
        let finding = try finding(
            await checkLaws(
                of: Forgetful.self, events: Self.moves, laws: [.p19], effort: Self.effort(20),
                seed: 1, failures: .forgotten))
        #expect(finding.stepCount == 2)
        #expect(
            finding.statement.contains("Does the state codec write everything that apply reads?"))
        await #expect(throws: LawsBroken.self) {
            try await requireLaw(
                .p19, of: Forgetful.self,
                for: Script(
                    .downlink,
                    [
                        .confirm([.init(1, .set("a", 1), .none)]),
                        .confirm([.init(2, .set("a", 2), .none)]),
                    ]))
        }
    }

    @Test func `P19: rows that depend on something besides rows and events break it`() async throws
    {
        let finding = try finding(
            await checkLaws(
                of: Counting.self, events: Self.moves, laws: [.p19], effort: Self.effort(20),
                seed: 1, failures: .forgotten))
        #expect(finding.stepCount <= 2)
    }

    @Test func `P19: one script in 16 is enough to find it beside other laws`() async throws {
        let report = await checkLaws(
            of: Forgetful.self, events: Self.moves, laws: [.p12, .p19], effort: Self.effort(60),
            seed: 1, failures: .forgotten)
        _ = try finding(report)
        #expect(report.held == [.p12] && report.scripts.checked == 60)
    }

    // MARK: Logs that cannot be compacted

    private struct Uncoded: Projection, Equatable {
        static var codec: any EventCodec<Move> { MoveCodec() }
        var count = 0
        mutating func apply(_ move: Move, _ context: EventContext) { count += 1 }
    }

    @Test func `P19 is left out if a projection of the log has no state codec`() async {
        let alone = await checkLaws(
            of: Uncoded.self, events: Self.moves, laws: [.p2, .p19], effort: Self.effort(2),
            failures: .forgotten)
        #expect(alone.held == [.p2] && alone.unchecked.map(\.law) == [.p19])
        #expect("\(alone)".contains("Uncoded has no state codec, so its logs cannot be compacted"))
        let beside = await checkLaws(
            of: Board.self, also: Uncoded.self, events: Self.moves, laws: [.p2, .p19],
            effort: Self.effort(2), failures: .forgotten)
        #expect(beside.held == [.p2] && beside.unchecked.map(\.law) == [.p19])
    }

    @Test func `a short run checks P19 too`() async {
        let report = await checkLaws(
            of: Board.self, events: Self.moves, laws: [.p2, .p19], effort: Self.effort(3),
            failures: .forgotten)
        #expect(report.held == [.p2, .p19] && report.counts["scripts on disk"] == 1)
    }
}
