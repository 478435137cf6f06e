import Foldback
import FoldbackShell
import FoldbackSync
import Foundation

/// `foldback-probe successor LOG`: continues a superseded log with another authority, and brings
/// pending and confirmed work.
///
/// The authority is ``secondAuthority(after:)``. The line is `continued`. If the log has this
/// authority's events, the line is `already continued`, and the work of its kept logs is brought
/// again: that records nothing.
enum SuccessorProbe {
    static func run(_ log: URL) async throws {
        let store = try await open(log)
        let authority = try await secondAuthority(after: store.status.replica)
        guard try await isSuperseded(store, by: authority) else {
            for url in try await LogDirectory(at: log).keptLogs() {
                let kept = try await open(url)
                _ = try await store.bring(.pendingAndConfirmed, from: kept)
                await kept.close()
            }
            say("already continued\n")
            return await store.close()
        }
        let result = try await store.continueOnNewLog(
            from: authority, policy: .ordered, bringing: .pendingAndConfirmed, opening: open)
        guard case .continued(let next, _) = result else { return say("\(result)\n") }
        say("continued\n")
        await next.close()
    }

    /// `foldback-probe successor LOG backup`, `… LOG nothing`: the same with an authority that has an
    /// older backup, or no data. Sends everything, brings the old log's work again, and says what was
    /// brought and what the authority has. With `pending` at the end, it brings pending work alone.
    static func run(
        _ log: URL, losing story: String, bringing choice: WorkToBring
    ) async throws {
        let store = try await open(log)
        guard let lineage = Lineage("empty") else { preconditionFailure("a lineage was refused") }
        let authority =
            story == "nothing"
            ? InProcessAuthority(Documents.self, lineage: lineage)
            : try await secondAuthority(after: store.status.replica)
        guard try await isSuperseded(store, by: authority) else {
            return say("not superseded\n")
        }
        let result = try await store.continueOnNewLog(
            from: authority, policy: .ordered, bringing: choice, opening: open)
        guard case .continued(let next, let brought) = result, let url = brought.keptLog else {
            return say("\(result)\n")
        }
        say(
            """
            brought \(brought.pending) pending, \(brought.confirmed) confirmed, \
            \(brought.rejections) rejected; the server lacks \(brought.lacking), \
            unknown \(brought.unknown)

            """)
        let kept = try await open(url)
        for _ in 1...2 {
            try await sendAll(of: next, to: authority)
            try await next.bring(choice, from: kept)
        }
        say("the server has \(authority.state.json), from \(authority.events.count) events\n")
        await kept.close()
        await next.close()
    }

    private static func isSuperseded(
        _ store: Store<Documents>, by authority: InProcessAuthority<Documents>
    ) async throws(SyncError) -> Bool {
        do throws(SyncError) {
            _ = try await Downlink(store, from: authority, policy: .ordered).fetch()
            return false
        } catch {
            guard case .superseded = error else { throw error }
            return true
        }
    }

    private static func sendAll(
        of store: Store<Documents>, to authority: InProcessAuthority<Documents>
    ) async throws(SyncError) {
        let outbox = Outbox(store, to: authority, policy: .ordered)
        let run = Task { try await outbox.run() }
        for await snapshot in store.views where snapshot.pending.isEmpty { break }
        run.cancel()
        _ = await run.result
        _ = try await Downlink(store, from: authority, policy: .ordered).fetch()
    }

    @Sendable private static func open(
        _ log: URL
    ) async throws(LogError) -> Store<Documents> {
        try await Store.open(
            at: log, Documents.self, confirmedBy: .downlink, durability: .relaxed)
    }
}
