import Foldback
import FoldbackTesting

/// The event of all test projections.
enum TestEvent: Codable, Hashable, Sendable {
    case added(Int)
    case put(String, Int)
    case listed(String)
    case removed(String)
    case cleared
    case all([TestEvent])

    static let generator: Generator<TestEvent> = .recursive(
        depthMax: 1,
        .oneOf(
            .making(TestEvent.added, .integers(in: 0...20)),
            .making(TestEvent.put, .element(of: ["a", "b", "c"]), .integers(in: 0...9)),
            .making(TestEvent.listed, .element(of: ["x", "y"])),
            .making(TestEvent.removed, .element(of: ["a", "b", "x"])), .constant(.cleared))
    ) { inner in
        Generator<[TestEvent]>.arrays(of: inner, count: 0...3).map(TestEvent.all)
    }
}

/// The sum would pass its limit, or the state does not allow the event.
struct LimitExceeded: Error {}

/// A correct state for ``TestEvent``, which correct and faulty projections contain.
struct TestState: Codable, Hashable, Sendable {
    struct Item: Codable, Hashable, Sendable {
        let id: String
        let text: String
    }

    var sum = 0
    var byKey: [String: Int] = [:]
    var items: [Item] = []

    /// Applies the event, or throws and changes nothing.
    ///
    /// - Parameter id: Returns the id of an event's new item by its index in the event.
    mutating func apply(_ event: TestEvent, id: (Int) -> String) throws {
        var copy = self
        var index = 0
        try copy.change(event, id, &index)
        self = copy
    }

    private mutating func change(_ event: TestEvent, _ id: (Int) -> String, _ index: inout Int)
        throws
    {
        switch event {
        case .added(let number):
            guard sum + number < 13 else { throw LimitExceeded() }
            sum += number
        case .put(let key, let number): byKey[key] = number
        case .listed(let text):
            items.append(Item(id: id(index), text: text))
            index += 1
        case .removed(let key):
            byKey[key] = nil
            items.removeAll { $0.text == key }
        case .cleared: sum = 0
        case .all(let events): for event in events { try change(event, id, &index) }
        }
    }
}

/// A projection that contains a ``TestState``.
protocol TestProjection: Projection, Codable, Hashable where Event == TestEvent {
    var state: TestState { get set }
}

extension TestProjection {
    static var itemIDs: ItemIDs<Self> { ItemIDs { $0.state.items.map(\.id) } }
}

/// A correct projection.
struct CorrectProjection: TestProjection {
    var state = TestState()

    mutating func apply(_ event: TestEvent, _ context: EventContext) throws {
        try state.apply(event, id: context.id)
    }
}

/// A correct projection with a lower limit than ``CorrectRows``. So each of the two refuses events that the
/// other accepts.
struct StrictProjection: TestProjection {
    var state = TestState()

    mutating func apply(_ event: TestEvent, _ context: EventContext) throws {
        if case .added(let number) = event, state.sum + number > 6 { throw LimitExceeded() }
        try state.apply(event, id: context.id)
    }
}

/// A projection that changes its state before it throws: the contract forbids this, and the log
/// corrects it (F9). Every other law holds.
struct ChangesFirst: TestProjection {
    var state = TestState()

    mutating func apply(_ event: TestEvent, _ context: EventContext) throws {
        state.sum += 1
        try state.apply(event, id: context.id)
    }
}

/// A correct stored projection.
struct CorrectRows: StoredProjection {
    static let sums = RowTable("sums", key: String.self, row: Int.self)
    static let numbers = RowTable("numbers", key: String.self, row: Int.self)
    /// Texts by id.
    static let items = RowTable("items", key: String.self, row: String.self)
    static let byNumber = numbers.index("by number") { _, number in number }
    /// Each text occurs once.
    static let byText = items.index("by text", isUnique: true) { _, text in text }
    static let schema = RowSchema(sums, numbers, items, byNumber, byText)

    static func apply(
        _ event: TestEvent, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        var index = 0
        try change(event, context, &index, &rows)
    }

    private static func change(
        _ event: TestEvent, _ context: EventContext, _ index: inout Int, _ rows: inout TouchedRows
    ) throws {
        switch event {
        case .added(let number):
            try rows.update("sum", in: sums, default: 0) { sum in
                guard sum + number < 13 else { throw LimitExceeded() }
                sum += number
            }
        case .put(let key, let number):
            // This reads a row and does not change it.
            guard try rows.get("sum", in: sums) ?? 0 != 7 else { throw LimitExceeded() }
            try rows.put(number, at: key, in: numbers)
        case .listed(let text):
            try rows.put(text, at: context.id(index), in: items)
            index += 1
        case .removed(let key):
            try rows.remove(key, from: numbers)
            for id in try rows.keys(of: items) where try rows.get(id, in: items) == key {
                try rows.remove(id, from: items)
            }
        case .cleared:
            try rows.put(0, at: "sum", in: sums)
            try rows.removeAll(in: .keys(from: "b"), from: numbers)
        case .all(let events): for event in events { try change(event, context, &index, &rows) }
        }
    }
}
