import Foldback
import FoldbackShell
import FoldbackSync
import Foundation

/// `foldback-probe successor LOG`: continues a superseded log with another authority.
///
/// The authority is ``secondAuthority(after:)``. The line is `continued`, or
/// `already continued` if the log has this authority's events.
enum SuccessorProbe {
    static func run(_ log: URL) async throws {
        let store = try await open(log)
        let authority = try await secondAuthority(after: store.status.replica)
        let downlink = Downlink(store, from: authority, policy: .ordered)
        do {
            _ = try await downlink.fetch()
            say("already continued\n")
            return await store.close()
        } catch SyncError.superseded {
            let result = try await store.continueOnNewLog(
                from: authority, policy: .ordered, opening: open)
            guard case .continued(let next) = result else { return say("\(result)\n") }
            say("continued\n")
            await next.close()
        }
    }

    @Sendable private static func open(
        _ log: URL
    ) async throws(LogError) -> Store<Documents> {
        try await Store.open(
            at: log, Documents.self, confirmedBy: .downlink, durability: .relaxed)
    }
}
