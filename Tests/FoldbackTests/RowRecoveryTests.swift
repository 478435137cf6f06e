import Foldback
import FoldbackHistory
import FoldbackLMDB
import Foundation
import Synchronization
import TestSupport
import Testing

/// Rows that are damaged, half made, half removed, or left behind: what is shown is what the entries give, or
/// an error says why not.
@Suite struct RowRecoveryTests {
    /// Texts by key, without an index; "c" events are unknown to code that is not ``New``.
    private struct Notes<Age>: StoredProjection {
        static var name: String { "notes" }
        static var notes: RowTable<String, String> { RowTable("notes", codec: JSONBytes()) }
        static var schema: RowSchema { RowSchema(notes) }
        static var codec: any EventCodec<Move> {
            PickyCodec(knowsClaims: Age.self != Old.self, isLater: Age.self == Later.self)
        }

        static func apply(
            _ move: Move, _ context: EventContext, to rows: inout TouchedRows
        ) throws {
            switch move {
            case .set(let key, let count):
                try rows.put(String(repeating: "x", count: count), at: key, in: notes)
            case .claim(let key): try rows.put("claimed", at: key, in: notes)
            case .add(let key, _): try rows.update(key, in: notes) { $0 += "+" }
            case .remove(let key): try rows.remove(key, from: notes)
            case .replaceAll, .sweep: throw MoveConflict(reason: "unknown")
            }
        }
    }

    private enum Old {}
    private enum New {}
    /// Writes events in a later format, which the others do not know.
    private enum Later {}

    private struct PickyCodec: EventCodec {
        let knowsClaims: Bool
        var isLater = false
        var format: EventFormat {
            let format = MoveCodec().format
            return EventFormat(codec: format.codec, version: format.version + (isLater ? 1 : 0))
        }
        func encode(_ move: Move) throws -> [UInt8] { try MoveCodec().encode(move) }
        func decode(_ bytes: RawSpan, format: EventFormat) throws -> Move {
            guard format.version <= self.format.version else {
                throw MoveConflict(reason: "unknown format")
            }
            let move = try MoveCodec().decode(bytes, format: MoveCodec().format)
            if case .claim = move, !knowsClaims { throw MoveConflict(reason: "unknown event") }
            return move
        }
    }

    /// A log that dies after some transactions.
    private final class DyingLog: ForwardingLog {
        let log: MemoryLog
        private let writesLeft: Mutex<Int>

        init(_ rows: MemoryRows, writes: Int) {
            log = MemoryLog(rows)
            writesLeft = Mutex(writes)
        }

        func write(_ writes: [TableWrite]) throws(StorageFailure) {
            let isDead = writesLeft.withLock { left in
                left -= 1
                return left < 0
            }
            if isDead {
                throw StorageFailure(
                    path: path, reason: .system(errno: EIO), detail: "on purpose",
                    leavesOutcomeUnknown: false)
            }
            try log.write(writes)
        }
    }

    private final class Steps: Sendable {
        private let all = Mutex<[CatchUpProgress]>([])
        func add(_ step: CatchUpProgress) { all.withLock { $0.append(step) } }
        var sequences: [LogSequence] { all.withLock { $0.map(\.sequence) } }
    }

    private static func store<P: EventFold>(
        _ projection: P.Type, over storage: any LogStorage, _ steps: Steps = Steps()
    ) throws -> Store<P> where P.Event == Move {
        let projections = ProjectionSet(projection, [])
        let core = try StoreCore(
            on: storage, codec: AppCodec(codec: P.codec), folds: projections.folds,
            rows: projections.rows, clock: LogSources.counting().now, policy: .manual,
            hasThread: false, progress: steps.add)
        return Store(core: core, projections: projections)
    }

    private static func downlink() -> MemoryLog {
        MemoryLog(kind: .downlink, replica: ReplicaID("me")!)
    }

    private static func confirmed(
        _ moves: [Move], from position: UInt64 = 1
    ) -> [ConfirmedEvent<Move>] {
        moves.enumerated().map { index, move in
            ConfirmedEvent(
                position: Position(position + UInt64(index)), event: move, origin: nil)
        }
    }

    // MARK: Damage

    @Test func `a damaged row that a pending intent asks for is said at opening, and made anew`()
        async throws
    {
        let directory = TemporaryDirectory()
        func open() async throws(FoldbackError) -> Store<RowBoard> {
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
        let key = KeyBytes("a".bytes(behind: [0, 0, 0, 1, 0, 0]))
        let log = try LMDBLog.open(
            directory.log.path, kind: nil, newKind: .downlink, replica: nil,
            options: .init(), freshReplica: { ReplicaID("other")! })
        var batch = WriteBatch()
        batch.writeRow(Array("1 and some bytes".utf8), at: key)
        try log.write(batch)
        log.close()
        let failure = await error { () throws(FoldbackError) in try await open() }
        guard case .damaged = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        try await LogDirectory(at: directory.log).discardRows()
        store = try await open()
        let shown = try store.read { try SeenBoard($0) }
        #expect(shown.view.cells == ["a": 6, "b": 1] && shown.confirmed.cells == ["a": 1, "b": 1])
        #expect(try await store.verify().findings == [])
        await #expect(throws: FoldbackError.self) {
            try await LogDirectory(at: directory.log).discardRows()
        }
        await store.close()
    }

    @Test func `a damaged row that is watched does not stand in the way of a new one`() async throws
    {
        let log = Self.downlink()
        let store = try Self.store(Notes<Old>.self, over: log)
        _ = try await store.confirm(Self.confirmed([.set("a", 1)]))
        let key = KeyBytes("a".bytes(behind: [0, 0, 0, 1, 0, 0]))
        var batch = WriteBatch()
        batch.writeRow([1], at: key)
        try log.write(batch)
        var changes = try store.changes(of: Notes<Old>.notes).makeAsyncIterator()
        _ = try await store.confirm(Self.confirmed([.set("a", 2)], from: 2))
        #expect(try store.read { try $0.get("a", in: Notes<Old>.notes) } == "xx")
        let told = try #require(try await changes.next())
        #expect(!told.isComplete && told.sequence == 2)
        await store.close()
    }

    // MARK: Half made, half removed

    @Test func `catching up goes on behind the piece where it was cut off`() async throws {
        let log = Self.downlink()
        let values = try Self.store(Board.self, over: log)
        for position in 1...12 as ClosedRange<UInt64> {
            let move = Move.set("k\(position % 5)", 1 << 20)
            _ = try await values.confirm(Self.confirmed([move], from: position))
        }
        await values.close()
        let cut = DyingLog(log.rows, writes: 2)
        let first = Steps()
        #expect(throws: FoldbackError.self) {
            try Self.store(Notes<Old>.self, over: cut, first)
        }
        #expect(first.sequences == [4, 8])
        let rest = Steps()
        let store = try Self.store(Notes<Old>.self, over: MemoryLog(cut.log.rows), rest)
        #expect(rest.sequences == [12])
        #expect(try store.read { try $0.count(of: Notes<Old>.notes) } == 5)
        #expect(try await store.verify().findings == [])
        await store.close()
    }

    @Test func `rows that are half removed are not taken for the whole`() async throws {
        let log = Self.downlink()
        var board = try Self.store(RowBoard.self, over: log)
        let all = (0..<5_000).map { ("k\($0)", $0) }
        _ = try await board.confirm(
            Self.confirmed([.replaceAll(Dictionary(uniqueKeysWithValues: all))]))
        let expected = try board.seen()
        await board.close()
        // Two transactions: none, one or both have happened.
        for writes in 0...2 {
            let cut = DyingLog(log.rows, writes: writes)
            do { try cut.dropRows(try cut.storedRows()) } catch { #expect(writes < 2) }
            board = try Self.store(RowBoard.self, over: MemoryLog(cut.log.rows))
            #expect(try board.seen().view == expected.view)
            #expect(try board.core.storage.projectionHeaders().count == 1)
            await board.close()
        }
    }

    @Test func `rows whose header was damaged are removed to the end as well`() async throws {
        let log = Self.downlink()
        let board = try Self.store(RowBoard.self, over: log)
        let all = (0..<5_000).map { ("k\($0)", $0) }
        _ = try await board.confirm(
            Self.confirmed([.replaceAll(Dictionary(uniqueKeysWithValues: all))]))
        await board.close()
        let cut = DyingLog(log.rows, writes: 1)
        #expect(throws: FoldbackError.self) { try cut.dropRows([.unknown(1)]) }
        #expect(try Self.rowCount(of: cut) > 0)
        let notes = try Self.store(Notes<New>.self, over: MemoryLog(cut.log.rows))
        #expect(try notes.core.storage.storedRows().map(\.number) == [2])
        #expect(try notes.core.storage.readRows { try $0.numbers() } == [2])
        await notes.close()
    }

    @Test func `rows without a header are found, and are nobody else's`() async throws {
        let log = Self.downlink()
        let orphan = KeyBytes("zz".bytes(behind: [0, 0, 0, 1, 0, 0]))
        var batch = WriteBatch()
        batch.writeRow(StoredRow.sealed(Array("7".utf8), at: orphan), at: orphan)
        try log.write(batch)
        let store = try Self.store(Notes<New>.self, over: log)
        _ = try await store.confirm(Self.confirmed([.set("a", 1)]))
        #expect(try store.read { try $0.page(of: Notes<New>.notes, limit: 9).map(\.key) } == ["a"])
        let findings = try await store.verify().findings
        #expect(findings.map(\.place) == [.rows(projection: "stored projection 1")])
        await store.close()
        let left = MemoryLog(log.rows)
        try left.dropRows(try left.everyStoredRows())
        #expect(try Self.rowCount(of: left) == 0)
    }

    // MARK: A log that goes on

    /// A log whose later states come with each read of rows, or of headers; no other read may begin within a read.
    private final class GrowingLog: ForwardingLog {
        private struct State {
            var logs: ArraySlice<MemoryLog>
            var isReading = false
        }
        private struct Watched: StorageSnapshot {
            let snapshot: any StorageSnapshot
            let noteRows: () -> Void

            func open(_ table: LogTable) throws(FoldbackError) -> any StorageTable {
                if table == .rows || table == .projections { noteRows() }
                return try snapshot.open(table)
            }
            func count(of table: LogTable) throws(FoldbackError) -> Int {
                try snapshot.count(of: table)
            }
        }
        private let state: Mutex<State>

        init(_ states: [MemoryRows]) {
            state = Mutex(State(logs: states.map { MemoryLog($0) }[...]))
        }

        var log: MemoryLog { state.withLock { $0.logs[$0.logs.startIndex] } }

        func read(_ body: (any StorageSnapshot) -> Void) throws(FoldbackError) {
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
    func `rows are compared where their store has gone on meanwhile`(count: Int) async throws {
        let log = Self.downlink()
        let store = try Self.store(Notes<New>.self, over: log)
        var states: [MemoryRows] = []
        for position in 1...count {
            _ = try await store.confirm(
                Self.confirmed([.set("k\(position)", 1)], from: UInt64(position)))
            states.append(log.rows)
        }
        await store.close()
        let projections = ProjectionSet(Notes<New>.self, [])
        var verifier = Verifier(
            GrowingLog(states), folds: [], rows: projections.rows,
            codec: AppCodec(codec: Notes<New>.codec))
        let verification = try verifier.verification()
        #expect(verification.findings == [])
        // One that is always ahead is not followed for ever.
        #expect(verification.notCompared == (count <= Limits.verifyAttemptsMax ? [] : ["notes"]))
    }

    // MARK: Events that could not be read

    @Test func `rows are made again once more of an entry can be read, and not each time`()
        async throws
    {
        let log = Self.downlink()
        let new = try Self.store(Notes<New>.self, over: log)
        // Two events of one origin, of which old code reads one.
        let intent = IntentID(replica: ReplicaID("you")!, number: 1)
        let events = [Move.set("a", 1), .claim("b")].enumerated().map { index, move in
            ConfirmedEvent(position: Position(UInt64(index + 1)), event: move, origin: intent)
        }
        _ = try await new.confirm(events)
        await new.close()
        // The same entries, without the rows that new code has made of them.
        let fresh = Self.downlink()
        try fresh.write(Self.batch(ofEntries: log.rows))
        var rows = fresh.rows
        func open<Age>(_ age: Age.Type, isBehind: Bool) async throws -> [Fault] {
            let (storage, steps) = (MemoryLog(rows), Steps())
            let store = try Self.store(Notes<Age>.self, over: storage, steps)
            #expect(steps.sequences == (isBehind ? [1] : []))
            rows = storage.rows
            await store.close()
            return store.faults
        }
        #expect(try await open(Old.self, isBehind: true).count == 1)
        #expect(try await open(Old.self, isBehind: false).count == 1)
        #expect(try await open(New.self, isBehind: true) == [])
        #expect(try await open(New.self, isBehind: false) == [])
    }

    @Test func `making rows again goes on where it was cut off, and leaves no others`() async throws
    {
        let log = Self.downlink()
        let old = try Self.store(Notes<Old>.self, over: log)
        for position in 1...12 as ClosedRange<UInt64> {
            let move = Move.set("k\(position % 5)", 1 << 20)
            _ = try await old.confirm(Self.confirmed([move], from: position))
        }
        let new = try Self.store(Notes<New>.self, over: MemoryLog(log.rows))
        _ = try await new.confirm(Self.confirmed([.claim("c")], from: 13))
        let entries = try #require(new.core.storage as? MemoryLog).rows
        await new.close()
        await old.close()
        let batch = try Self.batch(ofEntries: entries)
        let bare = Self.downlink()
        try bare.write(batch)
        let withFault = try Self.store(Notes<Old>.self, over: bare)
        #expect(withFault.faults.count == 1)
        let cut = DyingLog(bare.rows, writes: 2)
        #expect(throws: FoldbackError.self) { try Self.store(Notes<New>.self, over: cut) }
        let rest = Steps()
        let store = try Self.store(Notes<New>.self, over: MemoryLog(cut.log.rows), rest)
        #expect(rest.sequences == [12, 13] || rest.sequences == [13])
        #expect(try store.core.storage.projectionHeaders().count == 1)
        #expect(try await store.verify().findings == [])
        await store.close()
        await withFault.close()
    }

    @Test func `rows belong to the format of the codec that folded them, there and back`()
        async throws
    {
        let log = Self.downlink()
        let later = try Self.store(Notes<Later>.self, over: log)
        _ = try await later.confirm(Self.confirmed([.set("a", 1)]))
        await later.close()
        var rows = log.rows
        func open<Age>(_: Age.Type) async throws -> (faults: Int, notes: [String]) {
            let storage = MemoryLog(rows)
            let store = try Self.store(Notes<Age>.self, over: storage)
            let notes = try store.read { try $0.page(of: Notes<Age>.notes, limit: 9).map(\.key) }
            #expect(try await store.verify().findings == [])
            #expect(try await store.verify().notCompared == [])
            await store.close()
            rows = storage.rows
            return (store.faults.count, notes)
        }
        #expect(try await open(New.self) == (1, []))
        #expect(try await open(Later.self) == (0, ["a"]))
    }

    /// As code made them that did not note the format.
    @Test func `rows under a header of the first format are made anew`() async throws {
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

    @Test func `rows of newer code are not removed`() async throws {
        let directory = TemporaryDirectory()
        let store = try await Self.board(in: directory)
        _ = try await store.record(.set("a", 1))
        try await store.acknowledge(1)
        let rows = try Self.rowCount(of: store.core.storage)
        await store.close()
        try Self.write(header: Self.header(ofFormat: 3, name: RowBoard.name), in: directory)
        let failure = await error { () throws(FoldbackError) in
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
    ) async throws(FoldbackError) -> Store<RowBoard> {
        try await Store.open(
            at: directory.log, RowBoard.self, confirmedBy: .acknowledgement, durability: .relaxed)
    }

    private static func rowCount(of log: any LogStorage) throws -> Int {
        try log.rowKeys(in: KeySpan(prefix: []), countMax: .max).count
    }

    /// Of the first stored projection.
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

    private static func batch(ofEntries rows: MemoryRows) throws -> WriteBatch {
        var batch = WriteBatch()
        for (sequence, bytes) in try MemoryLog(rows).records(from: 1, countMax: 100) {
            batch.writeRecord(bytes, at: sequence)
        }
        return batch
    }

    // MARK: Left behind

    @Test func `rows that stand where their store was closed are sound`() async throws {
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

    @Test func `a row that names a key twice is not in its own way`() async throws {
        let store = Store.inMemory(People.self, confirmedBy: .acknowledgement)
        _ = try await store.record(.set("x,x,y", 1))
        _ = try await store.record(.set("y,x,x", 1))
        #expect(try store.read { try $0.get("x", by: People.aliases)?.key } == 1)
        #expect(try store.read { try $0.count(of: People.aliases) } == 2)
        await #expect(throws: FoldbackError.self) { try await store.record(.set("z,y", 2)) }
        await store.close()
    }
}
