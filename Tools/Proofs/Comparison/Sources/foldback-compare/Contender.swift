/// A library that keeps the user's changes until the server has answered.
protocol Contender: Sendable {
    /// The value that names a change in later calls.
    associatedtype Handle: Sendable

    /// Stores an outbox entry and updates its message in one transaction.
    func star(_ id: Int64) async throws -> Handle
    /// Stars many messages in as few transactions as possible.
    func starTogether(_ ids: [Int64]) async throws -> [Handle]

    /// Records that the server accepted the change.
    func acknowledge(_ handle: Handle) async throws
    func acknowledgeTogether(_ handles: [Handle]) async throws
    /// Records that the server rejected the change, and restores the message.
    func rollBack(_ handle: Handle) async throws

    /// Returns the 50 newest unread messages that were sent before `sent`.
    func page(before sent: Int64) throws -> [Message]

    /// Returns the stars of a message, to check that both sides have the same result.
    func stars(of id: Int64) throws -> Int64?
    func close() async throws
}
