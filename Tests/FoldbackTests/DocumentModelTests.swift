import Foldback
import TestSupport
import Testing

/// Question: do document events make the documents that their definition says?
///
/// The model here is written apart from the code, as plainly as possible: members in any order,
/// RFC 7396 as its pseudocode has it, and an `all` that works on a copy.
@Suite struct DocumentModelTests {
    // MARK: The model

    /// A JSON value as a list of members.
    private indirect enum Plain {
        case members([(name: [UInt8], value: Plain)])
        case other(JSON)

        init(_ json: JSON) {
            guard case .object(let object) = json else {
                self = .other(json)
                return
            }
            self = .members(object.members.map { (Array($0.name.string.utf8), Plain($0.value)) })
        }

        var text: [UInt8] {
            switch self {
            case .other(let json): return json.encoded
            case .members(let members):
                let sorted = members.sorted { $0.name.lexicographicallyPrecedes($1.name) }
                let texts = sorted.map { name, value in
                    JSON.string(String(decoding: name, as: UTF8.self)).encoded
                        + Array(":".utf8) + value.text
                }
                return Array("{".utf8) + Array(texts.joined(separator: Array(",".utf8)))
                    + Array("}".utf8)
            }
        }

        /// MergePatch(Target, Patch) of RFC 7396.
        static func mergePatch(_ target: Plain?, _ patch: JSON) -> Plain {
            guard case .object(let patch) = patch else { return Plain(patch) }
            var members: [(name: [UInt8], value: Plain)] = []
            if case .members(let old) = target { members = old }
            for (name, value) in patch.members {
                let name = Array(name.string.utf8)
                let place = members.firstIndex { $0.name == name }
                if value == .null {
                    if let place { members.remove(at: place) }
                } else if let place {
                    members[place].value = mergePatch(members[place].value, value)
                } else {
                    members.append((name, mergePatch(nil, value)))
                }
            }
            return .members(members)
        }
    }

    private struct Model {
        var documents: [ExactString: Plain] = [:]

        /// Applies an event. Returns the conflict, with nothing changed.
        mutating func apply(_ event: DocumentEvent) -> DocumentConflict? {
            switch event {
            case .all(let events):
                let before = self
                for event in events {
                    if let conflict = apply(event) {
                        self = before
                        return conflict
                    }
                }
                return nil
            case .change(let key, let change, let require):
                let document = documents[key]
                if require == .present, document == nil { return .isAbsent(key) }
                if require == .absent, document != nil { return .isPresent(key) }
                switch change {
                case .set(let value): documents[key] = Plain(value)
                case .delete: documents[key] = nil
                case .merge(let patch):
                    documents[key] = Plain.mergePatch(document ?? .members([]), patch)
                case .increment(let field, let amount):
                    return increment(key, document, field, amount)
                }
                return nil
            }
        }

        private mutating func increment(
            _ key: ExactString, _ document: Plain?, _ field: ExactString, _ amount: JSON
        ) -> DocumentConflict? {
            guard let document else { return .isAbsent(key) }
            guard case .members(var members) = document else { return .isNotObject(key) }
            let name = Array(field.string.utf8)
            let place = members.firstIndex { $0.name == name }
            let old = place.map { members[$0].value } ?? .other(0)
            guard case .other(.integer(let a)) = old, case .integer(let b) = amount else {
                return .isNotNumber(key, field: field)
            }
            let (sum, overflow) = a.addingReportingOverflow(b)
            if overflow { return .overflow(key, field: field) }
            if let place {
                members[place].value = .other(.integer(sum))
            } else {
                members.append((name, .other(.integer(sum))))
            }
            documents[key] = .members(members)
            return nil
        }

        var texts: [ExactString: [UInt8]] { documents.mapValues(\.text) }
    }

    // MARK: Random events

    private static let names: [ExactString] = [
        "", "a", "b", "ab", "\u{E9}", "e\u{301}", "\"\\\n", "\u{0}", "zz",
    ]
    /// The last two are too long for the key of a row, and have the same hash.
    private static let keys: [ExactString] =
        ["a", "b"]
        + [54_260, 103_779].map {
            ExactString(String(repeating: "y", count: 512) + "\($0)")
        }

    private struct Source {
        var random: SeededGenerator

        mutating func value(depth: Int, isPatch: Bool) -> JSON {
            switch Int.random(in: 0..<(depth > 0 ? 10 : 5), using: &random) {
            case 0: return isPatch ? .null : .string("text \"\u{E9}\u{1}")
            case 1: return .integer(Int64.random(in: -3...300, using: &random))
            case 2: return .integer(random.oneIn(8) ? .max : 7)
            case 3: return [1, .null, ["a": .null]]
            case 4:
                return .string(String(repeating: "x", count: .random(in: 0...9, using: &random)))
            default:
                var object = JSON.Object()
                for _ in 0..<Int.random(in: 0...4, using: &random) {
                    object[name()] = value(depth: depth - 1, isPatch: isPatch)
                }
                return .object(object)
            }
        }

        mutating func name() -> ExactString { names.randomElement(using: &random) ?? "a" }

        mutating func event(depth: Int) -> DocumentEvent {
            if depth > 0, random.oneIn(3) {
                return .all(
                    (0..<Int.random(in: 0...8, using: &random)).map { _ in event(depth: depth - 1) }
                )
            }
            let key = keys.randomElement(using: &random) ?? "a"
            let require: DocumentEvent.Require? =
                random.oneIn(12) ? (random.oneIn(3) ? .absent : .present) : nil
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<2: return .set(key, value(depth: 3, isPatch: false), require: require)
            case 2: return .delete(key, require: require)
            case 3..<6: return .increment(key, field: name(), by: 2, require: require)
            default: return .merge(key, value(depth: 3, isPatch: true), require: require)
            }
        }
    }

    // MARK: Properties

    /// Property: after each event, the documents in memory and as rows are those of the model, byte
    /// for byte, and the conflicts are the same.
    @Test func `documents in memory and as rows are what a plain model says`() throws {
        let seed = testSeed("documents, model", variable: "DOCUMENT_SEED")
        var source = Source(random: SeededGenerator(seed: seed))
        let context = EventContext(.position(1))
        let schema = StoredSchema(StoredDocuments.schema, number: 1)
        for round in 0..<TestEffort.value(quick: 60, full: 2_000) {
            var (model, documents, confirmed) = (Model(), Documents(), ConfirmedRows())
            for step in 0..<60 {
                let event = source.event(depth: 3)
                let expected = model.apply(event)
                var conflict: DocumentConflict?
                do { try documents.apply(event, context) } catch {
                    conflict = try #require(error as? DocumentConflict)
                }
                #expect(conflict == expected, "seed \(seed), \(round), \(step): \(event)")
                var rows = TouchedRows(schema, over: confirmed)
                conflict = nil
                do { try StoredDocuments.apply(event, context, to: &rows) } catch {
                    conflict = try #require(error as? DocumentConflict)
                }
                #expect(conflict == expected, "seed \(seed), \(round), \(step), rows: \(event)")
                if conflict == nil {
                    for (key, value) in rows.writes { confirmed.set(value, at: key) }
                }
                let texts = Dictionary(
                    uniqueKeysWithValues: documents.byKey.map { ($0.key, $0.value.encoded) })
                try #require(texts == model.texts, "seed \(seed), \(round), \(step): \(event)")
                let stored = try Self.documents(in: confirmed)
                try #require(stored == model.texts, "seed \(seed), \(round), \(step): \(event)")
            }
        }
    }

    /// Returns the text of each document in the rows. A row's key begins with 0 and the document's
    /// key, or with 1 and a hash.
    private static func documents(
        in confirmed: ConfirmedRows
    ) throws -> [ExactString: [UInt8]] {
        var found: [ExactString: [UInt8]] = [:]
        for (place, bytes) in confirmed.rows {
            let key = place.bytes.dropFirst(StoredSchema.prefixBytes)
            if key.first == 0 {
                let name = key.dropFirst().dropLast(2)
                found[ExactString(String(decoding: name, as: UTF8.self))] = bytes
            } else {
                for (name, document) in try JSON(parsing: bytes).objectValue?.members ?? [] {
                    found[name] = document.encoded
                }
            }
        }
        return found
    }

    /// Property: the bytes that a draft counts are the bytes of its text.
    @Test func `a draft counts the bytes of its text`() {
        let seed = testSeed("drafts, bytes", variable: "DOCUMENT_SEED")
        var source = Source(random: SeededGenerator(seed: seed))
        for round in 0..<TestEffort.value(quick: 300, full: 20_000) {
            guard case .object(let base) = source.value(depth: 4, isPatch: false) else { continue }
            let draft = ObjectDraft(base, isCounted: true)
            for _ in 0..<12 {
                if source.random.oneIn(3) {
                    draft.set(
                        source.random.oneIn(3) ? nil : source.value(depth: 2, isPatch: false),
                        at: source.name())
                } else if case .object(let patch) = source.value(depth: 4, isPatch: true) {
                    draft.merge(patch)
                }
                let bytes = JSON.object(base).encoded.count + draft.growth
                #expect(bytes == JSON.object(draft.object).encoded.count, "seed \(seed), \(round)")
            }
        }
    }

    @Test func `a draft without counting has the same members`() {
        let base: JSON.Object = ["a": ["b": 1], "c": 2]
        let draft = ObjectDraft(base, isCounted: false)
        draft.merge(["a": ["b": .null, "d": 3]])
        draft.set(nil, at: "c")
        #expect(draft.object == ["a": ["d": 3]])
        #expect(draft.growth == 0)
    }

    @Test func `members in any order make an object, and the last of a name wins`() {
        let members: [(name: ExactString, value: JSON)] = [
            ("b", 1), ("a", 2), ("b", 3), ("\u{E9}", 4), ("e\u{301}", 5), ("a", 6),
        ]
        #expect(
            JSON.Object(lastOf: members) == ["a": 6, "b": 3, "e\u{301}": 5, "\u{E9}": 4])
        #expect(JSON.Object(lastOf: []) == JSON.Object())
    }

    // MARK: The size of a row

    /// A row has at most 16 MiB. The limit counts after each change of an event, because an event
    /// must do the same on each machine, and older code wrote the row after each change.
    @Test(arguments: [keys[0], keys[2]])
    func `a row that is too large in the middle of an event makes the event conflict`(
        key: ExactString
    ) throws {
        let schema = StoredSchema(StoredDocuments.schema, number: 1)
        let isBucket = key.string.utf8.count > 500
        let bucketBytes = isBucket ? JSON.string(key).encoded.count + 3 : 0
        // The members a and b, with braces, quotation marks, colons and a comma.
        let most = Limits.rowBytesMax - #"{"a":0,"b":""}"#.utf8.count - bucketBytes
        func changes(_ length: Int) -> [DocumentEvent] {
            let text = JSON.string(String(repeating: "y", count: length))
            return [.set(key, ["a": 0]), .merge(key, ["b": text]), .merge(key, ["b": .null])]
        }
        func apply(_ event: DocumentEvent, to rows: inout TouchedRows) throws {
            try StoredDocuments.apply(event, EventContext(.position(1)), to: &rows)
        }
        var rows = TouchedRows(schema, over: ConfirmedRows())
        try apply(.all(changes(most)), to: &rows)
        let error = "\(RowError.rowTooLarge(table: "documents", bytes: Limits.rowBytesMax + 1))"
        let together = #expect(throws: RowError.self) {
            try apply(.all(changes(most + 1)), to: &rows)
        }
        #expect(together.map { "\($0)" } == error)
        let separately = #expect(throws: RowError.self) {
            for event in changes(most + 1) { try apply(event, to: &rows) }
        }
        #expect(separately.map { "\($0)" } == error)
    }
}
