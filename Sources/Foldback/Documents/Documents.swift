import HashTreeCollections

/// JSON documents by key: the projection that ships (section 10 of the design).
///
/// ```swift
/// let store = Foldback.inMemory(Documents.self, confirmedBy: .acknowledgement)
/// try await store.record(.set("post", ["likes": 0]))
/// try await store.record(.increment("post", field: "likes", by: .integer(1)))
/// print(store.view["post"]!)  // {"likes":1}
/// ```
///
/// Keys and fields are equal when their bytes are. Not for a document that grows large: changing one
/// member copies its object.
public struct Documents: Projection, Equatable {
    public typealias Key = ExactString

    /// Persistent: a published view shares all but what changed.
    public private(set) var byKey: TreeDictionary<ExactString, JSON> = [:]

    public init() {}

    init(byKey: TreeDictionary<ExactString, JSON>) { self.byKey = byKey }

    public subscript(key: ExactString) -> JSON? { byKey[key] }

    /// All documents as one JSON object.
    public var json: JSON {
        var object = JSON.Object()
        for (key, document) in byKey.sorted(by: { $0.key < $1.key }) { object[key] = document }
        return .object(object)
    }

    public static var codec: any EventCodec<DocumentEvent> { DocumentCodec() }

    public static var stateCodec: (any StateCodec<Documents>)? { DocumentsStateCodec() }

    public static func keys(
        touchedBy event: DocumentEvent, _ context: EventContext
    ) -> [ExactString] {
        event.keys
    }

    /// - Throws: ``DocumentConflict``, with nothing changed.
    public mutating func apply(_ event: DocumentEvent, _ context: EventContext) throws {
        try apply(event)
    }

    private mutating func apply(_ event: DocumentEvent) throws(DocumentConflict) {
        switch event {
        case .change(let key, let change, let require):
            try check(require, key)
            byKey[key] = try changed(byKey[key], key, change)
        case .all(let events):
            // All or none: on a copy, which the map makes cheap.
            var copy = self
            for event in events { try copy.apply(event) }
            self = copy
        }
    }

    private func check(_ require: DocumentEvent.Require?, _ key: ExactString)
        throws(DocumentConflict)
    {
        switch require {
        case nil: break
        case .present: guard byKey[key] != nil else { throw .isAbsent(key) }
        case .absent: guard byKey[key] == nil else { throw .isPresent(key) }
        }
    }

    private func changed(
        _ document: JSON?, _ key: ExactString, _ change: DocumentEvent.Change
    ) throws(DocumentConflict) -> JSON? {
        switch change {
        case .set(let value): return value
        case .merge(let patch): return (document ?? [:]).merged(with: patch)
        case .delete: return nil
        case .increment(let field, let amount):
            guard let document else { throw .isAbsent(key) }
            guard case .object(var object) = document else { throw .isNoObject(key) }
            guard let sum = (object[field] ?? .integer(0)).sum(with: amount) else {
                throw .isNoNumber(key, field: field)
            }
            guard let inRange = sum else { throw .overflow(key, field: field) }
            object[field] = inRange
            return .object(object)
        }
    }
}

/// Why an event does not apply to the documents as they are.
public enum DocumentConflict: Error, Hashable, Sendable, CustomStringConvertible {
    case isAbsent(ExactString)
    case isPresent(ExactString)
    case isNoObject(ExactString)
    case isNoNumber(ExactString, field: ExactString)
    case overflow(ExactString, field: ExactString)

    public var description: String {
        switch self {
        case .isAbsent(let key): "\"\(key)\" is absent"
        case .isPresent(let key): "\"\(key)\" is present"
        case .isNoObject(let key): "\"\(key)\" is no object"
        case .isNoNumber(let key, let field): "\"\(field)\" of \"\(key)\" is no number"
        case .overflow(let key, let field):
            "\"\(field)\" of \"\(key)\" would need more than 64 bits"
        }
    }
}

extension JSON {
    /// The sum of two numbers. Nil: one is none; nil within: it needs more than 64 bits, sign included.
    fileprivate func sum(with other: JSON) -> JSON?? {
        if let a = whole, let b = other.whole {
            let (sum, overflow) = a.addingReportingOverflow(b)
            return .some(overflow ? nil : Int64(exactly: sum).map(JSON.integer))
        }
        guard let a = number, let b = other.number else { return nil }
        let sum = a + b
        return .some(sum.isFinite ? .double(sum) : nil)
    }

    private var whole: Int128? {
        switch self {
        case .integer(let value): Int128(value)
        case .digits(let digits): Int128(digits)
        case .null, .bool, .double, .string, .array, .object: nil
        }
    }

    private var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        case .digits(let digits): Double(digits)
        case .null, .bool, .string, .array, .object: nil
        }
    }
}
