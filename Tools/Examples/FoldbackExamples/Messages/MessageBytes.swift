import Foldback
import Foundation

/// The bytes of a ``Message``. Rows have just these bytes; ``MessageEventBytes`` contains them.
///
/// ```
/// id   thread   sent   flags    author   text   replyTo
/// 16   16       8      varint   sized    sized  16, absent if nil
/// ```
package struct MessageBytes: ByteCodec {
    package init() {}

    package func encode(_ message: Message, into output: inout OutputBuffer) {
        message.write(to: &output)
    }

    package func decode(_ bytes: RawSpan) throws -> Message {
        var cursor = InputCursor()
        return try Message(from: &cursor, in: bytes)
    }
}

extension Message {
    fileprivate func write(to output: inout OutputBuffer) {
        output.append(id)
        output.append(thread)
        output.append(sent)
        output.append(variable: UInt64(flags.rawValue))
        output.append(author)
        output.append(text)
        // Absent if nil, so that a message has the same bytes as in versions without the field.
        if let replyTo { output.append(replyTo) }
    }

    /// Reads to the end of the bytes. Only the last part of a value can get new fields.
    fileprivate init(from cursor: inout InputCursor, in bytes: RawSpan) throws(InputError) {
        id = try cursor.uuid(in: bytes)
        thread = try cursor.uuid(in: bytes)
        sent = try cursor.date(in: bytes)
        guard let rawFlags = UInt32(exactly: try cursor.variable(in: bytes)) else {
            throw .outOfRange
        }
        flags = Flags(rawValue: rawFlags)
        author = try cursor.text(in: bytes)
        text = try cursor.text(in: bytes)
        replyTo = cursor.isAtEnd(of: bytes) ? nil : try cursor.uuid(in: bytes)
        try cursor.requireEnd(of: bytes)
    }
}

/// The bytes of a ``MessageEvent``: a tag for its case, then the values of the case.
package struct MessageEventBytes: ByteCodec {
    /// The tags of removed cases stay here, because no other case may use them.
    private enum Tag: UInt8 {
        case sent = 1
        case edited = 2
        case read = 3
        case deleted = 4
    }

    package init() {}

    package func encode(_ event: MessageEvent, into output: inout OutputBuffer) {
        switch event {
        case .sent(let message):
            output.append(Tag.sent.rawValue)
            message.write(to: &output)
        case .edited(let id, let text):
            output.append(Tag.edited.rawValue)
            output.append(id)
            output.append(text)
        case .read(let id):
            output.append(Tag.read.rawValue)
            output.append(id)
        case .deleted(let id):
            output.append(Tag.deleted.rawValue)
            output.append(id)
        }
    }

    package func decode(_ bytes: RawSpan) throws -> MessageEvent {
        var cursor = InputCursor()
        let event = try event(from: &cursor, in: bytes)
        try cursor.requireEnd(of: bytes)
        return event
    }

    private func event(
        from cursor: inout InputCursor, in bytes: RawSpan
    ) throws(InputError) -> MessageEvent {
        let tag = try cursor.number(UInt8.self, in: bytes)
        switch Tag(rawValue: tag) {
        case .sent: return .sent(try Message(from: &cursor, in: bytes))
        case .edited:
            return .edited(id: try cursor.uuid(in: bytes), text: try cursor.text(in: bytes))
        case .read: return .read(id: try cursor.uuid(in: bytes))
        case .deleted: return .deleted(id: try cursor.uuid(in: bytes))
        case nil: throw .unknownTag(UInt64(tag))
        }
    }
}
