import Foldback
import Foundation
import Synchronization
import TestSupport
import Testing

/// Born from what else can go wrong with rows on disk: they are of another version, behind their log,
/// damaged, or changed by nobody.
@Suite struct RowStoreTests {
    /// Users by id, each name once.
    private struct Users: StoredProjection {
        static let users = RowTable("users", key: Int.self, row: String.self)
        static let byName = users.index("by name", isUnique: true) { _, name in name }
        static let schema = RowSchema(users, byName)
        static var codec: any EventCodec<Move> { MoveCodec() }

        static func apply(
            _ move: Move, _ context: EventContext, to rows: inout TouchedRows
        ) throws {
            switch move {
            case .set(let name, let id): try rows.put(name, at: id, in: users)
            case .remove(let id): try rows.remove(Int(id) ?? 0, from: users)
            case .add, .claim, .replaceAll, .sweep: throw MoveConflict(reason: "unknown")
            }
        }
    }

    /// ``RowBoard`` of a later version, or with another index.
    private struct Later: StoredProjection {
        static var name: String { RowBoard.name }
        static var version: UInt32 { 2 }
        static let cells = RowTable("cells", key: String.self, row: Int.self)
        static let schema = RowSchema(cells)
        static var codec: any EventCodec<Move> { MoveCodec() }

        static func apply(
            _ move: Move, _ context: EventContext, to rows: inout TouchedRows
        ) throws {
            guard case .set(let key, let value) = move else { return }
            try rows.put(value * 2, at: key, in: cells)
        }
    }

    private static func open<P: EventFold>(
        _ projection: P.Type, _ kind: LogKind = .acknowledgement, in directory: TemporaryDirectory,
        also: [AdditionalProjection<Move>] = [],
        progress: (@Sendable (CatchingUp) -> Void)? = nil
    ) async throws -> Store<P> where P.Event == Move {
        try await Foldback.open(
            at: directory.log, projection, also: also, confirmedBy: kind,
            durability: .relaxed, checkpoints: .eager, sources: .counting(), catchingUp: progress)
    }

    // MARK: Catching up

    @Test func `a projection that is new to a log has its rows when opening returns`() async throws
    {
        let directory = TemporaryDirectory()
        let old = try await Self.open(Board.self, .downlink, in: directory)
        for batch in 0..<20 as Range<UInt64> {
            let positions = batch * 200 + 1...batch * 200 + 200
            try await old.confirm(
                positions.map { position in
                    let move = Move.set("k\(position)", Int(position))
                    return ConfirmedEvent(position: Position(position), event: move, origin: nil)
                })
        }
        _ = try await old.record(.add("k7", 1))
        let (view, confirmed) = (old.view, old.confirmed)
        await old.close()
        let progress = Mutex<[CatchingUp]>([])
        let new = try await Self.open(RowBoard.self, .downlink, in: directory) { step in
            progress.withLock { $0.append(step) }
        }
        let shown = try new.read { try RowBoard.Shown(of: $0) }
        #expect(shown.difference(from: view, confirmed) == nil)
        let steps = progress.withLock { $0 }
        #expect(steps.count > 1 && steps.last.map { $0.sequence == $0.last } == true, "\(steps)")
        #expect(steps.map(\.sequence) == steps.map(\.sequence).sorted())
        #expect(try await new.verify().findings == [])
        await new.close()
        // Nothing is left to catch up with.
        let again = try await Self.open(RowBoard.self, .downlink, in: directory) { _ in
            Issue.record("it was behind")
        }
        #expect(again.start.entriesFolded < 40)
        await again.close()
    }

    @Test func `rows that another store has left behind catch up from where they are`() async throws
    {
        let directory = TemporaryDirectory()
        var rows = try await Self.open(RowBoard.self, in: directory)
        _ = try await rows.record(.set("a", 1))
        await rows.close()
        let values = try await Self.open(Board.self, in: directory)
        try await values.acknowledge(1)
        _ = try await values.record(.set("b", 2))
        try await values.acknowledge(2)
        let board = values.view
        await values.close()
        rows = try await Self.open(RowBoard.self, in: directory)
        let shown = try rows.read { try RowBoard.Shown(of: $0) }
        #expect(shown.difference(from: board, board) == nil)
        await rows.close()
    }

    @Test func `another version, or another schema, folds anew and drops the old rows`()
        async throws
    {
        let directory = TemporaryDirectory()
        let old = try await Self.open(RowBoard.self, in: directory)
        for step in 0..<50 {
            _ = try await old.record(.set("k\(step)", step))
            try await old.acknowledge(IntentNumber(UInt64(step + 1)))
        }
        await old.close()
        let new = try await Self.open(Later.self, in: directory)
        #expect(try new.read { try $0.get("k7", in: Later.cells) } == 14)
        #expect(throws: RowError.unknown("counts")) {
            try new.read { try $0.get(1, in: RowBoard.counts) }
        }
        let storage = new.core.storage
        #expect(try storage.projectionHeaders().count == 1)
        let keys = try storage.rowKeys(in: KeySpan(prefix: []), countMax: .max)
        #expect(keys.count == 50)
        await new.close()
    }

    // MARK: Meaning

    @Test(arguments: Engine.allCases)
    func `a unique index refuses, and lets go when the holder is gone`(engine: Engine) async throws
    {
        let directory = TemporaryDirectory()
        let store = try await engine.store(Users.self, .acknowledgement, in: directory)
        _ = try await store.record(.set("ada", 1))
        let refusal = await error { () throws(FoldbackError) in
            try await store.record(.set("ada", 2))
        }
        guard case .inapplicable(let reason) = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(reason.contains("by name"))
        _ = try await store.record(.set("ada", 2), force: true)
        #expect(store.conflicted == [2])
        #expect(try store.read { try $0.get("ada", by: Users.byName)?.key } == 1)
        try await store.reject(1, message: "no")
        #expect(store.conflicted == [])
        #expect(try store.read { try $0.get("ada", by: Users.byName)?.key } == 2)
        #expect(try store.read { try $0.overlay(touching: 2, in: Users.users) } == [2])
        #expect(try store.read { try $0.isPending(2, in: Users.users) })
        try await store.acknowledge(2)
        #expect(try store.read { try $0.isPending(2, in: Users.users) } == false)
        await store.close()
    }

    @Test func `the past is seen as it was`() async throws {
        let directory = TemporaryDirectory()
        let store = try await Self.open(RowBoard.self, in: directory)
        _ = try await store.record(.set("a", 1))
        _ = try await store.record(.add("a", 2))
        try await store.acknowledge(1)
        try await store.reject(2, message: "no")
        let seen = [nil, 1, 3, 3, 1]
        for (sequence, value) in seen.enumerated() {
            let found = try await store.read(at: LogSequence(UInt64(sequence))) {
                #expect($0.sequence == LogSequence(UInt64(sequence)))
                return try $0.get("a", in: RowBoard.cells)
            }
            #expect(found == value)
        }
        await #expect(throws: FoldbackError.self) { try await store.read(at: 5) { _ in } }
        await store.close()
    }

    // MARK: Cost

    @Test func `an answer applies the intents connected with it, however many are pending`()
        async throws
    {
        for pending in [10, 3_000] {
            let store = Foldback.inMemory(Users.self, confirmedBy: .acknowledgement)
            for number in 1...pending { _ = try await store.enqueue(.set("u\(number)", number)) }
            // Three that are connected with the first, by its row.
            for name in ["x", "y", "z"] { _ = try await store.record(.set(name, 1)) }
            let before = store.projected.folded.counts
            try await store.reject(1, message: "no")
            let rejected = store.projected.folded.counts
            // The next one finds another name below it, and makes what it made: the others see no change.
            #expect(rejected.overlay - before.overlay == 1)
            try await store.acknowledge(2)
            let acknowledged = store.projected.folded.counts
            #expect(acknowledged.overlay == rejected.overlay)
            #expect(acknowledged.confirmed - rejected.confirmed == 1)
        }
    }

    // MARK: Changes

    @Test(arguments: Engine.allCases)
    func `changes come commit by commit, with what was and what is`(engine: Engine) async throws {
        let directory = TemporaryDirectory()
        let store = try await engine.store(RowBoard.self, .acknowledgement, in: directory)
        var changes = try store.changes(of: RowBoard.cells).makeAsyncIterator()
        var others = try store.changes(of: RowBoard.cells, in: .key("b")).makeAsyncIterator()
        typealias Change = RowChange<String, Int>
        _ = try await store.record(.set("a", 1))
        #expect(
            try await changes.next()?.changes
                == [Change(key: "a", old: nil, new: 1, isPending: true)])
        try await store.acknowledge(1)
        #expect(
            try await changes.next()?.changes
                == [Change(key: "a", old: 1, new: 1, isPending: false)])
        // Taken late, three commits are one batch, and what came to nothing is not in it.
        _ = try await store.record(.set("c", 5))
        _ = try await store.record(.set("b", 2))
        try await store.reject(2, message: "no")
        let batch = try #require(try await changes.next())
        #expect(batch.changes == [Change(key: "b", old: nil, new: 2, isPending: true)])
        #expect(batch.sequence == 5 && batch.isComplete)
        #expect(try await others.next()?.changes.map(\.key) == ["b"])
        await store.close()
        #expect(try await changes.next() == nil)
        #expect(try await others.next() == nil)
    }

    @Test func `who takes nothing costs bounded memory, and is told to read again`() async throws {
        let store = Foldback.inMemory(RowBoard.self, confirmedBy: .downlink)
        var changes = try store.changes(of: RowBoard.cells).makeAsyncIterator()
        let all = (0...Limits.rowChangesMax).map { ("k\($0)", $0) }
        _ = try await store.record(.replaceAll(Dictionary(uniqueKeysWithValues: all)))
        let batch = try #require(try await changes.next())
        #expect(!batch.isComplete && batch.changes.isEmpty)
        _ = try await store.record(.set("a", 1))
        #expect(try await changes.next()?.changes.map(\.key) == ["a"])
        await store.close()
    }

    // MARK: Damage

    @Test func `a damaged row fails what touches it, and nothing else`() async throws {
        let storage = TestStorage()
        let store = try await storage.store(RowBoard.self)
        for (index, key) in ["a", "b"].enumerated() {
            _ = try await store.record(.set(key, 3 * index))
            try await store.acknowledge(IntentNumber(UInt64(index + 1)))
        }
        try storage.damage("a")
        #expect(throws: FoldbackError.self) {
            try store.read { try $0.get("a", in: RowBoard.cells) }
        }
        #expect(try store.read { try $0.get("b", in: RowBoard.cells) } == 3)
        let failure = await error { () throws(FoldbackError) in try await store.record(.add("a", 1))
        }
        guard case .damaged = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        _ = try await store.record(.add("b", 1))
        #expect(try store.read { try $0.get("b", in: RowBoard.cells) } == 4)
        #expect(store.status.sequence == 5)
        #expect(
            try await store.verify().findings.map(\.place) == [.rows(projection: RowBoard.name)])
        await store.close()
    }

    @Test func `verifying finds a row that nobody made`() async throws {
        let storage = TestStorage()
        let store = try await storage.store(RowBoard.self)
        _ = try await store.record(.set("a", 1))
        try await store.acknowledge(1)
        #expect(try await store.verify().findings == [])
        try storage.forge("z", 7)
        let findings = try await store.verify().findings
        #expect(findings.map(\.place) == [.rows(projection: RowBoard.name)], "\(findings)")
        await store.close()
    }
}
