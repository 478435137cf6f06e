import Foldback
import Foundation
import Synchronization

/// Measures compactions of documents in JSON to the last 10,000 entries, and what the log costs before
/// and after: its file, opening, recording, and a backup while it is in use.
struct CompactionCosts: Sendable {
    let bench: Workbench

    private static let kept = 10_000
    private static let sizes = [100_000, 300_000, 1_000_000]
    private static let forms = ["before compacting", "compacted"]

    private var roundCount: Int { bench.isFull ? 5 : 3 }

    func measurements() async throws -> [Measurement] {
        var figures: [Measurement] = []
        for size in Self.sizes {
            let shape = SettledLogs.Shape(entryCount: size, keyCount: 1_000)
            let whole = try await bench.settledLogs.log(of: shape)
            figures += try await bench.withDirectory(on: .disk) { folder in
                try await measurements(shape, whole, folder)
            }
        }
        return figures
    }

    private func measurements(
        _ shape: SettledLogs.Shape, _ whole: URL, _ folder: URL
    ) async throws -> [Measurement] {
        let logs = Self.forms.map { folder.appending(path: $0, directoryHint: .isDirectory) }
        try Self.copy(whole, to: logs[0])
        bench.note("compacting \(shape.words)")
        var seconds: [Double] = []
        for _ in 0..<roundCount {
            try? FileManager.default.removeItem(at: logs[1])
            try Self.copy(whole, to: logs[1])
            seconds.append(try await logs[1].compact(keeping: .entries(Self.kept)))
        }
        let name = "\(shape.entryCount.grouped) entries of documents"
        let time = seconds.measurement(
            "compacting to \(Self.kept.grouped), with proof, \(name)", unit: "s", each: "rounds")
        let isAim = shape.entryCount == Self.sizes.last
        let pages = try TablePages(at: logs[1])
        var figures = [
            isAim ? time.judged(by: .atMost(4)) : time,
            Measurement(
                name: "\(name), before compacting, file", value: try logs[0].megabytesOfFile,
                unit: "MB", n: 1),
            Measurement(
                name: "\(name), compacted, file", value: try logs[1].megabytesOfFile, unit: "MB",
                n: 1, note: pages.words),
            Measurement(
                name: "\(name), compacted, file without verdict rows / its records",
                value: pages.bytesOfRecordByte, unit: "times", n: 1
            ).judged(by: .atMost(1.3)),
            Measurement(
                name: "\(name), compacted, verdict rows",
                value: Double(pages.bytes["verdicts"] ?? 0)
                    / Double(max(1, pages.counts["verdicts"] ?? 0)),
                unit: "bytes/intent", n: pages.counts["verdicts"] ?? 0),
        ]
        guard isAim else { return figures }
        figures += try await openings(name, logs)
        figures += try await recording(name, logs, in: folder)
        figures += try await backups(name, logs, in: folder)
        return figures
    }

    /// Calls `body` with a store of a copy of the log, and then removes the copy: what one
    /// measurement records must not be in the log of the next.
    private func withCopy<R>(
        of log: URL, in folder: URL, _ body: (Store<Documents>) async throws -> R
    ) async throws -> R {
        let copy = folder.appending(path: "copy", directoryHint: .isDirectory)
        try Self.copy(log, to: copy)
        let store = try await Store.open(
            at: copy, Documents.self, confirmedBy: .acknowledgement, durability: .durable)
        let result = try await body(store)
        await store.close()
        try FileManager.default.removeItem(at: copy)
        return result
    }

    private static func copy(_ log: URL, to copy: URL) throws {
        try FileManager.default.copyItem(at: log, to: copy)
        // Otherwise the system writes the copy during the measurement.
        sync()
    }

    // MARK: Opening and recording

    private func openings(_ name: String, _ logs: [URL]) async throws -> [Measurement] {
        bench.note("opening")
        // The first opening of a copy notes a fresh replica id.
        for log in logs { _ = try await OpeningProcess.report(opening: log) }
        var times: [[Double]] = [[], []]
        for _ in 0..<(bench.isFull ? 25 : 11) {
            for (place, log) in logs.enumerated() {
                times[place].append(try await OpeningProcess.report(opening: log).milliseconds)
            }
        }
        let ratio = zip(times[1], times[0]).map { $0 / $1 }.quartered(
            "\(name), opening, compacted : before", unit: "times")
        return zip(Self.forms, times).map { form, times in
            times.quartered("\(name), \(form), opening", unit: "ms")
        } + [ratio.judged(by: .atMost(1.15))]
    }

    private func recording(
        _ name: String, _ logs: [URL], in folder: URL
    ) async throws -> [Measurement] {
        let documents = Events.documents(keyCount: 1_000)
        let limit = Limit(count: 131_072, time: .milliseconds(bench.isFull ? 3_000 : 1_000))
        var paces: [[[Pace]]] = [[[], []], [[], []]]
        for round in 1...(2 * roundCount) {
            bench.note("recording, round \(round) of \(2 * roundCount)")
            for (place, inFlight) in [1, 256].enumerated() {
                for (form, log) in logs.enumerated() {
                    let pace = try await withCopy(of: log, in: folder) { store in
                        try await store.pace(recording: documents, inFlight: inFlight, upTo: limit)
                    }
                    paces[place][form].append(pace)
                }
            }
        }
        let name = "\(name), durable record"
        var figures: [Measurement] = []
        for (form, paces) in zip(Self.forms, paces[0]) {
            figures.append(
                paces.map { $0.microseconds(percentiles: [50])[0] }.measurement(
                    "\(name), \(form), 1 in flight, p50", unit: "us", each: "rounds"))
        }
        for (form, paces) in zip(Self.forms, paces[1]) {
            figures.append(
                paces.map(\.perSecond).measurement(
                    "\(name), \(form), 256 in flight", unit: "intents/s", each: "rounds"))
        }
        func ratio(_ words: String, _ place: Int, _ value: (Pace) -> Double) -> Measurement {
            zip(paces[place][1], paces[place][0]).map { value($0) / value($1) }.measurement(
                "\(name), \(words), compacted : before", unit: "times", each: "rounds")
        }
        return figures + [
            ratio("1 in flight, p50", 0) { $0.microseconds(percentiles: [50])[0] }
                .judged(by: .atMost(1.1)),
            ratio("256 in flight, intents a second", 1, \.perSecond).judged(by: .atLeast(0.9)),
        ]
    }

    // MARK: Backups

    private func backups(
        _ name: String, _ logs: [URL], in folder: URL
    ) async throws -> [Measurement] {
        var figures: [Measurement] = []
        for (form, log) in zip(Self.forms, logs) {
            bench.note("backing up, \(form)")
            figures += try await withCopy(of: log, in: folder) { store in
                try await backups(of: store, "\(name), \(form)", in: folder)
            }
        }
        return figures
    }

    private func backups(
        of store: Store<Documents>, _ name: String, in folder: URL
    ) async throws -> [Measurement] {
        let documents = Events.documents(keyCount: 1_000)
        let copy = folder.appending(path: "backup", directoryHint: .isDirectory)
        var (seconds, megabytes): ([Double], [Double]) = ([], [])
        var latencies: [[Duration]] = [[], []]
        for _ in 0..<roundCount {
            latencies[0] += try await store.pace(
                recording: documents, inFlight: 1, upTo: Limit(count: 131_072, time: .seconds(1))
            ).latencies
            let (meanwhile, elapsed) = try await Self.recording(documents, in: store) {
                try await store.backup(to: copy)
            }
            latencies[1] += meanwhile
            seconds.append(elapsed / .seconds(1))
            megabytes.append(try copy.megabytesOfFile)
            try FileManager.default.removeItem(at: copy)
        }
        let times = latencies.map { $0.map { $0 / .microseconds(1) }.sorted() }
        var figures = [
            seconds.measurement("\(name), backup in use", unit: "s", each: "rounds"),
            megabytes.measurement("\(name), backup", unit: "MB", each: "rounds"),
        ]
        for (words, times) in zip(["alone", "during a backup"], times) {
            for percent in [50, 99] {
                figures.append(
                    Measurement(
                        name: "\(name), record \(words), p\(percent)",
                        value: times.percentile(Double(percent)), unit: "us", n: times.count,
                        note: "at most \((times.last ?? 0).text)"))
            }
        }
        return figures
    }

    /// Records one intent after another while `work` runs, and returns the latencies and the time of
    /// the work.
    private static func recording(
        _ events: [DocumentEvent], in store: Store<Documents>,
        during work: @escaping @Sendable () async throws -> Void
    ) async throws -> ([Duration], Duration) {
        let clock = ContinuousClock()
        let start = clock.now
        let end = EndOfWork()
        async let elapsed: Duration = {
            defer { end.hasCome.store(true, ordering: .relaxed) }
            try await work()
            return clock.now - start
        }()
        var latencies: [Duration] = []
        while !end.hasCome.load(ordering: .relaxed) {
            let begin = clock.now
            _ = try await store.record(events[latencies.count % events.count])
            latencies.append(clock.now - begin)
        }
        return (latencies, try await elapsed)
    }
}

/// Says that a task has ended.
private final class EndOfWork: Sendable {
    let hasCome = Atomic(false)
}
