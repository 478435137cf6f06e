/// Which keys to read: all of them, those between two, or those that begin alike.
///
/// ```swift
/// rows.page(of: messages, in: .keys(from: a, upTo: b))
/// rows.page(of: byThread, in: .prefix(thread))  // of KeyPair<UUID, Date>
/// ```
public struct RowRange<Key: RowKey>: Sendable {
    private let lower: Bound
    private let upper: Bound

    private enum Bound: Sendable {
        case open
        /// All that begin so are within, or all that do are beyond.
        case within([UInt8])
        case beyond([UInt8])
    }

    /// Every key.
    public static var all: Self { Self(lower: .open, upper: .open) }

    /// Just this key.
    public static func key(_ key: Key) -> Self { .prefix(key) }

    /// - Parameters:
    ///   - first: within.
    ///   - last: within.
    public static func keys(from first: Key, through last: Key) -> Self {
        Self(lower: .within(first.bytes(behind: [])), upper: .within(last.bytes(behind: [])))
    }

    /// - Parameters:
    ///   - first: within.
    ///   - end: beyond.
    public static func keys(from first: Key, upTo end: Key) -> Self {
        Self(lower: .within(first.bytes(behind: [])), upper: .beyond(end.bytes(behind: [])))
    }

    /// From that key, which is within, to the last of all; below, the same from behind a key, and up to one.
    public static func keys(from first: Key) -> Self {
        Self(lower: .within(first.bytes(behind: [])), upper: .open)
    }

    public static func keys(behind key: Key) -> Self {
        Self(lower: .beyond(key.bytes(behind: [])), upper: .open)
    }

    public static func keys(upTo end: Key) -> Self {
        Self(lower: .open, upper: .beyond(end.bytes(behind: [])))
    }

    public static func keys(through last: Key) -> Self {
        Self(lower: .open, upper: .within(last.bytes(behind: [])))
    }

    /// All keys whose encoding begins with that of `part`: those of a ``KeyPair`` with that first half, or of
    /// a type of your own with those first members.
    public static func prefix<Part: RowKey>(_ part: Part) -> Self {
        let bytes = part.bytes(behind: [])
        return Self(lower: .within(bytes), upper: .within(bytes))
    }

    /// Strings that begin with `text`, byte for byte.
    public static func beginning(with text: String) -> Self where Key == String {
        let bytes = text.prefixBytes
        return Self(lower: .within(bytes), upper: .within(bytes))
    }

    /// The bytes of the keys behind those of a table.
    func span(behind prefix: [UInt8]) -> KeySpan {
        var span = KeySpan(prefix: prefix)
        switch lower {
        case .open: break
        case .within(let bytes): span.lower = KeyBytes(prefix + bytes)
        case .beyond(let bytes):
            span.lower = KeyBytes.behind(prefix: prefix + bytes) ?? span.lower
        }
        switch upper {
        case .open: break
        case .within(let bytes): span.upper = KeyBytes.behind(prefix: prefix + bytes)
        case .beyond(let bytes): span.upper = KeyBytes(prefix + bytes)
        }
        return span
    }
}

extension String {
    /// What the encodings of all strings that begin with this one begin with.
    fileprivate var prefixBytes: [UInt8] {
        utf8.flatMap { $0 == 0 ? [0, 255] : [$0] }
    }
}
