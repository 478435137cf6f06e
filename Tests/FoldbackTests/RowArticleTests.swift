import Foldback
import Foundation
import Synchronization
import TestSupport
import Testing

// Article: projection
struct Inbox: StoredProjection {
    struct Message: Codable, Equatable {
        var thread: UUID
        var text: String
        var sent: Date
        var isRead = false
    }

    enum Event: Codable {
        case received(id: UUID, Message)
        case read(id: UUID)
    }

    static let messages = RowTable("messages", key: UUID.self, row: Message.self)
    static let unread = messages.index("unread") { _, message in
        message.isRead ? nil : message.sent
    }
    static let unreadCounts = RowTable("unread counts", key: UUID.self, row: Int.self)
    static let schema = RowSchema(messages, unread, unreadCounts)

    static func apply(
        _ event: Event, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        switch event {
        case .received(let id, let message):
            try rows.insert(message, at: id, in: messages)
            try rows.update(message.thread, in: unreadCounts, default: 0) { $0 += 1 }
        case .read(let id):
            guard let message = try rows.get(id, in: messages), !message.isRead else { return }
            try rows.update(id, in: messages) { $0.isRead = true }
            try rows.update(message.thread, in: unreadCounts) { $0 -= 1 }
        }
    }
}
// Article: end

private struct Threads: StoredProjection {
    typealias Event = Inbox.Event
    typealias Message = Inbox.Message

    // Article: threads
    static let byThread = RowTable(
        "messages by thread", key: KeyPair<UUID, Date>.self, row: Message.self)

    static func newest(
        of thread: UUID, _ rows: borrowing RowReader<Threads>
    ) throws -> [Message] {
        try rows.page(of: byThread, in: .prefix(thread), order: .descending, limit: 20).map(\.row)
    }
    // Article: end
    static let schema = RowSchema(byThread)

    static func apply(
        _ event: Event, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        guard case .received(_, let message) = event else { return }
        try rows.put(message, at: KeyPair(message.thread, message.sent), in: byThread)
    }
}

/// A store that changes between a read and the first batch of changes.
private struct BusyStore {
    /// An iterator of changes that runs a closure before it returns the first batch.
    struct Changes {
        fileprivate var base: RowChanges<UUID, Inbox.Message>.AsyncIterator
        fileprivate var meanwhile: (() async throws -> Void)?

        func makeAsyncIterator() -> Changes { self }

        mutating func next() async throws -> RowChangeBatch<UUID, Inbox.Message>? {
            try await meanwhile?()
            meanwhile = nil
            return try await base.next()
        }
    }

    private let store: Store<Inbox>
    private let changes: Changes

    /// Starts to watch the messages.
    init(_ store: Store<Inbox>, meanwhile: @escaping () async throws -> Void) throws {
        self.store = store
        changes = Changes(
            base: try store.changes(of: Inbox.messages).makeAsyncIterator(), meanwhile: meanwhile)
    }

    func read<R>(_ body: (borrowing RowReader<Inbox>) throws -> R) throws -> R {
        try store.read(body)
    }

    func changes(of table: RowTable<UUID, Inbox.Message>) throws -> Changes { changes }
}

/// Question: does the code of the article RowsAndIndexes compile and run, and is it the same text?
@Suite struct RowArticleTests {
    private static let thread = UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))

    private static func id(_ number: UInt8) -> UUID {
        UUID(uuid: (2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, number))
    }

    @Test func `the article's inbox lists and counts unread messages, newest first`() async throws {
        let directory = TemporaryDirectory()
        let store = try await Store.open(
            at: directory.log, Inbox.self, also: [AdditionalProjection(Threads.self)],
            confirmedBy: .downlink, durability: .relaxed)
        for number in 1...60 as ClosedRange<UInt8> {
            let message = Inbox.Message(
                thread: Self.thread, text: "\(number)",
                sent: Date(timeIntervalSinceReferenceDate: Double(number)))
            _ = try await store.record(.received(id: Self.id(number), message))
        }
        let log = try await Self.read(Self.id(60), in: store)
        #expect(log == 59)
        _ = try await store.record(.read(id: Self.id(60)))
        let (page, more) = try Self.pages(of: store)
        #expect(page.map(\.row.text) == (10...59).reversed().map { "\($0)" })
        #expect(more.map(\.row.text) == (1...9).reversed().map { "\($0)" })
        let newest = try store.projected(Threads.self).read {
            try Threads.newest(of: Self.thread, $0)
        }
        #expect(newest.map(\.text) == (41...60).reversed().map { "\($0)" })
        let seen = Mutex<[UUID: Inbox.Message]>([:])
        let busy = try BusyStore(store) {
            try await store.reject(63, message: "no")
            _ = try await store.record(.read(id: Self.id(7)))
            await store.close()
        }
        // `busy` already watches. It reads after this record and rejects the intent before the
        // first batch.
        _ = try await store.record(.read(id: Self.id(59)))
        try await Self.follow(busy) { all in seen.withLock { $0 = all } }
        let isRead = seen.withLock { $0.filter(\.value.isRead) }
        #expect(Set(isRead.keys) == [Self.id(7), Self.id(60)])
    }

    private static func read(_ id: UUID, in store: Store<Inbox>) async throws -> Int? {
        // Article: recording
        let receipt = try await store.record(.read(id: id))
        let left = try store.read { rows in try rows.count(of: Inbox.unread) }
        // Article: end
        #expect(receipt.number == 61)
        return left
    }

    private static func pages(
        of store: Store<Inbox>
    ) throws -> ([IndexedRow<Date, UUID, Inbox.Message>], [IndexedRow<Date, UUID, Inbox.Message>]) {
        // Article: reading
        let (page, more, count) = try store.read { rows in
            let page = try rows.page(of: Inbox.unread, order: .descending, limit: 50)
            let more = try rows.page(
                of: Inbox.unread, order: .descending, after: page.last?.place, limit: 50)
            return (page, more, try rows.get(thread, in: Inbox.unreadCounts) ?? 0)
        }
        // Article: end
        #expect(count == 59)
        return (page, more)
    }

    private static func follow(
        _ store: BusyStore, _ show: @Sendable ([UUID: Inbox.Message]) -> Void
    ) async throws {
        // Article: following
        func all() throws -> [UUID: Inbox.Message] {
            try store.read { rows in
                let all = try rows.page(of: Inbox.messages, limit: 1_000)
                return Dictionary(uniqueKeysWithValues: all.map { ($0.key, $0.row) })
            }
        }
        var changes = try store.changes(of: Inbox.messages).makeAsyncIterator()
        var messages = try all()
        while let batch = try await changes.next() {
            if batch.isComplete {
                for change in batch.changes { messages[change.key] = change.new }
            } else {
                messages = try all()
            }
            show(messages)
        }
        // Article: end
    }

    @Test func `the article shows exactly this code`() throws {
        let source = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let article = try String(
            contentsOf: root.appending(path: "Sources/Foldback/Foldback.docc/RowsAndIndexes.md"),
            encoding: .utf8)
        let parts = source.components(separatedBy: "// Article: ").dropFirst().prefix(10)
            .filter { !$0.hasPrefix("end\n") }
        #expect(parts.count == 5)
        for part in parts {
            let lines = part.split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
            let indent = lines.first?.prefix { $0 == " " }.count ?? 0
            let code = lines.map {
                String($0.dropFirst(min(indent, $0.prefix { $0 == " " }.count)))
            }
            .joined(separator: "\n").trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(article.contains("```swift\n\(code)\n```"), "\(code)")
        }
    }
}
