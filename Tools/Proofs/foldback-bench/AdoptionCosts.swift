import Foldback
import FoldbackUI
import Observation

/// Measures the main actor's work for one publication, for a small and a large state.
///
/// The models have a selection, and an observer of the view and of an item's status. The store's
/// work and the computation of the update are not in the times, because they do not run on the main
/// actor (U28).
struct AdoptionCosts: Sendable {
    let bench: Workbench

    private static let sizes = [10, 1_000_000]

    private var roundCount: Int { bench.isFull ? 5_000 : 1_000 }

    func measurements() async throws -> [Measurement] {
        bench.note("filling \(Self.sizes[1].grouped) keys")
        return try await bench.withLikes(ofPosts: Self.sizes[0]) { small in
            try await bench.withLikes(ofPosts: Self.sizes[1]) { large in
                try await figures(small, large)
            }
        }
    }

    @MainActor private func figures(
        _ small: Store<Likes>, _ large: Store<Likes>
    ) async throws -> [Measurement] {
        let models = try await [ShownLikes(small), ShownLikes(large)]
        bench.note("adopting")
        var times: [[Double]] = [[], []]
        for round in 0..<roundCount {
            for (index, model) in models.enumerated() {
                times[index].append(try await model.adopt(round * 7_919 % Self.sizes[index]))
            }
        }
        let names = Self.sizes.map { "adopting a publication, \($0.grouped) keys" }
        var figures: [Measurement] = []
        for (name, times) in zip(names, times) {
            let sorted = times.sorted()
            figures.append(
                times.quartered(
                    "\(name), p50", unit: "us",
                    note: "p99 \(sorted.percentile(99).text)"
                ).judged(by: .atMost(50)))
        }
        let ratio = Measurement(
            name: "adopting a publication, \(Self.sizes[1].grouped) keys : \(Self.sizes[0])",
            value: times[1].median / times[0].median, unit: "times", n: roundCount,
            note: "of the medians")
        return figures + [ratio.judged(by: .atMost(1.5))]
    }
}

/// A model whose updates are taken step by step, with observers of it.
@MainActor private struct ShownLikes {
    private let store: Store<Likes>
    private let model: OptimisticModel<Likes>
    private let selection: Selection<Int?>
    private let frames = HeldFrames()

    init(_ store: Store<Likes>) async throws {
        self.store = store
        model = OptimisticModel(store, sources: frames.sources)
        selection = model.select { $0.counts[0] }
        try await frames.hold(store, recording: .liked(0))
    }

    /// Returns the microseconds of the main actor for the adoption of one like.
    func adopt(_ post: Int) async throws -> Double {
        let receipt = try await store.record(.liked(post))
        await model.readUpdate()
        observe(post)
        let start = ContinuousClock.now
        model.showUpdate()
        let elapsed = ContinuousClock.now - start
        precondition(model.revision == receipt.sequence, "the model shows \(model.revision)")
        try await store.acknowledge(receipt.number)
        return elapsed / .microseconds(1)
    }

    /// As a view does it before each time that it is drawn.
    private func observe(_ post: Int) {
        withObservationTracking {
            _ = (model.view, model.status(of: post), selection.value)
        } onChange: {
        }
    }
}
