import Foldback
import FoldbackHistory
import FoldbackTesting
import Foundation
import TestSupport
import Testing

/// The question behind these tests: does a log without its store, or without some entries, keep its meaning?
@Suite struct HistoryTests {
    static let seed = testSeed("histories", variable: "HISTORY_SEED")

    /// Property: after each entry and at each sequence a history shows what the store showed (F1, F11).
    @Test(arguments: LogKind.allCases)
    func `a history shows what its store showed`(kind: LogKind) async throws {
        for seed in Self.seed..<Self.seed + TestEffort.value(quick: 10, full: 30) {
            var random = SeededGenerator(seed: seed)
            let (store, reference) = try await RandomHistory.ofAnything(
                kind, steps: 60, using: &random)
            let history = try store.history()
            try #require(history.count == reference.facts.count, "seed \(seed)")
            let again = try RecordedHistory(
                kind: kind, replica: history.replica, entries: history.entries, codec: MoveCodec())
            for (snapshot, sequence) in try zip(again.snapshots(of: Board.self), history.sequences)
            {
                let expected = reference.state(at: Int(sequence.value))
                let difference = ModelTests.difference(
                    of: snapshot, from: expected.board, Int(sequence.value))
                try #require(difference == nil, "seed \(seed): \(difference ?? "")")
                let sloppy = try history.snapshot(of: SloppyBoard.self, at: sequence)
                try #require(sloppy.view == expected.sloppy.view, "seed \(seed)")
                try #require(snapshot.rejections == expected.board.rejections)
                try #require(snapshot.faults.count == expected.board.faults)
            }
            try #require(history.snapshot(of: Board.self).view == store.view, "seed \(seed)")
            try #require(
                history.snapshot(of: Board.self).overlay.map(\.id) == store.overlay.map(\.id))
        }
    }

    /// Property: every candidate is a valid history, folds like the reference model of its entries, and has only
    /// entries of the original history.
    @Test(arguments: LogKind.allCases)
    func `a candidate folds like a log that never had the other entries`(kind: LogKind) async throws
    {
        var candidates = 0
        for seed in Self.seed..<Self.seed + TestEffort.value(quick: 13, full: 40) {
            var random = SeededGenerator(seed: seed)
            let log = try await RandomHistory.ofAnything(kind, steps: 50, using: &random)
            let history = try log.store.history()
            var answers = random
            let minimized = try await history.minimized(candidatesMax: 120) { candidate in
                candidates += 1
                try Self.check(candidate, seed)
                try #require(Set(candidate.sequences).isSubset(of: history.sequences))
                return candidate.count == history.count || answers.oneIn(3)
            }
            try #require(minimized.end != .neverFailed)
        }
        print("histories: \(kind), \(candidates) candidates folded")
        #expect(candidates > 200)
    }

    private static func check(_ candidate: RecordedHistory<Move>, _ seed: UInt64) throws {
        let again = try RecordedHistory(
            kind: candidate.kind, replica: candidate.replica, entries: candidate.entries,
            codec: MoveCodec())
        let reference = ReferenceBoards(candidate)
        for (place, snapshot) in try zip(1..., again.snapshots(of: Board.self)) {
            guard place % 7 == 0 || place == candidate.count else { continue }
            let sequence = candidate.sequences[place - 1]
            let difference = ModelTests.difference(
                of: snapshot, from: reference.board.state(at: place), Int(sequence.value))
            try #require(difference == nil, "seed \(seed), \(sequence): \(difference ?? "")")
            let other = try candidate.snapshot(of: Board.self, at: sequence)
            try #require(
                other.view == snapshot.view && other.overlay.count == snapshot.overlay.count)
        }
    }
}
