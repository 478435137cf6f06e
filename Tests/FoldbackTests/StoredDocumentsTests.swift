import Foldback
import TestSupport
import Testing

/// Question: where could documents as rows differ from documents in memory? In keys, in sizes, and
/// in the rows that an event touches.
@Suite struct StoredDocumentsTests {
    let directory = TemporaryDirectory()

    /// Two keys with the same hash.
    private static let colliding = [54_260, 103_779].map { number in
        ExactString(String(repeating: "y", count: 512) + "\(number)")
    }

    private static let keys: [ExactString] =
        [
            "", "a", "a\u{0}", "\u{0}\u{0}", "a\u{0}\u{FF}", "\u{E9}", "e\u{301}",
            ExactString(String(repeating: "x", count: 501)),
            ExactString(String(repeating: "x", count: 502)),
            ExactString(String(repeating: "x", count: 5_000)),
            ExactString(String(repeating: "\u{0}", count: 250)),
            ExactString(String(repeating: "\u{0}", count: 251)),
        ] + colliding

    @Test(arguments: Engine.allCases)
    func
        `any string is a key, even if it is empty, has zeros, or is too long for a row key`(
            engine: Engine
        ) async throws
    {
        var store = try await engine.store(StoredDocuments.self, .acknowledgement, in: directory)
        var expected = Documents()
        for (number, key) in Self.keys.enumerated() {
            let event = DocumentEvent.set(key, ["n": .integer(Int64(number))], require: .absent)
            let receipt = try await store.record(event)
            if number % 2 == 0 { try await store.acknowledge(receipt.number) }
            try expected.apply(event, EventContext(.intent(receipt.id)))
        }
        let increment = DocumentEvent.increment(Self.colliding[0], field: "n", by: 5)
        _ = try await store.record(increment)
        try expected.apply(increment, EventContext(.position(1)))
        if engine == .lmdb {
            await store.close()
            store = try await engine.store(StoredDocuments.self, .acknowledgement, in: directory)
        }
        #expect(try store.read { try $0.documents() } == expected.json)
        for key in Self.keys + ["b"] {
            #expect(try store.read { try $0.document(key) } == expected[key])
        }
        for key in Self.keys { _ = try await store.record(.delete(key, require: .present)) }
        #expect(try store.read { try $0.documents() } == [:])
        #expect(try store.read { try $0.document(Self.colliding[1]) } == nil)
        await store.close()
    }

    @Test(arguments: Engine.allCases)
    func `a log can be opened with documents in memory and as rows by turns`(
        engine: Engine
    ) async throws {
        guard engine == .lmdb else { return }
        for round in 0..<12 {
            let value = JSON.integer(Int64(round))
            let event = DocumentEvent.merge("a", [ExactString("f\(round)"): value])
            if round % 3 == 0 {
                let store = try await engine.store(
                    Documents.self, .acknowledgement, in: directory)
                let receipt = try await store.record(event)
                if round % 2 == 0 { try await store.acknowledge(receipt.number) }
                #expect(store.view["a"]?.objectValue?.members.count == round + 1)
                await store.close()
            } else {
                let store = try await engine.store(
                    StoredDocuments.self, .acknowledgement, in: directory)
                let receipt = try await store.record(event)
                if round % 2 == 0 { try await store.acknowledge(receipt.number) }
                let seen = try store.read { try $0.document("a") }
                #expect(seen?.objectValue?.members.count == round + 1)
                #expect(try await store.verify().findings == [])
                await store.close()
            }
        }
    }

    @Test(arguments: Engine.allCases)
    func `an event applies completely or not at all, with the same conflict as in memory`(
        engine: Engine
    ) async throws {
        let store = try await engine.store(
            StoredDocuments.self, .downlink, in: directory,
            also: [AdditionalProjection(Documents.self)], conflicts: .perProjection)
        _ = try await store.record(.set("a", ["s": "x"]))
        let events: [DocumentEvent] = [
            .increment("a", field: "s", by: 1), .increment("b", field: "n", by: 1),
            .set("a", 1, require: .absent), .delete("b", require: .present),
            .all([.set("c", 1), .delete("a"), .merge("a", ["k": 1], require: .present)]),
        ]
        for (number, event) in zip((2 as UInt64)..., events) {
            _ = try await store.record(event, force: true)
            let conflict = store.projected(StoredDocuments.self).conflict(
                of: IntentNumber(number))
            let expected = store.projected(Documents.self).snapshot.conflict(
                of: IntentNumber(number))
            #expect(conflict != nil)
            #expect(conflict == expected)
        }
        #expect(try store.read { try $0.documents() } == ["a": ["s": "x"]])
        await store.close()
    }
}
