/// Walks the trees of a snapshot and accounts for its pages: each is used once, or free once.
///
/// LMDB writes over pages that its free tree names without looking at them, so before anything is
/// written it is made sure that no tree uses them. Branches name all leaves; leaves themselves are
/// looked at as far as a number of them allows, and otherwise when they are read.
struct StructureCheck {
    private enum Use: UInt8 {
        case unknown, used, free
    }

    private let snapshot: CommitSnapshot
    private var uses: [Use]
    private var lastUsed = 2
    private let isWhole: Bool
    private var leavesLeft = Int.max
    private var counted = Counted()
    /// Every leaf has been looked at, so that every page must have been met.
    private var isComplete = true
    /// What must not be written to, and perhaps cannot be read.
    private(set) var findings: [PageDamage] = []
    /// What is not as it should be and does no harm: pages that are lost, counts that are wrong.
    private(set) var blemishes: [PageDamage] = []

    private struct Counted: Equatable {
        var branches: UInt64 = 0
        var leaves: UInt64 = 0
        var overflow: UInt64 = 0
        var entries: UInt64 = 0
    }

    static let findingsMax = 100

    /// How many leaves of a table opening looks into, a fraction of a millisecond; of larger tables the others are
    /// looked into when they are read or written.
    private static let openingLeavesMax = 256
    /// The same where values have pages of their own, of which only leaves know.
    private static let openingOverflowLeavesMax = 8_192

    /// - Parameter isWhole: looks into every leaf.
    /// - Complexity: O(n) in branches, free pages and leaves looked into; a byte for each page.
    init(_ snapshot: CommitSnapshot, isWhole: Bool) {
        self.snapshot = snapshot
        self.isWhole = isWhole
        uses = Array(
            repeating: .unknown, count: Int(clamping: min(snapshot.meta.lastPage, 1 << 40)) + 1)
        check()
    }

    private mutating func check() {
        walk(snapshot.main, named: nil) { check, node in check.walkTable(node) }
        walk(snapshot.free, named: "free", byBytes: false) { check, node throws(PageDamage) in
            try check.walkFree(node)
        }
        // A file that was cut off lacks its last pages first.
        noting { check throws(PageDamage) in
            guard check.lastUsed > 2 else { return }
            _ = try check.snapshot.bytes(ofPage: UInt64(check.lastUsed))
        }
        guard isComplete, findings.isEmpty else { return }
        for page in uses.indices.dropFirst(2) where uses[page] == .unknown {
            note(UInt64(page), "it is neither used nor free")
        }
    }

    private mutating func find(_ page: UInt64, _ what: String) {
        guard findings.count < Self.findingsMax else { return }
        findings.append(PageDamage(page: page, what: what))
    }

    private mutating func note(_ page: UInt64, _ what: String) {
        guard blemishes.count < Self.findingsMax else { return }
        blemishes.append(PageDamage(page: page, what: what))
    }

    private mutating func noting(_ body: (inout StructureCheck) throws(PageDamage) -> Void) {
        do throws(PageDamage) { try body(&self) } catch { find(error.page, error.what) }
    }

    // MARK: Trees

    private mutating func walkTable(_ node: Page.Node) {
        guard case .table(let bytes) = node.content else { return }
        let name = String(decoding: node.key, as: UTF8.self)
        guard bytes.count == Tree.bytes else {
            find(0, "table \(name) has a root of \(bytes.count) bytes")
            return
        }
        let tree = Tree(bytes)
        guard tree.flags == 0 else {
            find(tree.root ?? 0, "table \(name) has flags \(tree.flags)")
            return
        }
        let few =
            tree.overflowPages > 0 ? Self.openingOverflowLeavesMax : Self.openingLeavesMax
        leavesLeft = isWhole ? .max : few
        walk(tree, named: name) { _, _ in }
        leavesLeft = .max
    }

    private mutating func walk(
        _ tree: Tree, named name: String?, byBytes: Bool = true,
        _ each: (inout StructureCheck, Page.Node) throws(PageDamage) -> Void
    ) {
        let before = counted
        counted = Counted()
        defer { counted = before }
        noting { check throws(PageDamage) in
            guard let root = tree.root else { return }
            guard 1...32 ~= tree.depth else {
                throw PageDamage(
                    page: root, what: "its tree is said to be \(tree.depth) levels deep")
            }
            try check.walk(root, Page.Bounds(), depth: tree.depth, byBytes, each)
        }
        guard findings.isEmpty else { return }
        let said = Counted(
            branches: tree.branchPages, leaves: tree.leafPages, overflow: tree.overflowPages,
            entries: tree.entries)
        if leavesLeft <= 0 {
            counted.overflow = said.overflow
            counted.entries = said.entries
        }
        if counted != said {
            note(tree.root ?? 0, "the counts of \(name ?? "the list of tables") are wrong")
        }
    }

    private mutating func walk(
        _ number: UInt64, _ bounds: Page.Bounds, depth: Int, _ byBytes: Bool,
        _ each: (inout StructureCheck, Page.Node) throws(PageDamage) -> Void
    ) throws(PageDamage) {
        try use(number, 1)
        guard depth > 1 else {
            counted.leaves += 1
            guard leavesLeft > 0 else {
                isComplete = false
                return
            }
            leavesLeft -= 1
            return try walkLeaf(try snapshot.page(number, .leaf), bounds, byBytes, each)
        }
        counted.branches += 1
        let page = try snapshot.page(number, .branch)
        // The free tree may have a branch of one: LMDB shrinks it while it writes it.
        try page.requireSound(
            in: bounds, childrenMin: byBytes ? 2 : 1,
            order: byBytes ? Self.isBeforeByBytes : Self.isBeforeByNumber)
        for index in 0..<page.count {
            guard case .child(let child) = try page.node(index).content else { continue }
            if depth == 2, leavesLeft <= 0 {
                // Only that nobody else has it: most of a large file's pages.
                counted.leaves += 1
                isComplete = false
                try use(child, 1)
                continue
            }
            noting { check throws(PageDamage) in
                try check.walk(
                    child, try page.bounds(of: index, in: bounds), depth: depth - 1, byBytes, each)
            }
        }
    }

    private mutating func walkLeaf(
        _ page: Page, _ bounds: Page.Bounds, _ byBytes: Bool,
        _ each: (inout StructureCheck, Page.Node) throws(PageDamage) -> Void
    ) throws(PageDamage) {
        try page.requireSound(
            in: bounds, order: byBytes ? Self.isBeforeByBytes : Self.isBeforeByNumber)
        for index in 0..<page.count {
            let node = try page.node(index)
            counted.entries += 1
            if case .overflow(let first, let bytes) = node.content {
                let pages = try snapshot.overflowPages(first, bytes: bytes)
                _ = try snapshot.bytes(ofPage: first, count: pages)
                counted.overflow += UInt64(pages)
                try use(first, pages)
            }
            try each(&self, node)
        }
    }

    private mutating func use(_ first: UInt64, _ count: Int) throws(PageDamage) {
        guard first >= 2, first < UInt64(uses.count), count <= uses.count - Int(first) else {
            throw PageDamage(page: first, what: "there is no such page")
        }
        let start = Int(first)
        lastUsed = max(lastUsed, start + count - 1)
        for page in start..<start + count {
            guard uses[page] == .unknown else {
                throw PageDamage(page: UInt64(page), what: "it is used twice")
            }
            uses[page] = .used
        }
    }

    // MARK: Free pages

    /// A transaction's free pages: their count, then their numbers, descending (midl.h).
    private mutating func walkFree(_ node: Page.Node) throws(PageDamage) {
        let bytes: UnsafeRawBufferPointer
        switch node.content {
        case .value(let value): bytes = value
        case .overflow(let page, let count): bytes = try snapshot.overflow(page, bytes: count)
        case .child, .table: throw PageDamage(page: 0, what: "a list of free pages is none")
        }
        let numbers = bytes.count / 8
        guard node.key.count == 8, bytes.count % 8 == 0, numbers >= 1,
            1...snapshot.meta.transaction ~= node.key.loadUnaligned(as: UInt64.self)
        else {
            throw PageDamage(page: 0, what: "a list of free pages is none")
        }
        let count = bytes.loadUnaligned(as: UInt64.self)
        guard count <= UInt64(numbers - 1) else {
            throw PageDamage(page: 0, what: "a list of free pages says that it has \(count)")
        }
        var last = UInt64.max
        for index in 1..<Int(count) + 1 {
            let page = bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)
            guard 2..<UInt64(uses.count) ~= page, page < last else {
                throw PageDamage(page: page, what: "it is out of order in a list of free pages")
            }
            guard uses[Int(page)] == .unknown else {
                throw PageDamage(page: page, what: "it is free, and used or free elsewhere")
            }
            uses[Int(page)] = .free
            last = page
        }
    }

    private static func isBeforeByBytes(
        _ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer
    ) -> Bool {
        TreePath.compare(a, b) < 0
    }

    private static func isBeforeByNumber(
        _ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer
    ) -> Bool {
        guard a.count == 8, b.count == 8 else { return false }
        return a.loadUnaligned(as: UInt64.self) < b.loadUnaligned(as: UInt64.self)
    }
}
