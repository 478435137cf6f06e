import Foldback
import FoldbackUI

/// Measures what `perform` costs in addition to `record`, on the main actor.
///
/// `perform` returns when the view shows the event (U24). The two calls take turns on two stores
/// with the same settings, so that noise on the machine affects both. The store of `record` has no
/// model.
struct PerformCosts: Sendable {
    let bench: Workbench

    private static let postCount = 1_000

    private var callCount: Int { bench.isFull ? 20_000 : 3_000 }

    func measurements() async throws -> [Measurement] {
        try await bench.withLikes(ofPosts: Self.postCount) { plain in
            try await bench.withLikes(ofPosts: Self.postCount) { shown in
                try await figures(plain, shown)
            }
        }
    }

    @MainActor private func figures(
        _ plain: Store<Likes>, _ shown: Store<Likes>
    ) async throws -> [Measurement] {
        let model = OptimisticModel(shown)
        let changes = ChangeCount { _ = model.view }
        let clock = ContinuousClock()
        var records: [Double] = []
        var performs: [Double] = []
        var differences: [Double] = []
        bench.note("performing")
        for call in 0..<callCount {
            let post = call * 7_919 % Self.postCount
            var start = clock.now
            let receipt = try await plain.record(.liked(post))
            records.append((clock.now - start) / .microseconds(1))
            start = clock.now
            let performed = try await model.perform(.liked(post))
            performs.append((clock.now - start) / .microseconds(1))
            precondition(model.revision >= performed.sequence, "the view is without the event")
            differences.append(performs[call] - records[call])
            try await plain.acknowledge(receipt.number)
            try await shown.acknowledge(performed.number)
        }
        precondition(changes.count > 0, "no view was shown")
        let named = [("record", records), ("perform", performs)]
        return named.map { name, times in
            times.quartered(
                "\(name) on the main actor, p50", unit: "us",
                note: "p99 \(times.sorted().percentile(99).text)")
        } + [
            differences.quartered("perform in addition to record, p50", unit: "us").judged(
                by: .atMost(50))
        ]
    }
}
