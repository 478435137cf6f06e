import Foldback
import FoldbackHistory
import FoldbackTesting
import Foundation
import Synchronization

/// Keeps the time at which an event was applied.
struct ReadsClock: TestProjection {
    var state = TestState()
    var seen = Date(timeIntervalSince1970: 0)

    mutating func apply(_ event: TestEvent, _ context: EventContext) throws {
        try state.apply(event, id: context.id)
        seen = Date()
    }
}

/// Counts in a global variable.
struct HiddenState: TestProjection {
    private static let total = Mutex(0)

    var state = TestState()
    var total = 0

    mutating func apply(_ event: TestEvent, _ context: EventContext) throws {
        try state.apply(event, id: context.id)
        total = Self.total.withLock { total in
            total += 1
            return total
        }
    }
}

/// Gives its items random ids.
struct RandomIDs: TestProjection {
    var state = TestState()

    mutating func apply(_ event: TestEvent, _ context: EventContext) throws {
        try state.apply(event) { _ in UUID().uuidString }
    }
}

/// Keeps the first key of a dictionary, whose order changes in each process.
struct DictionaryOrder: TestProjection {
    var state = TestState()
    var first: String?

    mutating func apply(_ event: TestEvent, _ context: EventContext) throws {
        try state.apply(event, id: context.id)
        first = state.byKey.first?.key
    }
}

/// Says that removing a key undoes any change of it.
struct ForgetsOldValue: TestProjection, Undoable {
    var state = TestState()

    mutating func apply(_ event: TestEvent, _ context: EventContext) throws {
        try state.apply(event, id: context.id)
    }

    func inverse(of event: TestEvent, _ context: EventContext) -> TestEvent? {
        if case .put(let key, _) = event { .removed(key) } else { nil }
    }
}

/// Changes the sum before it checks the limit.
struct ChangesThenThrows: TestProjection {
    var state = TestState()

    mutating func apply(_ event: TestEvent, _ context: EventContext) throws {
        if case .added(let number) = event { state.sum += number }
        guard state.sum < 13 else { throw LimitExceeded() }
        if case .added = event { return }
        try state.apply(event, id: context.id)
    }
}

/// Applies the first parts of an event before a later part throws.
struct AppliesPart: TestProjection {
    var state = TestState()

    mutating func apply(_ event: TestEvent, _ context: EventContext) throws {
        guard case .all(let events) = event else {
            return try state.apply(event, id: context.id)
        }
        for event in events { try state.apply(event, id: context.id) }
    }
}

/// Removes the last item even if there is none.
struct Traps: TestProjection {
    var state = TestState()

    mutating func apply(_ event: TestEvent, _ context: EventContext) throws {
        try state.apply(event, id: context.id)
        if case .removed = event { state.items.removeLast() }
    }
}

/// Loops forever at two keys.
struct NeverEnds: TestProjection {
    var state = TestState()

    mutating func apply(_ event: TestEvent, _ context: EventContext) throws {
        try state.apply(event, id: context.id)
        if case .put = event { while state.byKey.count > 1 {} }
    }
}

/// Takes an item's id from its place instead of from the event.
struct NumbersItems: TestProjection {
    var state = TestState()

    mutating func apply(_ event: TestEvent, _ context: EventContext) throws {
        let count = state.items.count
        try state.apply(event) { "item \(count + $0)" }
    }
}

/// Reports fewer keys than an event changes.
struct NamesTooFewKeys: TestProjection {
    var state = TestState()

    static func keys(touchedBy event: TestEvent, _ context: EventContext) -> [String] {
        switch event {
        case .added, .cleared: ["sum"]
        case .put(let key, _): [key]
        // Wrong: an event also removes items with that text.
        case .removed(let key): [key]
        case .listed: ["items"]
        case .all: []
        }
    }

    mutating func apply(_ event: TestEvent, _ context: EventContext) throws {
        try state.apply(event, id: context.id)
    }
}

/// Leaves the count of an item out of its part.
struct PartsLackField: TestProjection, TraceableProjection {
    var state = TestState()
    /// How often a number was put at a key.
    var counts: [String: Int] = [:]

    static func keys(touchedBy event: TestEvent, _ context: EventContext) -> [String] {
        guard case .put(let key, _) = event else { return [] }
        return [key]
    }

    func part(at key: String) -> Int? { state.byKey[key] }

    mutating func apply(_ event: TestEvent, _ context: EventContext) throws {
        try state.apply(event, id: context.id)
        if case .put(let key, _) = event { counts[key, default: 0] += 1 }
    }
}

/// Writes each number as 0.
struct LosesField: TestProjection {
    struct Codec: EventCodec {
        let format = EventFormat(codec: 210, version: 1)
        func encode(_ event: TestEvent) throws -> [UInt8] {
            if case .put(let key, _) = event { return try Self.json.encode(.put(key, 0)) }
            return try Self.json.encode(event)
        }
        func decode(_ bytes: RawSpan, format: EventFormat) throws -> TestEvent {
            try Self.json.decode(bytes, format: .json)
        }
        private static let json = JSONCodec<TestEvent>()
    }

    static var codec: any EventCodec<TestEvent> { Codec() }

    var state = TestState()

    mutating func apply(_ event: TestEvent, _ context: EventContext) throws {
        try state.apply(event, id: context.id)
    }
}

/// Leaves `count` out of its encoded state.
struct StateLosesField: TestProjection {
    private enum CodingKeys: CodingKey { case state }

    var state = TestState()
    var count = 0

    mutating func apply(_ event: TestEvent, _ context: EventContext) throws {
        try state.apply(event, id: context.id)
        count += 1
    }
}

/// Writes states that its codec refuses to read.
struct StateCannotBeRead: TestProjection {
    struct Codec: StateCodec {
        func encode(_ projection: StateCannotBeRead) throws -> [UInt8] {
            try json.encode(projection)
        }
        func decode(_ bytes: RawSpan) throws -> StateCannotBeRead {
            let projection = try json.decode(bytes)
            guard projection.state.items.isEmpty else { throw LimitExceeded() }
            return projection
        }
        private let json = JSONStateCodec<StateCannotBeRead>()
    }

    static var stateCodec: (any StateCodec<StateCannotBeRead>)? { Codec() }

    var state = TestState()

    mutating func apply(_ event: TestEvent, _ context: EventContext) throws {
        try state.apply(event, id: context.id)
    }
}
