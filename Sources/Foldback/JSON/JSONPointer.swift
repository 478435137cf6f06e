/// A place in a JSON value (RFC 6901), such as `/post/likes` or `/tags/0`. The empty pointer is the
/// whole value. In a name, `~1` represents `/` and `~0` represents `~`.
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

extension JSON {
    /// The value at the place; nil if there is none.
    public subscript(at pointer: JSONPointer) -> JSON? { self[pointer.names[...]] }

    subscript(names: ArraySlice<ExactString>) -> JSON? {
        guard let name = names.first else { return self }
        switch self {
        case .object(let object): return object[name]?[names.dropFirst()]
        case .array(let elements):
            guard let index = Int(name.string), elements.indices.contains(index),
                String(index) == name.string
            else { return nil }
            return elements[index][names.dropFirst()]
        case .null, .bool, .integer, .double, .digits, .string: return nil
        }
    }
}
