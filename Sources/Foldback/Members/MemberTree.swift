/// A ``MemberShape`` that does not change, for a fast scan of JSON bytes.
///
/// ``covers(_:)`` answers in one pass over the bytes, without allocating, whether all members of a
/// value are known. That is so for nearly all values, and costs a small part of decoding them.
package final class MemberTree: Sendable {
    private struct Node {
        /// The node's members are at these places of `members`, in order of their names' bytes,
        /// which is the order in which the encoders here write them.
        var members: Range<Int>
        var elements: Int?
        var values: Int?
    }

    private struct Member {
        let name: Range<Int>
        let node: Int
    }

    private let nodes: [Node]
    private let members: [Member]
    private let names: [UInt8]

    /// The number of objects, arrays and members in it.
    var count: Int { nodes.count }

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
            nodes.append(Node(members: 0..<0))
            // Members of one node are neighbors, so the nodes below come first.
            let own = shape.members.sorted { $0.key < $1.key }.map { name, child in
                let bytes = Array(name.string.utf8)
                names += bytes
                return Member(name: names.count - bytes.count..<names.count, node: add(child))
            }
            nodes[index].elements = shape.elements.map { add($0) }
            nodes[index].values = shape.values.map { add($0) }
            nodes[index].members = members.count..<members.count + own.count
            members += own
            return index
        }
    }

    /// Returns whether the tree has all members of a JSON value.
    ///
    /// - Parameter bytes: one JSON value in UTF-8, which a decoder has accepted.
    /// - Returns: false also for bytes that are not such a value.
    func covers(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var scan = Scan(tree: self, bytes: bytes)
        return scan.value(0)
    }

    private struct Scan {
        let tree: MemberTree
        let bytes: UnsafeRawBufferPointer
        var offset = 0
        var depth = 0

        /// Reads one value. A nil node is unknown: it covers values without members.
        mutating func value(_ node: Int?) -> Bool {
            guard let first = peek() else { return false }
            switch first {
            case UInt8(ascii: "{"): return nested { $0.object(node) }
            case UInt8(ascii: "["): return nested { $0.array(node) }
            case UInt8(ascii: "\""): return string() != nil
            default: return scalar()
            }
        }

        private mutating func nested(_ body: (inout Scan) -> Bool) -> Bool {
            depth += 1
            guard depth <= JSON.depthMax else { return false }
            defer { depth -= 1 }
            offset += 1
            return body(&self)
        }

        private mutating func object(_ index: Int?) -> Bool {
            let node = index.map { tree.nodes[$0] }
            var next = node?.members.lowerBound ?? 0
            if take(UInt8(ascii: "}")) { return true }
            repeat {
                guard peek() == UInt8(ascii: "\""), let name = string(), take(UInt8(ascii: ":"))
                else { return false }
                let child: Int?
                if let node, let place = place(of: name, in: node.members, from: next) {
                    next = place + 1
                    child = tree.members[place].node
                } else if let values = node?.values {
                    child = values
                } else {
                    return false
                }
                guard value(child) else { return false }
            } while take(UInt8(ascii: ","))
            return take(UInt8(ascii: "}"))
        }

        private mutating func array(_ index: Int?) -> Bool {
            let child = index.flatMap { tree.nodes[$0].elements }
            if take(UInt8(ascii: "]")) { return true }
            repeat { guard value(child) else { return false } } while take(UInt8(ascii: ","))
            return take(UInt8(ascii: "]"))
        }

        /// Returns the place of a member. Names mostly come in order, so it looks from `start` on
        /// first.
        private func place(of name: Range<Int>, in members: Range<Int>, from start: Int) -> Int? {
            for place in start..<members.upperBound where isName(place, name) { return place }
            for place in members.lowerBound..<start where isName(place, name) { return place }
            return nil
        }

        private func isName(_ place: Int, _ name: Range<Int>) -> Bool {
            let known = tree.members[place].name
            guard known.count == name.count else { return false }
            for offset in 0..<name.count
            where tree.names[known.lowerBound + offset] != bytes[name.lowerBound + offset] {
                return false
            }
            return true
        }

        /// Reads a string, and returns the place of its bytes between the quotes.
        ///
        /// A name with an escape equals no name of the tree, which has plain bytes. Then the value
        /// is not covered, and slower code looks at it.
        private mutating func string() -> Range<Int>? {
            offset += 1
            let start = offset
            while offset < bytes.count {
                switch bytes[offset] {
                case UInt8(ascii: "\""):
                    offset += 1
                    return start..<offset - 1
                case UInt8(ascii: "\\"): offset += 2
                default: offset += 1
                }
            }
            return nil
        }

        private mutating func scalar() -> Bool {
            let start = offset
            while offset < bytes.count {
                switch bytes[offset] {
                case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), 0x20, 0x0A, 0x0D,
                    0x09:
                    return offset > start
                default: offset += 1
                }
            }
            return offset > start
        }

        /// Returns the next byte after white space.
        private mutating func peek() -> UInt8? {
            while offset < bytes.count {
                switch bytes[offset] {
                case 0x20, 0x0A, 0x0D, 0x09: offset += 1
                case let byte: return byte
                }
            }
            return nil
        }

        private mutating func take(_ byte: UInt8) -> Bool {
            guard peek() == byte else { return false }
            offset += 1
            return true
        }
    }
}
