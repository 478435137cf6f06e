#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// The key of a row as bytes, ordered as LMDB orders them: one by one, a prefix before what it begins.
package struct KeyBytes: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package func hasPrefix(_ prefix: [UInt8]) -> Bool { bytes.starts(with: prefix) }
}

extension KeyBytes: Comparable {
    package static func < (a: Self, b: Self) -> Bool {
        a.bytes.withUnsafeBytes { a in
            b.bytes.withUnsafeBytes { b in
                let count = min(a.count, b.count)
                if count > 0, let a = a.baseAddress, let b = b.baseAddress {
                    let order = memcmp(a, b, count)
                    if order != 0 { return order < 0 }
                }
                return a.count < b.count
            }
        }
    }
}

/// The keys from one on and before another.
package struct KeySpan: Sendable {
    package var lower: KeyBytes
    /// Nil: to the end of all keys.
    package var upper: KeyBytes?

    package init(lower: KeyBytes, upper: KeyBytes?) {
        self.lower = lower
        self.upper = upper
    }

    /// All keys that begin so.
    package init(prefix: [UInt8]) {
        lower = KeyBytes(prefix)
        upper = KeyBytes.behind(prefix: prefix)
    }

    package func contains(_ key: KeyBytes) -> Bool {
        lower <= key && (upper.map { key < $0 } ?? true)
    }
}

extension KeyBytes {
    /// The first key behind all that begin with `prefix`; nil where there is none.
    package static func behind(prefix: [UInt8]) -> KeyBytes? {
        var bytes = prefix
        while let last = bytes.popLast() {
            if last < .max { return KeyBytes(bytes + [last + 1]) }
        }
        return nil
    }
}

extension OrderedMap where Key == KeyBytes {
    /// Calls `body` with the pairs of `span` in order, or backwards, until it answers false.
    package func scan(
        _ span: KeySpan, backwards: Bool, _ body: (KeyBytes, Value) throws -> Bool
    ) rethrows {
        if backwards {
            var next = last(before: span.upper)
            while let (key, value) = next, span.lower <= key {
                guard try body(key, value) else { return }
                next = last(before: key)
            }
        } else {
            for (key, value) in from(span.lower) {
                guard span.contains(key), try body(key, value) else { return }
            }
        }
    }
}
