import Foldback

/// The user whom a request comes from, as the server's authentication names it.
///
/// A name has 1 to 255 bytes of UTF-8, and none of them is 0. Two names are equal if their bytes are equal.
public struct Account: Hashable, Sendable, CustomStringConvertible {
    public let name: ExactString

    /// Makes an account, or returns nil if the name is empty, longer than 255 bytes, or has a NUL.
    public init?(_ name: String) {
        guard 1...255 ~= name.utf8.count, !name.utf8.contains(0) else { return nil }
        self.name = ExactString(name)
    }

    public var description: String { name.string }
}

/// The name of a space: of one log of decisions, with its own positions and lineage.
///
/// A name has 1 to 64 characters, each an ASCII letter, a digit, or one of `.`, `_` and `-`, and does not
/// begin with a period. So it can be a part of a path and of an address. Upper and lower case differ.
public struct SpaceName: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// Makes a name, or returns nil if it has other characters.
    public init?(_ name: String) {
        let isAllowed = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard 1...64 ~= name.utf8.count, isAllowed, !name.hasPrefix(".") else { return nil }
        description = name
    }

    /// The name of the space's folder in that of ``Spaces``.
    ///
    /// Some file systems do not distinguish upper and lower case, so an upper-case letter is written as `%`
    /// and its lower-case letter.
    public var folder: String {
        description.map { $0.isUppercase ? "%\($0.lowercased())" : String($0) }.joined()
    }
}
