import Foldback

/// Measures the documents' most expensive events: applying one of them as a value and as rows.
///
/// Each is compared with reading and writing the same JSON once, in the same round. An event should
/// cost a small multiple of that, whatever its bytes say.
struct DocumentCosts: Sendable {
    let bench: Workbench

    private struct Load {
        let name: String
        let document: JSON
        let event: DocumentEvent
    }

    func measurements() throws -> [Measurement] {
        try Self.loads.flatMap { load in
            bench.note(load.name)
            return try figures(of: load)
        }
    }

    private static var loads: [Load] {
        let many = (0..<8_000).map { DocumentEvent.increment("a", field: name($0), by: 1) }
        // 52 bytes for each increment, and 11 for each member.
        let bytes = 16 << 20
        let most = (0..<(bytes - 1_000) / 53).map {
            DocumentEvent.increment("a", field: name($0), by: 1)
        }
        return [
            Load(
                name: "merge of 100,000 members into 100,000 others",
                document: object(0..<100_000, every: 2),
                event: .merge("a", object(0..<100_000, every: 2, from: 1))),
            Load(
                name: "all of 8,000 increments of 8,000 members", document: object(0..<8_000),
                event: .all(many)),
            Load(
                name: "16 MiB, one merge into a document of the same names",
                document: object(0..<bytes / 13), event: .merge("a", object(0..<bytes / 13, 2))),
            Load(
                name: "16 MiB, one all of increments of a document of 16 MiB",
                document: object(0..<bytes / 13), event: .all(most)),
        ]
    }

    private static func name(_ number: Int) -> ExactString {
        ExactString("m" + String(String(number + 10_000_000).dropFirst()))
    }

    private static func object(
        _ numbers: Range<Int>, _ value: Int64 = 1, every step: Int = 1, from first: Int = 0
    ) -> JSON {
        var object = JSON.Object()
        for number in numbers { object[name(number * step + first)] = .integer(value) }
        return .object(object)
    }

    // MARK: Figures

    private func figures(of load: Load) throws -> [Measurement] {
        let context = EventContext(.position(1))
        let text = (document: load.document.encoded, event: load.event.json.encoded)
        var documents = Documents()
        try documents.apply(.set("a", load.document), context)
        let schema = StoredSchema(StoredDocuments.schema, number: 1)
        var rows = TouchedRows(schema, over: ConfirmedRows())
        try StoredDocuments.apply(.set("a", load.document), context, to: &rows)
        var confirmed = ConfirmedRows()
        for (key, value) in rows.writes { confirmed.set(value, at: key) }
        var costs: [String: [Double]] = [:]
        for _ in 0..<(bench.isFull ? 11 : 5) {
            let json = try Self.milliseconds {
                for bytes in [text.document, text.event] { _ = try JSON(parsing: bytes).encoded }
            }
            let decoding = try Self.milliseconds {
                _ = try DocumentEvent(json: try JSON(parsing: text.event))
            }
            let value = try Self.milliseconds {
                var documents = documents
                try documents.apply(load.event, context)
            }
            let stored = try Self.milliseconds {
                var rows = TouchedRows(schema, over: confirmed)
                try StoredDocuments.apply(load.event, context, to: &rows)
            }
            costs["reading and writing its JSON", default: []].append(json)
            costs["decoding the event", default: []].append(decoding)
            costs["as a value", default: []].append(value)
            costs["as rows", default: []].append(stored)
            costs["as a value / its JSON", default: []].append(value / json)
            costs["as rows / its JSON", default: []].append(stored / json)
        }
        return [
            ("reading and writing its JSON", "ms"), ("decoding the event", "ms"),
            ("as a value", "ms"), ("as rows", "ms"), ("as a value / its JSON", "times"),
            ("as rows / its JSON", "times"),
        ].map { name, unit in
            (costs[name] ?? []).measurement("\(load.name), \(name)", unit: unit, each: "rounds")
        }
    }

    private static func milliseconds(_ body: () throws -> Void) rethrows -> Double {
        try ContinuousClock().measure(body) / .milliseconds(1)
    }
}
