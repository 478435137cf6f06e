/// A change of documents.
public enum DocumentEvent: Sendable, Hashable {
    /// A change of the document with this key, and whether the document must be present or absent
    /// before.
    indirect case change(ExactString, Change, Require?)
    /// All events in order. If one does not apply, none of them does.
    case all([DocumentEvent])

    public enum Change: Sendable, Hashable {
        case set(JSON)
        /// A JSON merge patch (RFC 7396). An absent document counts as `{}`.
        case merge(JSON)
        case delete
        /// Adds a number to a top-level field. An absent field counts as 0.
        case increment(field: ExactString, by: JSON)
    }

    /// What must be true of the document before the change.
    public enum Require: String, Sendable, Hashable {
        case present
        case absent
    }

    public static func set(
        _ key: ExactString, _ value: JSON, require: Require? = nil
    ) -> DocumentEvent {
        .change(key, .set(value), require)
    }

    public static func merge(
        _ key: ExactString, _ patch: JSON, require: Require? = nil
    ) -> DocumentEvent {
        .change(key, .merge(patch), require)
    }

    public static func delete(_ key: ExactString, require: Require? = nil) -> DocumentEvent {
        .change(key, .delete, require)
    }

    /// Adds `amount`, a JSON number, to a top-level field.
    public static func increment(
        _ key: ExactString, field: ExactString, by amount: JSON, require: Require? = nil
    ) -> DocumentEvent {
        .change(key, .increment(field: field, by: amount), require)
    }

    package func touches(_ key: ExactString) -> Bool { keys.contains(key) }

    /// The keys that the event touches, each once.
    var keys: [ExactString] {
        switch self {
        case .change(let key, _, _): [key]
        case .all(let events): Array(events.keys)
        }
    }
}

extension [DocumentEvent] {
    /// The keys that the events touch.
    fileprivate var keys: Set<ExactString> {
        var keys: Set<ExactString> = []
        forEachChange { key, _, _ in keys.insert(key) }
        return keys
    }
}

/// The reason why JSON is not an event.
public struct DocumentEventError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
    init(_ description: String) { self.description = description }
}

extension DocumentEvent {
    /// Reads an event from JSON, such as `{"op":"set","key":"a","value":1}`.
    ///
    /// | `op` | other members |
    /// |---|---|
    /// | `set`, `merge` | `key`, `value`, optional `require` |
    /// | `delete` | `key`, optional `require` |
    /// | `increment` | `key`, `field`, `by`, optional `require` |
    /// | `all` | `events` |
    ///
    /// Members that the operation does not have are an error, because their meaning would be lost.
    public init(json: JSON) throws(DocumentEventError) {
        guard case .object(let object) = json else {
            throw DocumentEventError("an event is an object, not \(json)")
        }
        guard let op = object["op"]?.stringValue else {
            throw DocumentEventError("an event needs \"op\", a string")
        }
        switch op {
        case "all":
            try object.requireOnly(["op", "events"])
            guard let events = object["events"]?.arrayValue else {
                throw DocumentEventError("\"all\" needs \"events\", an array")
            }
            var all: [DocumentEvent] = []
            for event in events { all.append(try DocumentEvent(json: event)) }
            self = .all(all)
        case "set":
            try object.requireOnly(["op", "key", "value", "require"])
            self = .change(try object.key(), .set(try object.value(op)), try object.require())
        case "merge":
            try object.requireOnly(["op", "key", "value", "require"])
            self = .change(try object.key(), .merge(try object.value(op)), try object.require())
        case "delete":
            try object.requireOnly(["op", "key", "require"])
            self = .change(try object.key(), .delete, try object.require())
        case "increment":
            try object.requireOnly(["op", "key", "field", "by", "require"])
            guard let field = object["field"]?.stringValue else {
                throw DocumentEventError("\"increment\" needs \"field\", a string")
            }
            let amount = object["by"] ?? .null
            switch amount {
            case .integer, .double, .digits: break
            case .null, .bool, .string, .array, .object:
                throw DocumentEventError("\"increment\" needs \"by\", a number")
            }
            self = .change(
                try object.key(), .increment(field: ExactString(field), by: amount),
                try object.require())
        default: throw DocumentEventError("the operation \"\(op)\" is unknown")
        }
    }

    /// The event as JSON that ``init(json:)`` reads.
    public var json: JSON {
        switch self {
        case .all(let events): return ["op": "all", "events": .array(events.map(\.json))]
        case .change(let key, let change, let require):
            var object = JSON.Object(ascending: change.members(of: .string(key)))
            if let require { object["require"] = .string(require.rawValue) }
            return .object(object)
        }
    }
}

extension DocumentEvent.Change {
    /// The members of an event's JSON, in order of their names.
    fileprivate func members(of key: JSON) -> [(name: ExactString, value: JSON)] {
        switch self {
        case .set(let value): [("key", key), ("op", "set"), ("value", value)]
        case .merge(let patch): [("key", key), ("op", "merge"), ("value", patch)]
        case .delete: [("key", key), ("op", "delete")]
        case .increment(let field, let amount):
            [("by", amount), ("field", .string(field)), ("key", key), ("op", "increment")]
        }
    }
}

extension JSON.Object {
    fileprivate func requireOnly(_ known: Set<ExactString>) throws(DocumentEventError) {
        for (name, _) in members where !known.contains(name) {
            throw DocumentEventError("the operation has no member \"\(name)\"")
        }
    }

    fileprivate func key() throws(DocumentEventError) -> ExactString {
        guard case .string(let key) = self["key"] else {
            throw DocumentEventError("an event needs \"key\", a string")
        }
        return key
    }

    fileprivate func value(_ op: String) throws(DocumentEventError) -> JSON {
        guard let value = self["value"] else {
            throw DocumentEventError("\"\(op)\" needs \"value\"")
        }
        return value
    }

    fileprivate func require() throws(DocumentEventError) -> DocumentEvent.Require? {
        guard let value = self["require"] else { return nil }
        guard let require = value.stringValue.flatMap(DocumentEvent.Require.init) else {
            throw DocumentEventError("\"require\" is \"present\" or \"absent\", not \(value)")
        }
        return require
    }
}

/// The codec of document events: JSON text.
struct DocumentCodec: EventCodec {
    let format = EventFormat.json

    /// - Throws: ``DocumentEventError`` if decoding the bytes would not return the same event.
    func encode(_ event: DocumentEvent) throws -> [UInt8] {
        let json = event.json
        if let flaw = json.flaw { throw DocumentEventError(flaw) }
        return json.encoded
    }

    func decode(_ bytes: RawSpan, format: EventFormat) throws -> DocumentEvent {
        guard format == self.format else {
            throw DocumentEventError(
                "codec \(format.codec), version \(format.version) is not the codec of documents")
        }
        return try DocumentEvent(json: JSON(parsing: [UInt8](copying: bytes)))
    }
}
