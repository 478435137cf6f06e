/// A place in a JSON value (RFC 6901), such as `/post/likes` or `/tags/0`. The empty pointer is the
/// whole value. In a name, `~1` represents `/` and `~0` represents `~`.
///
/// In an array, a name is an index, or `member=value`, which RFC 6901 does not have: the first element
/// that is an object with this text or number. `/comments/id=mia.6` is one comment, also after another
/// is added before it, while `/comments/0` is then the other.
public struct JSONPointer: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let names: [ExactString]

    public init(_ names: [ExactString]) { self.names = names }

    /// Makes a pointer, or returns nil if the text is not one. A pointer is empty or begins with
    /// `/`, and has `~` only in `~0` and `~1`.
    public init?(_ text: String) {
        var names: [ExactString] = []
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard text.isEmpty || parts.first == "" else { return nil }
        for part in parts.dropFirst() {
            guard let name = Self.unescaped(part) else { return nil }
            names.append(ExactString(name))
        }
        self.names = names
    }

    public var description: String {
        names.map { name in
            "/"
                + name.string.map { $0 == "~" ? "~0" : $0 == "/" ? "~1" : String($0) }.joined()
        }.joined()
    }

    /// Returns the place with this name inside of this place.
    public func appending(_ name: ExactString) -> JSONPointer { JSONPointer(names + [name]) }

    /// Orders by names. A place is before the places inside of it.
    public static func < (a: Self, b: Self) -> Bool { a.names.lexicographicallyPrecedes(b.names) }

    private static func unescaped(_ part: Substring) -> String? {
        var name = ""
        var characters = part.makeIterator()
        while let character = characters.next() {
            guard character == "~" else {
                name.append(character)
                continue
            }
            switch characters.next() {
            case "0": name.append("~")
            case "1": name.append("/")
            default: return nil
            }
        }
        return name
    }
}

extension ExactString {
    /// The member and the value of `member=value`, with which an element of an array is named; nil for
    /// other names.
    package var selector: (member: ExactString, value: Substring)? {
        guard let end = string.firstIndex(of: "=") else { return nil }
        return (ExactString(String(string[..<end])), string[string.index(after: end)...])
    }

    fileprivate func element(of elements: [JSON]) -> JSON? {
        if let selector {
            return elements.first { element in
                switch element.objectValue?[selector.member] {
                case .string(let text): text.string == selector.value
                case .integer(let number): "\(number)" == selector.value
                case .digits(let digits): digits == selector.value
                default: false
                }
            }
        }
        guard let index = Int(string), elements.indices.contains(index), String(index) == string
        else { return nil }
        return elements[index]
    }
}

extension JSON {
    /// The value at the place; nil if there is none.
    public subscript(at pointer: JSONPointer) -> JSON? { self[pointer.names[...]] }

    subscript(names: ArraySlice<ExactString>) -> JSON? {
        guard let name = names.first else { return self }
        switch self {
        case .object(let object): return object[name]?[names.dropFirst()]
        case .array(let elements):
            return name.element(of: elements)?[names.dropFirst()]
        case .null, .bool, .integer, .double, .digits, .string: return nil
        }
    }
}
