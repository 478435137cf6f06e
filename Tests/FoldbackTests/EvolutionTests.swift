import Foldback
import Foundation
import TestSupport
import Testing

/// Question: does a device that updates later see everything (E11, E12)?
///
/// The first version of an app folds events of the second. Nothing of them may be missing once the
/// second version is on the device, although no version number was raised.
@Suite struct EvolutionTests {
    private let directory = TemporaryDirectory()
    private let created = RecordedEvent(
        format: .json, bytes: Array(#"{"created":{"priority":1,"title":"tea"}}"#.utf8))

    private enum Keeper: CaseIterable { case value, rows }

    private func open<P: EventFold>(
        _ fold: P.Type, _ kind: LogKind = .downlink
    ) async throws -> Store<P> {
        try await Store.open(
            at: directory.log, fold, confirmedBy: kind, durability: .relaxed,
            checkpoints: .manual, replica: .exactly(ReplicaID("me")!), sources: .counting())
    }

    /// Opens the log with a version of the app, runs `body`, writes a checkpoint, and closes it.
    private func run<P: TaskFold>(
        _ fold: P.Type, _ kind: LogKind = .downlink,
        _ body: (Store<P>) async throws -> Void = { _ in }
    ) async throws {
        let store = try await open(fold, kind)
        try await body(store)
        try await store.checkpoint()
        await store.close()
    }

    /// Opens the log with the second version of the app twice, and checks that it shows everything,
    /// and that the second opening folds nothing again.
    private func check<P: TaskFold>(
        _ fold: P.Type, _ kind: LogKind = .downlink, shows text: String
    ) async throws {
        for round in 1...2 {
            let store = try await open(fold, kind)
            #expect(try P.text(of: store) == text)
            #expect(store.status.partlyReadCount == 0)
            if round == 2 {
                #expect(store.replayStart.refused.isEmpty)
                #expect(store.replayStart.entriesFolded == 0)
            }
            #expect(try await store.verify().findings.isEmpty)
            try await store.checkpoint()
            await store.close()
        }
    }

    // MARK: The three cases

    @Test(arguments: Keeper.allCases)
    private func `E11: a device that updates later sees a member that it folded without`(
        keeper: Keeper
    ) async throws {
        func check<Old: TaskFold, New: TaskFold>(_: Old.Type, _: New.Type) async throws {
            try await run(Old.self) { store async throws in
                try await store.confirm([ConfirmedEvent(position: 1, recorded: created)])
                #expect(try Old.text(of: store) == "tea")
                #expect(store.status.partlyReadCount == 1)
            }
            // It reads no more, so it folds nothing again.
            try await run(Old.self) { store async throws in
                #expect(store.replayStart.refused.isEmpty && store.replayStart.entriesFolded == 0)
                #expect(store.status.partlyReadCount == 1)
            }
            try await self.check(New.self, shows: "tea p1")
        }
        switch keeper {
        case .value: try await check(Tasks<First>.self, Tasks<Second>.self)
        case .rows: try await check(TaskRows<First>.self, TaskRows<Second>.self)
        }
    }

    @Test(arguments: Keeper.allCases)
    private func `E12: a downgrade that changes a row loses no member of it`(
        keeper: Keeper
    ) async throws {
        func check<Old: TaskFold, New: TaskFold>(_: Old.Type, _: New.Type) async throws {
            try await run(New.self) { store async throws in
                try await store.confirm([ConfirmedEvent(position: 1, recorded: created)])
                #expect(try New.text(of: store) == "tea p1")
            }
            try await run(Old.self) { store async throws in
                #expect(try Old.text(of: store) == "tea")
                _ = try await store.record(.renamed("coffee"))
                try await store.confirm([
                    ConfirmedEvent(
                        position: 2, event: .renamed("coffee"),
                        origin: IntentID(replica: store.status.replica, number: 1))
                ])
                #expect(try Old.text(of: store) == "coffee")
            }
            try await self.check(New.self, shows: "coffee p1")
        }
        switch keeper {
        case .value: try await check(Tasks<First>.self, Tasks<Second>.self)
        case .rows: try await check(TaskRows<First>.self, TaskRows<Second>.self)
        }
    }

    @Test(arguments: Keeper.allCases, LogKind.allCases)
    private func `E11: an intent that older code confirms keeps its members`(
        keeper: Keeper, kind: LogKind
    ) async throws {
        func check<Old: TaskFold, New: TaskFold>(_: Old.Type, _: New.Type) async throws {
            try await run(New.self, kind) { store async throws in
                _ = try await store.record(.created("tea", priority: 1))
            }
            try await run(Old.self, kind) { store async throws in
                switch kind {
                case .acknowledgement: try await store.acknowledge(1)
                case .downlink:
                    try await store.confirm([
                        ConfirmedEvent(
                            position: 1, recorded: created,
                            origin: IntentID(replica: store.status.replica, number: 1))
                    ])
                }
                #expect(try Old.text(of: store) == "tea")
            }
            try await self.check(New.self, kind, shows: "tea p1")
        }
        switch keeper {
        case .value: try await check(Tasks<First>.self, Tasks<Second>.self)
        case .rows: try await check(TaskRows<First>.self, TaskRows<Second>.self)
        }
    }

    // MARK: What else must hold

    @Test func `a value and rows on one log see everything together`() async throws {
        let old = try await Store.open(
            at: directory.log, Tasks<First>.self,
            also: [AdditionalProjection(TaskRows<First>.self)], confirmedBy: .downlink,
            durability: .relaxed, checkpoints: .manual)
        try await old.confirm([ConfirmedEvent(position: 1, recorded: created)])
        try await old.checkpoint()
        await old.close()
        let new = try await Store.open(
            at: directory.log, Tasks<Second>.self,
            also: [AdditionalProjection(TaskRows<Second>.self)], confirmedBy: .downlink,
            durability: .relaxed, checkpoints: .manual)
        #expect(new.view.task?.task.text == "tea p1")
        let row = try new.projected(TaskRows<Second>.self).read {
            try $0.get(1, in: TaskRows<Second>.tasks)?.text
        }
        #expect(row == "tea p1")
        await new.close()
    }

    @Test func `a refused checkpoint names the members that it lacks`() async throws {
        try await run(Tasks<First>.self) { store async throws in
            try await store.confirm([ConfirmedEvent(position: 1, recorded: created)])
        }
        let new = try await open(Tasks<Second>.self)
        #expect(
            new.replayStart.refused.map(\.reason)
                == [.lacksMembers(["/created/priority"], ofEvent: 1)])
        #expect("\(new.replayStart.refused[0])".hasSuffix("it lacks /created/priority"))
        await new.close()
    }

    @Test func `a member that the app drops is read in part, and folded once`() async throws {
        try await run(Tasks<Second>.self) { store async throws in
            try await store.confirm([ConfirmedEvent(position: 1, recorded: created)])
        }
        // The checkpoint has a state with the dropped member, so it is folded again, once.
        try await run(Tasks<First>.self) { store async throws in
            #expect(
                store.replayStart.refused.map(\.reason)
                    == [.hasMembers(["/task/priority"], projection: "Tasks version 1")])
        }
        for _ in 1...2 {
            try await run(Tasks<First>.self) { store async throws in
                #expect(store.replayStart.refused.isEmpty && store.replayStart.entriesFolded == 0)
                #expect(store.status.partlyReadCount == 1)
                #expect(try await store.verify().findings.isEmpty)
            }
        }
    }

    // MARK: Bytes

    private static func fixture(_ name: String) -> URL {
        URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "Fixtures/\(name).lmdb")
    }

    private static func makeFixture(_ url: URL) async throws {
        let directory = TemporaryDirectory()
        let old = try await Store.open(
            at: directory.log, Tasks<First>.self,
            also: [AdditionalProjection(TaskRows<First>.self)], confirmedBy: .downlink,
            durability: .durable, checkpoints: .manual, replica: .exactly(ReplicaID("me")!),
            sources: .counting())
        let created = #"{"created":{"priority":1,"title":"tea"}}"#
        try await old.confirm([
            ConfirmedEvent(
                position: 1, recorded: RecordedEvent(format: .json, bytes: Array(created.utf8)))
        ])
        try await old.checkpoint()
        await old.close()
        try FileManager.default.copyItem(at: directory.log.appending(path: "data.mdb"), to: url)
    }

    /// A value and rows that the first version folded without a member, as the code that had this
    /// format first wrote them.
    @Test func `a log with notes of this format opens`() async throws {
        try FileManager.default.createDirectory(
            at: directory.log, withIntermediateDirectories: true)
        let (fixture, file) = (
            Self.fixture("format-1-downlink-members"), directory.log.appending(path: "data.mdb")
        )
        if !FileManager.default.fileExists(atPath: fixture.path) {
            try await Self.makeFixture(fixture)
            Issue.record("the fixture was missing; it is made now, by the present code")
        }
        try FileManager.default.copyItem(at: fixture, to: file)
        let old = try await Store.open(
            at: directory.log, Tasks<First>.self,
            also: [AdditionalProjection(TaskRows<First>.self)], confirmedBy: .downlink,
            durability: .relaxed, checkpoints: .manual,
            onCatchUp: { Issue.record("rows were folded again up to \($0.sequence)") })
        #expect(old.replayStart.checkpoint == 1 && old.status.partlyReadCount == 1)
        #expect(old.view.task?.task.text == "tea")
        await old.close()
        let new = try await Store.open(
            at: directory.log, Tasks<Second>.self,
            also: [AdditionalProjection(TaskRows<Second>.self)], confirmedBy: .downlink,
            durability: .relaxed, checkpoints: .manual)
        #expect(new.view.task?.task.text == "tea p1" && new.status.partlyReadCount == 0)
        await new.close()
    }

    /// Code from before E11 reads manifests of format 1 and 2, and headers of rows of format 1 and 2.
    /// It refuses these bytes with `.newerFormat` before it reads more of them.
    @Test func `E11: bytes that older code would misread begin with a newer format`() throws {
        let manifest = CheckpointManifest(
            sequence: 7, format: .json,
            sections: [.init(.log, of: [1]), .init(.partlyRead, of: [2])], firstUnread: 5)
        #expect(manifest.encoded().first == 3)
        #expect(try CheckpointManifest(decoding: manifest.encoded(), at: 7) == manifest)
        let header = StoredRowsHeader(
            number: 1, identity: TaskRows<First>.identity, schema: "s", format: .json, sequence: 7)
        #expect(header.encoded.first == 3)

        let note = PartlyReadEvents.Note(
            format: EventFormat(codec: 1, version: 2),
            part: UnreadPart(isNewer: true, members: ["/a/b", "/c"]), sample: [0x7B, 0x7D],
            first: 5, count: 300)
        let bytes = "010200010204" + "2f612f62" + "022f63" + "05" + "ac02" + "027b7d"
        #expect(RowNote.event(note).encoded.hexadecimal == "0100" + bytes)
        #expect(RowNote.row([0x7B, 0x7D], place: 2).encoded.hexadecimal == "010102007b7d")
        var notes = PartlyReadEvents()
        notes.append(note)
        #expect(notes.encoded().hexadecimal == "0101" + bytes)
        let read = try PartlyReadEvents(decoding: notes.encoded(), at: 7)
        #expect(read == notes && read.notes.map(\.sample) == [[0x7B, 0x7D]])
        #expect(throws: FormatError.self) { try PartlyReadEvents(decoding: [1, 0], at: 7) }
        #expect(throws: FormatError.self) { try PartlyReadEvents(decoding: notes.encoded(), at: 4) }
    }

    @Test func `a fresh log of one version has no notes`() async throws {
        try await run(Tasks<Second>.self) { store async throws in
            for title in ["a", "b"] { _ = try await store.record(.created(title, priority: 2)) }
        }
        let log = try LMDBLog.openReadOnly(directory.log.path)
        defer { log.close() }
        #expect(log.storedCheckpoint(at: 2)?.firstUnread == nil)
    }
}

// MARK: The app, in two versions

/// A task as the code of both versions has it in memory.
private struct Task: Sendable, Equatable {
    var title: String
    var priority: Int?
    var text: String { title + (priority.map { " p\($0)" } ?? "") }
}

/// One version of the app. Its projections have the same names, versions and schemas in each.
private protocol AppVersion {
    associatedtype Event: TaskEvent
    associatedtype State: TaskState
}

private protocol TaskEvent: Codable, Sendable {
    static func created(_ title: String, priority: Int) -> Self
    static func renamed(_ title: String) -> Self
    func change(_ task: inout Task?)
}

/// A task as this version writes it.
private protocol TaskState: Codable, Sendable, Equatable {
    init(_ task: Task)
    var task: Task { get }
}

private enum First: AppVersion {
    enum Event: TaskEvent {
        case created(title: String)
        case renamed(title: String)

        static func created(_ title: String, priority: Int) -> Self { .created(title: title) }
        static func renamed(_ title: String) -> Self { .renamed(title: title) }
        func change(_ task: inout Task?) {
            switch self {
            case .created(let title): task = Task(title: title)
            case .renamed(let title): task?.title = title
            }
        }
    }

    struct State: TaskState {
        let title: String
        init(_ task: Task) { title = task.title }
        var task: Task { Task(title: title) }
    }
}

private enum Second: AppVersion {
    enum Event: TaskEvent {
        case created(title: String, priority: Int?)
        case renamed(title: String)

        static func created(_ title: String, priority: Int) -> Self {
            .created(title: title, priority: priority)
        }
        static func renamed(_ title: String) -> Self { .renamed(title: title) }
        func change(_ task: inout Task?) {
            switch self {
            case .created(let title, let priority): task = Task(title: title, priority: priority)
            case .renamed(let title): task?.title = title
            }
        }
    }

    struct State: TaskState {
        let title: String
        let priority: Int?
        init(_ task: Task) { (title, priority) = (task.title, task.priority) }
        var task: Task { Task(title: title, priority: priority) }
    }
}

private protocol TaskFold: EventFold where Event: TaskEvent {
    static func text(of store: Store<Self>) throws -> String?
}

private struct Tasks<V: AppVersion>: Projection, Codable, Equatable, TaskFold {
    static var name: String { "Tasks" }
    var task: V.State?

    mutating func apply(_ event: V.Event, _ context: EventContext) {
        var task = task?.task
        event.change(&task)
        self.task = task.map { V.State($0) }
    }

    static func text(of store: Store<Self>) -> String? { store.view.task?.task.text }
}

private struct TaskRows<V: AppVersion>: StoredProjection, TaskFold {
    static var name: String { "TaskRows" }
    static var tasks: RowTable<Int, Task> { RowTable("tasks", codec: RowBytes<V>()) }
    static var schema: RowSchema { RowSchema(tasks) }

    static func apply(
        _ event: V.Event, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        var task = try rows.get(1, in: tasks)
        event.change(&task)
        if let task { try rows.put(task, at: 1, in: tasks) }
    }

    static func text(of store: Store<Self>) throws -> String? {
        try store.read { try $0.get(1, in: tasks)?.text }
    }
}

/// Rows in JSON as a version writes them. The type of the rows is the same in both, so the schema is.
private struct RowBytes<V: AppVersion>: ByteCodec, MemberNaming {
    private let json = JSONBytes<V.State>()

    func encode(_ task: Task, into output: inout OutputBuffer) throws {
        try json.encode(V.State(task), into: &output)
    }
    func decode(_ bytes: RawSpan) throws -> Task { try json.decode(bytes).task }
    var naming: (any MemberNames)? { json.naming }
}
