import Foundation

/// A chat message: a row, and the subject of most events. It is the worked example of the article
/// Codecs.
package struct Message: Codable, Hashable, Sendable {
    package struct Flags: OptionSet, Codable, Hashable, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let read = Flags(rawValue: 1)
        package static let starred = Flags(rawValue: 2)
        package static let edited = Flags(rawValue: 4)
    }

    package let id: UUID
    package let thread: UUID
    package let author: String
    package var text: String
    package let sent: Date
    package var flags: Flags
    /// The message that this one answers. A later version of the app added this field.
    package let replyTo: UUID?

    package init(
        id: UUID, thread: UUID, author: String, text: String, sent: Date, flags: Flags = [],
        replyTo: UUID? = nil
    ) {
        self.id = id
        self.thread = thread
        self.author = author
        self.text = text
        self.sent = sent
        self.flags = flags
        self.replyTo = replyTo
    }
}

/// A change of a message.
package enum MessageEvent: Codable, Hashable, Sendable {
    case sent(Message)
    case edited(id: UUID, text: String)
    case read(id: UUID)
    case deleted(id: UUID)
}
