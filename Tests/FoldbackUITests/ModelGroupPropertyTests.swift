import Foldback
import FoldbackTesting
import FoldbackUI
import TestSupport
import Testing

/// Born from the question whether models of one store, of a value and of rows, ever show different
/// moments of the log.
///
/// Properties (U24, U25), while the models carry out random commands, the store and another thread
/// commit, and models are made and released, at random frames:
/// - In each turn of the main actor, all models have one revision. Values and rows at it equal
///   those of the log's past.
/// - When a command of a model returns, all models are at its entry or later.
@MainActor @Suite struct ModelGroupPropertyTests {
    @Test(arguments: [LogKind.acknowledgement, .downlink])
    func `U25: all models of a store show one revision, after any history`(
        _ kind: LogKind
    ) async throws {
        let first = testSeed("model group, \(kind)", variable: "MODEL_GROUP_SEED")
        for seed in first..<first + TestEffort.value(quick: 6, full: 25) {
            try await GroupPlay(seed, kind).run()
        }
    }
}

/// One random history.
@MainActor private final class GroupPlay {
    /// What is shown in one turn.
    private struct Shown: Equatable {
        var view: [String: Int]
        var cells: [RowEntry<String, Int>]
        var moves: Int
    }

    private static let keys = ["a", "b", "c", "d"]

    private let seed: UInt64
    private let store: Store<Board>
    private let frames: Frames
    private let model: OptimisticModel<Board>
    private let rows: RowsModel<RowBoard>
    private let moves: RowsModel<MoveCount>
    private let cells: RowSelection<[RowEntry<String, Int>]>
    private let cellsAt: RowSelection<LogSequence>
    private let count: RowSelection<Int>
    private let countAt: RowSelection<LogSequence>
    /// Models that are made and released on the way.
    private var late: [OptimisticModel<Board>] = []
    private var story: [String] = []
    private var shown: [LogSequence: Shown] = [:]
    private var turns = 0

    init(_ seed: UInt64, _ kind: LogKind) {
        self.seed = seed
        store = Store.inMemory(
            Board.self, also: [.init(RowBoard.self), .init(MoveCount.self)], confirmedBy: kind,
            replica: ReplicaID("me"), sources: .counting())
        frames = Frames(held: seed % 4 == 0)
        model = OptimisticModel(store, sources: frames.sources)
        rows = RowsModel(store, showing: RowBoard.self, sources: frames.sources)
        moves = RowsModel(store, showing: MoveCount.self, sources: frames.sources)
        cells = rows.select { try $0.page(of: RowBoard.cells, limit: .max) }
        cellsAt = rows.select { $0.sequence }
        count = moves.select { try $0.get(0, in: MoveCount.counts) ?? 0 }
        countAt = moves.select { $0.sequence }
    }

    private var note: Comment { "seed \(seed): \(story)" }

    func run() async throws {
        await until { [cellsAt, countAt] in !cellsAt.value.isLoading && !countAt.value.isLoading }
        let writing = seed % 2 == 0 ? writeElsewhere() : nil
        let watching = Task {
            while !Task.isCancelled {
                look()
                await Task.yield()
            }
        }
        var random = SeededGenerator(seed: seed)
        for _ in 0..<60 {
            await step(&random)
            look()
        }
        try await writing?.value
        await model.adoptCommits()
        look()
        watching.cancel()
        await watching.value
        #expect(model.revision == store.status.sequence, note)
        #expect(turns > 60)
        try await checkPast()
    }

    /// Commits from another thread.
    private func writeElsewhere() -> Task<Void, any Error> {
        Task.detached { [store, seed] in
            var random = SeededGenerator(seed: seed + 1)
            for _ in 0..<100 {
                try await store.act(on: ["a", "b", "c", "d"], &random)
                for _ in 0..<Int.random(in: 0...20, using: &random) { await Task.yield() }
            }
        }
    }

    private func step(_ random: inout SeededGenerator) async {
        let key = Self.keys.randomElement(using: &random) ?? "a"
        switch Int.random(in: 0..<8, using: &random) {
        case 0..<2:
            story.append((try? await store.act(on: Self.keys, &random)) ?? "refused")
        case 2:
            frames.begin()
        case 3 where late.count < 3:
            late.append(OptimisticModel(store, sources: frames.sources))
            story.append("another model")
        case 3, 4:
            if !late.isEmpty { late.removeLast() }
        case 5:
            await command("model: set \(key)") { try await self.model.perform(.set(key, 7)) }
        case 6:
            await command("rows: add \(key)") { try await self.rows.perform(.add(key, 1)) }
        default:
            await command("late: claim \(key)") {
                try await (self.late.last ?? self.model).perform(.claim(key))
            }
        }
        for _ in 0..<Int.random(in: 0...3, using: &random) { await Task.yield() }
    }

    private func command(_ name: String, _ perform: @MainActor () async throws -> Receipt) async {
        story.append(name)
        guard let receipt = try? await perform() else { return }
        #expect(revisions.allSatisfy { $0 >= receipt.sequence }, note)
    }

    private var revisions: [LogSequence] {
        [model.revision, rows.revision, moves.revision] + late.map(\.revision)
    }

    /// Checks what a view could draw in this turn.
    private func look() {
        turns += 1
        let revision = model.revision
        let seen = Shown(
            view: model.view.cells, cells: cells.value.success ?? [],
            moves: count.value.success ?? -1)
        #expect(revisions.allSatisfy { $0 == revision }, note)
        #expect(cellsAt.value == .success(revision), note)
        #expect(countAt.value == .success(revision), note)
        #expect(late.allSatisfy { $0.view == model.view }, note)
        #expect(shown[revision] == nil || shown[revision] == seen, note)
        shown[revision] = seen
    }

    /// Compares all that was shown with the log's past.
    private func checkPast() async throws {
        for (revision, shown) in shown {
            let past = Shown(
                view: try await store.snapshot(at: revision).view.cells,
                cells: try await store.projected(RowBoard.self).read(at: revision) { rows in
                    try rows.page(of: RowBoard.cells, limit: .max)
                },
                moves: try await store.projected(MoveCount.self).read(at: revision) { rows in
                    try rows.get(0, in: MoveCount.counts) ?? 0
                })
            #expect(shown == past, "revision \(revision), \(note)")
        }
    }
}

/// Counts the moves of a board.
private struct MoveCount: StoredProjection {
    static let counts = RowTable("move counts", key: Int.self, row: Int.self)
    static let schema = RowSchema(counts)
    static var codec: any EventCodec<Move> { MoveCodec() }

    static func apply(
        _ move: Move, _ context: EventContext, to rows: inout TouchedRows
    ) throws { try rows.update(0, in: counts, default: 0) { $0 += 1 } }
}
