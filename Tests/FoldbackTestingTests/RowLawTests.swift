import Foundation
import TestSupport
import Testing

@testable import Foldback
@testable import FoldbackTesting

/// The question behind these tests: do stored rows have the same meaning as a fold in memory? A review found
/// laws that looked only at the fold in memory.
@Suite struct RowLawTests {
    private static let keys = Generator<String>.element(of: ["a", "b", "c"])
    private static let moves = Generator<Move>.oneOf(
        .making(Move.set, keys, .integers(in: 0...9)),
        .making(Move.add, keys, .integers(in: 0...9)),
        .making(Move.claim, keys), .making(Move.remove, keys))

    /// The same scripts on a slow machine.
    private static let effort = Effort(
        scriptsMax: TestEffort.value(quick: 15, full: 60), durationMax: nil, stepsMax: 24,
        candidatesMax: 500, stepMax: .seconds(30))

    @Test func `a board of rows keeps every law`() async throws {
        let report = try await requireLaws(
            of: RowBoard.self, events: Self.moves, rowIDs: ItemIDs(keysOf: RowBoard.cells),
            effort: Effort(
                scriptsMax: TestEffort.value(quick: 30, full: 200), durationMax: nil, stepsMax: 24,
                candidatesMax: 3_000, stepMax: .seconds(30)),
            completeness: .required, failures: .forgotten)
        #expect(Set(report.held) == .standard)
    }

    /// Counts its calls.
    private struct Restless: StoredProjection {
        static let cells = RowTable("cells", key: String.self, row: Int.self)
        static let schema = RowSchema(cells)
        static var codec: any EventCodec<Move> { MoveCodec() }
        nonisolated(unsafe) static var calls = 0

        static func apply(
            _ move: Move, _ context: EventContext, to rows: inout TouchedRows
        ) throws {
            calls += 1
            try rows.put(calls, at: "calls", in: cells)
        }
    }

    @Test func `P1 finds rows that depend on more than the event`() async throws {
        let report = await checkLaws(
            of: Restless.self, events: Self.moves, seed: 3, failures: .forgotten)
        let finding = try #require(report.findings.first { $0.law == .p1 })
        #expect(finding.stepCount <= 2)
        #expect("\(finding)".contains("cells"), "\(finding)")
    }

    // MARK: A store with other rows than memory

    /// A key with other bytes in a store than in memory, as in a broken engine.
    private struct Slippery: RowKey {
        let text: String
        /// Bytes that a store appends.
        var extraBytes = 1

        func encode(to key: inout KeyEncoder) {
            // In memory a projection has the number 0.
            let isStored = key.bytes.count >= 4 && key.bytes.prefix(4) != [0, 0, 0, 0]
            key.append(text)
            key.append(bytes: [UInt8](repeating: 1, count: isStored ? extraBytes : 0))
        }

        init(from key: inout KeyDecoder) throws {
            text = try key.next()
            _ = try key.text()
        }

        init(_ text: String, extraBytes: Int = 1) {
            (self.text, self.extraBytes) = (text, extraBytes)
        }
    }

    private struct BrokenStore: StoredProjection {
        static let cells = RowTable("cells", key: Slippery.self, row: Int.self)
        static let schema = RowSchema(cells)
        static var codec: any EventCodec<Move> { MoveCodec() }

        static func apply(
            _ move: Move, _ context: EventContext, to rows: inout TouchedRows
        ) throws {
            guard case .set(let key, let value) = move else { return }
            try rows.put(value, at: Slippery(key), in: cells)
        }
    }

    private static let script = Script<Move>(
        .downlink,
        [
            .record(.set("a", 1)), .record(.set("b", 2)),
            .confirm([.init(1, .set("a", 1), .own(1))]),
        ])

    @Test(
        arguments: [
            (.p1, "the view"), (.p2, "the view"), (.p3, "the view"), (.p4, "the view"),
            (.p5, "confirmed state"), (.p7, "the view"), (.p8, "the view"), (.p10, "the view"),
        ] as [(Law, String)])
    func `every law checks the rows of the store`(law: Law, part: String) async throws {
        let broken = await #expect(throws: LawsBroken.self) {
            try await requireLaw(law, of: RowsInMemory<BrokenStore>.self, for: Self.script)
        }
        let finding = try #require(broken?.report.findings.first)
        #expect(finding.law == law)
        #expect(finding.statement.contains("\(part) of the stored rows differs"), "\(finding)")
    }

    @Test func `a comparison of confirmed state includes confirmed rows`() async throws {
        let found = try await Trial<RowsInMemory<BrokenStore>>(Self.script).logSteps[2]
            .observation
        #expect(found.difference(from: found, [.view])?.manner == "rows: view")
        #expect(found.difference(from: found, [.confirmed])?.manner == "rows: confirmed")
        #expect(found.difference(from: found, [.pending, .through]) == nil)
    }

    @Test func `fleets check the rows of their replicas`() async throws {
        let report = await checkLaws(
            of: BrokenStore.self, events: Self.moves, laws: [.p15], effort: Self.effort,
            seed: 5,
            failures: .forgotten)
        let finding = try #require(report.findings.first)
        #expect(finding.law == .p15)
        #expect(finding.statement.contains("of the stored rows of"), "\(finding)")
    }

    /// A key that is read as another key: a row that is found in order is not found by its key.
    @Test func `P2 reads rows by their keys`() async throws {
        let broken = await #expect(throws: LawsBroken.self) {
            try await requireLaw(
                .p2, of: RowsInMemory<Capitals>.self,
                for: Script(.downlink, [.record(.set("a", 1))]))
        }
        let finding = try #require(broken?.report.findings.first)
        #expect("\(finding)".contains("the row of cells"), "\(finding)")
    }

    /// Its event applies in memory, but not in a store.
    private struct TooLong: StoredProjection {
        static let cells = RowTable("cells", key: Slippery.self, row: Int.self)
        static let schema = RowSchema(cells)
        static var codec: any EventCodec<Move> { MoveCodec() }

        static func apply(
            _ move: Move, _ context: EventContext, to rows: inout TouchedRows
        ) throws {
            _ = try rows.get(Slippery("a", extraBytes: 600), in: cells)
        }
    }

    @Test(
        arguments: [
            ([.record(.set("a", 1), force: true)], "the list of conflicted intents"),
            ([.confirm([.init(1, .set("a", 1), .none)])], "the number of faults"),
        ] as [([Script<Move>.Step], String)])
    func `P2 finds events that do not apply to stored rows`(
        steps: [Script<Move>.Step], part: String
    ) async throws {
        let broken = await #expect(throws: LawsBroken.self) {
            try await requireLaw(
                .p2, of: RowsInMemory<TooLong>.self, for: Script(.downlink, steps))
        }
        let finding = try #require(broken?.report.findings.first)
        #expect(finding.statement.contains("\(part) of the stored rows differs"), "\(finding)")
    }

    @Test func `reported row changes must be the real changes`() throws {
        func rows(_ pairs: [UInt8: UInt8]) -> RowsInMemory<RowBoard> {
            RowsInMemory(
                everything: pairs.sorted { $0.key < $1.key }.map { ([$0.key], [$0.value]) })
        }
        func shown(_ pairs: [UInt8: UInt8], at sequence: LogSequence, pending: [UInt8])
            -> RowModelState<RowsInMemory<RowBoard>>
        {
            RowModelState(
                sequence: sequence, through: 0, view: rows(pairs), confirmed: rows([:]),
                pending: [], accepted: [], conflicted: [], faults: 0,
                pendingKeys: Set(pending.map { [$0] }))
        }
        let old = shown([1: 1, 2: 2, 3: 3, 5: 5], at: 1, pending: [5])
        func flaw(
            _ changes: [(key: UInt8, old: UInt8?, new: UInt8?)], isPending: Bool = true,
            isComplete: Bool = true, commits: UInt64 = 1
        ) -> String? {
            var reported = RowWatcher.Gathered()
            reported.isComplete = isComplete
            for (key, old, new) in changes {
                reported.changes[KeyBytes([0, 0, 0, 1, key])] = (
                    VisibleRow(value: RowValue(old.map { [$0] }), isPending: key == 5),
                    VisibleRow(value: RowValue(new.map { [$0] }), isPending: isPending && key != 5)
                )
            }
            let new = shown(
                [1: 1, 2: 9, 4: 4, 5: 5], at: LogSequence(1 + commits), pending: [2, 3, 4])
            return RowsInMemory.flaw(in: reported, from: old, to: new)
        }
        #expect(flaw([(2, 2, 9), (3, 3, nil), (4, nil, 4), (5, 5, 5)]) == nil)
        func begins(_ flaw: String?, _ text: String) -> Bool { flaw?.hasPrefix(text) == true }
        let rest: [(key: UInt8, old: UInt8?, new: UInt8?)] = [(4, nil, 4), (5, 5, 5)]
        #expect(
            begins(flaw([(2, 1, 9), (3, 3, nil)] + rest), "02 is reported with a wrong old value"))
        #expect(
            begins(flaw([(2, 2, 8), (3, 3, nil)] + rest), "02 is reported with a wrong new value"))
        #expect(
            begins(
                flaw([(2, 2, 9)] + rest, isPending: false), "02 is reported with a wrong new value")
        )
        #expect(begins(flaw([(3, 3, nil)] + rest), "02 changed or disappeared"))
        #expect(begins(flaw([(2, 2, 9)] + rest), "03 changed or disappeared"))
        #expect(begins(flaw([(2, 2, 9), (3, 3, nil), (5, 5, 5)]), "04 changed or disappeared"))
        // It is confirmed as predicted, so only its pending state changes.
        #expect(begins(flaw([(2, 2, 9), (3, 3, nil), (4, nil, 4)]), "05 changed or disappeared"))
        #expect(begins(flaw([], isComplete: false), "it leaves out changes"))
    }

    @Test func `an unchanged row is reported only after several commits`() {
        let rows = RowsInMemory<RowBoard>(everything: [([1], [1])])
        func shown(at sequence: LogSequence) -> RowModelState<RowsInMemory<RowBoard>> {
            RowModelState(
                sequence: sequence, through: 0, view: rows, confirmed: rows, pending: [],
                accepted: [], conflicted: [], faults: 0, pendingKeys: [])
        }
        let row = VisibleRow(value: .row([1]), isPending: false)
        var reported = RowWatcher.Gathered()
        reported.changes[KeyBytes([0, 0, 0, 1, 1])] = (row, row)
        func flaw(_ end: LogSequence) -> String? {
            RowsInMemory.flaw(in: reported, from: shown(at: 1), to: shown(at: end))
        }
        #expect(flaw(1) == "01 is reported, but did not change")
        #expect(flaw(2) == "01 is reported, but did not change")
        #expect(flaw(3) == nil)
    }

    @Test func `a comparison includes the log's position and lists in rows`() async throws {
        let store = try LogUnderTest<RowsInMemory<RowBoard>>(.downlink).store
        _ = try await store.record(.set("a", 1))
        let observation = Observation(of: store)
        let shown = try #require(observation.readableRows)
        func manner(_ change: (inout RowModelState<RowsInMemory<RowBoard>>) -> Void) -> String? {
            var (other, rows) = (observation, shown)
            change(&rows)
            other.rows = .readable(rows)
            return other.difference(from: observation)?.manner
        }
        #expect(manner { _ in } == nil)
        #expect(manner { $0.sequence = 0 } == "rows: sequence")
        #expect(manner { $0.through = 1 } == "rows: through")
        #expect(manner { $0.pending = [] } == "rows: pending")
        #expect(manner { $0.accepted = [1] } == "rows: accepted")
    }

    /// Without a watcher there would be no changes to compare.
    @Test func `laws watch the rows of their stores`() async throws {
        let store = try LogUnderTest<RowsInMemory<RowBoard>>(.downlink).store
        let watcher = RowsInMemory<RowBoard>.watchRowsForLaws(store)
        _ = try await store.record(.set("a", 1))
        #expect(watcher?.take().isEmpty == false)
        _ = try await store.record(.set("b", 1))
        let changes = watcher?.take().changes
        // The row, its count, and its entries in two indexes; "b" and 1 are odd.
        #expect(changes?.count == 4)
    }

    // MARK: P11

    private struct Note: Sendable {
        let at: Date
    }

    /// Rounds dates to whole seconds.
    private struct WholeSeconds: ByteCodec {
        func encode(_ note: Note, into output: inout OutputBuffer) {
            output.append(variable: UInt64(note.at.timeIntervalSince1970))
        }

        func decode(_ bytes: RawSpan) throws -> Note {
            var cursor = InputCursor()
            let seconds = try cursor.variable(in: bytes)
            return Note(at: Date(timeIntervalSince1970: Double(seconds)))
        }
    }

    private struct Diary: StoredProjection {
        static let notes = RowTable("notes", key: String.self, codec: WholeSeconds())
        static let byDate = notes.index("by date") { _, note in note.at }
        static let schema = RowSchema(notes, byDate)
        static var codec: any EventCodec<Move> { MoveCodec() }

        static func apply(
            _ move: Move, _ context: EventContext, to rows: inout TouchedRows
        ) throws {
            switch move {
            case .set(let key, let value):
                let at = Date(timeIntervalSince1970: Double(value) / 2)
                try rows.put(Note(at: at), at: key, in: notes)
            case .remove(let key): try rows.remove(key, from: notes)
            case .add, .claim, .replaceAll, .sweep: break
            }
        }
    }

    @Test func `P11 finds a codec that loses part of an index key`() async throws {
        let report = await checkLaws(
            of: Diary.self, events: Self.moves, effort: Self.effort, seed: 1, failures: .forgotten)
        let finding = try #require(report.findings.first)
        #expect(finding.law == .p11)
        #expect(finding.stepCount == 1)
        #expect(finding.statement.contains("Index by date has rows at other places"), "\(finding)")
        #expect(finding.difference.count == 5, "\(finding)")
    }

    private struct UniqueDiary: StoredProjection {
        static let byDate = Diary.notes.index("by date", isUnique: true) { _, note in note.at }
        static let schema = RowSchema(Diary.notes, byDate)
        static var codec: any EventCodec<Move> { MoveCodec() }

        static func apply(
            _ move: Move, _ context: EventContext, to rows: inout TouchedRows
        ) throws {
            guard case .set(let key, let value) = move else { return }
            let at = Date(timeIntervalSince1970: Double(value) / 2)
            try rows.insert(Note(at: at), at: key, in: Diary.notes)
        }
    }

    @Test func `P11 finds rows that a codec makes equal in a unique index`() async throws {
        let broken = await #expect(throws: LawsBroken.self) {
            try await requireLaw(
                .p11, of: RowsInMemory<UniqueDiary>.self,
                for: Script(.downlink, [.record(.set("a", 2)), .record(.set("b", 3))]))
        }
        let finding = try #require(broken?.report.findings.first)
        #expect(finding.statement.hasPrefix("Unique index by date has two rows"), "\(finding)")
    }

    @Test func `a page throws after such a codec left an index entry`() async throws {
        let store = Store.inMemory(Diary.self, confirmedBy: .downlink)
        _ = try await store.record(.set("a", 3))
        _ = try await store.record(.remove("a"))
        #expect(throws: LogError.self) {
            try store.read { _ = try $0.page(of: Diary.byDate, limit: 9) }
        }
    }

    /// Cannot read odd numbers.
    private struct Even: ByteCodec {
        func encode(_ value: Int, into output: inout OutputBuffer) {
            output.append(variable: UInt64(value))
        }

        func decode(_ bytes: RawSpan) throws -> Int {
            var cursor = InputCursor()
            let value = Int(try cursor.variable(in: bytes))
            guard value % 2 == 0 else { throw MoveConflict(reason: "\(value) is odd") }
            return value
        }
    }

    private struct Evens: StoredProjection {
        static let cells = RowTable("cells", key: String.self, codec: Even())
        static let schema = RowSchema(cells)
        static var codec: any EventCodec<Move> { MoveCodec() }

        static func apply(
            _ move: Move, _ context: EventContext, to rows: inout TouchedRows
        ) throws {
            guard case .set(let key, let value) = move else { return }
            try rows.put(value, at: key, in: cells)
        }
    }

    /// The finding of P11 for one row.
    private static func codecFinding<P: StoredProjection>(
        of projection: P.Type
    ) async throws -> Finding where P.Event == Move {
        let broken = await #expect(throws: LawsBroken.self) {
            try await requireLaw(
                .p11, of: RowsInMemory<P>.self,
                for: Script(.downlink, [.record(.set("a", 1))]))
        }
        return try #require(broken?.report.findings.first)
    }

    @Test func `P11 finds rows that cannot be read`() async throws {
        let finding = try await Self.codecFinding(of: Evens.self)
        #expect(finding.statement.contains("A row of table cells"), "\(finding)")
    }

    /// Reads keys in lower case.
    private struct Lower: RowKey {
        let text: String
        init(_ text: String) { self.text = text }
        func encode(to key: inout KeyEncoder) { key.append(text) }
        init(from key: inout KeyDecoder) throws { text = try key.next(String.self).lowercased() }
    }

    private struct Capitals: StoredProjection {
        static let cells = RowTable("cells", key: Lower.self, row: Int.self)
        static let schema = RowSchema(cells)
        static var codec: any EventCodec<Move> { MoveCodec() }

        static func apply(
            _ move: Move, _ context: EventContext, to rows: inout TouchedRows
        ) throws {
            guard case .set(let key, let value) = move else { return }
            try rows.put(value, at: Lower(key.uppercased()), in: cells)
        }
    }

    @Test func `P11 finds keys that are read as other keys`() async throws {
        let finding = try await Self.codecFinding(of: Capitals.self)
        #expect(finding.statement.contains("A key of table cells is written as"), "\(finding)")
    }

    /// A row whose bytes depend on the order of a set.
    private struct Names: StoredProjection {
        static let rows = RowTable("names", key: String.self, row: Set<String>.self)
        static let schema = RowSchema(rows)
        static var codec: any EventCodec<Move> { MoveCodec() }

        static func apply(
            _ move: Move, _ context: EventContext, to touched: inout TouchedRows
        ) throws {
            guard case .set(let key, let value) = move else { return }
            try touched.update("all", in: rows, default: []) { $0.insert("\(key)\(value)") }
        }
    }

    @Test func `P1 finds equal rows with different bytes`() async throws {
        let report = await checkLaws(
            of: Names.self, events: Self.moves, laws: [.p1], effort: Self.effort, seed: 1,
            failures: .forgotten)
        let finding = try #require(report.findings.first)
        #expect(finding.law == .p1)
        #expect(!finding.difference.isEmpty)
    }

    /// Writes bytes that differ between processes, and does not read them.
    private struct Hashed: ByteCodec {
        func encode(_ value: Int, into output: inout OutputBuffer) {
            output.append(variable: UInt64(value))
            output.append(UInt64(truncatingIfNeeded: "a".hashValue))
        }

        func decode(_ bytes: RawSpan) throws -> Int {
            var cursor = InputCursor()
            return Int(try cursor.variable(in: bytes))
        }
    }

    /// Not private, because another process must find it.
    struct HashedCells: StoredProjection {
        static let cells = RowTable("cells", key: String.self, codec: Hashed())
        static let schema = RowSchema(cells)
        static var codec: any EventCodec<Move> { MoveCodec() }

        static func apply(
            _ move: Move, _ context: EventContext, to rows: inout TouchedRows
        ) throws {
            guard case .set(let key, let value) = move else { return }
            try rows.put(value, at: key, in: cells)
        }
    }

    @Test func `P1 finds equal rows with different bytes in another process`() async throws {
        let report = await checkLaws(
            of: HashedCells.self, events: Self.moves, laws: [.p1], effort: Self.effort, seed: 1,
            failures: .forgotten)
        let finding = try #require(report.findings.first)
        #expect(finding.statement.hasPrefix("Another process"), "\(finding)")
        #expect(!finding.difference.isEmpty)
    }
}
