#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension JSON {
    /// Any value as JSON, for people and tools: stored properties by name, dictionaries by key, sets in order, cases
    /// by name. Equal values give equal JSON whatever they were made from. It cannot be read back.
    ///
    /// - Complexity: O(n) in the value's parts; parts more than 24 levels deep are shown as text.
    public init(describing value: Any) { self = Self.described(value, depth: 0) }

    private static let describedDepthMax = 24

    private static func described(_ value: Any, depth: Int) -> JSON {
        if let scalar = scalar(value) { return scalar }
        let mirror = Mirror(reflecting: value)
        guard depth < describedDepthMax else { return .string("\(value)") }
        func inner(_ value: Any) -> JSON { described(value, depth: depth + 1) }
        switch mirror.displayStyle {
        case .optional: return mirror.children.first.map { inner($0.value) } ?? .null
        case .collection: return .array(mirror.children.map { inner($0.value) })
        case .set:
            return .array(mirror.children.map { inner($0.value) }.sorted { "\($0)" < "\($1)" })
        case .dictionary:
            return object(
                mirror.children.map { child in
                    let pair = Array(Mirror(reflecting: child.value).children)
                    return (name(of: pair[0].value), inner(pair[1].value))
                })
        case .enum:
            guard let child = mirror.children.first else { return .string("\(value)") }
            return object([(child.label ?? "?", inner(child.value))])
        case .struct, .class, .tuple, .none:
            var members: [(String, JSON)] = []
            for level in sequence(first: mirror, next: \.superclassMirror) {
                for (index, child) in level.children.enumerated() {
                    members.append((child.label ?? "\(index)", inner(child.value)))
                }
            }
            return members.isEmpty ? .string("\(value)") : object(members)
        default: return .string("\(value)")
        }
    }

    /// Where two have one name, the last one stands.
    private static func object(_ members: [(String, JSON)]) -> JSON {
        var object = Object()
        for (name, value) in members { object[ExactString(name)] = value }
        return .object(object)
    }

    private static func name(of key: Any) -> String {
        switch scalar(key) {
        case .string(let name): name.string
        case let json?: "\(json)"
        case nil: "\(key)"
        }
    }

    private static func scalar(_ value: Any) -> JSON? {
        switch value {
        case let json as JSON: json
        case let documents as Documents: documents.json
        case let string as String: .string(string)
        case let string as ExactString: .string(string)
        case let text as Substring: .string(String(text))
        case let text as Character: .string(String(text))
        case let bool as Bool: .bool(bool)
        case let number as any BinaryInteger:
            Int64(exactly: number).map { .integer($0) } ?? .digits("\(number)")
        case let number as any BinaryFloatingPoint: .double(Double(number))
        case let number as any LogNumber: .integer(Int64(clamping: number.value))
        case let date as Date: .string(date.formatted(.iso8601))
        case let data as Data: .string(data.base64EncodedString())
        case let id as UUID: .string(id.uuidString)
        case let url as URL: .string(url.absoluteString)
        default: nil
        }
    }
}

/// What of a state tools look at: the whole, or one place of it.
extension Projection {
    /// The value at a place of the state as ``JSON/init(describing:)`` shows it. A document is found by its key.
    package func shown(at place: JSONPointer) -> JSON? {
        guard let documents = self as? Documents, let key = place.names.first else {
            return JSON(describing: self)[at: place]
        }
        return documents[key]?[place.names.dropFirst()]
    }

    /// The places that the event may change; nil where that is not known.
    package static func places(touchedBy event: Event, _ context: EventContext) -> [JSONPointer]? {
        guard let keys = keys(touchedBy: event, context) as? [ExactString],
            Self.self == Documents.self
        else { return nil }
        return keys.map { JSONPointer([$0]) }
    }
}
