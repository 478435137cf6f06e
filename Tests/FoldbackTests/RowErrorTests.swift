import Foldback
import TestSupport
import Testing

/// Failure: a row was refused after its indexes had changed. `apply` caught the error, and a unique
/// index had one name twice.
///
/// Property: an operation that throws changes nothing and reports the reason.
@Suite struct RowErrorTests {
    /// A codec that encodes a number as its count of bytes. It does not encode negative numbers and
    /// does not decode 13.
    private struct Picky: ByteCodec {
        func encode(_ value: Int, into output: inout OutputBuffer) throws {
            guard value >= 0 else { throw MoveConflict(reason: "negative") }
            output.append(bytes: [UInt8](repeating: 7, count: value))
        }

        func decode(_ bytes: RawSpan) throws -> Int {
            guard bytes.byteCount != 13 else { throw MoveConflict(reason: "thirteen") }
            return bytes.byteCount
        }
    }

    private struct Sizes: StoredProjection {
        static let sizes = RowTable("sizes", key: String.self, codec: Picky())
        static let bySize = sizes.index("by size") { _, size in size }
        static let byRest = sizes.index("by rest", isUnique: true) { _, size in
            String(repeating: "r", count: size % 1_000)
        }
        static let schema = RowSchema(sizes, bySize, byRest)
        static var codec: any EventCodec<Move> { MoveCodec() }

        /// Ignores every error of a row.
        static func apply(
            _ move: Move, _ context: EventContext, to rows: inout TouchedRows
        ) throws {
            guard case .set(let key, let size) = move else { return }
            do { try rows.put(size, at: key, in: sizes) } catch {}
        }
    }

    private static func sizes() throws -> TouchedRows {
        var rows = TouchedRows(StoredSchema(Sizes.schema, number: 0), over: ConfirmedRows())
        try rows.put(1, at: "a", in: Sizes.sizes)
        return rows
    }

    private static func writes(of rows: TouchedRows) -> [KeyBytes: RowValue] {
        Dictionary(uniqueKeysWithValues: rows.writes.map { ($0.key, $0.value) })
    }

    @Test(
        arguments: [
            ("b", 1, .notUnique(index: "by rest")), ("b", 1_001, .notUnique(index: "by rest")),
            ("a", 600, .keyTooLong(table: "by rest", bytes: 602)),
            (String(repeating: "b", count: 503), 2, .keyTooLong(table: "sizes", bytes: 505)),
            (
                "a", Limits.rowBytesMax + 1,
                .rowTooLarge(table: "sizes", bytes: Limits.rowBytesMax + 1)
            ),
        ] as [(String, Int, RowError)])
    func `a refused row changes nothing`(
        key: String, size: Int, error: RowError
    ) throws {
        var rows = try Self.sizes()
        let before = Self.writes(of: rows)
        #expect(throws: error) { try rows.put(size, at: key, in: Sizes.sizes) }
        #expect(Self.writes(of: rows) == before)
    }

    @Test func `a row that its codec refuses changes nothing`() throws {
        var rows = try Self.sizes()
        let before = Self.writes(of: rows)
        #expect(throws: MoveConflict.self) { try rows.put(-1, at: "a", in: Sizes.sizes) }
        #expect(Self.writes(of: rows) == before)
    }

    @Test(arguments: Engine.allCases)
    func `an apply that catches an error keeps only its other changes`(
        engine: Engine
    ) async throws {
        let directory = TemporaryDirectory()
        let store = try await engine.store(Sizes.self, .acknowledgement, in: directory)
        for (index, move) in [("a", 1), ("b", 2), ("b", 1), ("c", 1), ("a", 600)].enumerated() {
            _ = try await store.record(.set(move.0, move.1))
            try await store.acknowledge(IntentNumber(UInt64(index + 1)))
        }
        try store.read { rows throws in
            #expect(try rows.page(of: Sizes.sizes, limit: 9).map(\.key) == ["a", "b"])
            #expect(try rows.page(of: Sizes.bySize, limit: 9).map(\.key) == ["a", "b"])
            #expect(try rows.get("rr", by: Sizes.byRest)?.key == "b")
            #expect(try rows.count(of: Sizes.byRest) == 2)
        }
        #expect(try await store.verify().findings == [])
        await store.close()
    }

    @Test func `insert needs an absent row, and update needs a present row`() throws {
        var rows = try Self.sizes()
        #expect(throws: RowError.isPresent(table: "sizes")) {
            try rows.insert(2, at: "a", in: Sizes.sizes)
        }
        #expect(try rows.get("a", in: Sizes.sizes) == 1)
        #expect(throws: RowError.isAbsent(table: "sizes")) {
            try rows.update("b", in: Sizes.sizes) { $0 += 1 }
        }
        #expect(try rows.get("b", in: Sizes.sizes) == nil)
        try rows.insert(2, at: "b", in: Sizes.sizes)
        try rows.update("b", in: Sizes.sizes) { $0 += 3 }
        #expect(try rows.get("b", in: Sizes.sizes) == 5)
    }

    @Test func `the error for an unreadable row names its table`() throws {
        var rows = try Self.sizes()
        let plain = RowTable("sizes", key: String.self, codec: Picky())
        var unread = TouchedRows(
            StoredSchema(RowSchema(plain), number: 0), over: ConfirmedRows())
        try unread.put(13, at: "a", in: plain)
        #expect {
            try unread.get("a", in: plain)
        } throws: { error in
            guard case .unreadableRow(table: "sizes", _) = error as? RowError else { return false }
            return true
        }
        try rows.remove("a", from: Sizes.sizes)
        #expect(rows.writes.allSatisfy { $0.value == .absent })
    }

    // MARK: Tables that the schema does not have

    @Test func `a table with an index's name, or with other types, is not in the schema`() throws {
        let asIndex = RowTable("by size", key: String.self, row: Int.self)
        let otherKey = RowTable("sizes", key: Int.self, row: Int.self)
        let otherRow = RowTable("sizes", key: String.self, row: String.self)
        var rows = try Self.sizes()
        let before = Self.writes(of: rows)
        #expect(throws: RowError.unknown("by size")) { try rows.put(1, at: "a", in: asIndex) }
        #expect(throws: RowError.unknown("sizes")) { try rows.put(1, at: 1, in: otherKey) }
        #expect(throws: RowError.unknown("sizes")) { try rows.put("1", at: "a", in: otherRow) }
        #expect(throws: RowError.unknown("by size")) { try rows.keys(of: asIndex) }
        #expect(Self.writes(of: rows) == before)
    }

    @Test func `a reader refuses a table or an index whose type is not the schema's`() async throws
    {
        let store = Store.inMemory(Sizes.self, confirmedBy: .acknowledgement)
        let asIndex = RowTable("by size", key: String.self, row: Int.self)
        let asTable = Sizes.sizes.index("sizes") { _, size in size }
        let notUnique = Sizes.sizes.index("by rest") { _, size in "\(size)" }
        try store.read { rows in
            #expect(throws: RowError.unknown("by size")) { try rows.count(of: asIndex) }
            #expect(throws: RowError.unknown("sizes")) { try rows.count(of: asTable) }
            #expect(throws: RowError.unknown("by rest")) { try rows.count(of: notUnique) }
        }
        #expect(throws: RowError.unknown("by size")) { try store.changes(of: asIndex) }
        await store.close()
    }
}
