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
/// What a type asks for is looked at once for each new member. From then on, a scan of the bytes
/// finds that all of them are known. Members are known by their place: if a type reads a member of an
/// object in one case and not in another, it counts as read in both once it was read.
final class MemberReader<Value: Codable>: Sendable {
    private struct Known {
        let shape = MemberShape()
        var tree = MemberTree(MemberShape())
    }

    /// The shape in it never leaves the lock. No code of the app runs under the lock.
    private let known = Mutex(Known())

    /// Decoding nested deeper is not watched, because that needs more of the stack.
    private static var watchedDepthMax: Int { 64 }

    /// Returns whether every member in the bytes is known: the type reads a member at its place.
    ///
    /// - Complexity: one pass over the bytes.
    func knowsMembers(in bytes: UnsafeRawBufferPointer) -> Bool {
        // The tree is replaced, and never changed, so the scan needs no lock.
        known.withLock({ $0.tree }).covers(bytes)
    }

    /// Returns the members in the bytes that the type did not read, without those inside of them.
    ///
    /// - Parameters:
    ///   - bytes: JSON that was decoded as `value`. If the text is not UTF-8, it cannot be told, and
    ///     the result is empty.
    ///   - value: the decoded value.
    /// - Complexity: one pass over the bytes. A value with members that are left, or that are new, is
    ///   parsed, decoded again, and encoded if the type does not ask for all of them.
    func membersLeft(in bytes: UnsafeRawBufferPointer, by value: Value) -> Set<JSONPointer> {
        if knowsMembers(in: bytes) { return [] }
        let bytes = Array(bytes)
        guard let json = try? JSON(lenient: bytes) else { return [] }
        // The bytes were decoded before, so an error can only be of a type that is not a function of
        // its bytes. Then what it writes decides.
        let watched = try? watch(json, bytes)
        return left(of: json, by: watched ?? value)
    }

    /// Adds what the type asks for.
    ///
    /// - Returns: the decoded value; nil if all members are known, or if the value is nested too
    ///   deeply to watch its decoding.
    /// - Throws: the error of decoding.
    private func watch(_ json: JSON, _ bytes: [UInt8]) throws -> Value? {
        guard !missing(in: json).isEmpty, json.depth <= Self.watchedDepthMax else { return nil }
        let asked = MemberShape()
        defer { learn { $0.add(asked) } }
        return try MemberSpy.decode(Value.self, from: bytes, noting: asked)
    }

    /// Returns what is left, after it has added what the type writes again.
    private func left(of json: JSON, by value: Value) -> Set<JSONPointer> {
        let left = missing(in: json)
        guard !left.isEmpty, let written = try? JSONEncoder().encode(value),
            let again = try? JSON(lenient: Array(written))
        else { return left }
        learn { $0.add(again, like: $0) }
        return missing(in: json)
    }

    private func missing(in json: JSON) -> Set<JSONPointer> {
        known.withLock { $0.shape.missing(in: json) }
    }

    private func learn(_ body: (MemberShape) -> Void) {
        known.withLock { known in
            body(known.shape)
            known.tree = MemberTree(known.shape)
        }
    }
}

extension JSON {
    /// The nesting of arrays and objects.
    fileprivate var depth: Int {
        switch self {
        case .object(let object): 1 + (object.members.lazy.map(\.value.depth).max() ?? 0)
        case .array(let values): 1 + (values.lazy.map(\.depth).max() ?? 0)
        case .null, .bool, .integer, .double, .digits, .string: 0
        }
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
        let json: JSON
        do { json = try JSON(lenient: bytes) } catch {
            // A text that is not UTF-8, or no JSON.
            _ = try JSONDecoder().decode(Value.self, from: Data(bytes))
            return []
        }
        let value =
            try watch(json, bytes) ?? JSONDecoder().decode(Value.self, from: Data(bytes))
        return left(of: json, by: value)
    }

    package func places(
        in bytes: [UInt8]
    ) -> [(place: JSONPointer, siblings: [JSONPointer])] {
        read(bytes) { MemberShape.places(in: $0, like: $1) } ?? []
    }

    package func members(of values: [[UInt8]]) -> MemberTree {
        let shape = MemberShape()
        for bytes in values { read(bytes) { shape.add($0, like: $1) } }
        return MemberTree(shape)
    }

    package func excerpt(of bytes: [UInt8]) -> [UInt8] {
        read(bytes) { MemberShape().excerpt(of: $0, like: $1).encoded } ?? bytes
    }

    /// Calls `body` with a value and the shape that says which of its objects are dictionaries; nil
    /// if the value is not JSON.
    @discardableResult
    private func read<R>(_ bytes: [UInt8], _ body: (JSON, MemberShape) -> R) -> R? {
        guard let json = try? JSON(lenient: bytes) else { return nil }
        _ = try? watch(json, bytes)
        return known.withLock { body(json, $0.shape) }
    }
}
