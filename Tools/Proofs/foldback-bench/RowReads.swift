import Foldback
import FoldbackLMDB
import Foundation

/// Measures reading rows, compared with the same reads and the same decoding on plain LMDB.
///
/// The files are in memory.
struct RowReads: Sendable {
    let bench: Workbench

    private static let pageLimit = 50

    /// The number of reads in one call, which uses one snapshot.
    private static let getCount = 1_000
    private static let pageCount = 20

    func measurements() async throws -> [Measurement] {
        try await bench.withDirectory(on: .memory) { directory in
            let files = FileManager.default
            try files.createDirectory(at: directory, withIntermediateDirectories: false)
            let rawPath = directory.appending(path: "raw", directoryHint: .isDirectory)
            try files.createDirectory(at: rawPath, withIntermediateDirectories: false)
            bench.note("writing \(Int(MailboxLogs.rowCount).grouped) rows to raw LMDB")
            let raw = try RawRows(creating: rawPath.path)
            let still = try await store(at: directory.appending(path: "0"), pendingCount: 0)
            let busy = try await store(at: directory.appending(path: "1"), pendingCount: 1_000)
            let figures = try await loads(raw, still, busy).measurements(
                rounds: bench.isFull ? 15 : 7, bench)
            await still.close()
            await busy.close()
            return figures
        }
    }

    private func store(at url: URL, pendingCount: UInt64) async throws -> Store<Mailbox> {
        try await bench.mailboxLogs.copy(.downlink, to: url)
        let store = try await Store.open(
            at: url, Mailbox.self, confirmedBy: .downlink, durability: .relaxed,
            checkpoints: .manual)
        _ = try await store.recordAll(
            (0..<pendingCount).map { .starred($0 * 997 % MailboxLogs.rowCount) })
        return store
    }

    // MARK: Loads

    private func loads(
        _ raw: RawRows, _ still: Store<Mailbox>, _ busy: Store<Mailbox>
    ) -> InterleavedRun {
        var run = InterleavedRun()
        add("get", count: Self.getCount, .atLeast(0.5), raw, still, busy, in: &run) { keys in
            try raw.read { rows in
                try keys.reduce(0) { $0 &+ (try rows.get($1)).weight }
            }
        } ours: { store, keys in
            try store.read { rows in
                try keys.reduce(0) { $0 &+ (try rows.get($1, in: Mailbox.messages)?.weight ?? 0) }
            }
        }
        let limit = Self.pageLimit
        add("range of \(limit)", count: Self.pageCount, nil, raw, still, busy, in: &run) {
            keys in
            try raw.read { rows in
                try keys.reduce(0) { $0 &+ (try rows.page(from: $1, limit: limit)).weight }
            }
        } ours: { store, keys in
            try store.read { rows in
                try keys.reduce(0) { sum, key in
                    let page = try rows.page(
                        of: Mailbox.messages, in: .keys(from: key), limit: limit)
                    return sum &+ page.map(\.row).weight
                }
            }
        }
        add(
            "indexed range of \(limit)", count: Self.pageCount, nil, raw, still, busy,
            in: &run
        ) { keys in
            try raw.read { rows in
                try keys.reduce(0) { sum, key in
                    let time = MailMessage.sent(at: key)
                    return sum &+ (try rows.unread(sentBefore: time, limit: limit)).weight
                }
            }
        } ours: { store, keys in
            try store.read { rows in
                try keys.reduce(0) { sum, key in
                    let page = try rows.page(
                        of: Mailbox.unread, in: .keys(upTo: MailMessage.sent(at: key)),
                        order: .descending, limit: limit)
                    return sum &+ page.map(\.row).weight
                }
            }
        }
        return run
    }

    private func add(
        _ operation: String, count: Int, _ target: Target?, _ raw: RawRows, _ still: Store<Mailbox>,
        _ busy: Store<Mailbox>, in run: inout InterleavedRun,
        raw readRaw: @escaping @Sendable ([UInt64]) throws -> UInt64,
        ours read: @escaping @Sendable (Store<Mailbox>, [UInt64]) throws -> UInt64
    ) {
        let rawName = "raw LMDB, \(operation)"
        run.add(load(rawName, count, readRaw))
        for (store, pending) in [(still, "nothing"), (busy, "1,000")] {
            let name = "rows, \(operation), \(pending) pending"
            run.add(load(name, count) { try read(store, $0) })
            run.compareSpeed(of: name, withRaw: rawName, target)
        }
    }

    /// Repeats calls with `count` reads at pseudorandom keys.
    private func load(
        _ name: String, _ count: Int, _ read: @escaping @Sendable ([UInt64]) throws -> UInt64
    ) -> InterleavedRun.Load {
        let time: Duration = bench.isFull ? .seconds(2) : .milliseconds(400)
        return InterleavedRun.Load(
            name: name, call: "\(count.grouped) in one snapshot", unit: "reads/s"
        ) {
            try await Platform.onThread { () throws(any Error) in
                let clock = ContinuousClock()
                var latencies: [Duration] = []
                var place: UInt64 = 1
                var sum: UInt64 = 0
                let start = clock.now
                var last = start
                while last < start + time {
                    let keys = (0..<count).map { _ in
                        place = place &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                        return (place >> 33) % MailboxLogs.rowCount
                    }
                    sum &+= try read(keys)
                    let now = clock.now
                    latencies.append(now - last)
                    last = now
                }
                precondition(sum > 0, "nothing was read")
                return Pace(
                    count: latencies.count * count, elapsed: last - start, latencies: latencies)
            }
        }
    }
}

extension MailMessage {
    /// A number from decoded fields, so that the compiler cannot remove the decoding.
    fileprivate var weight: UInt64 { sent &+ UInt64(text.utf8.count) }
}

extension [MailMessage] {
    fileprivate var weight: UInt64 { reduce(0) { $0 &+ $1.weight } }
}
