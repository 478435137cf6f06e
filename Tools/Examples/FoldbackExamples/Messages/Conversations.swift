import Foldback
import Foundation

/// Chat messages as rows, with the number of unread messages in each thread.
package struct Conversations: StoredProjection {
    package static let messages = RowTable("messages", key: UUID.self, codec: MessageBytes())
    package static let unreadCounts = RowTable("unread counts", key: UUID.self, row: Int.self)

    package static let byThread = messages.index("by thread") { _, message in
        KeyPair(message.thread, message.sent)
    }
    /// Only unread messages.
    package static let unread = messages.index("unread") { _, message in
        message.flags.contains(.read) ? nil : message.sent
    }
    /// An author sends only one message at a time.
    package static let bySending = messages.index("by sending", isUnique: true) { _, message in
        KeyPair(message.author, message.sent)
    }
    package static let schema = RowSchema(messages, unreadCounts, byThread, unread, bySending)

    package static var codec: any EventCodec<MessageEvent> {
        PackedCodec(MessageEventBytes(), as: EventFormat(codec: 131, version: 1))
    }

    package static func apply(
        _ event: MessageEvent, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        switch event {
        case .sent(let message):
            try rows.insert(message, at: message.id, in: messages)
            if !message.flags.contains(.read) { try count(1, message.thread, &rows) }
        case .edited(let id, let text):
            try rows.update(id, in: messages) { message in
                message.text = text
                message.flags.insert(.edited)
            }
        case .read(let id):
            guard let message = try rows.get(id, in: messages) else {
                throw RowError.isAbsent(table: messages.name)
            }
            try rows.update(id, in: messages) { $0.flags.insert(.read) }
            if !message.flags.contains(.read) { try count(-1, message.thread, &rows) }
        case .deleted(let id):
            guard let message = try rows.get(id, in: messages) else { return }
            try rows.remove(id, from: messages)
            if !message.flags.contains(.read) { try count(-1, message.thread, &rows) }
        }
    }

    private static func count(
        _ change: Int, _ thread: UUID, _ rows: inout TouchedRows
    ) throws {
        try rows.update(thread, in: unreadCounts, default: 0) { $0 += change }
    }
}
