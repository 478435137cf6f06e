import Foldback
import FoldbackHistory
import FoldbackTesting
import TestSupport
import Testing

@Suite struct RerunTests {
    // MARK: Properties

    /// Property: with parts, two versions have the same divergences as by a comparison of whole
    /// states after each entry.
    @Test(arguments: LogKind.allCases)
    func `a rerun by parts finds the same as a comparison of whole states`(
        kind: LogKind
    ) async throws {
        var found = Tally()
        for seed in HistoryTests.seed..<HistoryTests.seed + TestEffort.value(quick: 10, full: 60) {
            var random = SeededGenerator(seed: seed)
            let isShared = random.oneIn(4)
            let history = try await RandomHistory.ofAnything(
                kind, steps: 40, isShared: isShared, using: &random
            ).store.history()
            let reader = try LogReader(history)
            try Self.compare(reader, isShared: isShared, "seed \(seed)", &found, using: &random)
            let busy = try await RandomHistory.busy(kind, count: 60, using: &random).history
            try Self.compare(
                try LogReader(busy), isShared: false, "seed \(seed), busy", &found, using: &random)
        }
        // The logs have what they should have.
        #expect(found.equal > 0 && found.different > 0 && found.ended > 0 && found.conflicted > 0)
    }

    @Test(arguments: LogKind.allCases)
    func `versions with different types of events have the same divergences with and without parts`(
        kind: LogKind
    ) async throws {
        var differentCount = 0
        for seed in HistoryTests.seed..<HistoryTests.seed + TestEffort.value(quick: 5, full: 30) {
            var random = SeededGenerator(seed: seed)
            let busy = try await RandomHistory.busy(kind, count: 60, using: &random).history
            let reader = try LogReader(busy)
            let (old, new) = (Cells<PlainRule>.self, Renamed<Cells<RaisingRule>>.self)
            let rerun = try reader.rerun(old, new, divergencesMax: .max)
            #expect(rerun.partsFailed == nil, "seed \(seed)")
            #expect(
                try rerun == reader.rerunWithoutParts(old, new, divergencesMax: .max),
                "seed \(seed)")
            differentCount += rerun.divergenceCount > 0 ? 1 : 0
        }
        #expect(differentCount > 0)
    }

    /// What the compared logs had.
    private struct Tally {
        var (equal, different, ended, conflicted) = (0, 0, 0, 0)

        mutating func note(_ rerun: Rerun) {
            if rerun.divergenceCount == 0 { equal += 1 } else { different += 1 }
            for divergence in rerun.divergences {
                if divergence.view.contains(where: { $0.old == $0.new }) { ended += 1 }
                if !divergence.conflicts.isEmpty { conflicted += 1 }
            }
        }
    }

    /// Compares random pairs of versions.
    private static func compare(
        _ reader: LogReader, isShared: Bool, _ words: Comment, _ found: inout Tally,
        using random: inout SeededGenerator
    ) throws {
        let rules: [any CellRule.Type] = [
            PlainRule.self, RaisingRule.self, RefusingRule.self, IgnoringRule.self,
            ShortSightedRule.self,
        ]
        func compare<A: CellRule, B: CellRule>(_: A.Type, _: B.Type, _ kind: Int) throws {
            switch kind {
            case 0: try Self.compare(reader, Cells<A>.self, Cells<B>.self, isShared, words, &found)
            case 1:
                try Self.compare(
                    reader, PlacedCells<A>.self, PlacedCells<B>.self, isShared, words, &found)
            default:
                try Self.compare(
                    reader, Cells<A>.self, PlacedCells<B>.self, isShared, words, &found)
            }
        }
        for kind in 0..<3 {
            let (old, new) = (Int.random(in: 0..<5, using: &random), random.oneIn(5))
            let other = new ? old : Int.random(in: 0..<5, using: &random)
            try compare(rules[old], rules[other], kind)
        }
    }

    private static func compare<Old: Projection, New: Projection>(
        _ reader: LogReader, _: Old.Type, _: New.Type, _ isShared: Bool, _ words: Comment,
        _ found: inout Tally
    ) throws where Old.Event == Move, New.Event == Move {
        let also = isShared ? [AdditionalProjection<Move>(SloppyBoard.self)] : []
        let rerun = try reader.rerun(Old.self, New.self, also: also, divergencesMax: .max)
        let words: Comment = "\(words.rawValue), \(Old.self), \(New.self)"
        #expect(rerun.partsFailed == nil, words)
        #expect(
            try rerun
                == reader.rerunWithoutParts(Old.self, New.self, also: also, divergencesMax: .max),
            words)
        let naive = try NaiveRerun(reader, Old.self, New.self, also: also)
        #expect(rerun.divergences.map(NaiveDivergence.init) == naive.divergences, words)
        #expect(NaiveDivergence(rerun.end) == naive.end, words)
        found.note(rerun)
    }

    // MARK: Examples

    private static func reader(_ moves: [Move]) async throws -> LogReader {
        let store = Store.inMemory(
            Board.self, confirmedBy: .acknowledgement, replica: ReplicaID("me"),
            sources: .counting())
        for move in moves {
            let number = try await store.record(move, force: true).number
            try await store.acknowledge(number)
        }
        return try LogReader(try store.history())
    }

    @Test func `a difference that ends is listed where it ends`() async throws {
        let reader = try await Self.reader([.set("a", 3), .set("b", 1), .set("a", 1)])
        let rerun = try reader.rerun(Cells<PlainRule>.self, Cells<RaisingRule>.self)
        #expect(rerun.partsFailed == nil && rerun.end.isNone)
        #expect(rerun.divergences.map(\.sequence) == [1, 2, 5, 6])
        #expect(rerun.divergences.map(\.view.count) == [1, 0, 1, 0])
    }

    /// The sum differs from the first entry on, and no part shows it.
    @Test func `parts that miss a difference are noticed, and the result is right`() async throws {
        typealias Old = SummedCells<PlainRule>
        typealias New = SummedCells<RaisingRule>
        let reader = try await Self.reader([.set("a", 3), .set("b", 1), .set("a", 1)])
        let rerun = try reader.rerun(Old.self, New.self)
        #expect(rerun.partsFailed == 6 && rerun.divergences.map(\.sequence) == [1, 2, 3, 4, 5, 6])
        let right = try reader.rerunWithoutParts(Old.self, New.self)
        #expect(rerun.divergences == right.divergences && rerun.end == right.end)
    }

    /// The parts of both versions are compared, or nothing would be missed.
    @Test func `parts of versions with different types of events are compared too`() async throws {
        let reader = try await Self.reader([.set("a", 3), .set("b", 1), .set("a", 1)])
        let rerun = try reader.rerun(
            SummedCells<PlainRule>.self, Renamed<SummedCells<RaisingRule>>.self)
        #expect(rerun.partsFailed == 6 && rerun.divergences.map(\.sequence) == [1, 2, 3, 4, 5, 6])
    }

    @Test func `parts are checked on the way through a long log`() async throws {
        let reader = try await Self.reader(
            [.set("a", 3)] + (0..<600).map { .set("b", $0 * 3 + 1) })
        let rerun = try reader.rerun(SummedCells<PlainRule>.self, SummedCells<RaisingRule>.self)
        #expect(rerun.partsFailed == 1_024 && rerun.divergenceCount == 1_202)
    }

    @Test func `an event without keys may change any part`() async throws {
        let reader = try await Self.reader([
            .set("a", 1), .replaceAll(["a": 2, "b": 5]), .set("b", 1), .set("b", 3), .set("b", 1),
        ])
        let rerun = try reader.rerun(Cells<PlainRule>.self, Cells<RaisingRule>.self)
        #expect(rerun.partsFailed == nil && rerun.divergences.map(\.sequence) == [7, 8, 9, 10])
    }
}

/// A ``JSONDifference`` that a test can make.
private struct NaiveDifference: Hashable {
    let place: JSONPointer
    let old: JSON?
    let new: JSON?
}

extension NaiveDifference {
    init(_ difference: JSONDifference) {
        self.init(place: difference.place, old: difference.old, new: difference.new)
    }
}

/// A ``Divergence`` that a test can make.
private struct NaiveDivergence: Hashable {
    let sequence: LogSequence
    let view: [NaiveDifference]
    let confirmed: [NaiveDifference]
    let conflicts: [IntentNumber]
    let conflictsEnded: [IntentNumber]

    var isNone: Bool {
        view.isEmpty && confirmed.isEmpty && conflicts.isEmpty && conflictsEnded.isEmpty
    }
}

extension NaiveDivergence {
    init(_ divergence: Divergence) {
        self.init(
            sequence: divergence.sequence, view: divergence.view.map(NaiveDifference.init),
            confirmed: divergence.confirmed.map(NaiveDifference.init),
            conflicts: divergence.conflicts, conflictsEnded: divergence.conflictsEnded)
    }
}

/// A rerun that describes both whole states after each entry.
private struct NaiveRerun {
    private(set) var divergences: [NaiveDivergence] = []
    private(set) var end = NaiveDivergence(
        sequence: 0, view: [], confirmed: [], conflicts: [], conflictsEnded: [])
    private var view: [NaiveDifference] = []
    private var confirmed: [NaiveDifference] = []
    private var conflicts: Set<IntentNumber> = []

    init<Old: Projection, New: Projection>(
        _ reader: LogReader, _: Old.Type, _: New.Type, also: [AdditionalProjection<Old.Event>]
    ) throws where Old.Event == New.Event {
        var (old, new) = (
            try reader.replay(Old.self, also: also), try reader.replay(New.self, also: also)
        )
        repeat { note(old.snapshot, new.snapshot) } while try old.next() != nil && new.next() != nil
        end = NaiveDivergence(
            sequence: old.sequence, view: view, confirmed: confirmed,
            conflicts: conflicts.sorted(), conflictsEnded: [])
    }

    private mutating func note<Old: Projection, New: Projection>(
        _ old: Snapshot<Old>, _ new: Snapshot<New>
    ) {
        let conflicts = Set(old.conflicted).symmetricDifference(new.conflicted)
        let divergence = NaiveDivergence(
            sequence: old.sequence, view: Self.changes(&view, old.view, new.view),
            confirmed: Self.changes(&confirmed, old.confirmed, new.confirmed),
            conflicts: conflicts.subtracting(self.conflicts).sorted(),
            conflictsEnded: self.conflicts.subtracting(conflicts).sorted())
        self.conflicts = conflicts
        if !divergence.isNone { divergences.append(divergence) }
    }

    /// Returns how the differences changed.
    private static func changes(
        _ known: inout [NaiveDifference], _ old: some Projection, _ new: some Projection
    ) -> [NaiveDifference] {
        let now = JSON(describing: old).differences(to: JSON(describing: new))
            .map(NaiveDifference.init)
        let state = JSON(describing: new)
        var changes = now.filter { !known.contains($0) }
        for gone in known where !now.contains(where: { $0.place == gone.place }) {
            let value = state[at: gone.place]
            changes.append(NaiveDifference(place: gone.place, old: value, new: value))
        }
        known = now
        return changes.sorted { $0.place < $1.place }
    }
}
