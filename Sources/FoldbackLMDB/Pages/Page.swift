// Why this folder reads LMDB's private page layout: LMDB follows damaged page numbers and sizes, or
// aborts the process. Foldback must report a damaged file as a typed error (L5). So all reads go
// through these types, which check each number before they follow it. `StructureCheck` on opening
// or before the first change, and `WriteGuard` before each change, check the pages that LMDB itself
// will read. LMDB still does
// all writing, locking and snapshots: a `CommitSnapshot` is valid only during a transaction of
// LMDB.
//
// The layout is that of LMDB 0.9.24, data format 1. `Environment.isSupported` accepts liblmdb
// 0.9.24, 0.9.25, and 0.9.32 or later of 0.9. Opening with any other version throws
// `.unsupportedLibrary` and touches no file. If the file has another data format, LMDB refuses it
// with `.versionMismatch`.

/// A damaged page of the file, and a description of the damage.
struct PageDamage: Error, Equatable {
    let page: UInt64
    let what: String
}

/// The order of keys in a tree.
enum KeyOrder {
    /// LMDB's default order: by bytes, a prefix before a longer key.
    case bytes
    /// That of the free tree: numbers in the machine's byte order.
    case number

    /// - Complexity: one comparison of two numbers if both keys have 8 bytes, as most keys of a log.
    @inline(__always)
    func isBefore(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.count == 8, b.count == 8 else {
            return self == .bytes && TreePath.compare(a, b) < 0
        }
        let (a, b) = (a.loadUnaligned(as: UInt64.self), b.loadUnaligned(as: UInt64.self))
        return self == .bytes ? UInt64(bigEndian: a) < UInt64(bigEndian: b) : a < b
    }
}

/// A branch or leaf page: nodes in order of key.
///
/// Each number in the page is checked before it is followed. The layout is that of MDB_page and
/// MDB_node in mdb.c 0.9.24, in the machine's byte order:
/// ```
/// page   0 number  8 –  10 flags  12 lower  14 upper  16 offsets of nodes …   … nodes
/// node   0 data size, or child number  4 flags, or child's high bits  6 key size  8 key, data
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
        /// In a branch: the page of the keys from this key on.
        case child(UInt64)
        case value(UnsafeRawBufferPointer)
        /// A value on separate pages; `page` is the first.
        case overflow(page: UInt64, bytes: Int)
        /// A value that describes a table: an MDB_db with its root.
        case table(UnsafeRawBufferPointer)
    }

    let number: UInt64
    let kind: Kind
    let count: Int
    private let bytes: UnsafeRawBufferPointer
    private let upper: Int

    /// - Parameter kind: the kind that the page's place in the tree requires.
    init(_ bytes: UnsafeRawBufferPointer, number: UInt64, kind: Kind) throws(PageDamage) {
        self.bytes = bytes
        self.number = number
        self.kind = kind
        let lower = Int(bytes.loadUnaligned(fromByteOffset: 12, as: UInt16.self))
        upper = Int(bytes.loadUnaligned(fromByteOffset: 14, as: UInt16.self))
        count = (lower - Self.headerBytes) / 2
        let found = bytes.loadUnaligned(as: UInt64.self)
        let flags = bytes.loadUnaligned(fromByteOffset: 10, as: UInt16.self)
        guard found == number else { throw damage("its header has page number \(found)") }
        guard flags == kind.rawValue else {
            throw damage("it is not a \(kind) page: its flags are \(flags)")
        }
        guard lower >= Self.headerBytes, lower % 2 == 0, lower <= upper, upper <= bytes.count else {
            throw damage("its free space is invalid: from \(lower) to \(upper)")
        }
        guard count >= 1 else { throw damage("it has no nodes") }
    }

    func damage(_ what: String) -> PageDamage { PageDamage(page: number, what: what) }

    @inline(__always)
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

    /// Returns the node's offset in the page, and its key. A search needs no more.
    @inline(__always)
    func key(
        _ index: Int
    ) throws(PageDamage) -> (offset: Int, key: UnsafeRawBufferPointer) {
        let place = Self.headerBytes + 2 * index
        let offset = Int(bytes.loadUnaligned(fromByteOffset: place, as: UInt16.self))
        let keyStart = offset + Self.nodeHeaderBytes
        guard offset >= upper, offset % 2 == 0, keyStart <= bytes.count else {
            throw damage("node \(index) has the invalid offset \(offset)")
        }
        let keySize = Int(bytes.loadUnaligned(fromByteOffset: offset + 6, as: UInt16.self))
        let keyEnd = keyStart + keySize
        guard keyEnd <= bytes.count else { throw damage("the key of node \(index) is too long") }
        return (offset, part(keyStart, keySize))
    }

    /// Returns bytes of the page. The caller has checked that they are in it.
    @inline(__always)
    private func part(_ start: Int, _ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: bytes.baseAddress.map { $0 + start }, count: count)
    }

    @inline(__always)
    private func content(
        _ index: Int, flags: UInt16, at start: Int, size: Int
    ) throws(PageDamage) -> Content {
        let isOverflow = flags == 1
        let here = isOverflow ? 8 : size
        guard start + here <= bytes.count else {
            throw damage("the value of node \(index) is too long")
        }
        let value = part(start, here)
        switch flags {
        case 0: return .value(value)
        case 1: return .overflow(page: value.loadUnaligned(as: UInt64.self), bytes: size)
        case 2: return .table(value)
        default: throw damage("node \(index) has unknown flags \(flags)")
        }
    }

    /// The range of keys that the branches above a page allow in it: from `low` on, before `high`.
    ///
    /// A search would never find a row outside this range.
    struct Bounds {
        var low: UnsafeRawBufferPointer?
        var high: UnsafeRawBufferPointer?
    }

    /// Checks the whole page, except what depends on other pages.
    ///
    /// - Returns: whether all values are in this page.
    /// - Throws: the first damage.
    @discardableResult
    func requireSound(
        in bounds: Bounds, childrenMin: Int = 2, order: KeyOrder = .bytes
    ) throws(PageDamage) -> Bool {
        guard kind == .leaf || count >= childrenMin else { throw damage("it has only one child") }
        var hasAllValues = true
        var last: UnsafeRawBufferPointer?
        for index in 0..<count {
            let key: UnsafeRawBufferPointer
            if kind == .branch {
                key = try self.key(index).key
                // LMDB does not use the first key of a branch. It may be empty.
                if index == 0 { continue }
            } else {
                // A leaf node also has a value, which must end inside the page. `node` checks that.
                let node = try node(index)
                if case .value = node.content {} else { hasAllValues = false }
                key = node.key
            }
            if let last, !order.isBefore(last, key) {
                throw damage("key \(index) is out of order")
            }
            if last == nil, let low = bounds.low, order.isBefore(key, low) {
                throw damage("key \(index) belongs to an earlier page")
            }
            last = key
        }
        if let last, let high = bounds.high, !order.isBefore(last, high) {
            throw damage("its last key belongs to a later page")
        }
        return hasAllValues
    }

    /// Returns whether all values of a leaf are in this page. Checks only where the nodes begin.
    func hasAllValues() throws(PageDamage) -> Bool {
        for index in 0..<count {
            let (offset, _) = try key(index)
            guard bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt16.self) == 0 else {
                return false
            }
        }
        return true
    }

    /// Returns the range of keys that this page allows in its child at `index`.
    func bounds(of index: Int, in bounds: Bounds) throws(PageDamage) -> Bounds {
        Bounds(
            low: index > 0 ? try node(index).key : bounds.low,
            high: index + 1 < count ? try node(index + 1).key : bounds.high)
    }
}
