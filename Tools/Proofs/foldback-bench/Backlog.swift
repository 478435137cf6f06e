import Foldback
import Foundation

/// A projection whose log can have many pending intents, as after a long time without a connection.
protocol BacklogProjection: EventFold {
    /// The authority's state, for draining.
    associatedtype Server: Projection where Server.Event == Event

    static var words: String { get }
    /// The event that makes the item with this number.
    static func making(_ item: Int) -> Event
    /// The event of a pending intent, which changes an item.
    static func change(_ number: Int, of item: Int) -> Event
}

enum Backlog {
    static let pendingCount = 50_000
    /// The items that the intents change: ten intents for each, in turn. So the intents of one item
    /// build on each other.
    private static let itemCount = 5_000

    /// Writes a log with confirmed items, this many pending intents, and a checkpoint.
    static func write<P: BacklogProjection>(
        _ projection: P.Type, at url: URL, _ kind: LogKind, pendingCount: Int
    ) async throws {
        let store = try await Store.open(
            at: url, projection, confirmedBy: kind, durability: .relaxed)
        let events = (0..<itemCount).map(P.making)
        switch kind {
        case .acknowledgement:
            let numbers = try await store.recordAll(events)
            try await store.acknowledge(contentsOf: numbers.map { Acknowledgement($0) })
        case .downlink:
            try await store.confirm(
                (1...).lazy.prefix(itemCount).map {
                    ConfirmedEvent(position: Position(UInt64($0)), event: events[$0 - 1])
                })
        }
        _ = try await store.recordAll(
            (0..<pendingCount).lazy.map { P.change($0, of: $0 % itemCount) })
        try await store.checkpoint()
        // Otherwise the system writes the data during the next measurement.
        try await store.flush()
        await store.close()
    }

    /// The numbers of the items.
    static var itemNumbers: Range<Int> { 0..<itemCount }
}

extension Documents: BacklogProjection {
    typealias Server = Documents
    static let words = "documents as a value"
    static func making(_ item: Int) -> DocumentEvent { Items.making(item) }
    static func change(_ number: Int, of item: Int) -> DocumentEvent {
        Items.change(number, of: item)
    }
}

extension StoredDocuments: BacklogProjection {
    typealias Server = Documents
    static let words = "documents as rows"
    static func making(_ item: Int) -> DocumentEvent { Items.making(item) }
    static func change(_ number: Int, of item: Int) -> DocumentEvent {
        Items.change(number, of: item)
    }
}

private enum Items {
    static let text = String(repeating: "a note of some length ", count: 5)

    static func making(_ item: Int) -> DocumentEvent {
        .set(Events.key(item), ["done": false, "text": .string(text), "title": "new"])
    }

    static func change(_ number: Int, of item: Int) -> DocumentEvent {
        .merge(
            Events.key(item),
            ["done": .bool(number % 2 == 0), "title": .string("title number \(number)")])
    }
}

/// Rows and events that the default codecs write as JSON, as in an app without codecs of its own.
enum TaskRows: StoredProjection {
    struct Row: Codable, Sendable {
        var title: String
        var isDone: Bool
        let text: String
        let made: Int
    }

    enum Event: Codable, Sendable {
        case made(Int, text: String)
        case changed(Int, title: String, isDone: Bool)
    }

    static let tasks = RowTable("tasks", key: UInt64.self, row: Row.self)
    static let schema = RowSchema(tasks)

    static func apply(_ event: Event, _ context: EventContext, to rows: inout TouchedRows) throws {
        switch event {
        case .made(let item, let text):
            try rows.put(
                Row(title: "new", isDone: false, text: text, made: item), at: UInt64(item),
                in: tasks)
        case .changed(let item, let title, let isDone):
            try rows.update(UInt64(item), in: tasks) {
                $0.title = title
                $0.isDone = isDone
            }
        }
    }
}

extension TaskRows: BacklogProjection {
    typealias Server = RowsInMemory<TaskRows>
    static let words = "Codable rows"
    static func making(_ item: Int) -> Event { .made(item, text: Items.text) }
    static func change(_ number: Int, of item: Int) -> Event {
        .changed(item, title: "title number \(number)", isDone: number % 2 == 0)
    }
}
