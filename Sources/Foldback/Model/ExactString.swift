/// A string that equals another string only if their UTF-8 bytes are equal.
///
/// Swift's `String` compares by canonical equivalence: "é" equals "e" followed by U+0301. Keys,
/// fields and names in a log come from outside, so names with different bytes must stay different.
/// The order is by bytes, which is the order of code points.
public struct ExactString: Sendable, ExpressibleByStringInterpolation,
    CustomStringConvertible
{
    public let string: String

    public init(_ string: String) {
        var native = string
        native.makeContiguousUTF8()
        self.string = native
    }

    public init(stringLiteral value: String) { self.init(value) }
    public var description: String { string }

    /// Calls `body` with the bytes. Native storage is always contiguous, so the copy is only a
    /// fallback.
    private func withBytes<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        if let result = string.utf8.withContiguousStorageIfAvailable(body) { return result }
        return Array(string.utf8).withUnsafeBufferPointer(body)
    }
}

extension ExactString: Hashable, Comparable {
    public static func == (a: Self, b: Self) -> Bool {
        a.withBytes { a in
            b.withBytes { b in
                // Copies of a long string share their bytes.
                a.count == b.count && (a.baseAddress == b.baseAddress || a.elementsEqual(b))
            }
        }
    }

    public static func < (a: Self, b: Self) -> Bool {
        a.withBytes { a in b.withBytes { b in a.lexicographicallyPrecedes(b) } }
    }

    public func hash(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }
}
