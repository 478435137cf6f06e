import Foldback
import FoldbackHistory
import Foundation
import Synchronization
import TestSupport
import Testing

/// Failures of rows on disk: they have another version, are at an earlier sequence than their log,
/// are damaged, or have changes that no entry made.
@Suite struct RowStoreTests {
    /// A later version of ``RowBoard`` with another schema.
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

    /// A ``RowBoard`` that cannot read moves with two digits.
    private struct ShortSightedRows: StoredProjection {
        static var name: String { RowBoard.name }
        static let schema = RowBoard.schema
        static var codec: any EventCodec<Move> { ShortSightedCodec() }

        static func apply(
            _ move: Move, _ context: EventContext, to rows: inout TouchedRows
        ) throws { try RowBoard.apply(move, context, to: &rows) }
    }

    private static func open<P: EventFold>(
        _ projection: P.Type, _ kind: LogKind = .acknowledgement, in directory: TemporaryDirectory,
        also: [AdditionalProjection<Move>] = [],
        progress: (@Sendable (CatchUpProgress) -> Void)? = nil
    ) async throws -> Store<P> where P.Event == Move {
        try await Store.open(
            at: directory.log, projection, also: also, confirmedBy: kind,
            durability: .relaxed, checkpoints: .eager, sources: .counting(), onCatchUp: progress)
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
        let progress = Mutex<[CatchUpProgress]>([])
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
        let reopened = try await Self.open(RowBoard.self, .downlink, in: directory) { _ in
            Issue.record("the rows had to catch up again")
        }
        #expect(reopened.replayStart.entriesFolded < 40)
        await reopened.close()
    }

    @Test func `rows at an earlier sequence than their log catch up from there`() async throws {
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

    @Test func `another version or schema folds the log again and drops the old rows`()
        async throws
    {
        let directory = TemporaryDirectory()
        let old = try await Self.open(RowBoard.self, in: directory)
        for step in 0..<50 {
            _ = try await old.record(.set("k\(step)", step))
            try await old.acknowledge(IntentNumber(UInt64(step + 1)))
        }
        // More rows than one transaction drops.
        let many = Dictionary(uniqueKeysWithValues: (0..<4_000).map { ("many \($0)", $0) })
        _ = try await old.record(.replaceAll(many))
        try await old.acknowledge(51)
        let number = try #require(try old.core.storage.projectionHeaders().first).number
        let span = KeySpan(prefix: StoredRow.prefix(of: number))
        let before = try old.core.storage.rowKeys(in: span, countMax: .max).count
        #expect(before > Limits.rowDropCountMax)
        await old.close()
        let new = try await Self.open(Later.self, in: directory)
        #expect(try new.read { try $0.get("k7", in: Later.cells) } == 14)
        #expect(throws: RowError.unknown("counts")) {
            try new.read { try $0.get(1, in: RowBoard.counts) }
        }
        let storage = new.core.storage
        #expect(try storage.projectionHeaders().count == 1)
        let header = try #require(try storage.storedRows().first)
        let keys = try storage.rowKeys(in: KeySpan(prefix: []), countMax: .max)
        let notes = keys.count { $0.hasPrefix(StoredRow.notePrefix(header.number)) }
        // The first row of a table is also its sample (E12).
        #expect(keys.count == 51 && notes == 1)
        await new.close()
    }

    @Test func `L5: code that can read a skipped event rebuilds the rows`() async throws {
        let directory = TemporaryDirectory()
        let values = try await Self.open(Board.self, .downlink, in: directory)
        for (position, value) in [1, 20, 3].enumerated() {
            let event = ConfirmedEvent<Move>(
                position: Position(UInt64(position + 1)), event: .set("k\(position)", value))
            try await values.confirm([event])
        }
        let board = values.view
        await values.close()
        for _ in 1...2 {
            let older = try await Self.open(ShortSightedRows.self, .downlink, in: directory)
            #expect(older.faults.map(\.sequence) == [2])
            let count = try older.read { try $0.count(of: RowBoard.cells) }
            #expect(count == 2)
            await older.close()
        }
        let rows = try await Self.open(RowBoard.self, .downlink, in: directory)
        #expect(rows.faults.isEmpty)
        #expect(try rows.seen().confirmed == board)
        #expect(try await rows.verify().findings == [])
        await rows.close()
    }

    @Test func `L7: the file grows while rows are read`() async throws {
        let directory = TemporaryDirectory()
        let store = try await Store.open(
            at: directory.log, StoredDocuments.self, confirmedBy: .acknowledgement,
            durability: .relaxed)
        let text = JSON.string(String(repeating: "x", count: 1 << 20))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var last: LogSequence = 0
                while last < 80 {
                    try store.read { rows in
                        #expect(rows.sequence >= last)
                        last = rows.sequence
                        let first = try rows.document("k1")
                        #expect(last == 0 || first == text)
                    }
                    await Task.yield()
                }
            }
            for number in 1...40 as ClosedRange<UInt64> {
                _ = try await store.record(.set("k\(number)", text))
                try await store.acknowledge(IntentNumber(number))
            }
            try await group.waitForAll()
        }
        #expect(store.status.bytesOnDisk > 80 << 20)
        await store.close()
    }

    // MARK: Rules

    @Test(arguments: Engine.allCases)
    func `a unique index refuses a key until the row that has it is gone`(engine: Engine)
        async throws
    {
        let directory = TemporaryDirectory()
        let store = try await engine.store(Users.self, .acknowledgement, in: directory)
        _ = try await store.record(.set("ada", 1))
        let refusal = await error { () throws(CommandError) in
            try await store.record(.set("ada", 2))
        }
        guard case .inapplicable(let refused) = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(refused.projection == Users.name)
        #expect(refused.underlying(as: RowError.self) == .notUnique(index: "by name"))
        #expect(refused.reason.contains("by name"))
        _ = try await store.record(.set("ada", 2), force: true)
        #expect(store.conflicted == [2])
        #expect(try store.read { try $0.get("ada", by: Users.byName)?.key } == 1)
        try await store.reject(1, message: "no")
        #expect(store.conflicted == [])
        #expect(try store.read { try $0.get("ada", by: Users.byName)?.key } == 2)
        #expect(try store.read { try $0.overlay(touching: 2, in: Users.users) } == [2])
        #expect(try store.read { try $0.isPending(2, in: Users.users) })
        try store.read { rows in
            try rows.confirmed { confirmed throws in
                #expect(try confirmed.get(2, in: Users.users) == nil)
                #expect(try !confirmed.isPending(2, in: Users.users))
                #expect(try confirmed.overlay(touching: 2, in: Users.users) == [])
            }
        }
        try await store.acknowledge(2)
        #expect(try store.read { try $0.isPending(2, in: Users.users) } == false)
        await store.close()
    }

    @Test func `a past sequence reads as it was`() async throws {
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
        await #expect(throws: LogError.self) { try await store.read(at: 5) { _ in } }
        await store.close()
    }

    // MARK: Cost

    @Test func `an answer applies only connected intents, however many are pending`()
        async throws
    {
        for pending in [10, 3_000] {
            let store = Store.inMemory(Users.self, confirmedBy: .acknowledgement)
            for number in 1...pending { _ = try await store.enqueue(.set("u\(number)", number)) }
            // Three intents that write the row of the first intent.
            for name in ["x", "y", "z"] { _ = try await store.record(.set(name, 1)) }
            let before = store.projected.folded.counts
            try await store.reject(1, message: "no")
            let rejected = store.projected.folded.counts
            // The first of the three reads another name and writes its row again unchanged. So the
            // other two are not applied.
            #expect(rejected.overlay - before.overlay == 1)
            try await store.acknowledge(2)
            let acknowledged = store.projected.folded.counts
            #expect(acknowledged.overlay == rejected.overlay)
            #expect(acknowledged.confirmed - rejected.confirmed == 1)
        }
    }

    // MARK: Damage

    @Test func `a damaged row fails only the reads and commands that touch it`() async throws {
        let storage = TestStorage()
        let store = try await storage.store(RowBoard.self)
        for (index, key) in ["a", "b"].enumerated() {
            _ = try await store.record(.set(key, 3 * index))
            try await store.acknowledge(IntentNumber(UInt64(index + 1)))
        }
        try storage.damage("a")
        #expect(throws: LogError.self) {
            try store.read { try $0.get("a", in: RowBoard.cells) }
        }
        #expect(try store.read { try $0.get("b", in: RowBoard.cells) } == 3)
        let failure = await error { () throws(CommandError) in try await store.record(.add("a", 1))
        }
        guard case .log(.damaged) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        _ = try await store.record(.add("b", 1))
        #expect(try store.read { try $0.get("b", in: RowBoard.cells) } == 4)
        #expect(store.status.sequence == 5)
        let findings = try await store.verify().findings
        #expect(findings.map(\.place) == [.rows(projection: RowBoard.name)])
        #expect(findings.first?.what.hasPrefix("row 000000010000610000: ") == true, "\(findings)")
        await store.close()
    }

    @Test func `verify finds a row that no entry made`() async throws {
        let storage = TestStorage()
        let store = try await storage.store(RowBoard.self)
        _ = try await store.record(.set("a", 1))
        try await store.acknowledge(1)
        #expect(try await store.verify().findings == [])
        try storage.forge("z", 7)
        let findings = try await store.verify().findings
        #expect(findings.map(\.place) == [.rows(projection: RowBoard.name)], "\(findings)")
        #expect(
            findings.first?.what.hasPrefix("row 0000000100007a0000 of cells differs") == true,
            "\(findings)")
        await store.close()
    }

    @Test func `verify lists the rows that it did not compare`() async throws {
        let directory = TemporaryDirectory()
        let store = try await Self.open(RowBoard.self, in: directory)
        _ = try await store.record(.set("a", 1))
        try await store.acknowledge(1)
        #expect(try await store.verify().notCompared == [])
        await store.close()
        let reader = try LogReader(at: directory.log)
        #expect(try reader.verify(RowBoard.self).notCompared == [])
        #expect(try reader.verify(Later.self).notCompared == [RowBoard.name])
        #expect(try reader.verify(Users.self).notCompared == [RowBoard.name])
        #expect(
            try reader.verify(Users.self, also: [AdditionalProjection(RowBoard.self)]).notCompared
                == [])
        reader.close()
    }

    @Test func `a schema's types have the same names on every platform`() {
        let table = RowTable("t", key: KeyPair<UUID, Date>.self, row: [String: Decimal].self)
        #expect(
            RowSchema(table).summary
                == "table t (Foldback.KeyPair<Foundation.UUID, Foundation.Date> to "
                + "Swift.Dictionary<Swift.String, Foundation.Decimal>)")
    }
}
