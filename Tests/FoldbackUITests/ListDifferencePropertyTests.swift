import Foldback
import FoldbackTesting
import FoldbackUI
import TestSupport
import Testing

/// These tests ask whether the laws U19 to U22 hold for any two lists. Differences of other
/// libraries crash a view, or lose a row, only for some combinations of moves, insertions and
/// changed sections.
@Suite struct ListDifferencePropertyTests {
    @Test func `U21: all laws of differences hold for random lists`() async throws {
        let first = testSeed("lists", variable: "LIST_SEED")
        for seed in first..<first + TestEffort.value(quick: 400, full: 4_000) {
            var choices = Choices(seed: seed)
            guard case .fails(let law) = Self.result(&choices) else { continue }
            let smallest = await Shrinker(candidatesMax: 3_000)
                .shrink(choices.recording, failing: law) { Self.result(&$0) }.smallest
            var shrunk = Choices(replaying: smallest.values)
            let pair = try DraftPair.generator.generate(from: &shrunk)
            Issue.record("seed \(seed): \(law)\n\(pair)")
            return
        }
    }

    @Test func `U21: all laws hold for 5,000 shuffled rows`() throws {
        let seed = testSeed("shuffled lists", variable: "LIST_SEED")
        var random = SplitMix64(seed: seed)
        let rows = (0..<5_000).map { DraftList.Row(id: $0, text: $0) }
        var shuffled = rows.shuffled(using: &random)
        for row in stride(from: 0, to: 5_000, by: 100) { shuffled[row].text = nil }
        let pair = DraftPair(
            old: DraftList(sections: [.init(id: 0, rows: rows)]),
            new: DraftList(sections: [.init(id: 0, rows: shuffled)]))
        if let law = try Self.broken(pair) { Issue.record("seed \(seed): \(law)") }
    }

    @Test func `U21: all laws hold for 300 shuffled sections`() throws {
        let seed = testSeed("shuffled sections", variable: "LIST_SEED")
        var random = SplitMix64(seed: seed)
        func sections(_ ids: Range<Int>) -> [DraftList.Section] {
            ids.shuffled(using: &random).map { .init(id: $0, rows: [.init(id: $0)]) }
        }
        let pair = DraftPair(
            old: DraftList(sections: sections(0..<300)),
            new: DraftList(sections: sections(50..<350)))
        if let law = try Self.broken(pair) { Issue.record("seed \(seed): \(law)") }
    }

    @Test func `U19: random lists are refused exactly if they repeat an id`() throws {
        let first = testSeed("repeated ids", variable: "LIST_SEED")
        for seed in first..<first + 300 {
            var random = SplitMix64(seed: seed)
            let sections = (0..<3).map { section in
                DraftList.Section(
                    id: section, rows: (0..<3).map { _ in .init(id: Int(random.next(upTo: 40))) },
                    start: Int(random.next(upTo: 1)))
            }
            let places = sections.enumerated().flatMap { index, section in
                section.rows.enumerated().map { row, item in
                    (item.id, RowPlace(section: index, row: row + section.start))
                }
            }
            let second = places.indices.first { index in
                places[..<index].contains { $0.0 == places[index].0 }
            }
            let error = second.map { second in
                let (id, place) = places[second]
                let first = places.first { $0.0 == id }
                return ListError.duplicateItem("i\(id)", first: first?.1 ?? place, second: place)
            }
            var thrown: ListError?
            do throws(ListError) { _ = try list("\(DraftList(sections: sections))") } catch {
                thrown = error
            }
            #expect(thrown == error, "seed \(seed)")
        }
    }

    // MARK: - Checking

    private static func result(_ choices: inout Choices) -> Shrinker.TrialResult<String> {
        guard let pair = try? DraftPair.generator.generate(from: &choices) else {
            return .discarded
        }
        do {
            return try broken(pair).map { .fails($0) } ?? .passes
        } catch {
            return .fails("\(error)")
        }
    }

    /// Returns the first law that a pair breaks; nil if it keeps all laws.
    private static func broken(_ pair: DraftPair) throws -> String? {
        let (old, new) = (try pair.old.built(), try pair.new.built())
        let difference = new.difference(from: old)
        let laws: [(String, () throws -> Bool)] = [
            (
                "applied gives the new list",
                { NaiveList(try difference.applied(to: old)) == NaiveList(new) }
            ),
            ("the applied list knows its places", { knowsPlaces(try difference.applied(to: old)) }),
            ("the reverse undoes it", { try old.difference(from: new).applied(to: new) == old }),
            (
                "steps give the new list",
                {
                    var naive = NaiveList(old)
                    for step in difference.steps { naive.perform(step) }
                    return naive == NaiveList(new)
                }
            ),
            (
                "empty exactly if equal",
                {
                    difference.isEmpty == (NaiveList(old) == NaiveList(new))
                        && difference.isEmpty == (old == new)
                }
            ),
            ("rows", { keepsRows(difference, NaiveDifference(from: old, to: new)) }),
            ("moves", { keepsMoves(difference, NaiveDifference(from: old, to: new)) }),
            ("sections", { keepsSections(difference, NaiveDifference(from: old, to: new)) }),
        ]
        return try laws.first { try !$0.1() }?.0
    }

    private static func knowsPlaces(_ list: NoteList) -> Bool {
        list.sections.enumerated().allSatisfy { index, section in
            section.rows.enumerated().allSatisfy {
                list.place(of: $1.id) == RowPlace(section: index, row: $0)
            }
        }
    }

    private static func keepsRows(_ difference: NoteDifference, _ naive: NaiveDifference) -> Bool {
        difference.deletions.map { "\(text($0.place)) \($0.id)" } == naive.deletions
            && difference.insertions.map { "\(text($0.place)) \($0.row)" } == naive.insertions
            && difference.changes.map { "\(text($0.place)) \($0.row) \(text($0.kinds))" }
                == naive.changes
            && difference.replacements.map { "\(text($0.deletion)) \(text($0.insertion))" }
                == naive.replacements
    }

    private static func keepsMoves(_ difference: NoteDifference, _ naive: NaiveDifference) -> Bool {
        func isWithin(_ move: NoteDifference.Move) -> Bool {
            naive.old.sections[move.from.section].id == naive.new.sections[move.to.section].id
        }
        var within = Array(repeating: 0, count: naive.new.sections.count)
        for move in difference.moves where isWithin(move) { within[move.to.section] += 1 }
        return difference.moves.filter { !isWithin($0) }
            .map { "\(text($0.from)) \(text($0.to)) \($0.id)" } == naive.sectionChanges
            && within == naive.movesWithinSections
            && difference.moves.allSatisfy { move in
                naive.old[move.from].id == move.id && naive.new[move.to].id == move.id
            }
            && zip(difference.moves, difference.moves.dropFirst()).allSatisfy { $0.to < $1.to }
    }

    private static func keepsSections(
        _ difference: NoteDifference, _ naive: NaiveDifference
    ) -> Bool {
        let (old, new) = (naive.old.sections.map(\.id), naive.new.sections.map(\.id))
        let deleted = old.enumerated().filter { !new.contains($0.element) }
        let inserted = new.enumerated().filter { !old.contains($0.element) }
        return difference.sectionDeletions.map { "\($0.index) \($0.id)" }
            == deleted.map { "\($0.offset) \($0.element)" }
            && difference.sectionInsertions.map { "\($0.index) \($0.id)" }
                == inserted.map { "\($0.offset) \($0.element)" }
            && difference.sectionMoves.count == naive.sectionMoves
            && difference.sectionMoves.allSatisfy { old[$0.from] == $0.id && new[$0.to] == $0.id }
            && zip(difference.sectionMoves, difference.sectionMoves.dropFirst())
                .allSatisfy { $0.to < $1.to }
    }
}
