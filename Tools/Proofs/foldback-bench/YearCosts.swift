import Foldback
import Foundation

/// Measures a log that is compacted: over years of use, the compaction itself with its proof, and
/// backups.
struct YearCosts: Sendable {
    let bench: Workbench

    func measurements() async throws -> [Measurement] {
        try await decade()
            + CompactionCosts(bench: bench).measurements()
            + OrdinaryLogs(bench: bench).measurements()
    }

    // MARK: Years with and without a window

    private static let years = [1, 2, 3, 5, 10]
    private static let intentsOfYear = 200 * 365
    /// 30 days of intents and their answers.
    private static let entriesOfWindow = 30 * 200 * 2

    private static let forms = ["everything kept", "30 days kept"]

    private func decade() async throws -> [Measurement] {
        try await bench.withDirectory(on: .disk) { folder in
            let logs = (0..<2).map {
                folder.appending(path: "log-\($0)", directoryHint: .isDirectory)
            }
            var figures: [Measurement] = []
            for year in 1...(Self.years.last ?? 1) {
                bench.note("writing year \(year)")
                for log in logs {
                    try await SettledLogs.add(
                        2 * Self.intentsOfYear, to: log,
                        SettledLogs.Shape(entryCount: 0, keyCount: 1_000), .automatic)
                }
                let seconds = try await logs[1].compact(keeping: .entries(Self.entriesOfWindow))
                guard Self.years.contains(year) else { continue }
                for (form, log) in zip(Self.forms, logs) {
                    figures += try await OpeningProcess.figures(
                        "\(form), after \(year) years", log, openings: 7,
                        OpeningProcess.report(opening:))
                }
                figures.append(
                    Measurement(
                        name: "compacting the year before, after \(year) years", value: seconds,
                        unit: "s", n: 1))
            }
            return figures
        }
    }
}

extension URL {
    /// Compacts the log of documents in this directory, and returns the seconds.
    ///
    /// The old log is moved to a folder beside it, as an acknowledgement log needs it, and then removed.
    func compact(keeping window: HistoryWindow) async throws -> Double {
        let archive = deletingLastPathComponent().appending(
            path: "\(lastPathComponent)-old", directoryHint: .isDirectory)
        let clock = ContinuousClock()
        let start = clock.now
        let done = try await Store.compact(
            at: self, Documents.self, keeping: window, archive: archive)
        let elapsed = clock.now - start
        precondition(done.removed > 0 && done.held.isEmpty, "\(done)")
        try FileManager.default.removeItem(at: archive)
        return elapsed / .seconds(1)
    }
}
