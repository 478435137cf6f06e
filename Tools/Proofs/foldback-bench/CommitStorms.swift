import Foldback
import FoldbackUI
import Synchronization

/// Measures a model while another task commits as fast as it can.
///
/// Each intent is a commit of its own, and stays pending. The frames are the system's.
struct CommitStorms: Sendable {
    let bench: Workbench

    private static let postCount = 10_000
    private static let commitCount = 100_000
    /// A frame of ``UISources/system``.
    private static let frame = Duration.microseconds(16_667)

    private struct Round: Sendable {
        let adoptions: Double
        /// The most adoptions that began within the length of one frame.
        let adoptionsInFrame: Double
        let elapsed: Duration
        let mainThread: Duration
    }

    func measurements() async throws -> [Measurement] {
        var rounds: [Round] = []
        let count = bench.isFull ? 7 : 3
        for number in 1...count {
            bench.note("round \(number) of \(count)")
            rounds.append(try await bench.withLikes(ofPosts: Self.postCount, round))
        }
        let name = "\(Self.commitCount.grouped) commits"
        return [
            rounds.map { Double(Self.commitCount) / ($0.elapsed / .seconds(1)) }.measurement(
                "\(name), with a model", unit: "commits/s", each: "rounds"),
            rounds.map(\.adoptions).measurement("\(name), adoptions", unit: "", each: "rounds"),
            judged(rounds.map(\.adoptionsInFrame), "\(name), most adoptions in a frame", "", 1),
            judged(
                rounds.map { 100 * ($0.mainThread / $0.elapsed) },
                "\(name), main actor busy", "%", 10),
            rounds.map { $0.mainThread / .microseconds(1) / $0.adoptions }.measurement(
                "\(name), main thread for each adoption", unit: "us", each: "rounds"),
        ]
    }

    /// The greatest value decides.
    private func judged(
        _ values: [Double], _ name: String, _ unit: String, _ bound: Double
    ) -> Measurement {
        values.measurement(name, unit: unit, each: "rounds").judged(
            by: .atMost(bound), on: values.max())
    }

    private func round(_ store: Store<Likes>) async throws -> Round {
        let (model, changes) = await MainActor.run {
            let model = OptimisticModel(store)
            return (model, ChangeCount { _ = model.revision })
        }
        let clock = ContinuousClock()
        let busyBefore = await MainActor.run { Machine.mainThreadTime }
        let start = clock.now
        for number in 0..<Self.commitCount {
            _ = try await store.record(.liked(number * 7_919 % Self.postCount))
        }
        let end = store.status.sequence
        while await model.revision < end { try await Task.sleep(for: Self.frame) }
        let elapsed = clock.now - start
        let busyAfter = await MainActor.run { Machine.mainThreadTime }
        try await check(model, store)
        let times = await changes.times
        return Round(
            adoptions: Double(times.count), adoptionsInFrame: Double(most(of: times)),
            elapsed: elapsed, mainThread: busyAfter - busyBefore)
    }

    /// The final view and all statuses are those of the store.
    @MainActor private func check(
        _ model: OptimisticModel<Likes>, _ store: Store<Likes>
    ) throws {
        precondition(model.view == store.view, "the final view differs from the store's")
        let marks = (0..<Self.postCount).reduce(0) { $0 + model.status(of: $1).marks.count }
        precondition(marks == Self.commitCount, "the items have \(marks) marks")
    }

    private func most(of times: [ContinuousClock.Instant]) -> Int {
        var first = 0
        var most = 0
        for (index, time) in times.enumerated() {
            while times[first] + Self.frame <= time { first += 1 }
            most = max(most, index - first + 1)
        }
        return most
    }
}
