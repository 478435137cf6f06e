import Foldback
import FoldbackHistory
import FoldbackLMDB
import Foundation
import Synchronization
import TestSupport
import Testing

/// Failures of rows that a log already has: they are damaged, half removed, without a header, from
/// other code, or at an earlier sequence than the log.
///
/// A store shows the fold of the entries, or an error reports the reason.
@Suite struct RowRecoveryTests: MemoryLogSuite {
    // MARK: Damage

    @Test
    func `opening reports a damaged row that a pending intent reads, and discarding repairs it`()
        async throws
    {
        let directory = TemporaryDirectory()
        func open() async throws(LogError) -> Store<RowBoard> {
            try await Store.open(
                at: directory.log, RowBoard.self, confirmedBy: .acknowledgement,
                durability: .relaxed)
        }
        var store = try await open()
        for (number, key) in ["a", "b"].enumerated() {
            _ = try await store.record(.set(key, 1))
            try await store.acknowledge(IntentNumber(UInt64(number + 1)))
        }
        _ = try await store.record(.add("a", 5))
        await store.close()
        let key = KeyBytes("a".bytes(after: [0, 0, 0, 1, 0, 0]))
        let log = try LMDBLog.open(
            directory.log.path, kind: nil, newKind: .downlink, replica: .random,
            options: .init(), freshReplica: { ReplicaID("other")! })
        var batch = WriteBatch()
        batch.writeRow(Array("1 and some bytes".utf8), at: key)
        try log.write(batch)
        log.close()
        let failure = await error { () throws(LogError) in try await open() }
        guard case .damaged = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        try await LogDirectory(at: directory.log).discardRows()
        store = try await open()
        let shown = try store.read { try SeenBoard($0) }
        #expect(shown.view.cells == ["a": 6, "b": 1] && shown.confirmed.cells == ["a": 1, "b": 1])
        #expect(try await store.verify().findings == [])
        await #expect(throws: LogError.self) {
            try await LogDirectory(at: directory.log).discardRows()
        }
        await store.close()
    }

    @Test func `a damaged row can be replaced while it is watched`() async throws {
        let log = Self.downlink()
        let store = try Self.store(Notes<OldCode>.self, over: log)
        _ = try await store.confirm(Self.confirmed([.set("a", 1)]))
        let key = KeyBytes("a".bytes(after: [0, 0, 0, 1, 0, 0]))
        var batch = WriteBatch()
        batch.writeRow([1], at: key)
        try log.write(batch)
        var changes = try store.changes(of: Notes<OldCode>.notes).makeAsyncIterator()
        _ = try await store.confirm(Self.confirmed([.set("a", 2)], from: 2))
        #expect(try store.read { try $0.get("a", in: Notes<OldCode>.notes) } == "xx")
        let batchOfChanges = try #require(try await changes.next())
        #expect(!batchOfChanges.isComplete && batchOfChanges.sequence == 2)
        await store.close()
    }

    // MARK: Removal

    @Test func `half-removed rows are not taken for complete rows`() async throws {
        let log = Self.downlink()
        var board = try Self.store(RowBoard.self, over: log)
        let all = (0..<5_000).map { ("k\($0)", $0) }
        _ = try await board.confirm(
            Self.confirmed([.replaceAll(Dictionary(uniqueKeysWithValues: all))]))
        let expected = try board.seen()
        await board.close()
        // Removal takes two transactions. It stops after none, after one, or not at all.
        for writes in 0...2 {
            let cut = FailingLog(log.rows, writes: writes)
            do { try cut.dropRows(try cut.storedRows()) } catch { #expect(writes < 2) }
            board = try Self.store(RowBoard.self, over: MemoryLog(cut.log.rows))
            #expect(try board.seen().view == expected.view)
            #expect(try board.core.storage.projectionHeaders().count == 1)
            await board.close()
        }
    }

    @Test func `the next open finishes the removal of rows with a damaged header`() async throws {
        let log = Self.downlink()
        let board = try Self.store(RowBoard.self, over: log)
        let all = (0..<5_000).map { ("k\($0)", $0) }
        _ = try await board.confirm(
            Self.confirmed([.replaceAll(Dictionary(uniqueKeysWithValues: all))]))
        await board.close()
        let cut = FailingLog(log.rows, writes: 1)
        #expect(throws: LogError.self) { try cut.dropRows([.unknown(1)]) }
        #expect(try Self.rowCount(of: cut) > 0)
        let notes = try Self.store(Notes<NewCode>.self, over: MemoryLog(cut.log.rows))
        #expect(try notes.core.storage.storedRows().map(\.number) == [2])
        #expect(try notes.core.storage.readRows { try $0.numbers() } == [2])
        await notes.close()
    }

    @Test func `rows without a header are reported and belong to no projection`() async throws {
        let log = Self.downlink()
        let orphan = KeyBytes("zz".bytes(after: [0, 0, 0, 1, 0, 0]))
        var batch = WriteBatch()
        batch.writeRow(StoredRow.sealed(Array("7".utf8), at: orphan), at: orphan)
        try log.write(batch)
        let store = try Self.store(Notes<NewCode>.self, over: log)
        _ = try await store.confirm(Self.confirmed([.set("a", 1)]))
        #expect(
            try store.read { try $0.page(of: Notes<NewCode>.notes, limit: 9).map(\.key) } == ["a"])
        let findings = try await store.verify().findings
        #expect(findings.map(\.place) == [.rows(projection: "stored projection 1")])
        await store.close()
        let closed = MemoryLog(log.rows)
        try closed.dropRows(try closed.allStoredRows())
        #expect(try Self.rowCount(of: closed) == 0)
    }

    // MARK: Verification of a growing log

    /// A log that moves to its next state after each read of rows or headers. No read may begin
    /// during a read.
    private final class GrowingLog: ForwardingLog {
        private struct State {
            var logs: ArraySlice<MemoryLog>
            var isReading = false
        }
        private struct Watched: StorageSnapshot {
            let snapshot: any StorageSnapshot
            let noteRows: () -> Void

            func open(_ table: LogTable) throws(LogError) -> any StorageTable {
                if table == .rows || table == .projections { noteRows() }
                return try snapshot.open(table)
            }
            func count(of table: LogTable) throws(LogError) -> Int {
                try snapshot.count(of: table)
            }
        }
        private let state: Mutex<State>

        init(_ states: [MemoryRows]) {
            state = Mutex(State(logs: states.map { MemoryLog($0) }[...]))
        }

        var log: MemoryLog { state.withLock { $0.logs[$0.logs.startIndex] } }

        func read(_ body: (any StorageSnapshot) -> Void) throws(LogError) {
            #expect(!state.withLock { $0.isReading }, "a read begins inside a read")
            state.withLock { $0.isReading = true }
            var hasRows = false
            defer {
                state.withLock { state in
                    state.isReading = false
                    if hasRows, state.logs.count > 1 { state.logs.removeFirst() }
                }
            }
            try log.read { snapshot in
                withoutActuallyEscaping({ hasRows = true }) { noteRows in
                    body(Watched(snapshot: snapshot, noteRows: noteRows))
                }
            }
        }
    }

    @Test(arguments: [2, 5, 100])
    func `verify compares the rows of a store that keeps writing`(count: Int) async throws {
        let log = Self.downlink()
        let store = try Self.store(Notes<NewCode>.self, over: log)
        var states: [MemoryRows] = []
        for position in 1...count {
            _ = try await store.confirm(
                Self.confirmed([.set("k\(position)", 1)], from: UInt64(position)))
            states.append(log.rows)
        }
        await store.close()
        var verifier = try Verifier(
            GrowingLog(states), ProjectionSet(Notes<NewCode>.self),
            codec: AppCodec(codec: Notes<NewCode>.codec))
        let verification = try verifier.verification()
        #expect(verification.findings == [])
        // Verify stops after a limited number of attempts if the store is always ahead.
        #expect(verification.notCompared == (count <= Limits.verifyAttemptsMax ? [] : ["notes"]))
    }

    // MARK: Headers of other formats

    /// Code that wrote the first format did not store the format of its events.
    @Test func `rows under a header of the first format are rebuilt`() async throws {
        let directory = TemporaryDirectory()
        var store = try await Self.board(in: directory)
        _ = try await store.record(.set("a", 1))
        try await store.acknowledge(1)
        await store.close()
        try Self.write(header: Self.header(ofFormat: 1, name: RowBoard.name), in: directory)
        store = try await Self.board(in: directory)
        #expect(try store.core.storage.storedRows().map(\.number) == [2])
        #expect(try store.read { try $0.page(of: RowBoard.cells, limit: 9).map(\.row) } == [1])
        #expect(try await store.verify().findings == [])
        await store.close()
    }

    @Test func `rows from newer code are not removed`() async throws {
        let directory = TemporaryDirectory()
        let store = try await Self.board(in: directory)
        _ = try await store.record(.set("a", 1))
        try await store.acknowledge(1)
        let rows = try Self.rowCount(of: store.core.storage)
        await store.close()
        try Self.write(header: Self.header(ofFormat: 4, name: RowBoard.name), in: directory)
        let failure = await error { () throws(LogError) in
            try await LogDirectory(at: directory.log).discardRows()
        }
        guard case .newerFormat = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        let log = try LMDBLog.openReadOnly(directory.log.path)
        #expect(try Self.rowCount(of: log) == rows)
        log.close()
    }

    private static func board(
        in directory: TemporaryDirectory
    ) async throws(LogError) -> Store<RowBoard> {
        try await Store.open(
            at: directory.log, RowBoard.self, confirmedBy: .acknowledgement, durability: .relaxed)
    }

    private static func rowCount(of log: any LogStorage) throws -> Int {
        try log.rowKeys(in: KeySpan(prefix: []), countMax: .max).count
    }

    /// Returns a header of the first stored projection.
    private static func header(ofFormat format: UInt8, name: String) -> [UInt8] {
        var writer = ByteWriter()
        writer.fixed(format)
        writer.fixed(UInt64(2))
        writer.fixed(RowBoard.version)
        writer.sized(name)
        writer.sized(RowBoard.schema.summary)
        _ = writer.seal(seed: 1)
        return writer.bytes
    }

    private static func write(header: [UInt8], in directory: TemporaryDirectory) throws {
        let environment = try Environment.open(directory.log.path)
        defer { environment.close() }
        try environment.write { transaction throws(LMDBError) in
            let table: Table<UInt64> = try transaction.table("projections")
            try transaction.put(header, at: 1, in: table)
        }
    }

    // MARK: An earlier sequence

    @Test func `rows at an earlier sequence than their log are sound`() async throws {
        let directory = TemporaryDirectory()
        func run<P: EventFold>(_ projection: P.Type, _ move: Move) async throws
        where P.Event == Move {
            let store = try await Store.open(
                at: directory.log, projection, confirmedBy: .acknowledgement,
                durability: .relaxed)
            let receipt = try await store.record(move)
            try await store.acknowledge(receipt.number)
            await store.close()
        }
        try await run(RowBoard.self, .set("a", 1))
        try await run(Board.self, .set("a", 2))
        #expect(try LogReader(at: directory.log).verify(RowBoard.self).findings == [])
        try await run(RowBoard.self, .set("b", 3))
        #expect(try LogReader(at: directory.log).verify(RowBoard.self).findings == [])
    }

    // MARK: Indexes

    private struct People: StoredProjection {
        static let people = RowTable("people", key: Int.self, row: String.self)
        static let aliases = people.index(
            "aliases", isUnique: true,
            byEach: { _, text in
                text.split(separator: ",").map(String.init)
            })
        static let schema = RowSchema(people, aliases)
        static var codec: any EventCodec<Move> { MoveCodec() }

        static func apply(
            _ move: Move, _ context: EventContext, to rows: inout TouchedRows
        ) throws {
            guard case .set(let text, let id) = move else { return }
            try rows.put(text, at: id, in: people)
        }
    }

    @Test func `a row that lists an index key twice does not conflict with itself`() async throws {
        let store = Store.inMemory(People.self, confirmedBy: .acknowledgement)
        _ = try await store.record(.set("x,x,y", 1))
        _ = try await store.record(.set("y,x,x", 1))
        #expect(try store.read { try $0.get("x", by: People.aliases)?.key } == 1)
        #expect(try store.read { try $0.count(of: People.aliases) } == 2)
        await #expect(throws: CommandError.self) { try await store.record(.set("z,y", 2)) }
        await store.close()
    }
}
