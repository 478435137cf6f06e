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
        let result = try await continueOnNewLog(from: authority, policy: policy, opening: open)
        let next: Store<P>? = if case .continued(let store) = result { store } else { nil }
        return try #require(next, "\(result)", sourceLocation: sourceLocation)
    }
}
