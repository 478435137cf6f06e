/// A place in a JSON value, as RFC 6901 has it: `/post/likes`, `/tags/0`; empty for the whole. In a name `~1`
/// stands for `/`, `~0` for `~`.
public struct JSONPointer: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let names: [ExactString]

    public init(_ names: [ExactString]) { self.names = names }

    /// Nil where the text is no pointer: it has to be empty or begin with `/`, and have `~` only in `~0` and
    /// `~1`.
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

    /// The place of that name in this one.
    public func appending(_ name: ExactString) -> JSONPointer { JSONPointer(names + [name]) }

    /// In the order of names, what is around before what is in it.
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
    /// The value there; nil where there is none.
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
