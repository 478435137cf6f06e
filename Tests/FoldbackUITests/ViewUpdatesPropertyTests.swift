import Foldback
import FoldbackTesting
import FoldbackUI
import TestSupport
import Testing

/// Born from the question whether a slow reader of updates, which skips states, ever keeps an old
/// mark.
///
/// Property (U25): over random histories and with readers of any speed, sequences only rise. At each
/// update, the state is that of the log's past at its sequence, and the changed statuses of all
/// updates so far add up to the statuses that a naive reader computes there. The last update has the
/// last entry and the last attempt.
@Suite struct ViewUpdatesPropertyTests {
    @Test(arguments: [LogKind.acknowledgement, .downlink])
    func `U25: updates have each change of a mark, at any speed, in any history`(
        _ kind: LogKind
    ) async throws {
        let first = testSeed("view updates, \(kind)", variable: "VIEW_UPDATES_SEED")
        for seed in first..<first + TestEffort.value(quick: 15, full: 30) {
            try await play(seed, kind)
        }
    }

    private func play(_ seed: UInt64, _ kind: LogKind) async throws {
        var random = SeededGenerator(seed: seed)
        let store = Store.board(kind)
        for _ in 0..<Int.random(in: 0...5, using: &random) {
            try await store.act(on: ["a", "b", "c"], &random)
        }
        let reader = MarkReader(slowness: Int.random(in: 0...20, using: &random))
        async let reading: Void = reader.read(ViewUpdates(of: store))
        var story: [String] = []
        for _ in 0..<60 {
            story.append(try await store.act(on: ["a", "b", "c"], &random))
            for _ in 0..<Int.random(in: 0...3, using: &random) { await Task.yield() }
        }
        let note: Comment = "seed \(seed), \(kind): \(story)"
        let last = try store.naiveStatuses()
        for _ in 0..<100_000 {
            let isDone = await reader.last.map {
                $0.snapshot.sequence == store.status.sequence && $0.statuses == last
            }
            if isDone ?? false { break }
            await Task.yield()
        }
        let seen = await reader.seen
        #expect(seen.last?.snapshot.sequence == store.status.sequence, note)
        #expect(seen.last?.statuses == last, note)
        #expect(seen.last?.rejections == store.rejections, note)
        let sequences = seen.map(\.snapshot.sequence)
        #expect(zip(sequences, sequences.dropFirst()).allSatisfy { $0 <= $1 }, note)
        try await check(seen, store, kind, note)
        await store.close()
        await reading
    }

    private func check(
        _ seen: [MarkReader.Seen], _ store: Store<Board>, _ kind: LogKind, _ note: Comment
    ) async throws {
        let log = try NaiveLog(store, kind)
        for seen in seen {
            let past = try await store.snapshot(at: seen.snapshot.sequence)
            let intents = log.intents(of: SeenIntents(past), seen.statuses.values.attempts)
            #expect(seen.snapshot.view == past.view, note)
            #expect(seen.snapshot.confirmed == past.confirmed, note)
            #expect(seen.statuses == Board.naiveStatuses(of: intents), note)
            #expect(seen.rejections == past.rejections, note)
        }
    }
}

/// Adds up the marks of all updates.
private actor MarkReader {
    struct Seen {
        let snapshot: Snapshot<Board>
        let statuses: [String: ItemStatus]
        let rejections: [IntentNumber]
    }

    private let slowness: Int
    private(set) var seen: [Seen] = []

    init(slowness: Int) { self.slowness = slowness }

    var last: Seen? { seen.last }

    func read(_ updates: ViewUpdates<Board>) async {
        var statuses: [String: ItemStatus] = [:]
        var rejections: [IntentNumber] = []
        for await update in updates {
            statuses.merge(update.statuses) { $1 }
            statuses = statuses.filter { $0.value != .settled }
            rejections = update.rejections?.map(\.number) ?? rejections
            seen.append(
                Seen(snapshot: update.snapshot, statuses: statuses, rejections: rejections))
            for _ in 0..<slowness { await Task.yield() }
        }
    }
}
