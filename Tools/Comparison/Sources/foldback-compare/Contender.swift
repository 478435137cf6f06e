/// One way to keep what the user did until the server has answered.
protocol Contender: Sendable {
    /// What the write has to be called by afterwards.
    associatedtype Handle: Sendable

    /// Stores an outbox row and updates the message it concerns, all or nothing.
    func star(_ id: Int64) async throws -> Handle
    /// The same for many in as few transactions as the caller can arrange by hand.
    func starTogether(_ ids: [Int64]) async throws -> [Handle]

    /// The server has accepted it.
    func acknowledge(_ handle: Handle) async throws
    func acknowledgeTogether(_ handles: [Handle]) async throws
    /// The server has refused it: the message is as it was.
    func rollBack(_ handle: Handle) async throws

    /// The 50 newest unread messages that were sent before that time.
    func page(before sent: Int64) throws -> [Message]

    /// Of a message, to see that both do the same.
    func stars(of id: Int64) throws -> Int64?
    func close() async throws
}
