import Foldback
import FoldbackUI

/// Measures a model's list of 10,000 rows after a commit: the rows and their comparison with the rows
/// shown, off the main actor, and then the main actor's work.
///
/// The times off the main actor include the app's function, which looks 10,000 posts up.
struct ListModelCosts: Sendable {
    let bench: Workbench

    private static let rowCount = 10_000

    private var commitCount: Int { bench.isFull ? 101 : 31 }

    func measurements() async throws -> [Measurement] {
        try await bench.withDirectory(on: .memory) { directory in
            let store = try await Store.open(
                at: directory, PostFeed.self, confirmedBy: .acknowledgement, durability: .relaxed,
                checkpoints: .manual)
            let filling = try await store.record(.filled(count: Self.rowCount))
            try await store.acknowledge(filling.number)
            let figures = try await figures(store)
            await store.close()
            return figures
        }
    }

    @MainActor private func figures(_ store: Store<PostFeed>) async throws -> [Measurement] {
        let frames = HeldFrames()
        let model = OptimisticModel(store, sources: frames.sources)
        let list = ListModel<Int, FeedPost>(of: model) { builder, feed in
            builder.section(0)
            builder.items(feed.posts)
        }
        try await frames.hold(store, recording: .visited)
        await model.readUpdate()
        model.showUpdate()
        precondition(list.snapshot.rowCount == Self.rowCount, "the list is not built")
        let shown = ShownList(model: model, list: list, store: store, count: commitCount)
        let same = try await shown.figures("no row changed", changes: 0) { _ in .visited }
        let changed = try await shown.figures("one row changed", changes: 1) {
            .liked($0 * 311 % Self.rowCount)
        }
        let shuffled = try await shown.figures("all rows shuffled", changes: 1) {
            .shuffled(seed: UInt64($0))
        }
        return same + changed + shuffled
    }
}

@MainActor private struct ShownList {
    let model: OptimisticModel<PostFeed>
    let list: ListModel<Int, FeedPost>
    let store: Store<PostFeed>
    let count: Int

    /// - Parameter changes: how often each commit changes the list.
    func figures(
        _ what: String, changes: Int, _ event: (Int) -> PostFeed.Event
    ) async throws -> [Measurement] {
        let published = ChangeCount { [list] in _ = list.snapshot }
        var times = UpdateTimes()
        for number in 0..<count {
            _ = try await store.record(event(number))
            await times.measure(model)
        }
        let name = "list of a model, \(what)"
        return times.figures(name) + [
            Measurement(
                name: "\(name), publications for each commit",
                value: Double(published.count) / Double(count), unit: "", n: count
            ).judged(by: .exactly(Double(changes)))
        ]
    }
}
