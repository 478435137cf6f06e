/// A range of keys to read: all keys, the keys between two keys, or the keys with a prefix.
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
        /// All keys with this prefix are in the range.
        case within([UInt8])
        /// All keys with this prefix are outside the range.
        case beyond([UInt8])
    }

    /// Every key.
    public static var all: Self { Self(lower: .open, upper: .open) }

    /// Returns the range of one key.
    public static func key(_ key: Key) -> Self { .prefix(key) }

    /// Returns the range of the keys from `first` to `last`, both included.
    public static func keys(from first: Key, through last: Key) -> Self {
        Self(lower: .within(first.bytes(after: [])), upper: .within(last.bytes(after: [])))
    }

    /// Returns the range of the keys from `first`, which is included, to `end`, which is not.
    public static func keys(from first: Key, upTo end: Key) -> Self {
        Self(lower: .within(first.bytes(after: [])), upper: .beyond(end.bytes(after: [])))
    }

    /// Returns the range of the keys from `first`, which is included, to the last key.
    public static func keys(from first: Key) -> Self {
        Self(lower: .within(first.bytes(after: [])), upper: .open)
    }

    /// Returns the range of the keys after `key`, to the last key.
    public static func keys(after key: Key) -> Self {
        Self(lower: .beyond(key.bytes(after: [])), upper: .open)
    }

    /// Returns the range of the keys before `end`.
    public static func keys(upTo end: Key) -> Self {
        Self(lower: .open, upper: .beyond(end.bytes(after: [])))
    }

    /// Returns the range of the keys up to `last`, which is included.
    public static func keys(through last: Key) -> Self {
        Self(lower: .open, upper: .within(last.bytes(after: [])))
    }

    /// Returns the range of all keys whose bytes begin with the bytes of `part`.
    ///
    /// For a ``KeyPair``, these are the keys with `part` as their first key. For a key type of your
    /// own, these are the keys whose first members encode as `part`.
    public static func prefix<Part: RowKey>(_ part: Part) -> Self {
        let bytes = part.bytes(after: [])
        return Self(lower: .within(bytes), upper: .within(bytes))
    }

    /// Returns the range of the strings that begin with `text`, byte for byte.
    public static func beginning(with text: String) -> Self where Key == String {
        let bytes = text.prefixBytes
        return Self(lower: .within(bytes), upper: .within(bytes))
    }

    /// Returns the range as bytes, after the prefix of a table or index.
    func span(after prefix: [UInt8]) -> KeySpan {
        var span = KeySpan(prefix: prefix)
        switch lower {
        case .open: break
        case .within(let bytes): span.lower = KeyBytes(prefix + bytes)
        case .beyond(let bytes):
            span.lower = KeyBytes.after(prefix: prefix + bytes) ?? span.lower
        }
        switch upper {
        case .open: break
        case .within(let bytes): span.upper = KeyBytes.after(prefix: prefix + bytes)
        case .beyond(let bytes): span.upper = KeyBytes(prefix + bytes)
        }
        return span
    }
}

extension String {
    /// The bytes with which the keys of all strings with this prefix begin: without the two zeros
    /// at the end.
    fileprivate var prefixBytes: [UInt8] {
        utf8.flatMap { $0 == 0 ? [0, 255] : [$0] }
    }
}
