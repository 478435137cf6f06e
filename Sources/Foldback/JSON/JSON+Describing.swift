import HashTreeCollections

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
                mirror.children.enumerated().map { place, child in
                    let pair = Array(Mirror(reflecting: child.value).children)
                    // A mirror of one's own may have anything here.
                    guard pair.count == 2 else {
                        return (child.label ?? "\(place)", inner(child.value))
                    }
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

    /// JSON has no infinity, and two that are no number would differ from each other.
    private static func described(_ number: Double) -> JSON {
        number.isFinite ? .double(number) : .string("\(number)")
    }

    private static func scalar(_ value: Any) -> JSON? {
        switch value {
        case let json as JSON: json
        case let value as any JSONRepresentable: value.json
        case let string as String: .string(string)
        case let string as ExactString: .string(string)
        case let text as Substring: .string(String(text))
        case let text as Character: .string(String(text))
        case let bool as Bool: .bool(bool)
        case let number as any BinaryInteger:
            Int64(exactly: number).map { .integer($0) } ?? .digits("\(number)")
        case let number as any BinaryFloatingPoint: described(Double(number))
        case let number as any LogNumber: .of(number)
        case let date as Date: .string(date.formatted(.iso8601))
        case let data as Data: .string(data.base64EncodedString())
        case let id as UUID: .string(id.uuidString)
        case let url as URL: .string(url.absoluteString)
        default: nil
        }
    }
}

extension JSON {
    /// What ``init(describing:)`` has at a place.
    ///
    /// - Complexity: of stored properties, and of dictionaries by strings or whole numbers, only what the place
    ///   names is looked at; any other collection on the way is made JSON as a whole.
    package static func described(_ value: Any, at place: JSONPointer) -> JSON? {
        described(value, at: place.names[...], depth: 0)
    }

    private static func described(
        _ value: Any, at names: ArraySlice<ExactString>, depth: Int
    ) -> JSON? {
        guard let name = names.first else { return described(value, depth: depth) }
        if let members = value as? any MembersByName, let found = members.member(named: name) {
            return found.flatMap { described($0, at: names.dropFirst(), depth: depth + 1) }
        }
        let mirror = Mirror(reflecting: value)
        guard depth < describedDepthMax, mirror.displayStyle == .struct, scalar(value) == nil,
            let child = mirror.children.first(where: { $0.label == name.string })
        else { return described(value, depth: depth)[names] }
        return described(child.value, at: names.dropFirst(), depth: depth + 1)
    }
}

/// A collection of which a member can be had by the name that it is shown by.
package protocol MembersByName {
    /// Nil where only a look at all of them tells; nil within: it has none of that name.
    func member(named name: ExactString) -> Any??
}

/// A dictionary, whichever.
package protocol MembersByKey: MembersByName, Collection where Element == (key: Key, value: Value) {
    associatedtype Key: Hashable
    associatedtype Value
    func index(forKey key: Key) -> Index?
}

extension MembersByKey {
    package func member(named name: ExactString) -> Any?? {
        Key.named(name).map { key in
            // A string is found by another one that is equal and has other bytes.
            guard let key, let place = index(forKey: key), self[place].key.isNamed(name) else {
                return nil
            }
            return self[place].value
        }
    }
}

extension Dictionary: MembersByKey {}

extension TreeDictionary: MembersByKey {}

extension Hashable {
    /// The key that is shown by that name; nil within: there is none. Nil of a type of which nobody knows, before all
    /// keys are looked at.
    fileprivate static func named(_ name: ExactString) -> Self?? {
        switch self {
        case is String.Type: .some(name.string as? Self)
        case is ExactString.Type: .some(name as? Self)
        case is UUID.Type: .some(UUID(uuidString: name.string) as? Self)
        case let numbers as any FixedWidthInteger.Type:
            .some(numbers.init(name.string, radix: 10) as? Self)
        default: nil
        }
    }

    /// Whether it is shown by just that name: `é` can be written in two ways, a number with zeros before it.
    fileprivate func isNamed(_ name: ExactString) -> Bool {
        switch self {
        case let string as String: ExactString(string) == name
        case let id as UUID: id.uuidString == name.string
        default: "\(self)" == name.string
        }
    }
}

/// A type that gives its own JSON, for ``JSON/init(describing:)``.
package protocol JSONRepresentable {
    var json: JSON { get }
}
