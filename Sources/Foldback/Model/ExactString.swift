/// A string that equals another when their UTF-8 bytes are the same.
///
/// Swift's `String` says more: there "é" equals "e" followed by U+0301. Keys, fields and names in a
/// log are data of somebody else, and two that differ in bytes are two. Ordered by bytes, which is the
/// order of code points.
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

    /// The bytes; native storage is always contiguous.
    private func withBytes<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        if let result = string.utf8.withContiguousStorageIfAvailable(body) { return result }
        return Array(string.utf8).withUnsafeBufferPointer(body)
    }
}

extension ExactString: Hashable, Comparable {
    public static func == (a: Self, b: Self) -> Bool {
        a.withBytes { a in b.withBytes { b in a.count == b.count && a.elementsEqual(b) } }
    }

    public static func < (a: Self, b: Self) -> Bool {
        a.withBytes { a in b.withBytes { b in a.lexicographicallyPrecedes(b) } }
    }

    public func hash(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }
}
