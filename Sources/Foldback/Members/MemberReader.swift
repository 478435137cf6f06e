import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Finds the members of JSON bytes that a type does not read (E11).
///
/// A member counts as read if the type asked for it while it was decoded, or if encoding the value
/// writes it again. So a type that writes more than it reads, an initializer of its own, and a
/// dictionary leave nothing.
///
/// What a type asks for is looked at once for each set of members. From then on, a scan of the
/// bytes finds that all of them are known. Members are known by their place: if a type reads a
/// member of an object in one case and not in another, it counts as read in both.
final class MemberReader<Value: Codable>: Sendable {
    private struct Known {
        let shape = MemberShape()
        var tree = MemberTree(MemberShape())
        /// The members that were left of values with these members.
        var left: [Set<JSONPointer>: Set<JSONPointer>] = [:]
    }

    /// The shape in it never leaves the lock.
    private let known = Mutex(Known())

    /// Returns the members in the bytes that the type did not read, without those inside of them.
    ///
    /// - Parameters:
    ///   - bytes: JSON that was decoded as `value`. If a name is twice in an object, or the text is
    ///     not UTF-8, it cannot be told, and the result is empty.
    ///   - value: the decoded value.
    /// - Complexity: one pass over the bytes. A value with members that are left, or that are new,
    ///   is parsed. For new ones, it is also encoded, and decoded again.
    func membersLeft(in bytes: UnsafeRawBufferPointer, by value: Value) -> Set<JSONPointer> {
        // The tree is replaced, and never changed, so the scan needs no lock.
        if known.withLock({ $0.tree }).covers(bytes) { return [] }
        guard let json = try? JSON(parsing: Array(bytes)) else { return [] }
        return known.withLock { known in
            let members = known.shape.paths(in: json, missing: false)
            if let left = known.left[members] { return left }
            Self.learn(Data(bytes), value, &known)
            let left = known.shape.paths(in: json, missing: true)
            // A sender of ever new names must not fill the memory.
            if known.left.count >= Limits.memberSetsMax { known.left = [:] }
            known.left[known.shape.paths(in: json, missing: false)] = left
            return left
        }
    }

    /// Adds what the type asks for, and what it writes again.
    private static func learn(_ bytes: Data, _ value: Value, _ known: inout Known) {
        let shape = known.shape
        // The bytes were decoded before, so an error can only be of a type that is not a function
        // of its bytes. Then what it writes decides.
        try? MemberSpy.decode(Value.self, from: bytes, noting: shape)
        if let written = (try? JSONEncoder().encode(value)).flatMap({
            try? JSON(parsing: Array($0))
        }) {
            shape.add(written, like: shape)
        }
        let tree = MemberTree(shape)
        // What was left before may be among the members that are known now.
        if tree.count != known.tree.count { known.left = [:] }
        known.tree = tree
    }
}

/// A codec of rows or states whose bytes may name their members.
package protocol MemberNaming {
    /// Reads the members; nil if the bytes name none.
    var naming: (any MemberNames)? { get }
}

/// A ``MemberReader`` without the type of its values, for samples of rows and states (E12).
package protocol MemberNames: Sendable {
    /// Returns the members in the bytes that decoding them does not read; see ``MemberReader``.
    ///
    /// - Throws: the error of decoding.
    func membersLeft(in bytes: [UInt8]) throws -> Set<JSONPointer>

    /// Returns each member of a value, with the members of the same object. The elements of arrays
    /// and the values of dictionaries are at `*`.
    func places(in bytes: [UInt8]) -> [(place: JSONPointer, siblings: [JSONPointer])]

    /// Returns the members of these values, which this code wrote.
    func members(of values: [[UInt8]]) -> MemberTree

    /// Returns a value that has the members of `bytes`, with as few elements of arrays and
    /// dictionaries as that takes. Decoding may fail for it if the type depends on the others.
    func excerpt(of bytes: [UInt8]) -> [UInt8]
}

extension MemberReader: MemberNames {
    package func membersLeft(in bytes: [UInt8]) throws -> Set<JSONPointer> {
        let value = try JSONDecoder().decode(Value.self, from: Data(bytes))
        return bytes.withUnsafeBytes { membersLeft(in: $0, by: value) }
    }

    package func places(
        in bytes: [UInt8]
    ) -> [(place: JSONPointer, siblings: [JSONPointer])] {
        _ = try? membersLeft(in: bytes)
        guard let json = try? JSON(parsing: bytes) else { return [] }
        return known.withLock { MemberShape.places(in: json, like: $0.shape) }
    }

    package func members(of values: [[UInt8]]) -> MemberTree {
        // Now it is known which objects are dictionaries.
        for bytes in values { _ = try? membersLeft(in: bytes) }
        return known.withLock { known in
            let shape = MemberShape()
            for bytes in values {
                if let json = try? JSON(parsing: bytes) { shape.add(json, like: known.shape) }
            }
            return MemberTree(shape)
        }
    }

    package func excerpt(of bytes: [UInt8]) -> [UInt8] {
        _ = try? membersLeft(in: bytes)
        guard let json = try? JSON(parsing: bytes) else { return bytes }
        return known.withLock { known in
            MemberShape().excerpt(of: json, like: known.shape).encoded
        }
    }
}
