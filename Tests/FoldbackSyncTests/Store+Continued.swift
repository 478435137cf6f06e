import Foldback
import FoldbackSync
import Foundation
import Testing

extension Store {
    /// Continues a superseded log on a new log, and returns the new log's store. Any other result
    /// ends the test.
    func continuedLog(
        from authority: any Authority<P.Event>, policy: SyncPolicy,
        opening open: @escaping @Sendable (URL) async throws(LogError) -> Store<P>,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Store<P> {
        try await continued(
            from: authority, bringing: .pending, policy: policy, opening: open,
            sourceLocation: sourceLocation
        ).store
    }

    /// The same with what was brought.
    func continued(
        from authority: any Authority<P.Event>, bringing choice: WorkToBring, policy: SyncPolicy,
        opening open: @escaping @Sendable (URL) async throws(LogError) -> Store<P>,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> (store: Store<P>, brought: BroughtWork) {
        let result = try await continueOnNewLog(
            from: authority, policy: policy, bringing: choice, opening: open)
        let next: (Store<P>, BroughtWork)? =
            if case .continued(let store, let brought) = result { (store, brought) } else { nil }
        return try #require(next, "\(result)", sourceLocation: sourceLocation)
    }

    /// Sends everything, and fetches its effects.
    func exchangeAll(with authority: any Authority<P.Event>, policy: SyncPolicy) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let outbox = Outbox(self, to: authority, policy: policy)
            group.addTask { try await outbox.run() }
            for number in snapshotNumbers {
                _ = try await receipt(for: number).answer()
            }
            group.cancelAll()
        }
        _ = try await Downlink(self, from: authority, policy: policy).fetch()
    }

    private var snapshotNumbers: [IntentNumber] {
        overlay.filter { $0.state == .pending }.map(\.id.number)
    }
}

/// Returns the error that `body` throws, or nil.
func syncError(_ body: () async throws(SyncError) -> Void) async -> SyncError? {
    do throws(SyncError) {
        try await body()
        return nil
    } catch {
        return error
    }
}
