import Foldback
import FoldbackTesting
import FoldbackUI
import TestSupport
import Testing

/// Born from the question whether a model that skips commits, at random frames, ever shows what the
/// log does not have.
///
/// Property (U25): after each burst of random commands, view, confirmed state, rejections and
/// statuses of all items equal those that a naive reader computes from the log.
@MainActor @Suite struct ModelPropertyTests {
    private static let keys = ["a", "b", "c", "d"]

    @Test(arguments: [LogKind.acknowledgement, .downlink])
    func `U25: a model shows what the log has, after any history`(_ kind: LogKind) async throws {
        let first = testSeed("model, \(kind)", variable: "MODEL_SEED")
        for seed in first..<first + TestEffort.value(quick: 40, full: 80) {
            try await play(seed, kind)
        }
    }

    private func play(_ seed: UInt64, _ kind: LogKind) async throws {
        var random = SeededGenerator(seed: seed)
        let store = Store.board(kind)
        let frames = Frames(held: random.oneIn(2))
        for _ in 0..<Int.random(in: 0...5, using: &random) {
            try await store.act(on: Self.keys, &random)
        }
        let model = OptimisticModel(store, sources: frames.sources)
        var story: [String] = []
        for _ in 0..<30 {
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                story.append(try await store.act(on: Self.keys, &random))
                if random.oneIn(3) { frames.begin() }
                if random.oneIn(3) { await Task.yield() }
            }
            if random.oneIn(3) {
                _ = try? await model.perform(.set("a", Int(seed % 7)))
                story.append("perform")
            } else {
                await settle(model, store, frames)
            }
            try check(model, store, "seed \(seed), \(kind): \(story)")
        }
    }

    /// Waits until the model has everything, also attempts, which change no sequence.
    private func settle(
        _ model: OptimisticModel<Board>, _ store: Store<Board>, _ frames: Frames
    ) async {
        for _ in 0..<20_000 {
            frames.begin()
            if model.revision == store.status.sequence,
                (try? statuses(model)) == (try? store.naiveStatuses())
            {
                return
            }
            await Task.yield()
        }
    }

    private func statuses(_ model: OptimisticModel<Board>) throws -> [String: ItemStatus] {
        var statuses: [String: ItemStatus] = [:]
        for key in Self.keys {
            let status = model.status(of: key)
            if !status.marks.isEmpty { statuses[key] = status }
        }
        return statuses
    }

    private func check(
        _ model: OptimisticModel<Board>, _ store: Store<Board>, _ note: Comment
    ) throws {
        #expect(model.revision == store.status.sequence, note)
        #expect(model.view == store.view, note)
        #expect(model.confirmed == store.confirmed, note)
        #expect(model.rejections.map(\.number) == store.rejections, note)
        #expect(try statuses(model) == store.naiveStatuses(), note)
    }
}
