import Synchronization

/// One commit of the file: its trees, with a check of each page that is read.
///
/// Valid only while an LMDB transaction on this commit is active. LMDB reuses the pages after that.
package struct CommitSnapshot: Sendable {
    let map: PageMap
    let pageSize: Int
    let meta: Meta

    var main: Tree { meta.main }
    var free: Tree { meta.free }

    init(map: PageMap, pageSize: Int, meta: Meta) {
        self.map = map
        self.pageSize = pageSize
        self.meta = meta
    }

    /// The commit `number`; nil if a later commit has overwritten its meta page.
    ///
    /// Every second commit writes the same meta page.
    init?(of number: UInt64, in map: PageMap) throws(LMDBError) {
        let first = try Self.meta(at: 0, in: map)
        let meta = first.transaction == number ? first : try Self.meta(at: first.pageSize, in: map)
        guard meta.transaction == number, meta.isMeta, first.isMeta else { return nil }
        // Opening checked that both meta pages have the same page size. LMDB keeps using that size.
        self.init(map: map, pageSize: first.pageSize, meta: meta)
    }

    /// Returns the newest commit; nil if the meta pages are not valid.
    static func newest(in map: PageMap) throws(LMDBError) -> CommitSnapshot? {
        let first = try meta(at: 0, in: map)
        let second = try meta(at: first.pageSize, in: map)
        let newest = first.transaction < second.transaction ? second : first
        return CommitSnapshot(map: map, pageSize: first.pageSize, meta: newest)
    }

    /// Returns a consistent copy of a meta page.
    ///
    /// Another process may be writing the page. So this reads it until two reads are equal.
    private static func meta(at offset: Int, in map: PageMap) throws(LMDBError) -> Meta {
        guard let bytes = map.bytes(offset..<offset + Page.headerBytes + Meta.bytes) else {
            throw LMDBError(
                .inspect, .damagedPage(0, "the file was truncated: it ends before its meta pages"))
        }
        while true {
            let meta = Meta(bytes)
            atomicMemoryFence(ordering: .sequentiallyConsistent)
            let again = Meta(bytes)
            atomicMemoryFence(ordering: .sequentiallyConsistent)
            if again == meta { return meta }
        }
    }

    /// Returns the bytes of `count` pages from page `number` on. Pages 0 and 1 are the meta pages,
    /// and are refused.
    func bytes(ofPage number: UInt64, count: Int = 1) throws(PageDamage) -> UnsafeRawBufferPointer {
        guard number >= 2, number <= meta.lastPage,
            UInt64(count) <= meta.lastPage - number + 1
        else { throw PageDamage(page: number, what: "the file has no page of this number") }
        let start = Int(number) * pageSize
        guard let bytes = map.bytes(start..<start + count * pageSize) else {
            throw PageDamage(page: number, what: "the file was truncated: it ends before this page")
        }
        return bytes
    }

    func page(_ number: UInt64, _ kind: Page.Kind) throws(PageDamage) -> Page {
        try Page(try bytes(ofPage: number), number: number, kind: kind)
    }

    /// Returns a value of `count` bytes on separate pages. The pages are contiguous and have one
    /// header.
    func overflow(_ number: UInt64, bytes count: Int) throws(PageDamage) -> UnsafeRawBufferPointer {
        let pages = try overflowPages(number, bytes: count)
        let all = try bytes(ofPage: number, count: pages)
        return UnsafeRawBufferPointer(
            rebasing: all[Page.headerBytes..<Page.headerBytes + count])
    }

    /// Returns the number of pages of such a value.
    func overflowPages(_ number: UInt64, bytes count: Int) throws(PageDamage) -> Int {
        let first = try bytes(ofPage: number)
        let found = first.loadUnaligned(as: UInt64.self)
        let flags = first.loadUnaligned(fromByteOffset: 10, as: UInt16.self)
        let pages = Int(first.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
        // A shorter value that replaces a longer value keeps all its pages (mdb.c 0.9.24,
        // mdb_cursor_put).
        guard found == number, flags == 4, pages >= (Page.headerBytes + count - 1) / pageSize + 1
        else {
            throw PageDamage(page: number, what: "it does not start a value of \(count) bytes")
        }
        return pages
    }

    /// Returns a leaf node's value, as bytes of the map.
    func value(of node: Page.Node) throws(PageDamage) -> UnsafeRawBufferPointer {
        switch node.content {
        case .value(let bytes), .table(let bytes): return bytes
        case .overflow(let page, let bytes): return try overflow(page, bytes: bytes)
        case .child(let page): throw PageDamage(page: page, what: "a leaf page names it as a child")
        }
    }

    /// Returns the tree of the table `name`; nil if the table does not exist.
    func tree(named name: String) throws(PageDamage) -> Tree? {
        let found = try name.withKeyBytes { key throws(PageDamage) -> Page.Node? in
            try TreePath.node(at: key, in: self, of: main)
        }
        guard let found else { return nil }
        guard case .table(let bytes) = found.content, bytes.count == Tree.bytes else { return nil }
        return Tree(bytes)
    }
}

/// A tree's root and counts: MDB_db of mdb.c 0.9.24.
struct Tree: Equatable {
    static let bytes = 48
    private static let none = UInt64.max

    /// The page size, in a meta page's free tree. Unused in other trees.
    let pad: UInt32
    let flags: UInt16
    let depth: Int
    let branchPages: UInt64
    let leafPages: UInt64
    let overflowPages: UInt64
    let entries: UInt64
    private let rootPage: UInt64

    init(_ bytes: UnsafeRawBufferPointer) {
        pad = bytes.loadUnaligned(as: UInt32.self)
        flags = bytes.loadUnaligned(fromByteOffset: 4, as: UInt16.self)
        depth = Int(bytes.loadUnaligned(fromByteOffset: 6, as: UInt16.self))
        branchPages = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        leafPages = bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
        overflowPages = bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
        entries = bytes.loadUnaligned(fromByteOffset: 32, as: UInt64.self)
        rootPage = bytes.loadUnaligned(fromByteOffset: 40, as: UInt64.self)
    }

    /// The root page; nil if the tree is empty.
    var root: UInt64? { rootPage == Self.none ? nil : rootPage }
}

/// A meta page's content: MDB_meta of mdb.c 0.9.24.
struct Meta: Equatable {
    static let bytes = 136

    let magic: UInt32
    let version: UInt32
    let free: Tree
    let main: Tree
    let lastPage: UInt64
    let transaction: UInt64

    /// - Parameter page: at least the first 152 bytes of the page.
    init(_ page: UnsafeRawBufferPointer) {
        let bytes = UnsafeRawBufferPointer(rebasing: page[Page.headerBytes...])
        magic = bytes.loadUnaligned(as: UInt32.self)
        version = bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
        free = Tree(UnsafeRawBufferPointer(rebasing: bytes[24..<72]))
        main = Tree(UnsafeRawBufferPointer(rebasing: bytes[72..<120]))
        lastPage = bytes.loadUnaligned(fromByteOffset: 120, as: UInt64.self)
        transaction = bytes.loadUnaligned(fromByteOffset: 128, as: UInt64.self)
    }

    var pageSize: Int { Int(free.pad) }

    static let magic: UInt32 = 0xBEEF_C0DE
    static let pageSizes = 512...65_536

    /// Whether the magic number and the page size are valid. Only then may other numbers be used.
    var isMeta: Bool {
        magic == Self.magic && Self.pageSizes.contains(pageSize) && pageSize.nonzeroBitCount == 1
    }
}
