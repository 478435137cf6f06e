import FoldbackCollections

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// The key of a row as bytes, in LMDB's order: byte by byte, and a prefix before the keys that
/// begin with it.
package struct KeyBytes: Sendable {
    package let bytes: [UInt8]
    /// The first 16 bytes as two numbers, with zeros after the end. They decide most comparisons
    /// without a read of the array's memory, which keeps searches of the overlay cheap.
    private let head: UInt64
    private let rest: UInt64

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        (head, rest) = bytes.withUnsafeBytes { bytes in
            (Self.number(in: bytes, at: 0), Self.number(in: bytes, at: 8))
        }
    }

    private static func number(in bytes: UnsafeRawBufferPointer, at place: Int) -> UInt64 {
        if place + 8 <= bytes.count {
            return UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
        }
        var number: UInt64 = 0
        for index in place..<place + 8 {
            number = number << 8 | (index < bytes.count ? UInt64(bytes[index]) : 0)
        }
        return number
    }

    package func hasPrefix(_ prefix: [UInt8]) -> Bool { bytes.starts(with: prefix) }
}

extension KeyBytes: Hashable {
    package static func == (a: Self, b: Self) -> Bool {
        a.head == b.head && a.rest == b.rest && a.bytes == b.bytes
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

extension KeyBytes: SortedKey {
    // Changes go to random keys, so almost each change copies another chunk.
    package static var chunkCountMax: Int { 8 }
}

extension KeyBytes: Comparable {
    package static func < (a: Self, b: Self) -> Bool {
        if a.head != b.head { return a.head < b.head }
        if a.rest != b.rest { return a.rest < b.rest }
        return a.bytes.withUnsafeBytes { a in
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

/// The keys from a lower bound, inclusive, to an upper bound, exclusive.
package struct KeySpan: Sendable {
    package var lower: KeyBytes
    /// Nil for no upper bound.
    package var upper: KeyBytes?

    package init(lower: KeyBytes, upper: KeyBytes?) {
        self.lower = lower
        self.upper = upper
    }

    /// Makes the span of all keys that begin with `prefix`.
    package init(prefix: [UInt8]) {
        lower = KeyBytes(prefix)
        upper = KeyBytes.after(prefix: prefix)
    }

    package func contains(_ key: KeyBytes) -> Bool {
        lower <= key && (upper.map { key < $0 } ?? true)
    }
}

extension KeyBytes {
    /// Returns the first key after all keys that begin with `prefix`, or nil if no key can be after
    /// them.
    package static func after(prefix: [UInt8]) -> KeyBytes? {
        var bytes = prefix
        while let last = bytes.popLast() {
            if last < .max { return KeyBytes(bytes + [last + 1]) }
        }
        return nil
    }
}

extension SortedMap where Key == KeyBytes {
    /// Calls `body` with the pairs of `span`, in order or backwards, until it returns false.
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
