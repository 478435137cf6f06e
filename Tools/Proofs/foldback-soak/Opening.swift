import ArgumentParser
import Foldback
import Foundation

/// A process that only opens the log, so that its memory has nothing of the model.
struct Opening: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open", abstract: "Opens the log several times, and prints figures as JSON.",
        shouldDisplay: false)

    @Argument(help: "The directory of the log.")
    var log: String

    @Option(help: "The virtual time in milliseconds since 1970.")
    var now: Int64

    func run() async throws {
        let clock = ContinuousClock()
        let url = URL(filePath: log, directoryHint: .isDirectory)
        var report = OpeningReport()
        for _ in 0..<15 {
            let start = clock.now
            let store = try await Store.open(
                at: url, Shelf.self, also: [AdditionalProjection(ShelfRows.self)],
                confirmedBy: .downlink, durability: .relaxed, sources: VirtualTime(now).sources)
            report.milliseconds.append((clock.now - start) / .milliseconds(1))
            // The first command waits for the check of large tables.
            try await store.flush()
            report.residentBytes = report.residentBytes ?? Self.residentBytes
            report.entries = store.status.entryCount
            await store.close()
        }
        print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
    }

    /// The resident memory of this process in bytes; nil where the system does not say.
    private static var residentBytes: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
            let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}

/// What a process says that has opened the log.
struct OpeningReport: Codable, Sendable {
    /// Of each opening.
    var milliseconds: [Double] = []
    /// After the first opening; nil where the system does not say.
    var residentBytes: Int?
    var entries = 0
}
