import Foldback
import FoldbackTesting
import Testing

/// Question: does `requireUpdate` find an update that loses something, and only such an update?
@Suite struct UpdateTests {
    private let events = Generator<New.Event>.oneOf(
        .making(
            New.Event.created, .integers(in: 1...3), .strings(),
            .element(of: [nil, 1, 2] as [Int?])),
        .making(New.Event.renamed, .integers(in: 1...3), .strings()),
        .making(New.Event.done, .integers(in: 1...3)))

    @Test func `an update with a new member and a new case loses nothing of a value`()
        async throws
    {
        try await requireUpdate(
            from: Old.Tasks.self, to: New.Tasks.self, events: events, histories: 40, seed: 1)
    }

    @Test func `an update with a new member and a new case loses nothing of rows`() async throws {
        try await requireUpdate(
            from: Old.Rows.self, to: New.Rows.self, events: events, histories: 40, seed: 1)
    }

    @Test func `a state codec that drops members without a version is found`() async throws {
        let broken = await error(of: {
            try await requireUpdate(
                from: Mute<Old.Tasks>.self, to: Mute<New.Tasks>.self, events: events, seed: 1)
        })
        let report = try #require(broken as? UpdateBroken)
        #expect(report.steps.contains { $0.contains("checkpoint") })
        #expect(report.description.contains("raise the version"))
    }

    @Test func `code that begins to note members trusts no states of code that did not`()
        async throws
    {
        try await requireUpdate(
            from: Mute<Old.Tasks>.self, to: New.Tasks.self, events: events, histories: 40, seed: 1)
    }

    @Test func `a higher version of the projection helps a codec of the app's own`() async throws {
        try await requireUpdate(
            from: Mute<Old.Tasks>.self, to: Raised<New.Tasks>.self, events: events, histories: 40,
            seed: 1)
    }

    private func error(of body: () async throws -> Void) async -> (any Error)? {
        do {
            try await body()
            return nil
        } catch { return error }
    }
}

// MARK: Two versions of an app

private enum Old {
    enum Event: Codable, Sendable {
        case created(Int, title: String)
        case renamed(Int, title: String)
    }
    struct Task: Codable, Sendable, Equatable { var title: String }

    struct Tasks: Projection, Codable, Equatable {
        var tasks: [Int: Task] = [:]
        mutating func apply(_ event: Event, _ context: EventContext) {
            switch event {
            case .created(let id, let title): tasks[id] = Task(title: title)
            case .renamed(let id, let title): tasks[id]?.title = title
            }
        }
    }

    struct Rows: StoredProjection {
        static let tasks = RowTable("tasks", key: Int.self, row: Task.self)
        static let schema = RowSchema(tasks)
        static func apply(
            _ event: Event, _ context: EventContext, to rows: inout TouchedRows
        ) throws {
            switch event {
            case .created(let id, let title): try rows.put(Task(title: title), at: id, in: tasks)
            case .renamed(let id, let title):
                guard try rows.get(id, in: tasks) != nil else { return }
                try rows.update(id, in: tasks) { $0.title = title }
            }
        }
    }
}

private enum New {
    enum Event: Codable, Sendable {
        case created(Int, title: String, priority: Int?)
        case renamed(Int, title: String)
        case done(Int)
    }
    struct Task: Codable, Sendable, Equatable {
        var title: String
        var priority: Int?
        var isDone: Bool?
    }

    struct Tasks: Projection, Codable, Equatable {
        var tasks: [Int: Task] = [:]
        mutating func apply(_ event: Event, _ context: EventContext) {
            switch event {
            case .created(let id, let title, let priority):
                tasks[id] = Task(title: title, priority: priority)
            case .renamed(let id, let title): tasks[id]?.title = title
            case .done(let id): tasks[id]?.isDone = true
            }
        }
    }

    struct Rows: StoredProjection {
        static let tasks = RowTable("tasks", key: Int.self, row: Task.self)
        static let schema = RowSchema(tasks)
        static func apply(
            _ event: Event, _ context: EventContext, to rows: inout TouchedRows
        ) throws {
            switch event {
            case .created(let id, let title, let priority):
                try rows.put(Task(title: title, priority: priority), at: id, in: tasks)
            case .renamed(let id, let title):
                guard try rows.get(id, in: tasks) != nil else { return }
                try rows.update(id, in: tasks) { $0.title = title }
            case .done(let id):
                guard try rows.get(id, in: tasks) != nil else { return }
                try rows.update(id, in: tasks) { $0.isDone = true }
            }
        }
    }
}

/// A projection with codecs of the app's own, of which nobody sees the members.
private struct Mute<P: Projection & Codable & Equatable>: Projection, Equatable {
    typealias Event = P.Event
    private var state = P()

    static var codec: any EventCodec<Event> { MuteCodec(codec: P.codec) }
    static var stateCodec: (any StateCodec<Self>)? { MuteStateCodec() }
    mutating func apply(_ event: Event, _ context: EventContext) throws {
        try state.apply(event, context)
    }

    struct MuteCodec: EventCodec {
        let codec: any EventCodec<Event>
        var format: EventFormat { codec.format }
        func encode(_ event: Event) throws -> [UInt8] { try codec.encode(event) }
        func decode(_ bytes: RawSpan, format: EventFormat) throws -> Event {
            try codec.decode(bytes, format: format)
        }
    }

    struct MuteStateCodec: StateCodec {
        func encode(_ mute: Mute) throws -> [UInt8] { try JSONStateCodec<P>().encode(mute.state) }
        func decode(_ bytes: RawSpan) throws -> Mute {
            var mute = Mute()
            mute.state = try JSONStateCodec<P>().decode(bytes)
            return mute
        }
    }
}

/// The same in a higher version.
private struct Raised<P: Projection & Codable & Equatable>: Projection, Equatable {
    private var mute = Mute<P>()

    static var version: UInt32 { 2 }
    static var codec: any EventCodec<P.Event> { Mute<P>.codec }
    static var stateCodec: (any StateCodec<Self>)? { Codec() }
    mutating func apply(_ event: P.Event, _ context: EventContext) throws {
        try mute.apply(event, context)
    }

    struct Codec: StateCodec {
        func encode(_ raised: Raised) throws -> [UInt8] {
            try Mute<P>.MuteStateCodec().encode(raised.mute)
        }
        func decode(_ bytes: RawSpan) throws -> Raised {
            var raised = Raised()
            raised.mute = try Mute<P>.MuteStateCodec().decode(bytes)
            return raised
        }
    }
}
