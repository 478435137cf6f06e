import FoldbackSync

/// The user's token, and one request for a fresh one at a time.
actor TokenSource {
    private let make: @Sendable (String?) async throws(AuthorityFailure) -> String
    private var current: String?
    private var requestCount = 0
    /// The last request for a token, while it runs.
    private var running: Task<Result<String, AuthorityFailure>, Never>?

    init(
        _ make: @escaping @Sendable (String?) async throws(AuthorityFailure) -> String
    ) { self.make = make }

    /// Returns the token.
    ///
    /// - Parameter refused: a token that the server refused.
    func token(after refused: String? = nil) async throws(AuthorityFailure) -> String {
        // Another call may have got a fresh one meanwhile.
        if let current, current != refused { return current }
        let task = running ?? Task { await renew(refused) }
        running = task
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            // The app's function may never return. The next call asks again.
            Task { await forget(task) }
        }
        return try result.get()
    }

    /// Asks for a token. The result is the current token before any call gets it: a call that is refused
    /// at once must not get this result again.
    private func renew(_ refused: String?) async -> Result<String, AuthorityFailure> {
        requestCount += 1
        let request = requestCount
        let result: Result<String, AuthorityFailure>
        do throws(AuthorityFailure) { result = .success(try await make(refused)) } catch {
            result = .failure(error)
        }
        // A request that was forgotten may end after a newer one.
        guard request == requestCount else { return result }
        if case .success(let token) = result { current = token }
        running = nil
        return result
    }

    private func forget(_ task: Task<Result<String, AuthorityFailure>, Never>) {
        if running == task { running = nil }
    }
}
