import Foldback
import Foundation

/// A process that opens a log with many pending intents and reads its overlay, so that its memory
/// has nothing of the log before.
enum BacklogProcess {
    /// The subcommand that this executable starts itself with.
    static let command = "open-backlog"

    struct Report: Codable, Sendable {
        let openMilliseconds: Double
        /// The processor time of all threads while the log was opened.
        let processorMilliseconds: Double
        /// Asking for the overlay, and reading its first and its last intent.
        let overlayMilliseconds: Double
        /// Reading the number of each intent of the overlay.
        let allMilliseconds: Double
        /// After opening; nil where the system does not say.
        let anonymousBytes: Int?
    }

    // MARK: In that process

    static func run(_ arguments: some Collection<String>) async throws {
        guard arguments.count == 2, let path = arguments.first,
            let name = arguments.dropFirst().first
        else { throw WrongUse(reason: "give the directory of the log, and the projection") }
        let url = URL(filePath: path, directoryHint: .isDirectory)
        let projections: [any BacklogProjection.Type] = [
            Documents.self, StoredDocuments.self, TaskRows.self,
        ]
        for projection in projections where projection.name == name {
            try await run(projection, url)
        }
    }

    private static func run<P: BacklogProjection>(_ projection: P.Type, _ url: URL) async throws {
        let clock = ContinuousClock()
        let (start, used) = (clock.now, Machine.processorMilliseconds)
        let store = try await Store.open(
            at: url, projection, confirmedBy: .acknowledgement, durability: .durable)
        let (opened, usedThen) = (clock.now, Machine.processorMilliseconds)
        let bytes = Machine.anonymousResidentBytes
        let beforeEnds = clock.now
        let overlay = store.overlay
        let ends = [overlay.first?.number, overlay.last?.number].compactMap { $0?.value }
        let read = clock.now
        let sum = store.overlay.reduce(ends.reduce(0, &+)) { $0 &+ $1.number.value }
        let all = clock.now
        precondition(overlay.isEmpty || sum > 0, "the overlay has no numbers")
        let report = Report(
            openMilliseconds: (opened - start) / .milliseconds(1),
            processorMilliseconds: usedThen - used,
            overlayMilliseconds: (read - beforeEnds) / .milliseconds(1),
            allMilliseconds: (all - read) / .milliseconds(1), anonymousBytes: bytes)
        print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
        await store.close()
    }

    // MARK: In the process that starts it

    static func report<P: BacklogProjection>(
        opening log: URL, _ projection: P.Type
    ) async throws -> Report {
        try await OpeningProcess.report([command, log.path, P.name])
    }
}
