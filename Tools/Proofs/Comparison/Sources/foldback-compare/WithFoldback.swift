import Foldback
import Foundation

/// Foldback with rows on disk, and a server that only answers.
struct WithFoldback: Contender {
    private let store: Store<Messages>

    init(at directory: URL, _ durability: Durability) async throws {
        store = try await Store.open(
            at: directory, Messages.self, confirmedBy: .acknowledgement, durability: durability)
        let step: Int64 = 1_000
        for first in stride(from: 0, to: Message.count, by: Int(step)) {
            let receipt = try await store.record(
                .filled(from: first, count: step), confirmOnly: true)
            try await store.acknowledge(receipt.number)
        }
        try await store.checkpoint()
        try await store.flush()
    }

    func star(_ id: Int64) async throws -> IntentNumber {
        try await store.record(.starred(id)).number
    }

    func starTogether(_ ids: [Int64]) async throws -> [IntentNumber] {
        var recordings: [QueuedIntent] = []
        for id in ids { recordings.append(try await store.enqueue(.starred(id))) }
        var numbers: [IntentNumber] = []
        for recording in recordings { numbers.append(try await recording.receipt().number) }
        return numbers
    }

    func acknowledge(_ number: IntentNumber) async throws {
        try await store.acknowledge(number)
    }

    func acknowledgeTogether(_ numbers: [IntentNumber]) async throws {
        try await store.acknowledge(contentsOf: numbers.map { Acknowledgement($0) })
    }

    func rollBack(_ number: IntentNumber) async throws {
        try await store.reject(number, code: "forbidden", message: "not yours")
    }

    func page(before sent: Int64) throws -> [Message] {
        try store.read { rows in
            try rows.page(
                of: Messages.unread, in: .keys(upTo: sent), order: .descending, limit: 50
            ).map(\.row)
        }
    }

    func stars(of id: Int64) throws -> Int64? {
        try store.read { try $0.get(id, in: Messages.messages)?.stars }
    }

    func close() async { await store.close() }
}

struct Messages: StoredProjection {
    typealias Event = Change

    static let messages = RowTable("messages", key: Int64.self, codec: MessageCodec())
    static let unread = messages.index("unread") { _, message in
        message.isRead ? nil : message.sent
    }
    static let schema = RowSchema(messages, unread)

    static func apply(
        _ event: Change, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        switch event {
        case .starred(let id): try rows.update(id, in: messages) { $0.stars += 1 }
        case .filled(let first, let count):
            for id in first..<first + count {
                try rows.put(Message(id: id), at: id, in: messages)
            }
        }
    }
}

struct MessageCodec: ByteCodec {
    func encode(_ message: Message, into output: inout OutputBuffer) {
        output.append(message.id)
        output.append(message.thread)
        output.append(message.sent)
        output.append(message.stars)
        output.append(message.isRead ? 1 as UInt8 : 0)
        output.append(message.text)
    }

    func decode(_ bytes: RawSpan) throws -> Message {
        var cursor = InputCursor()
        return Message(
            id: try cursor.number(in: bytes), thread: try cursor.number(in: bytes),
            sent: try cursor.number(in: bytes), stars: try cursor.number(in: bytes),
            isRead: try cursor.number(UInt8.self, in: bytes) != 0,
            text: try cursor.text(in: bytes))
    }
}
