/// A JSON value with exact whole numbers of any size, and members that differ if their names' bytes
/// do.
///
/// Numbers with a fraction or an exponent are doubles. The order of members is not kept.
///
/// Foundation's decoder cannot replace this type. It makes objects `[String: …]`, where "é" and
/// "e" + U+0301 are one key. It also does not distinguish 1 from 1.0. Documents need both
/// distinctions.
public enum JSON: Sendable, Hashable {
    case null
    case bool(Bool)
    /// A whole number of at most 64 bits, sign included.
    case integer(Int64)
    /// A number with a fraction or an exponent.
    case double(Double)
    /// A whole number that does not fit in 64 bits, as its digits.
    case digits(String)
    case string(ExactString)
    case array([JSON])
    case object(Object)

    /// An object's members in order of their names' bytes. To find a member is O(log n), to add a
    /// member O(n).
    public struct Object: Sendable, Hashable {
        public private(set) var members: [(name: ExactString, value: JSON)] = []

        public init() {}

        struct Duplicate: Error { let name: ExactString }

        /// Makes an object of members in order of their names, each name once.
        init(ascending members: [(name: ExactString, value: JSON)]) { self.members = members }

        /// Returns whether the members are in order of their names, each name once.
        static func isAscending(_ members: [(name: ExactString, value: JSON)]) -> Bool {
            zip(members, members.dropFirst()).allSatisfy { $0.name < $1.name }
        }

        /// Makes an object of members in any order. O(n log n).
        static func of(_ members: [(name: ExactString, value: JSON)]) -> Result<Object, Duplicate> {
            var object = Object(ascending: members)
            if isAscending(members) { return .success(object) }
            object.members.sort { $0.name < $1.name }
            for (a, b) in zip(object.members, object.members.dropFirst()) where a.name == b.name {
                return .failure(Duplicate(name: a.name))
            }
            return .success(object)
        }

        public var isEmpty: Bool { members.isEmpty }

        public subscript(name: ExactString) -> JSON? {
            get {
                let place = place(of: name)
                return isThere(name, at: place) ? members[place].value : nil
            }
            set {
                let place = place(of: name)
                switch (newValue, isThere(name, at: place)) {
                case (let value?, true): members[place].value = value
                case (let value?, false): members.insert((name, value), at: place)
                case (nil, true): members.remove(at: place)
                case (nil, false): break
                }
            }
        }

        private func isThere(_ name: ExactString, at place: Int) -> Bool {
            place < members.count && members[place].name == name
        }

        private func place(of name: ExactString) -> Int {
            // Members are mostly added in order, so compare with the last one first.
            guard let last = members.last, !(last.name < name) else { return members.count }
            var low = 0
            var high = members.count
            while low < high {
                let middle = (low + high) / 2
                if members[middle].name < name { low = middle + 1 } else { high = middle }
            }
            return low
        }

        public static func == (a: Self, b: Self) -> Bool {
            a.members.elementsEqual(b.members) { $0.name == $1.name && $0.value == $1.value }
        }

        public func hash(into hasher: inout Hasher) {
            for (name, value) in members {
                hasher.combine(name)
                hasher.combine(value)
            }
            hasher.combine(members.count)
        }
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByFloatLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(ExactString(value)) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }

    public init(dictionaryLiteral elements: (ExactString, JSON)...) {
        var object = Object()
        for (name, value) in elements { object[name] = value }
        self = .object(object)
    }
}

extension JSON {
    public static func string(_ value: String) -> JSON { .string(ExactString(value)) }

    /// The member with this name; nil if this is not an object or lacks the member.
    public subscript(name: ExactString) -> JSON? {
        guard case .object(let object) = self else { return nil }
        return object[name]
    }

    public var stringValue: String? {
        guard case .string(let value) = self else { return nil }
        return value.string
    }

    public var integerValue: Int64? {
        guard case .integer(let value) = self else { return nil }
        return value
    }

    public var boolValue: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    public var arrayValue: [JSON]? {
        guard case .array(let value) = self else { return nil }
        return value
    }

    public var objectValue: Object? {
        guard case .object(let value) = self else { return nil }
        return value
    }
}

extension JSON.Object: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (ExactString, JSON)...) {
        for (name, value) in elements { self[name] = value }
    }
}
