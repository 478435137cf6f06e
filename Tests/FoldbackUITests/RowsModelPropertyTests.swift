import Foldback
import FoldbackTesting
import FoldbackUI
import TestSupport
import Testing

/// Born from the question whether selections that skip commits, at random frames, are ever at
/// different sequences, or show what the log does not have.
///
/// Property (U25): at each moment, all selections of rows are at the model's revision, and equal
/// what a fresh reader reads there. After each burst of random commands, the revision is the log's
/// last entry, and statuses and rejections equal those that a naive reader computes.
@MainActor @Suite struct RowsModelPropertyTests {
    private static let keys = ["a", "b", "c", "d"]

    @Test(arguments: [LogKind.acknowledgement, .downlink])
    func `U25: selections show the rows of one revision, after any history`(
        _ kind: LogKind
    ) async throws {
        let first = testSeed("rows model, \(kind)", variable: "ROWS_MODEL_SEED")
        for seed in first..<first + TestEffort.value(quick: 4, full: 12) {
            var play = Play(seed, kind)
            try await play.run()
        }
    }

    /// One random history.
    @MainActor private struct Play {
        private let seed: UInt64
        private let store: Store<RowBoard>
        private let frames: Frames
        private let model: RowsModel<RowBoard>
        private let sequence: RowSelection<LogSequence>
        private let cells: RowSelection<[RowEntry<String, Int>]>
        private let odd: RowSelection<[IndexedRow<String, String, Int>]>
        private let first: RowSelection<Int?>
        private var random: SeededGenerator
        private var story: [String] = []

        init(_ seed: UInt64, _ kind: LogKind) {
            self.seed = seed
            random = SeededGenerator(seed: seed)
            store = Store.rowBoard(kind)
            frames = Frames(held: random.oneIn(2))
            model = RowsModel(store, sources: frames.sources)
            sequence = model.select { $0.sequence }
            cells = model.select { try $0.page(of: RowBoard.cells, limit: .max) }
            odd = model.select { try $0.page(of: RowBoard.odd, limit: .max) }
            first = model.select { try $0.get("a", in: RowBoard.cells) }
        }

        mutating func run() async throws {
            await until { [sequence] in !sequence.value.isLoading }
            for _ in 0..<25 {
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    story.append(try await store.act(on: RowsModelPropertyTests.keys, &random))
                    if random.oneIn(3) { frames.begin() }
                    if random.oneIn(3) { await Task.yield() }
                    try await checkRevision()
                }
                if random.oneIn(3) {
                    _ = try? await model.perform(.set("a", Int(seed % 7)))
                    story.append("perform")
                } else {
                    await settle()
                }
                try await checkRevision()
                try checkLast()
            }
        }

        private var note: Comment { "seed \(seed): \(story)" }

        /// Waits until the model has everything, also attempts, which change no sequence.
        private func settle() async {
            await untilSoon {
                frames.begin()
                return model.revision == store.status.sequence
                    && (try? statuses()) == (try? store.naiveStatuses())
            }
        }

        private func statuses() throws -> [String: ItemStatus] {
            var statuses: [String: ItemStatus] = [:]
            for key in RowsModelPropertyTests.keys {
                let status = model.status(of: key)
                if !status.marks.isEmpty { statuses[key] = status }
            }
            return statuses
        }

        /// Compares all selections with the log's past at the model's revision.
        private func checkRevision() async throws {
            let (revision, sequence) = (model.revision, sequence.value)
            let (cells, odd, first) = (cells.value, odd.value, first.value)
            #expect(sequence == .success(revision), note)
            let past = try await store.read(at: revision) { rows in
                (
                    try rows.page(of: RowBoard.cells, limit: .max),
                    try rows.page(of: RowBoard.odd, limit: .max)
                )
            }
            #expect(cells == .success(past.0), note)
            #expect(odd == .success(past.1), note)
            #expect(first == .success(past.0.first { $0.key == "a" }?.row), note)
        }

        private func checkLast() throws {
            #expect(model.revision == store.status.sequence, note)
            #expect(model.rejections.map(\.number) == store.rejections, note)
            #expect(try statuses() == store.naiveStatuses(), note)
        }
    }
}
