import Foldback
import FoldbackTesting
import Foundation
import Synchronization

/// What happens in the projections that are broken.
enum Deed: Codable, Hashable, Sendable {
    case added(Int)
    case put(String, Int)
    case listed(String)
    case removed(String)
    case cleared
    case all([Deed])

    static let generator: Generator<Deed> = .recursive(
        depthMax: 1,
        .oneOf(
            .making(Deed.added, .integers(in: 0...20)),
            .making(Deed.put, .element(of: ["a", "b", "c"]), .integers(in: 0...9)),
            .making(Deed.listed, .element(of: ["x", "y"])),
            .making(Deed.removed, .element(of: ["a", "b", "x"])), .constant(.cleared))
    ) { inner in
        Generator<[Deed]>.arrays(of: inner, count: 0...3).map(Deed.all)
    }
}

struct TooMuch: Error {}

/// A projection that would be right.
struct Shelf: Codable, Hashable, Sendable {
    struct Item: Codable, Hashable, Sendable {
        let id: String
        let text: String
    }

    var sum = 0
    var byKey: [String: Int] = [:]
    var items: [Item] = []

    mutating func apply(_ deed: Deed, id: (Int) -> String) throws {
        var copy = self
        var index = 0
        try copy.change(deed, id, &index)
        self = copy
    }

    private mutating func change(_ deed: Deed, _ id: (Int) -> String, _ index: inout Int) throws {
        switch deed {
        case .added(let number):
            guard sum + number < 13 else { throw TooMuch() }
            sum += number
        case .put(let key, let number): byKey[key] = number
        case .listed(let text):
            items.append(Item(id: id(index), text: text))
            index += 1
        case .removed(let key):
            byKey[key] = nil
            items.removeAll { $0.text == key }
        case .cleared: sum = 0
        case .all(let deeds): for deed in deeds { try change(deed, id, &index) }
        }
    }
}

/// A projection made of a right one.
protocol Shelved: Projection, Codable, Hashable where Event == Deed {
    var shelf: Shelf { get set }
}

extension Shelved {
    static var itemIDs: ItemIDs<Self> { ItemIDs { $0.shelf.items.map(\.id) } }
}

struct ReadsClock: Shelved {
    var shelf = Shelf()
    var seen = Date(timeIntervalSince1970: 0)

    mutating func apply(_ event: Deed, _ context: EventContext) throws {
        try shelf.apply(event, id: context.id)
        seen = Date()
    }
}

struct HiddenState: Shelved {
    private static let total = Mutex(0)

    var shelf = Shelf()
    var total = 0

    mutating func apply(_ event: Deed, _ context: EventContext) throws {
        try shelf.apply(event, id: context.id)
        total = Self.total.withLock { total in
            total += 1
            return total
        }
    }
}

struct RandomIDs: Shelved {
    var shelf = Shelf()

    mutating func apply(_ event: Deed, _ context: EventContext) throws {
        try shelf.apply(event) { _ in UUID().uuidString }
    }
}

struct DictionaryOrder: Shelved {
    var shelf = Shelf()
    var first: String?

    mutating func apply(_ event: Deed, _ context: EventContext) throws {
        try shelf.apply(event, id: context.id)
        first = shelf.byKey.first?.key
    }
}

struct ChangesThenThrows: Shelved {
    var shelf = Shelf()

    mutating func apply(_ event: Deed, _ context: EventContext) throws {
        if case .added(let number) = event { shelf.sum += number }
        guard shelf.sum < 13 else { throw TooMuch() }
        if case .added = event { return }
        try shelf.apply(event, id: context.id)
    }
}

struct HalfOfAll: Shelved {
    var shelf = Shelf()

    mutating func apply(_ event: Deed, _ context: EventContext) throws {
        guard case .all(let deeds) = event else {
            return try shelf.apply(event, id: context.id)
        }
        for deed in deeds { try shelf.apply(deed, id: context.id) }
    }
}

struct Traps: Shelved {
    var shelf = Shelf()

    mutating func apply(_ event: Deed, _ context: EventContext) throws {
        try shelf.apply(event, id: context.id)
        if case .removed = event { shelf.items.removeLast() }
    }
}

struct NeverEnds: Shelved {
    var shelf = Shelf()

    mutating func apply(_ event: Deed, _ context: EventContext) throws {
        try shelf.apply(event, id: context.id)
        if case .put = event { while shelf.byKey.count > 1 {} }
    }
}

struct NumbersItems: Shelved {
    var shelf = Shelf()

    mutating func apply(_ event: Deed, _ context: EventContext) throws {
        let count = shelf.items.count
        try shelf.apply(event) { "item \(count + $0)" }
    }
}

struct NamesTooFewKeys: Shelved {
    var shelf = Shelf()

    static func keys(touchedBy event: Deed, _ context: EventContext) -> [String] {
        switch event {
        case .added, .cleared: ["sum"]
        case .put(let key, _): [key]
        // Keys that it removes are not the only thing that it removes.
        case .removed(let key): [key]
        case .listed: ["items"]
        case .all: []
        }
    }

    mutating func apply(_ event: Deed, _ context: EventContext) throws {
        try shelf.apply(event, id: context.id)
    }
}

struct LosesField: Shelved {
    struct Codec: EventCodec {
        let format = EventFormat(codec: 210, version: 1)
        func encode(_ event: Deed) throws -> [UInt8] {
            if case .put(let key, _) = event { return try Self.json.encode(.put(key, 0)) }
            return try Self.json.encode(event)
        }
        func decode(_ bytes: RawSpan, format: EventFormat) throws -> Deed {
            try Self.json.decode(bytes, format: .json)
        }
        private static let json = JSONCodec<Deed>()
    }

    static var codec: any EventCodec<Deed> { Codec() }

    var shelf = Shelf()

    mutating func apply(_ event: Deed, _ context: EventContext) throws {
        try shelf.apply(event, id: context.id)
    }
}

struct StateLosesField: Shelved {
    private enum CodingKeys: CodingKey { case shelf }

    var shelf = Shelf()
    var count = 0

    mutating func apply(_ event: Deed, _ context: EventContext) throws {
        try shelf.apply(event, id: context.id)
        count += 1
    }
}

struct StateCannotBeRead: Shelved {
    struct Codec: StateCodec {
        func encode(_ state: StateCannotBeRead) throws -> [UInt8] { try json.encode(state) }
        func decode(_ bytes: RawSpan) throws -> StateCannotBeRead {
            let state = try json.decode(bytes)
            guard state.shelf.items.isEmpty else { throw TooMuch() }
            return state
        }
        private let json = JSONStateCodec<StateCannotBeRead>()
    }

    static var stateCodec: (any StateCodec<StateCannotBeRead>)? { Codec() }

    var shelf = Shelf()

    mutating func apply(_ event: Deed, _ context: EventContext) throws {
        try shelf.apply(event, id: context.id)
    }
}

/// Right but for one thing that its contract forbids and the log can bear.
struct Sloppy: Shelved {
    var shelf = Shelf()

    mutating func apply(_ event: Deed, _ context: EventContext) throws {
        shelf.sum += 1
        try shelf.apply(event, id: context.id)
    }
}

/// Right, as rows.
struct RowShelf: StoredProjection {
    static let sums = RowTable("sums", key: String.self, row: Int.self)
    static let numbers = RowTable("numbers", key: String.self, row: Int.self)
    /// By id.
    static let items = RowTable("items", key: String.self, row: String.self)
    static let byNumber = numbers.index("by number") { _, number in number }
    /// No text twice.
    static let byText = items.index("by text", isUnique: true) { _, text in text }
    static let schema = RowSchema(sums, numbers, items, byNumber, byText)

    static func apply(
        _ event: Deed, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        var index = 0
        try change(event, context, &index, &rows)
    }

    private static func change(
        _ deed: Deed, _ context: EventContext, _ index: inout Int, _ rows: inout TouchedRows
    ) throws {
        switch deed {
        case .added(let number):
            try rows.update("sum", in: sums, default: 0) { sum in
                guard sum + number < 13 else { throw TooMuch() }
                sum += number
            }
        case .put(let key, let number):
            // Asked for, and not changed.
            guard try rows.get("sum", in: sums) ?? 0 != 7 else { throw TooMuch() }
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
        case .all(let deeds): for deed in deeds { try change(deed, context, &index, &rows) }
        }
    }
}

/// Right.
struct RightShelf: Shelved {
    var shelf = Shelf()

    mutating func apply(_ event: Deed, _ context: EventContext) throws {
        try shelf.apply(event, id: context.id)
    }
}
