import Foldback

/// A row of 200 bytes, as in a messenger app.
struct MailMessage: Equatable, Sendable {
    var sender: UInt64
    /// The order of these numbers differs from the order of the keys.
    var sent: UInt64
    /// Events increment this, so that an intent depends on the earlier intents on the same row.
    var stars: UInt32 = 0
    var isUnread: Bool
    var text: String

    static let byteCount = 200

    /// The first row at `key`. Every tenth row is unread.
    init(at key: UInt64) {
        sender = key % 1_000
        sent = Self.sent(at: key)
        isUnread = key.isMultiple(of: 10)
        let digits = String(key)
        text = String(Self.words.prefix(Self.textBytes - digits.utf8.count)) + digits
    }

    private init(sender: UInt64, sent: UInt64, stars: UInt32, isUnread: Bool, text: String) {
        self.sender = sender
        self.sent = sent
        self.stars = stars
        self.isUnread = isUnread
        self.text = text
    }

    static func sent(at key: UInt64) -> UInt64 { key &* 0x9E37_79B9_7F4A_7C15 }

    /// The size of the text: the row's size without the other fields and the two bytes for the
    /// text's length.
    private static let textBytes = byteCount - 23
    private static let words = String(repeating: "meet me at the harbour ", count: 8)

    struct Codec: ByteCodec {
        func encode(_ message: MailMessage, into output: inout OutputBuffer) {
            output.append(message.sender)
            output.append(message.sent)
            output.append(message.stars)
            output.append(message.isUnread ? 1 as UInt8 : 0)
            output.append(message.text)
        }

        func decode(_ bytes: RawSpan) throws -> MailMessage {
            var cursor = InputCursor()
            return MailMessage(
                sender: try cursor.number(in: bytes), sent: try cursor.number(in: bytes),
                stars: try cursor.number(in: bytes),
                isUnread: try cursor.number(UInt8.self, in: bytes) != 0,
                text: try cursor.text(in: bytes))
        }
    }
}

/// Messages as rows, with a partial index of the unread messages by the time of sending.
struct Mailbox: StoredProjection {
    enum Event: Equatable, Sendable {
        /// Adds new rows with successive keys.
        case filled(from: UInt64, count: UInt32)
        case starred(UInt64)
    }

    static let messages = RowTable("messages", key: UInt64.self, codec: MailMessage.Codec())
    static let unread = messages.index("unread") { _, message in
        message.isUnread ? message.sent : nil
    }
    static let schema = RowSchema(messages, unread)
    static var codec: any EventCodec<Event> { MailboxEventCodec() }

    static func apply(
        _ event: Event, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        switch event {
        case .filled(let first, let count):
            for key in first..<first + UInt64(count) {
                try rows.put(MailMessage(at: key), at: key, in: messages)
            }
        case .starred(let key): try rows.update(key, in: messages) { $0.stars += 1 }
        }
    }
}

private struct MailboxEventCodec: EventCodec {
    let format = EventFormat(codec: 129, version: 1)

    func encode(_ event: Mailbox.Event) -> [UInt8] {
        switch event {
        case .filled(let first, let count): [0] + first.bytes + count.bytes
        case .starred(let key): [1] + key.bytes
        }
    }

    func decode(_ bytes: RawSpan, format: EventFormat) throws -> Mailbox.Event {
        var cursor = InputCursor()
        let isStarred = try cursor.number(UInt8.self, in: bytes) == 1
        let key: UInt64 = try cursor.number(in: bytes)
        return isStarred
            ? .starred(key) : .filled(from: key, count: try cursor.number(in: bytes))
    }
}

extension FixedWidthInteger {
    fileprivate var bytes: [UInt8] { withUnsafeBytes(of: littleEndian) { Array($0) } }
}
