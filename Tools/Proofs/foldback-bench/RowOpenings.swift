import Foldback

/// Measures opening 1,000,000 rows with 1,000 pending intents after a long history: time, and
/// memory after opening and in use.
///
/// Each opening is a new process. The files are in the system's cache.
struct RowOpenings: Sendable {
    let bench: Workbench

    private static let short = 10_000
    /// The history with targets.
    private static let long = 1_000_000

    private var entryCounts: [Int] {
        [Self.short, 100_000, Self.long] + (bench.isFull ? [10_000_000] : [])
    }

    func measurements() async throws -> [Measurement] {
        for count in entryCounts { _ = try await bench.mailboxHistory(entryCount: count) }
        bench.note("opening rows")
        var reports: [Int: [OpeningProcess.RowReport]] = [:]
        for _ in 0..<(bench.isFull ? 25 : 11) {
            for count in entryCounts {
                let log = try await bench.mailboxHistory(entryCount: count)
                reports[count, default: []].append(try await OpeningProcess.report(ofRows: log))
            }
        }
        return entryCounts.flatMap { Self.figures($0, reports[$0] ?? []) }
            + entryCounts.dropFirst().map { count in
                let ratio = zip(reports[count] ?? [], reports[Self.short] ?? [])
                    .map { $0.milliseconds / $1.milliseconds }
                    .quartered(
                        "rows, open, \(count.grouped) / \(Self.short.grouped) entries",
                        unit: "times")
                return count == Self.long ? ratio.judged(by: .atMost(1.5)) : ratio
            }
    }

    private static func figures(
        _ entryCount: Int, _ reports: [OpeningProcess.RowReport]
    ) -> [Measurement] {
        let name = "rows, open after \(entryCount.grouped) entries, 1,000 pending"
        let opening = reports.map(\.milliseconds).quartered(name, unit: "ms")
        var figures = [
            entryCount == long ? opening.judged(by: .atMost(20)) : opening,
            reports.map(\.firstReadMilliseconds).quartered(
                "\(name), first read", unit: "ms"),
        ]
        figures += memory(reports.compactMap(\.anonymousBytes), "\(name), RssAnon")
        figures += memory(
            reports.compactMap(\.anonymousBytesInUse),
            "\(name), RssAnon when all rows were read and 1,000 more recorded")
        return figures
    }

    private static func memory(_ bytes: [Int], _ name: String) -> [Measurement] {
        guard !bytes.isEmpty else { return [] }
        let figure = bytes.map { Double($0) / 1_048_576 }.quartered(name, unit: "MiB")
        return [figure.judged(by: .atMost(64))]
    }
}
