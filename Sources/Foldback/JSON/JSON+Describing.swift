import HashTreeCollections

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension JSON {
    /// Describes any value as JSON, for people and tools.
    ///
    /// It has stored properties by name, dictionaries by key, sets sorted, and enum cases by name.
    /// Equal values make equal JSON, however they were built. The JSON cannot be turned back into
    /// the value. Parts more than 24 levels deep are text.
    ///
    /// - Complexity: O(n) in the value's parts.
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
                    // A type with its own mirror may have any children here.
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

    /// Makes an object. If two members have one name, the last wins.
    private static func object(_ members: [(String, JSON)]) -> JSON {
        .object(Object(lastOf: members.map { (ExactString($0.0), $0.1) }))
    }

    private static func name(of key: Any) -> String {
        switch scalar(key) {
        case .string(let name): name.string
        case let json?: "\(json)"
        case nil: "\(key)"
        }
    }

    /// Infinity and NaN become text: JSON lacks them, and NaN does not equal itself.
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
    /// Returns the part of ``init(describing:)`` at a place, or nil if there is none.
    ///
    /// - Complexity: in structs and in dictionaries by strings, UUIDs or whole numbers, it reads
    ///   only the member on the path. It turns any other collection on the path into JSON as a
    ///   whole.
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

/// A collection that finds a member by the name that ``JSON/init(describing:)`` gives it.
package protocol MembersByName {
    /// Returns the member with this name. The inner value is nil if no member has it. The
    /// result is nil if only a search through all members can tell.
    func member(named name: ExactString) -> Any??
}

/// Any dictionary type.
package protocol MembersByKey: MembersByName, Collection where Element == (key: Key, value: Value) {
    associatedtype Key: Hashable
    associatedtype Value
    func index(forKey key: Key) -> Index?
}

extension MembersByKey {
    package func member(named name: ExactString) -> Any?? {
        Key.named(name).map { key in
            // `String` keys compare by canonical equivalence, so the key found may have other
            // bytes.
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
    /// Returns the key that has this name. The inner value is nil if no key can have it. The result
    /// is nil for a key type whose names are not known without a look at all keys.
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

    /// Returns whether the key has exactly this name. A text like `é` has two forms, and a number
    /// may have leading zeros.
    fileprivate func isNamed(_ name: ExactString) -> Bool {
        switch self {
        case let string as String: ExactString(string) == name
        case let id as UUID: id.uuidString == name.string
        default: "\(self)" == name.string
        }
    }
}

/// A type that makes its own JSON for ``JSON/init(describing:)``.
package protocol JSONRepresentable {
    var json: JSON { get }
}
