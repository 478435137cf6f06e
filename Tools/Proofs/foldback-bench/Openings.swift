import Foldback

/// Measures opening after a long history: the cost of the checkpoint and of the entries after it.
///
/// Each opening is a new process. The files are in the system's cache.
struct Openings: Sendable {
    let bench: Workbench

    typealias Shape = SettledLogs.Shape
    typealias Report = OpeningProcess.Report

    private static let short = Shape(entryCount: 10_000, keyCount: 1_000)
    /// The log of an app that was downgraded after it had received events of a newer version.
    private static let unread = Shape(entryCount: 1_000_000, keyCount: 1_000, unreadCount: 5_000)

    func measurements() async throws -> [Measurement] {
        let shapes = [Self.short] + bench.longHistories + [bench.manyKeys, Self.unread]
        var figures: [Measurement] = []
        for tailCount in [0, 2_000] {
            // All logs have the same number of entries after their checkpoint, so that only their
            // histories differ. Everything is written before the first measurement.
            for shape in shapes {
                try await bench.settledLogs.extend(shape, byEntries: tailCount)
            }
            bench.note("opening with \(tailCount.grouped) entries after the checkpoint")
            let reports = try await reports(of: shapes)
            let name = "open with \(tailCount.grouped) after the checkpoint"
            figures += shapes.flatMap { Self.figures("\(name), \($0.words)", reports[$0] ?? []) }
            figures += bench.longHistories.map { shape in
                Self.growth(
                    "\(name), \(shape.entryCount.grouped) / \(Self.short.entryCount.grouped)",
                    from: reports[Self.short] ?? [], to: reports[shape] ?? []
                ).judged(by: .atMost(shape.entryCount > 1_000_000 ? 2 : 1.15))
            }
        }
        return figures
    }

    /// The logs take turns, so that other load on the machine affects all of them.
    private func reports(of shapes: [Shape]) async throws -> [Shape: [Report]] {
        var reports: [Shape: [Report]] = [:]
        for _ in 0..<(bench.isFull ? 25 : 11) {
            for shape in shapes {
                let log = try await bench.settledLogs.log(of: shape)
                let report = try await OpeningProcess.report(opening: log)
                reports[shape, default: []].append(report)
            }
        }
        return reports
    }

    private static func figures(_ name: String, _ reports: [Report]) -> [Measurement] {
        let folded = Set(reports.map(\.entriesFolded)).sorted().map(\.grouped)
        var figures = [
            reports.map(\.milliseconds).quartered(
                name, unit: "ms", note: "\(folded.joined(separator: " or ")) entries folded")
        ]
        let memory = reports.compactMap(\.anonymousBytes).map { Double($0) / 1_048_576 }
        if !memory.isEmpty {
            figures.append(memory.quartered("\(name), RssAnon", unit: "MiB"))
        }
        return figures
    }

    private static func growth(
        _ name: String, from short: [Report], to long: [Report]
    ) -> Measurement {
        zip(long, short).map { $0.milliseconds / $1.milliseconds }
            .quartered(name, unit: "times")
    }
}
