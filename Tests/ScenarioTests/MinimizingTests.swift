import Foldback
import FoldbackHistory
import TestSupport
import Testing

/// In a log of thousands of entries, often only two matter.
@Suite struct MinimizingTests {
    @Test(arguments: [200, 700, 2_000], LogKind.allCases)
    func `minimizing finds the two entries that matter in a busy log`(count: Int, kind: LogKind)
        async throws
    {
        for seed in HistoryTests.seed..<HistoryTests.seed + TestEffort.value(quick: 1, full: 4) {
            var random = SeededGenerator(seed: seed)
            let (history, planted) = try await RandomHistory.busy(
                kind, count: count, planting: [.set("planted", 1), .add("planted", 41)],
                using: &random)
            let minimized = try await history.minimized(candidatesMax: 10_000) {
                try $0.snapshot(of: Board.self).view.cells["planted"] == 42
            }
            try #require(minimized.history.sequences == planted, "seed \(seed)")
            try #require(minimized.end == .minimalForThesePasses)
        }
    }

    @Test func `minimizing ten thousand entries takes a few hundred candidates`() async throws {
        var random = SeededGenerator(seed: HistoryTests.seed)
        let (history, planted) = try await RandomHistory.busy(
            .downlink, count: 10_000, planting: [.set("planted", 1), .add("planted", 41)],
            using: &random)
        let minimized = try await history.minimized(candidatesMax: 10_000) {
            try $0.snapshot(of: Board.self).view.cells["planted"] == 42
        }
        print("minimizing: \(minimized.candidatesTried) candidates for 10,000 entries")
        #expect(minimized.history.sequences == planted)
        #expect(minimized.candidatesTried < 300)
    }

    /// Property: a minimized history can lose no entry, with or without its consequences, and no event.
    @Test(arguments: LogKind.allCases)
    func `a minimized history can lose nothing`(kind: LogKind) async throws {
        let predicates: [(String, (Snapshot<Board>) -> Bool)] = [
            ("conflicted", { !$0.conflicted.isEmpty }),
            ("faults", { $0.faults.count > 1 }),
            ("view differs", { $0.view != $0.confirmed && $0.confirmed.cells.count > 1 }),
            ("settled and pending", { $0.confirmed.cells["a"] != nil && $0.pending.count > 1 }),
            ("rejections", { !$0.rejections.isEmpty && !$0.accepted.isEmpty }),
        ]
        var found: [String: Int] = [:]
        for seed in HistoryTests.seed..<HistoryTests.seed + TestEffort.value(quick: 15, full: 30) {
            var random = SeededGenerator(seed: seed)
            let log = try await RandomHistory.ofAnything(kind, steps: 60, using: &random)
            let history = try log.store.history()
            for (name, holds) in predicates where try holds(history.snapshot(of: Board.self)) {
                let minimized = try await history.minimized(candidatesMax: 10_000) {
                    try holds($0.snapshot(of: Board.self))
                }
                try #require(minimized.end == .minimalForThesePasses)
                try #require(try holds(minimized.history.snapshot(of: Board.self)))
                for smaller in Self.oneLess(minimized.history) {
                    try #require(
                        try !holds(smaller.snapshot(of: Board.self)),
                        "seed \(seed), \(name): \(smaller.sequences) are enough")
                }
                found[name, default: 0] += 1
            }
        }
        print("minimizing: \(kind), \(found)")
        #expect(found.count >= 4)
    }

    private static func oneLess(_ history: RecordedHistory<Move>) -> [RecordedHistory<Move>] {
        var smaller: [RecordedHistory<Move>] = []
        for (place, record) in history.records.enumerated() {
            var records = history.records
            records.remove(at: place)
            smaller.append(history.following(records))
            switch record.entry {
            case .intent(let intent):
                let without = records.map { record in
                    eventsTakenOut(of: record) { $0.origin == intent.id }
                }
                smaller.append(history.following(without))
            case .confirmed(let batch):
                for event in batch.events {
                    var records = history.records
                    records[place] = eventsTakenOut(of: record) {
                        $0.position == event.position && $0.origin == event.origin
                    }
                    smaller.append(history.following(records))
                }
            case .acknowledged, .changed: break
            }
        }
        return smaller
    }

    private static func eventsTakenOut(
        of record: Record, where isOut: (Confirmed) -> Bool
    ) -> Record {
        guard case .confirmed(let batch) = record.entry else { return record }
        let rest = ConfirmedBatch(
            events: batch.events.filter { !isOut($0) }, through: batch.through, settled: [])
        return Record(
            stamp: record.stamp, replica: record.replica, info: record.info,
            entry: .confirmed(rest))
    }

    @Test func `the same history and answers lead to the same candidates`() async throws {
        var random = SeededGenerator(seed: HistoryTests.seed)
        let (history, _) = try await RandomHistory.busy(.downlink, count: 300, using: &random)
        var runs: [[[LogSequence]]] = []
        for _ in 0..<2 {
            var answers = SeededGenerator(seed: 7)
            var asked: [[LogSequence]] = []
            _ = try await history.minimized(candidatesMax: 200) {
                asked.append($0.sequences)
                return asked.count == 1 || answers.oneIn(4)
            }
            runs.append(asked)
        }
        #expect(runs[0] == runs[1])
    }
}
