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
        let (make, old) = (make, current)
        let task = Task { () async -> Result<String, AuthorityFailure> in
            do throws(AuthorityFailure) { return .success(try await make(old)) } catch {
                return .failure(error)
            }
        }
        running = task
        let result = await task.value
        running = nil
        current = try? result.get()
        return try result.get()
    }
}
