import Foldback
import FoldbackUI

/// Measures the update of the statuses after one answer, with 100,000 pending intents.
///
/// The times include two changes of the actor, and not the answer itself.
struct StatusCosts: Sendable {
    let bench: Workbench

    private static let pendingCount = 100_000

    private enum Answer: String, CaseIterable {
        case acknowledgingOldest = "acknowledging the oldest"
        case rejectingNewest = "rejecting the newest"
        case rejectingOldest = "rejecting the oldest"

        /// The store folds all later intents again after the rejection of the oldest.
        var isSlow: Bool { self == .rejectingOldest }

        func give(in store: Store<Likes>) async throws {
            let pending = store.snapshot.pending
            switch self {
            case .acknowledgingOldest: try await store.acknowledge(pending[0])
            case .rejectingNewest, .rejectingOldest:
                let number = pending[self == .rejectingNewest ? pending.count - 1 : 0]
                try await store.reject(number, code: "forbidden", message: "not yours")
            }
        }
    }

    func measurements() async throws -> [Measurement] {
        try await bench.withLikes(ofPosts: Self.pendingCount) { store in
            bench.note("recording \(Self.pendingCount.grouped) intents")
            _ = try await store.recordAll((0..<Self.pendingCount).map { .liked($0) })
            return try await figures(store)
        }
    }

    @MainActor private func figures(_ store: Store<Likes>) async throws -> [Measurement] {
        let frames = HeldFrames()
        let model = OptimisticModel(store, sources: frames.sources)
        var updates = ViewUpdates(of: store).makeAsyncIterator()
        let first = await elapsed { await model.readUpdate() }
        model.showUpdate()
        try await frames.hold(store, recording: .liked(0))
        _ = await updates.next(isolation: MainActor.shared)
        var figures = [
            Measurement(
                name: "statuses of \(Self.pendingCount.grouped) pending intents, the first update",
                value: first, unit: "ms", n: 1)
        ]
        for answer in Answer.allCases {
            bench.note(answer.rawValue)
            figures += try await self.figures(answer, model, store, &updates)
        }
        return figures
    }

    @MainActor private func figures(
        _ answer: Answer, _ model: OptimisticModel<Likes>, _ store: Store<Likes>,
        _ updates: inout ViewUpdates<Likes>.AsyncIterator
    ) async throws -> [Measurement] {
        var times: [Double] = []
        var itemCounts: [Double] = []
        var reads: [Double] = []
        for _ in 0..<(answer.isSlow ? 10 : 100) * (bench.isFull ? 5 : 1) {
            try await answer.give(in: store)
            let readsBefore = Likes.itemReads.load(ordering: .relaxed)
            times.append(await elapsed { await model.readUpdate() })
            reads.append(Double(Likes.itemReads.load(ordering: .relaxed) - readsBefore))
            model.showUpdate()
            itemCounts.append(
                Double(await updates.next(isolation: MainActor.shared)?.statuses.count ?? 0))
        }
        let name = "\(answer.rawValue) of \(Self.pendingCount.grouped) pending"
        return [
            times.quartered("\(name), the update of the statuses", unit: "ms").judged(
                by: .atMost(1)),
            itemCounts.measurement("\(name), items with a new status", unit: "", each: "answers")
                .judged(by: .atMost(1), on: itemCounts.max()),
            reads.measurement("\(name), events read for their items", unit: "", each: "answers")
                .judged(by: .atMost(1), on: reads.max()),
        ]
    }

    @MainActor private func elapsed(_ work: () async -> Void) async -> Double {
        let start = ContinuousClock.now
        await work()
        return (ContinuousClock.now - start) / .milliseconds(1)
    }
}
