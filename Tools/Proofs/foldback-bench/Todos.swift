import Foldback

/// What an ordinary app records: events and rows with the default codecs.
enum TodoEvent: Codable, Hashable, Sendable {
    case added(id: Int, title: String, list: String, due: Int)
    case renamed(id: Int, title: String)
    case postponed(id: Int, due: Int)
    case done(id: Int, list: String)

    private static let itemCount = 10_000

    /// The events of an app that adds, renames, postpones and finishes one item after another.
    static func all(count: Int) -> [TodoEvent] {
        (0..<count).map { place in
            let item = place / 4 * 7_919 % itemCount
            let list = "list \(item % 50)"
            return switch place % 4 {
            case 0:
                .added(
                    id: item, title: "call number \(item) back about the boat", list: list,
                    due: 20_000 + item % 365)
            case 1: .renamed(id: item, title: "call number \(item) back about both boats")
            case 2: .postponed(id: item, due: 20_000 + place % 365)
            default: .done(id: item, list: list)
            }
        }
    }
}

/// The number of open items of each list: a value.
struct TodoCounts: Projection, Codable, Hashable {
    private(set) var open: [String: Int] = [:]
    private(set) var doneCount = 0

    mutating func apply(_ event: TodoEvent, _ context: EventContext) {
        switch event {
        case .added(_, _, let list, _): open[list, default: 0] += 1
        case .renamed, .postponed: break
        case .done(_, let list):
            open[list, default: 0] -= 1
            doneCount += 1
        }
    }
}

/// The items as rows, by the day on which they are due and by list.
struct TodoRows: StoredProjection {
    struct Todo: Codable, Hashable, Sendable {
        var title: String
        let list: String
        var due: Int
        var isDone = false
    }

    static let todos = RowTable("todos", key: Int.self, row: Todo.self)
    static let byDue = todos.index("by due") { _, todo in todo.isDone ? nil : todo.due }
    static let byList = todos.index("by list") { _, todo in KeyPair(todo.list, todo.due) }
    static let schema = RowSchema(todos, byDue, byList)

    static func apply(
        _ event: TodoEvent, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        switch event {
        case .added(let id, let title, let list, let due):
            try rows.put(Todo(title: title, list: list, due: due), at: id, in: todos)
        case .renamed(let id, let title):
            try rows.update(id, in: todos) { $0.title = title }
        case .postponed(let id, let due): try rows.update(id, in: todos) { $0.due = due }
        case .done(let id, _): try rows.update(id, in: todos) { $0.isDone = true }
        }
    }
}
