/// A projection whose state is rows on disk: for state that does not fit in memory, or is read by key, in
/// ranges and by index.
///
/// ```swift
/// struct Inbox: StoredProjection {
///     enum Event: Codable, Sendable {
///         case received(Message, id: UUID)
///         case read(id: UUID)
///     }
///     static let messages = RowTable("messages", key: UUID.self, row: Message.self)
///     static let unread = messages.index("unread") { _, message in
///         message.isRead ? nil : message.sent
///     }
///     static let schema = RowSchema(messages, unread)
///
///     static func apply(
///         _ event: Event, _ context: EventContext, to rows: inout TouchedRows
///     ) throws {
///         switch event {
///         case .received(let message, let id): try rows.insert(message, at: id, in: messages)
///         case .read(let id): try rows.update(id, in: messages) { $0.isRead = true }
///         }
///     }
/// }
/// ```
///
/// Confirmed rows move in the transaction of the entry that confirms (L4); what pending intents make of them
/// is kept in memory, and reading sees it above them. Which rows an event touches is noted while `apply`
/// runs, so an answer costs what it touches: the intents that read a row which came out otherwise are applied
/// again, in order, and nobody else is.
public protocol StoredProjection: EventFold {
    /// Declared again so that `apply` alone says what it is.
    associatedtype Event

    static var schema: RowSchema { get }

    /// Changes the rows that the event touches: all of them, or none if it throws.
    ///
    /// The same event over the same rows changes them in the same way, on any machine and at any time
    /// (F12): nothing from outside the event, its context and `rows`.
    /// - Throws: where the event does not apply to these rows; what it has changed so far is dropped (F9).
    static func apply(
        _ event: Event, _ context: EventContext, to rows: inout TouchedRows
    ) throws
}
