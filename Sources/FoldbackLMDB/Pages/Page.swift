/// What is wrong with a page of the file.
struct PageDamage: Error, Equatable {
    let page: UInt64
    let what: String
}

/// A branch or leaf page: nodes in order of key. Every number in it is checked before it is followed.
///
/// The layout is that of mdb.c 0.9.24, MDB_page and MDB_node, in the byte order of the machine:
/// ```
/// page   0 number  8 –  10 flags  12 lower  14 upper  16 offsets of nodes …   … nodes
/// node   0 data's size, or child's number  4 flags, or child's high bits  6 key's size  8 key, data
/// ```
struct Page {
    static let headerBytes = 16
    private static let nodeHeaderBytes = 8

    enum Kind: UInt16 {
        case branch = 1
        case leaf = 2
    }

    struct Node {
        let key: UnsafeRawBufferPointer
        let content: Content
    }

    enum Content {
        /// Of a branch: everything from this key on.
        case child(UInt64)
        case value(UnsafeRawBufferPointer)
        /// The value lies on pages of its own.
        case overflow(page: UInt64, bytes: Int)
        /// The value is a table's root.
        case table(UnsafeRawBufferPointer)
    }

    let number: UInt64
    let kind: Kind
    let count: Int
    private let bytes: UnsafeRawBufferPointer
    private let upper: Int

    /// - Parameter kind: what the page has to be, by its place in the tree.
    init(_ bytes: UnsafeRawBufferPointer, number: UInt64, kind: Kind) throws(PageDamage) {
        self.bytes = bytes
        self.number = number
        self.kind = kind
        let lower = Int(bytes.loadUnaligned(fromByteOffset: 12, as: UInt16.self))
        upper = Int(bytes.loadUnaligned(fromByteOffset: 14, as: UInt16.self))
        count = (lower - Self.headerBytes) / 2
        let found = bytes.loadUnaligned(as: UInt64.self)
        let flags = bytes.loadUnaligned(fromByteOffset: 10, as: UInt16.self)
        guard found == number else { throw damage("it says that it is page \(found)") }
        guard flags == kind.rawValue else {
            throw damage("it should be a \(kind), and has flags \(flags)")
        }
        guard lower >= Self.headerBytes, lower % 2 == 0, lower <= upper, upper <= bytes.count else {
            throw damage("its free space is from \(lower) to \(upper)")
        }
        guard count >= 1 else { throw damage("it is empty") }
    }

    func damage(_ what: String) -> PageDamage { PageDamage(page: number, what: what) }

    func node(_ index: Int) throws(PageDamage) -> Node {
        let (offset, key) = try key(index)
        let keyEnd = offset + Self.nodeHeaderBytes + key.count
        let low = bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)
        let high = bytes.loadUnaligned(fromByteOffset: offset + 2, as: UInt16.self)
        let flags = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt16.self)
        if kind == .branch {
            let child = UInt64(low) | UInt64(high) << 16 | UInt64(flags) << 32
            return Node(key: key, content: .child(child))
        }
        let size = Int(low) | Int(high) << 16
        return Node(key: key, content: try content(index, flags: flags, at: keyEnd, size: size))
    }

    /// Where the node is in the page, and its key: what a search looks at.
    @inline(__always)
    func key(
        _ index: Int
    ) throws(PageDamage) -> (offset: Int, key: UnsafeRawBufferPointer) {
        let place = Self.headerBytes + 2 * index
        let offset = Int(bytes.loadUnaligned(fromByteOffset: place, as: UInt16.self))
        let keyStart = offset + Self.nodeHeaderBytes
        guard offset >= upper, offset % 2 == 0, keyStart <= bytes.count else {
            throw damage("node \(index) is at \(offset)")
        }
        let keySize = Int(bytes.loadUnaligned(fromByteOffset: offset + 6, as: UInt16.self))
        let keyEnd = keyStart + keySize
        guard keyEnd <= bytes.count else { throw damage("the key of node \(index) is too long") }
        return (offset, UnsafeRawBufferPointer(rebasing: bytes[keyStart..<keyEnd]))
    }

    private func content(
        _ index: Int, flags: UInt16, at start: Int, size: Int
    ) throws(PageDamage) -> Content {
        let isOverflow = flags == 1
        let here = isOverflow ? 8 : size
        guard start + here <= bytes.count else {
            throw damage("the value of node \(index) is too long")
        }
        let value = UnsafeRawBufferPointer(rebasing: bytes[start..<start + here])
        switch flags {
        case 0: return .value(value)
        case 1: return .overflow(page: value.loadUnaligned(as: UInt64.self), bytes: size)
        case 2: return .table(value)
        default: throw damage("node \(index) has flags \(flags)")
        }
    }

    /// Which keys may be below a page, as the branches above it say: from the first on, before the
    /// second. A row put where it does not belong would be lost.
    struct Bounds {
        var low: UnsafeRawBufferPointer?
        var high: UnsafeRawBufferPointer?
    }

    /// Everything in it, as far as it can be known without its neighbours.
    func requireSound(
        in bounds: Bounds, childrenMin: Int = 2,
        order: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
    ) throws(PageDamage) {
        guard kind == .leaf || count >= childrenMin else { throw damage("it has one child") }
        var last: UnsafeRawBufferPointer?
        for index in 0..<count {
            // A branch's node is its key and a number; a leaf's has a value that has to be in the page.
            let key = kind == .branch ? try self.key(index).key : try node(index).key
            // The first key of a branch is not used and may be empty.
            if kind == .branch, index == 0 { continue }
            if let last, !order(last, key) { throw damage("key \(index) is out of order") }
            if last == nil, let low = bounds.low, order(key, low) {
                throw damage("key \(index) belongs before it")
            }
            last = key
        }
        if let last, let high = bounds.high, !order(last, high) {
            throw damage("its last key belongs behind it")
        }
    }

    /// What its child of that index may have.
    func bounds(of index: Int, in bounds: Bounds) throws(PageDamage) -> Bounds {
        Bounds(
            low: index > 0 ? try node(index).key : bounds.low,
            high: index + 1 < count ? try node(index + 1).key : bounds.high)
    }
}
