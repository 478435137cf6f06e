import Foldback
import FoldbackHistory
import FoldbackLMDB
import FoldbackTesting
import TestSupport
import Testing

/// Question: do the plots of a log show the numbers that a plain look at its states gives?
@Suite struct LogPlotTests {
    /// The counts after each entry, and the times to settle, from whole snapshots.
    private struct Naive {
        var pending: [Plot.Point] = []
        var accepted: [Plot.Point] = []
        var times: [Int] = []

        init(_ history: RecordedHistory<Move>) throws {
            var recorded: [IntentNumber: Int64] = [:]
            var overlay: Set<IntentNumber> = []
            var latest = Int64.min
            for (entry, snapshot) in zip(history.entries, try history.snapshots(of: Board.self)) {
                let time = entry.time.millisecondsSince1970
                latest = max(latest, time)
                if case .intent(let intent) = entry.content { recorded[intent.number] = time }
                let now = Set(snapshot.overlay.map(\.number))
                times += overlay.subtracting(now).map { Int(max(0, time - recorded[$0]!)) }
                overlay = now
                pending.append(Plot.Point(Double(latest), Double(snapshot.pending.count)))
                accepted.append(Plot.Point(Double(latest), Double(snapshot.accepted.count)))
            }
        }

        func percentile(_ percent: Int) -> Int {
            times.sorted()[max(1, (times.count * percent + 99) / 100) - 1]
        }

        /// The counts of the bars that begin at the points, by a look at every time.
        func counts(of bars: [Plot.Point]) -> [Double] {
            zip(bars, bars.dropFirst()).map { bar, next in
                let shown = times.map { max(0.5, Double($0)) }
                return Double(shown.count { bar.x <= $0 && $0 < next.x })
            } + [0]
        }
    }

    /// Property: for random histories of both kinds, also without some entries, the plots equal
    /// numbers that are counted from the states after each entry.
    @Test(arguments: LogKind.allCases)
    func `the plots of a random history equal a plain count of its states`(kind: LogKind)
        async throws
    {
        for seed in HistoryTests.seed..<HistoryTests.seed + TestEffort.value(quick: 6, full: 40) {
            var random = SeededGenerator(seed: seed)
            let whole = try await RandomHistory.busy(kind, count: 240, using: &random).history
            let some = whole.records.filter { _ in !random.oneIn(12) }
            for history in [whole, whole.following(some)] { try Self.check(history, seed) }
        }
    }

    private static func check(_ history: RecordedHistory<Move>, _ seed: UInt64) throws {
        let naive = try Naive(history)
        let plots = try LogPlots(LogReader(history))
        #expect(plots.pending.series.first?.points == naive.pending, "seed \(seed)")
        if naive.accepted.contains(where: { $0.y > 0 }) {
            #expect(plots.pending.series.last?.points == naive.accepted, "seed \(seed)")
        } else {
            #expect(plots.pending.series.count == 1, "seed \(seed)")
        }
        let bars = try #require(plots.settling.series.first?.points)
        #expect(bars.map(\.y) == naive.counts(of: bars), "seed \(seed)")
        #expect(Int(bars.reduce(0) { $0 + $1.y }) == naive.times.count, "seed \(seed)")
        // The buckets of times from 128 ms on are up to a 64th wide.
        for (mark, percent) in zip(plots.settling.marks, [50, 95]) {
            let exact = Double(naive.percentile(percent))
            #expect(mark.x <= max(0.5, exact) && mark.x >= exact * 63 / 64, "seed \(seed)")
        }
    }

    @Test func `the plot of bytes ends at the sum of the records and marks the checkpoints`()
        async throws
    {
        let directory = TemporaryDirectory()
        let store = try await Store.open(
            at: directory.log, Board.self, confirmedBy: .acknowledgement, durability: .relaxed,
            checkpoints: .manual)
        for value in 1...40 {
            let receipt = try await store.record(.set("a", value))
            if value <= 30 { try await store.acknowledge(receipt.number) }
        }
        try await store.checkpoint()
        _ = try await store.record(.set("b", 1))
        let storage = store.core.storage
        let sizes = try storage.records(from: 1, countMax: .max).map(\.1.count)
        let checkpoints = try storage.storedCheckpoints().map { Double($0.sequence.value) }
        await store.close()
        let reader = try LogReader(at: directory.log)
        defer { reader.close() }
        let plot = try LogPlots(reader).bytes
        #expect(plot.series[0].points.last == Plot.Point(71, Double(sizes.reduce(0, +))))
        #expect(plot.series[0].points.first == Plot.Point(1, Double(sizes[0])))
        #expect(plot.marks.map(\.x) == checkpoints && checkpoints == [70])
    }

    @Test func `the plots of a damaged log end before the damage and say so`() async throws {
        let directory = TemporaryDirectory()
        let store = try await Store.open(
            at: directory.log, Board.self, confirmedBy: .acknowledgement, durability: .relaxed,
            checkpoints: .manual)
        for value in 1...9 { _ = try await store.record(.set("a", value)) }
        await store.close()
        let environment = try Environment.open(directory.log.path)
        try environment.write { transaction throws(LMDBError) in
            let entries: Table<UInt64> = try transaction.table("entries")
            _ = try transaction.delete(6, from: entries)
        }
        environment.close()
        let reader = try LogReader(at: directory.log)
        defer { reader.close() }
        let plots = try LogPlots(reader)
        for plot in [plots.pending, plots.settling, plots.bytes] {
            #expect(plot.description.hasSuffix("The log is damaged. The plot ends after entry 5."))
        }
        #expect(plots.bytes.series[0].points.map(\.x) == [1, 2, 3, 4, 5])
        #expect(plots.pending.series[0].points.last?.y == 5)
    }

    @Test func `an empty log has empty plots`() async throws {
        let store = Store.inMemory(Board.self, confirmedBy: .downlink)
        let plots = try LogPlots(LogReader(try store.history()))
        for plot in [plots.pending, plots.settling, plots.bytes] {
            #expect(plot.svg(.file).contains("<svg"))
            #expect(plot.series.allSatisfy { $0.points.isEmpty })
        }
    }

    @Test func `entries of one time are plotted over their sequences`() async throws {
        let replica = ReplicaID("me")!
        let entries: [LogEntry<Move>] = try (1...3).map { number in
            LogEntry(
                sequence: LogSequence(number), time: Timestamp(millisecondsSince1970: 5),
                replica: replica, info: [:],
                content: .intent(
                    LoggedIntent(
                        IntentNumber(number),
                        try LoggedEvent(.set("a", 1), writtenBy: MoveCodec()))))
        }
        let history = try RecordedHistory(
            kind: .downlink, replica: replica, entries: entries, codec: MoveCodec())
        let plot = try LogPlots(LogReader(history)).pending
        #expect(plot.x.label == "sequence")
        #expect(plot.series[0].points == [.init(1, 1), .init(2, 2), .init(3, 3)])
    }
}
