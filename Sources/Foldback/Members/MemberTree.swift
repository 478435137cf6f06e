#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A ``MemberShape`` that does not change, for a fast scan of JSON bytes.
///
/// ``covers(_:)`` answers in one pass over the bytes, without allocating, whether all members of a
/// value are known. That is so for nearly all values, and costs a small part of decoding them.
package final class MemberTree: Sendable {
    fileprivate struct Node {
        /// The node's members are neighbors, in order of their names' bytes, which is the order in
        /// which the encoders here write them.
        var firstMember = 0
        var endOfMembers = 0
        /// The nodes of an array's elements and of a dictionary's values, or `none`.
        var elements = MemberTree.none
        var values = MemberTree.none
    }

    fileprivate struct Member {
        let name: Int
        let nameCount: Int
        let node: Int
    }

    /// No node. It covers values without members.
    fileprivate static let none = -1

    private let nodes: [Node]
    private let members: [Member]
    private let names: [UInt8]

    /// The number of objects, arrays and members in it.
    package var count: Int { nodes.count }

    init(_ shape: MemberShape) {
        var builder = Builder()
        _ = builder.add(shape)
        (nodes, members, names) = (builder.nodes, builder.members, builder.names)
    }

    private struct Builder {
        var nodes: [Node] = []
        var members: [Member] = []
        var names: [UInt8] = []

        mutating func add(_ shape: MemberShape) -> Int {
            let index = nodes.count
            nodes.append(Node())
            // Members of one node are neighbors, so the nodes below come first.
            // A name with a backslash could equal the bytes of another name's escape.
            let members = shape.members.filter { !$0.key.string.utf8.contains(0x5C) }
            let own = members.sorted { $0.key < $1.key }.map { name, child in
                let bytes = Array(name.string.utf8)
                names += bytes
                return Member(
                    name: names.count - bytes.count, nameCount: bytes.count, node: add(child))
            }
            if let elements = shape.elements { nodes[index].elements = add(elements) }
            if let values = shape.values { nodes[index].values = add(values) }
            nodes[index].firstMember = self.members.count
            nodes[index].endOfMembers = self.members.count + own.count
            self.members += own
            return index
        }
    }

    /// Returns whether the tree has all members of a JSON value.
    ///
    /// - Parameter bytes: one JSON value in UTF-8, which a decoder has accepted.
    /// - Returns: any result for bytes that are not such a value.
    func covers(_ bytes: UnsafeRawBufferPointer) -> Bool {
        nodes.withUnsafeBufferPointer { nodes in
            members.withUnsafeBufferPointer { members in
                names.withUnsafeBytes { names in
                    var scan = Scan(nodes: nodes, members: members, names: names, bytes: bytes)
                    return scan.value(0)
                }
            }
        }
    }
}

private struct Scan {
    let nodes: UnsafeBufferPointer<MemberTree.Node>
    let members: UnsafeBufferPointer<MemberTree.Member>
    let names: UnsafeRawBufferPointer
    let bytes: UnsafeRawBufferPointer
    var offset = 0
    var depth = 0

    mutating func value(_ node: Int) -> Bool {
        switch peek() {
        case UInt8(ascii: "\""): return skipString()
        case UInt8(ascii: "{"): return object(node)
        case UInt8(ascii: "["): return array(node)
        case 0: return false
        default: return skipScalar()
        }
    }

    private mutating func object(_ index: Int) -> Bool {
        guard enter() else { return false }
        if take(UInt8(ascii: "}")) { return leave() }
        let node = index == MemberTree.none ? MemberTree.Node() : nodes[index]
        var next = node.firstMember
        repeat {
            guard peek() == UInt8(ascii: "\"") else { return false }
            let name = offset + 1
            guard skipString() else { return false }
            let child: Int
            if let place = place(of: name, offset - 1 - name, in: node, from: next) {
                next = place + 1
                child = members[place].node
            } else if node.values != MemberTree.none {
                child = node.values
            } else {
                return false
            }
            guard take(UInt8(ascii: ":")), value(child) else { return false }
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "}")) && leave()
    }

    private mutating func array(_ index: Int) -> Bool {
        guard enter() else { return false }
        if take(UInt8(ascii: "]")) { return leave() }
        let child = index == MemberTree.none ? index : nodes[index].elements
        repeat { guard value(child) else { return false } } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "]")) && leave()
    }

    private mutating func enter() -> Bool {
        offset += 1
        depth += 1
        return depth <= JSON.depthMax
    }

    private mutating func leave() -> Bool {
        depth -= 1
        return true
    }

    /// Returns the place of a member. Names mostly come in order, so it looks from `start` on first.
    ///
    /// A name with an escape equals no name of the tree, which has plain bytes. Then the value is not
    /// covered, and slower code looks at it.
    private func place(
        of name: Int, _ count: Int, in node: MemberTree.Node, from start: Int
    ) -> Int? {
        var place = start
        while place < node.endOfMembers {
            if isName(place, name, count) { return place }
            place += 1
        }
        place = node.firstMember
        while place < start {
            if isName(place, name, count) { return place }
            place += 1
        }
        return nil
    }

    private func isName(_ place: Int, _ name: Int, _ count: Int) -> Bool {
        let member = members[place]
        guard member.nameCount == count, count > 0, let known = names.baseAddress,
            let found = bytes.baseAddress
        else { return member.nameCount == count }
        return memcmp(known + member.name, found + name, count) == 0
    }

    /// Moves past the string that begins here.
    private mutating func skipString() -> Bool {
        guard let base = bytes.baseAddress else { return false }
        offset += 1
        while offset < bytes.count {
            guard let quote = memchr(base + offset, 0x22, bytes.count - offset) else {
                return false
            }
            let end = UnsafeRawPointer(quote) - base
            // A quote is escaped by an odd number of backslashes before it.
            var start = end
            while start > offset, bytes[start - 1] == UInt8(ascii: "\\") { start -= 1 }
            offset = end + 1
            if (end - start) % 2 == 0 { return true }
        }
        return false
    }

    /// Moves past a number or a word.
    private mutating func skipScalar() -> Bool {
        let start = offset
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), 0x20, 0x0A, 0x0D, 0x09:
                return offset > start
            default: offset += 1
            }
        }
        return offset > start
    }

    /// Returns the next byte after white space; 0, which JSON never has, at the end.
    @inline(__always)
    private mutating func peek() -> UInt8 {
        while offset < bytes.count {
            let byte = bytes[offset]
            guard byte <= 0x20, byte != 0 else { return byte }
            offset += 1
        }
        return 0
    }

    @inline(__always)
    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        offset += 1
        return true
    }
}
