import FoldbackSync

/// The user's token, and one request for a fresh one at a time.
actor TokenSource {
    private let make: @Sendable (String?) async throws(AuthorityFailure) -> String
    private var current: String?
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
        if let running { return try await running.value.get() }
        let task = Task { await renew() }
        running = task
        return try await task.value.get()
    }

    /// Asks for a token. The result is the current token before any call gets it: a call that is refused at
    /// once must not get this result again.
    private func renew() async -> Result<String, AuthorityFailure> {
        let result: Result<String, AuthorityFailure>
        do throws(AuthorityFailure) { result = .success(try await make(current)) } catch {
            result = .failure(error)
        }
        current = try? result.get()
        running = nil
        return result
    }
}
