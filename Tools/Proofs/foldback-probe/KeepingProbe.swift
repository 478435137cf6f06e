import Foldback
import Foundation

/// `foldback-probe keeping LOG`: opens a log with a window of 1,000 entries, records an intent, and closes the
/// log, which waits for the compacted form that is prepared. The line is `prepared`.
enum KeepingProbe {
    static func run(_ log: URL) async throws {
        let store = try await Store.open(
            at: log, Documents.self, confirmedBy: .downlink, durability: .durable,
            keeping: .entries(1_000))
        try await store.record(.set("mine", 1))
        await store.close()
        say(store.compactionFailure.map { "\($0)\n" } ?? "prepared\n")
    }
}
