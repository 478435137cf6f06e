import Foldback
import Foundation
import MessageExample
import TestSupport
import Testing

/// Question: can a log that began with JSON continue in another codec?
///
/// Each record names its format. Every entry folds, and code that cannot read an entry loses no
/// data (L5).
@Suite struct CodecLogTests {
    private let directory = TemporaryDirectory()

    private func open<P: EventFold>(
        _ fold: P.Type, _ kind: LogKind = .downlink,
        onCatchUp progress: (@Sendable (CatchUpProgress) -> Void)? = nil
    ) async throws(LogError) -> Store<P> {
        try await Store.open(
            at: directory.log, fold, confirmedBy: kind, durability: .relaxed,
            checkpoints: .manual, replica: .exactly(ReplicaID("me")!), unreadable: .opened,
            sources: .counting(), onCatchUp: progress)
    }

    /// Records two intents, then confirms the first intent and a message from another replica.
    private func fill<P: EventFold>(
        _ store: Store<P>, from number: UInt64, position: UInt64
    ) async throws where P.Event == MessageEvent {
        _ = try await store.record(.sent(.numbered(number)))
        _ = try await store.record(.edited(id: .numbered(number), text: "\(number)!"))
        _ = try await store.confirm(
            [
                ConfirmedEvent(
                    position: Position(position), event: .sent(.numbered(number)),
                    origin: IntentID(replica: ReplicaID("me")!, number: IntentNumber(number))),
                ConfirmedEvent(
                    position: Position(position + 1), event: .sent(.numbered(number + 1))),
            ])
    }

    private func expectAll<C>(_ inbox: Mailbox<C>, pairs: Int) {
        for number in stride(from: UInt64(1), to: UInt64(2 * pairs), by: 2) {
            #expect(inbox.messages[.numbered(number)]?.text == "\(number)!")
            #expect(inbox.messages[.numbered(number + 1)] == .numbered(number + 1))
        }
        #expect(inbox.messages.count == 2 * pairs)
    }

    // MARK: Both in one log

    @Test func `a JSON log continues in the app's own codec, and every entry folds`()
        async throws
    {
        var json: Store<Mailbox<OnlyJSON>>? = try await open(Mailbox<OnlyJSON>.self)
        try await fill(json!, from: 1, position: 1)
        try await json!.checkpoint()
        await json!.close()
        json = nil

        var store = try await open(Mailbox<Packed>.self)
        // The checkpoint was folded with another codec, so the log is folded again once.
        #expect(store.replayStart.checkpoint == 0)
        #expect(store.replayStart.refused.map(\.reason) == [.otherCodec(.json)])
        #expect(store.replayStart.entriesFolded == 3)
        #expect(store.replayStart.warnings.isEmpty)
        expectAll(store.view, pairs: 1)
        try await fill(store, from: 3, position: 3)
        try await store.checkpoint()
        await store.close()

        store = try await open(Mailbox<Packed>.self)
        #expect(store.replayStart.checkpoint == 6)
        #expect(store.replayStart.refused.isEmpty)
        expectAll(store.view, pairs: 2)
        #expect(store.faults.isEmpty && store.snapshot.conflicted.isEmpty)
        let formats = try store.entries(from: 1, countMax: 10).map(\.formats)
        #expect(formats.prefix(3) == [[.json], [.json], [.json, .json]])
        #expect(formats.suffix(3) == [[packed], [packed], [packed, packed]])
        #expect(try await store.verify().findings.isEmpty)
        // The server confirms in the new format an intent that was recorded in the old format.
        _ = try await store.confirm(
            [
                ConfirmedEvent(
                    position: 5, event: .edited(id: .numbered(1), text: "1!"),
                    origin: IntentID(replica: ReplicaID("me")!, number: 2))
            ])
        expectAll(store.view, pairs: 2)
        #expect(store.snapshot.pending == [4])
        await store.close()
    }

    @Test func `code that does not know the codec loses no data`() async throws {
        var store = try await open(Mailbox<Packed>.self)
        try await fill(store, from: 1, position: 1)
        await store.close()

        let json = try await open(Mailbox<OnlyJSON>.self)
        #expect(json.view.messages.isEmpty)
        #expect(json.faults.map(\.sequence) == [3, 3])
        #expect(json.snapshot.conflicted == [2])
        // The checkpoint says that it lacks the events, and it is of another codec.
        try await json.checkpoint()
        try await fill(json, from: 3, position: 3)
        #expect(json.view.messages.count == 2)
        await json.close()

        store = try await open(Mailbox<Packed>.self)
        expectAll(store.view, pairs: 2)
        #expect(store.faults.isEmpty && store.snapshot.conflicted.isEmpty)
        #expect(try await store.verify().findings.isEmpty)
        await store.close()
    }

    @Test func `a codec also reads events that its older version wrote`() async throws {
        let old = try await open(Mailbox<PackedBefore>.self)
        try await fill(old, from: 1, position: 1)
        await old.close()
        let store = try await open(Mailbox<Packed>.self)
        try await fill(store, from: 3, position: 3)
        expectAll(store.view, pairs: 2)
        let formats = try store.entries(from: 1, countMax: 10).map(\.formats)
        #expect(formats.first == [packedBefore] && formats.last == [packed, packed])
        await store.close()
    }

    // MARK: Rows

    @Test func `code with the codec rebuilds the rows of code without the codec`()
        async throws
    {
        let before = try await open(Mailbox<Packed>.self)
        try await fill(before, from: 1, position: 1)
        await before.close()

        let store = try await open(RowInbox<OnlyJSON>.self)
        #expect(store.faults.map(\.sequence) == [3, 3])
        try await fill(store, from: 3, position: 3)
        await store.close()

        var rebuilt = try await open(RowInbox<Packed>.self)
        #expect(rebuilt.faults.isEmpty && rebuilt.conflicted.isEmpty)
        #expect(try texts(rebuilt) == ["1!", "2", "3!", "4"])
        await rebuilt.close()
        rebuilt = try await open(RowInbox<Packed>.self) { _ in
            Issue.record("the rows were rebuilt twice")
        }
        await rebuilt.close()
    }

    @Test func `an intent that was confirmed while unreadable gets into the rows later`()
        async throws
    {
        var store = try await open(RowInbox<Packed>.self, .acknowledgement)
        _ = try await store.record(.sent(.numbered(1)))
        await store.close()
        let json = try await open(RowInbox<OnlyJSON>.self, .acknowledgement)
        try await json.acknowledge(1)
        #expect(json.faults.map(\.sequence) == [2])
        await json.close()
        store = try await open(RowInbox<Packed>.self, .acknowledgement)
        #expect(store.faults.isEmpty)
        #expect(try texts(store) == ["1"])
        await store.close()
    }

    private func texts(_ store: Store<RowInbox<Packed>>) throws -> [String] {
        try store.read { rows in
            try rows.page(of: RowInbox<Packed>.messages, limit: 10).map(\.row.text)
        }
    }

    // MARK: Formats

    @Test func `a codec reads only the formats that it names`() throws {
        let event = MessageEvent.read(id: .numbered(7))
        let codec = Packed.codec
        let bytes = try codec.encode(event)
        #expect(codec.format == packed)
        #expect(try codec.value(of: bytes, packed) == event)
        for format in [
            EventFormat(codec: 128, version: 3), EventFormat(codec: 129, version: 2),
            EventFormat(codec: 1, version: 2), EventFormat(codec: 0, version: 0),
        ] {
            #expect(throws: (any Error).self) {
                try codec.value(of: bytes, format)
            }
        }
    }

    /// A digit is valid JSON, but another codec can also write it.
    @Test func `the JSON codec refuses bytes from another codec`() throws {
        let codec = JSONCodec<Int>(version: 2)
        let bytes = Array("7".utf8)
        #expect(try codec.value(of: bytes, .json) == 7)
        #expect(throws: (any Error).self) {
            try codec.value(of: bytes, EventFormat(codec: 128, version: 1))
        }
    }
}

// MARK: An app in three versions

private let packedBefore = EventFormat(codec: 128, version: 1)
private let packed = EventFormat(codec: 128, version: 2)

private protocol CodecChoice: Sendable {
    static var codec: any EventCodec<MessageEvent> { get }
}

private enum OnlyJSON: CodecChoice {
    static let codec: any EventCodec<MessageEvent> = JSONCodec<MessageEvent>()
}

private enum PackedBefore: CodecChoice {
    static let codec: any EventCodec<MessageEvent> = PackedCodec(
        BackwardsBytes(), as: packedBefore)
}

private enum Packed: CodecChoice {
    static let codec: any EventCodec<MessageEvent> = PackedCodec(MessageEventBytes(), as: packed)
        .reading(BackwardsBytes(), as: packedBefore)
        .reading(JSONCodec<MessageEvent>())
}

/// The bytes of ``MessageEventBytes`` in reverse order, so that ``MessageEventBytes`` cannot read
/// them.
private struct BackwardsBytes: ByteCodec {
    func encode(_ event: MessageEvent, into output: inout OutputBuffer) throws {
        output.append(bytes: try MessageEventBytes().bytes(of: event).reversed())
    }

    func decode(_ bytes: RawSpan) throws -> MessageEvent {
        let forwards: [UInt8] = bytes.withUnsafeBytes { $0.reversed() }
        return try MessageEventBytes().decode(forwards.span.bytes)
    }
}

private struct Mailbox<C: CodecChoice>: Projection, Codable {
    var messages: [UUID: Message] = [:]

    static var name: String { "Mailbox" }
    static var codec: any EventCodec<MessageEvent> { C.codec }

    mutating func apply(_ event: MessageEvent, _ context: EventContext) throws {
        switch event {
        case .sent(let message): messages[message.id] = message
        case .edited(let id, let text):
            guard messages[id] != nil else { throw CocoaError(.keyValueValidation) }
            messages[id]?.text = text
        case .read(let id): messages[id]?.flags.insert(.read)
        case .deleted(let id): messages[id] = nil
        }
    }
}

extension Mailbox: Equatable {}

private struct RowInbox<C: CodecChoice>: StoredProjection {
    static var messages: RowTable<UUID, Message> { RowTable("messages", codec: MessageBytes()) }
    static var schema: RowSchema { RowSchema(messages) }
    static var name: String { "RowInbox" }
    static var codec: any EventCodec<MessageEvent> { C.codec }

    static func apply(
        _ event: MessageEvent, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        switch event {
        case .sent(let message): try rows.put(message, at: message.id, in: messages)
        case .edited(let id, let text): try rows.update(id, in: messages) { $0.text = text }
        case .read(let id): try rows.update(id, in: messages) { $0.flags.insert(.read) }
        case .deleted(let id): try rows.remove(id, from: messages)
        }
    }
}

extension EventCodec {
    /// Decodes an array, because `#expect` cannot capture a span.
    fileprivate func value(of bytes: [UInt8], _ format: EventFormat) throws -> Event {
        try decode(bytes.span.bytes, format: format)
    }
}

extension LogEntry {
    /// The formats of the entry's events.
    fileprivate var formats: [EventFormat] {
        switch content {
        case .intent(let intent): [intent.event.format]
        case .acknowledged(_, _, let replacement): replacement.map { [$0.format] } ?? []
        case .confirmed(let events, _): events.map(\.event.format)
        case .changed: []
        }
    }
}

extension UUID {
    fileprivate static func numbered(_ number: UInt64) -> UUID {
        UUID(
            uuidString: "00000000-0000-0000-0000-\(String(1_000_000_000_000 + number).dropFirst())")!
    }
}

extension Message {
    fileprivate static func numbered(_ number: UInt64) -> Message {
        Message(
            id: .numbered(number), thread: .numbered(0), author: "ann", text: "\(number)",
            sent: Date(timeIntervalSinceReferenceDate: Double(number)))
    }
}
