/// A projection whose confirmed state is rows on disk.
///
/// Use it for state that does not fit in memory, or that is read by key, in ranges or by index. Do
/// not use it for small state: a ``Projection`` has a view as one value.
/// <doc:ChoosingBetweenAValueAndRows> helps to choose.
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
/// Confirmed rows change in the transaction of the entry that confirms the event (L4). The rows of
/// the overlay's intents are in memory. A reader sees them over the confirmed rows.
///
/// The store records which rows `apply` reads and writes. When a row changes, only the intents that
/// read this row are applied again, in number order.
public protocol StoredProjection: EventFold {
    /// Declared again so that the compiler can infer it from `apply`.
    associatedtype Event

    /// The tables and indexes of the projection.
    static var schema: RowSchema { get }

    /// Applies one event to the rows: changes all rows that the event asks for, or none if it
    /// throws.
    ///
    /// Must be a function of the event, its context and `rows` alone, on any machine and at any
    /// time (F12). The same event over the same rows makes the same changes. The store may call it
    /// on any thread.
    ///
    /// - Throws: if the event does not apply to these rows. The changes that it made so far are
    ///   dropped, and the intent is conflicted or the confirmed event is a fault (F9).
    static func apply(
        _ event: Event, _ context: EventContext, to rows: inout TouchedRows
    ) throws
}
