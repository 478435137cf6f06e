import Foldback
import Foundation
import TestSupport
import Testing

/// Question: does an event cost as much as its bytes and its documents, or more?
///
/// A `merge` into an object of 100,000 members took 18 s, because each new member moved half of the
/// others. An `all` of 8,000 increments copied its object 8,000 times; on rows it also parsed and
/// wrote it 8,000 times.
///
/// Each test compares one size with a size eight times as large. Work in proportion to the size
/// makes a ratio near 8, work in proportion to its square a ratio near 64.
@Suite struct DocumentCostTests {
    private static let (small, large) = (250, 2_000)
    private static let ratioMax = 24.0

    private static func growth(_ body: (Int) throws -> () throws -> Void) throws -> Double {
        let (few, many) = (try body(small), try body(large))
        return try leastThreadTime(many) / leastThreadTime(few)
    }

    /// Returns an object whose members have every second name.
    private static func object(_ count: Int, odd: Bool = false) -> JSON {
        var object = JSON.Object()
        for number in 0..<count { object[name(2 * number + (odd ? 1 : 0))] = 1 }
        return .object(object)
    }

    private static func name(_ number: Int) -> ExactString {
        ExactString("m" + String(String(number + 1_000_000).dropFirst()))
    }

    /// Returns what an event costs as a value and as rows, on a document `a`.
    private static func applications(
        to document: JSON, _ event: DocumentEvent
    ) throws -> (value: () throws -> Void, rows: () throws -> Void) {
        let context = EventContext(.position(1))
        var documents = Documents()
        try documents.apply(.set("a", document), context)
        let schema = StoredSchema(StoredDocuments.schema, number: 1)
        var confirmed = ConfirmedRows()
        var rows = TouchedRows(schema, over: confirmed)
        try StoredDocuments.apply(.set("a", document), context, to: &rows)
        for (key, value) in rows.writes { confirmed.set(value, at: key) }
        return (
            { [documents] in
                var documents = documents
                try documents.apply(event, context)
            },
            { [confirmed] in
                var rows = TouchedRows(schema, over: confirmed)
                try StoredDocuments.apply(event, context, to: &rows)
            }
        )
    }

    @Test func `a merge costs as much as the patch and the object`() throws {
        let growth = try Self.growth { count in
            let (object, patch) = (Self.object(16 * count), Self.object(16 * count, odd: true))
            return { _ = object.merged(with: patch) }
        }
        #expect(growth < Self.ratioMax)
    }

    @Test func `a merge of nested objects costs as much as the patch and the object`() throws {
        let growth = try Self.growth { count in
            let object: JSON = ["n": ["m": Self.object(16 * count)]]
            let patch: JSON = ["n": ["m": Self.object(16 * count, odd: true)]]
            return { _ = object.merged(with: patch) }
        }
        #expect(growth < Self.ratioMax)
    }

    @Test(arguments: [false, true])
    func `many increments in one event cost as much as one pass over the document`(
        asRows: Bool
    ) throws {
        let growth = try Self.growth { count in
            let event = DocumentEvent.all(
                (0..<count).map { .increment("a", field: Self.name($0), by: 1) })
            let (value, rows) = try Self.applications(to: Self.object(count), event)
            return asRows ? rows : value
        }
        #expect(growth < Self.ratioMax)
    }

    @Test(arguments: [false, true])
    func `many merges into a nested object cost as much as one pass over it`(
        asRows: Bool
    ) throws {
        let growth = try Self.growth { count in
            let event = DocumentEvent.all(
                (0..<count).map { .merge("a", ["n": [Self.name($0): 2]]) })
            let (value, rows) = try Self.applications(to: ["n": Self.object(count)], event)
            return asRows ? rows : value
        }
        #expect(growth < Self.ratioMax)
    }

    @Test func `the keys of nested events are collected once`() {
        let growth = try? Self.growth { count in
            var event = DocumentEvent.all((0..<200).map { .delete(Self.name($0)) })
            for _ in 0..<count / 4 { event = .all([event]) }
            return { _ = Documents.keys(touchedBy: event, EventContext(.position(1))) }
        }
        #expect(growth ?? .infinity < Self.ratioMax)
    }

    @Test func `a dictionary is described in one pass`() throws {
        let growth = try Self.growth { count in
            let numbers = Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, $0) })
            return { _ = JSON(describing: numbers) }
        }
        #expect(growth < Self.ratioMax)
    }

    @Test func `a row with many index entries is changed in one pass`() throws {
        let table = RowTable("tagged", key: UInt64.self, row: [Int].self)
        let tags = table.index("tags", byEach: { _, tags in tags })
        let schema = StoredSchema(RowSchema(table, tags), number: 1)
        let growth = try Self.growth { count in
            let confirmed = ConfirmedRows()
            return {
                var rows = TouchedRows(schema, over: confirmed)
                try rows.put(Array(0..<count), at: 1, in: table)
                try rows.put(Array(count / 2..<2 * count), at: 1, in: table)
            }
        }
        #expect(growth < Self.ratioMax)
    }
}
