import Foldback
import FoldbackTesting
import FoldbackUI
import TestSupport
import Testing

/// Born from the question whether a list of rows on a disk ever shows rows and marks of different
/// moments, or loses refused work.
///
/// Properties (U21, U25, U32): over random commands of the store and of the model, at random frames,
/// the list with its statuses and ghosts is at each moment the list that a naive reader computes from
/// the log at the model's revision. All differences in their order lead from the first list to the
/// present list.
@MainActor @Suite struct RowListPropertyTests {
    @Test(arguments: [LogKind.acknowledgement, .downlink])
    func `U32: a list of rows shows one revision with what it lacks, after any history`(
        _ kind: LogKind
    ) async throws {
        let first = testSeed("row list, \(kind)", variable: "ROW_LIST_SEED")
        for seed in first..<first + TestEffort.value(quick: 5, full: 20) {
            try await RowListPlay(seed, kind).run()
        }
    }
}

/// One random history.
@MainActor private final class RowListPlay {
    private typealias Cells = [RowEntry<String, Int>]

    private static let keys = ["a", "b", "c", "d"]

    private let seed: UInt64
    private let kind: LogKind
    private let store: Store<RowBoard>
    private let frames: Frames
    private let model: RowsModel<RowBoard>
    private let list: ListModel<String, Note>
    private var story: [String] = []
    /// The lists that were shown, by revision.
    private var shown: [LogSequence: Set<[String]>] = [:]
    private var follower: ListFollower?

    init(_ seed: UInt64, _ kind: LogKind) {
        (self.seed, self.kind) = (seed, kind)
        store = Store.rowBoard(kind)
        frames = Frames(held: seed % 2 == 0)
        model = RowsModel(store, sources: frames.sources)
        list = ListModel<String, Note>(of: model) { reader in
            try reader.page(of: RowBoard.cells, limit: .max)
        } rows: { list, cells in
            list.section("cells")
            for ghost in list.ghosts { list.ghost(ghost) }
            list.items(cells.map(Self.note))
        } ghost: { intent, _ in
            Self.ghost(intent.event, intent.context)
        }
        follower = ListFollower(list) { [unowned self] problem in
            #expect(problem == nil, note)
        } changed: { [weak self] in
            self?.keep()
        }
    }

    nonisolated private static func note(_ cell: RowEntry<String, Int>) -> Note {
        Note(id: cell.key, text: "\(cell.row)")
    }

    nonisolated private static func ghost(_ move: Move, _: EventContext) -> Note? {
        switch move {
        case .set(let key, _), .add(let key, _), .claim(let key): Note(id: key, text: "\(move)")
        case .remove, .replaceAll, .sweep: nil
        }
    }

    private var note: Comment { "seed \(seed), \(kind): \(story)" }

    func run() async throws {
        var random = SeededGenerator(seed: seed)
        await until { [list] in !list.isLoading }
        for _ in 0..<25 {
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                story.append(try await store.act(on: Self.keys, &random))
                if random.oneIn(3) { frames.begin() }
                for _ in 0..<Int.random(in: 0...3, using: &random) { await Task.yield() }
                keep()
            }
            if random.oneIn(3) {
                story.append("model: claim confirm-only")
                try await model.perform(.claim("a"), confirmOnly: true)
            } else {
                await settle()
            }
            keep()
            #expect(model.revision == store.status.sequence, note)
            follower?.catchUp()
            #expect(follower?.snapshot == list.snapshot, note)
            #expect(list.failure == nil, note)
        }
        await settle()
        keep()
        try await checkPast()
    }

    private func keep() { shown[model.revision, default: []].insert(text(list.snapshot)) }

    private func settle() async {
        await untilSoon {
            frames.begin()
            return model.revision == store.status.sequence
        }
    }

    /// Compares all lists that were shown with the log's past at the revision of that moment.
    private func checkPast() async throws {
        let log = try NaiveLog(store, kind)
        for (revision, lists) in shown {
            let (cells, seen) = try await store.read(at: revision) { rows in
                (try rows.page(of: RowBoard.cells, limit: .max), SeenIntents(rows))
            }
            #expect(lists == [naiveList(cells, log.intents(of: seen))], "at \(revision), \(note)")
        }
    }

    private func naiveList(_ cells: Cells, _ intents: [NaiveIntent<Move>]) -> [String] {
        let statuses = RowBoard.naiveStatuses(of: intents)
        let ghosts = intents.ghosts(besides: Set(cells.map(\.key)), Self.ghost)
        let rows =
            ghosts.map { text($0, statuses[$0.id], isGhost: true) }
            + cells.map { text(Self.note($0), statuses[$0.key], isGhost: false) }
        return ["cells: \(rows.joined(separator: ", "))"]
    }
}
