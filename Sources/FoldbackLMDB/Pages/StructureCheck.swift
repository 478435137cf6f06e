/// A check that each page of a snapshot is used exactly once, or is free exactly once.
///
/// LMDB overwrites the pages that its free tree lists, without a check. So this check must pass
/// before the first write. Branch pages name all leaf pages, so the check knows each leaf's number.
/// It reads a limited number of leaves in each table. The other leaves are checked when they are
/// read or written.
///
/// A page that is both free and used can also be an old version of a page. A read would take it for
/// the present version.
struct StructureCheck {
    /// The pages that a check covers, besides the list of tables and the lists of free pages.
    enum Scope: Equatable {
        /// All tables, with all of their leaves.
        case everything
        /// All tables except the named tables. Of these, only the root page counts as used.
        case tables(except: Set<String>)
    }

    /// What a check does with each node of a tree's leaves.
    private typealias Visit = (inout StructureCheck, Page.Node) throws(PageDamage) -> Void

    private enum Use: UInt8 {
        case unknown, used, free
    }

    private let snapshot: CommitSnapshot
    private var uses: [Use]
    private var lastUsed = 2
    private let scope: Scope
    private var leavesLeft = Int.max
    /// The number of leaves to check as a whole. Of the others, only the values on separate pages
    /// count.
    private var soundLeavesLeft = Int.max
    private var counted = Counted()
    /// Whether all leaves were read. Then each page must be known as used or free.
    private var isComplete = true
    /// Damage that forbids writing, and that may make data unreadable.
    private(set) var findings: [PageDamage] = []
    /// Harmless damage: lost pages and wrong counts.
    private(set) var blemishes: [PageDamage] = []

    private struct Counted: Equatable {
        var branches: UInt64 = 0
        var leaves: UInt64 = 0
        var overflow: UInt64 = 0
        var entries: UInt64 = 0
    }

    static let findingsMax = 100

    /// The number of leaves of each table that a check reads, in a fraction of a millisecond. The
    /// other leaves of a larger table are checked when they are read or written.
    private static let leavesMax = 256
    /// The number of leaves that a check reads in a table with values on separate pages, because only
    /// leaves name these pages.
    private static let overflowLeavesMax = 8_192

    /// - Complexity: O(n) in branches, free pages and leaves that are read; 1 byte of memory for
    ///   each page.
    init(_ snapshot: CommitSnapshot, _ scope: Scope) {
        self.snapshot = snapshot
        self.scope = scope
        uses = Array(
            repeating: .unknown, count: Int(clamping: min(snapshot.meta.lastPage, 1 << 40)) + 1)
        check()
    }

    /// The first damage that forbids writing, if there is any.
    var result: Result<Void, PageDamage> { findings.first.map { .failure($0) } ?? .success(()) }

    private mutating func check() {
        walk(snapshot.main, named: nil) { check, node in check.walkTable(node) }
        walk(snapshot.free, named: "free", byBytes: false) { check, node throws(PageDamage) in
            try check.walkFree(node)
        }
        // A truncated file lacks its last pages, so the last used page must be readable.
        collectingDamage { check throws(PageDamage) in
            guard check.lastUsed > 2 else { return }
            _ = try check.snapshot.bytes(ofPage: UInt64(check.lastUsed))
        }
        guard isComplete, findings.isEmpty else { return }
        for page in uses.indices.dropFirst(2) where uses[page] == .unknown {
            addBlemish(UInt64(page), "it is neither used nor listed as free")
        }
    }

    private mutating func addFinding(_ page: UInt64, _ what: String) {
        guard findings.count < Self.findingsMax else { return }
        findings.append(PageDamage(page: page, what: what))
    }

    private mutating func addBlemish(_ page: UInt64, _ what: String) {
        guard blemishes.count < Self.findingsMax else { return }
        blemishes.append(PageDamage(page: page, what: what))
    }

    private mutating func collectingDamage(
        _ body: (inout StructureCheck) throws(PageDamage) -> Void
    ) {
        do throws(PageDamage) { try body(&self) } catch { addFinding(error.page, error.what) }
    }

    // MARK: Trees

    private mutating func walkTable(_ node: Page.Node) {
        guard case .table(let bytes) = node.content else { return }
        let name = String(decoding: node.key, as: UTF8.self)
        guard bytes.count == Tree.bytes else {
            addFinding(0, "the descriptor of table \(name) has \(bytes.count) bytes")
            return
        }
        let tree = Tree(bytes)
        guard tree.flags == 0 else {
            addFinding(tree.root ?? 0, "table \(name) has unknown flags \(tree.flags)")
            return
        }
        switch scope {
        case .everything: break
        case .tables(except: let skipped) where skipped.contains(name):
            isComplete = false
            collectingDamage { check throws(PageDamage) in
                if let root = tree.root { try check.use(root, 1) }
            }
            return
        case .tables:
            leavesLeft = tree.overflowPages > 0 ? Self.overflowLeavesMax : Self.leavesMax
            soundLeavesLeft = Self.leavesMax
        }
        walk(tree, named: name, nil)
        (leavesLeft, soundLeavesLeft) = (.max, .max)
    }

    private mutating func walk(
        _ tree: Tree, named name: String?, byBytes: Bool = true,
        _ each: Visit?
    ) {
        let before = counted
        counted = Counted()
        defer { counted = before }
        collectingDamage { check throws(PageDamage) in
            guard let root = tree.root else { return }
            guard 1...32 ~= tree.depth else {
                throw PageDamage(
                    page: root, what: "its tree has an invalid depth of \(tree.depth)")
            }
            try check.walk(root, Page.Bounds(), depth: tree.depth, byBytes, each)
        }
        guard findings.isEmpty else { return }
        let recorded = Counted(
            branches: tree.branchPages, leaves: tree.leafPages, overflow: tree.overflowPages,
            entries: tree.entries)
        if leavesLeft <= 0 {
            counted.overflow = recorded.overflow
            counted.entries = recorded.entries
        }
        if counted != recorded {
            addBlemish(tree.root ?? 0, "the counts of \(name ?? "the list of tables") are wrong")
        }
    }

    private mutating func walk(
        _ number: UInt64, _ bounds: Page.Bounds, depth: Int, _ byBytes: Bool,
        _ each: Visit?
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
        // A branch of the free tree may have one child, because LMDB shrinks this tree while it
        // writes it.
        try page.requireSound(
            in: bounds, childrenMin: byBytes ? 2 : 1,
            order: byBytes ? .bytes : .number)
        for index in 0..<page.count {
            guard case .child(let child) = try page.node(index).content else { continue }
            if depth == 2, leavesLeft <= 0 {
                // Do not read this leaf; only check that no other page names it. In a large file
                // most pages are such leaves.
                counted.leaves += 1
                isComplete = false
                try use(child, 1)
                continue
            }
            collectingDamage { check throws(PageDamage) in
                try check.walk(
                    child, try page.bounds(of: index, in: bounds), depth: depth - 1, byBytes, each)
            }
        }
    }

    private mutating func walkLeaf(
        _ page: Page, _ bounds: Page.Bounds, _ byBytes: Bool,
        _ each: Visit?
    ) throws(PageDamage) {
        soundLeavesLeft -= 1
        let hasAllValues =
            soundLeavesLeft >= 0
            ? try page.requireSound(in: bounds, order: byBytes ? .bytes : .number)
            : try page.hasAllValues()
        // Most leaves of a table need no second look.
        if hasAllValues, each == nil {
            counted.entries += UInt64(page.count)
            return
        }
        for index in 0..<page.count {
            let node = try page.node(index)
            counted.entries += 1
            if case .overflow(let first, let bytes) = node.content {
                let pages = try snapshot.overflowPages(first, bytes: bytes)
                _ = try snapshot.bytes(ofPage: first, count: pages)
                counted.overflow += UInt64(pages)
                try use(first, pages)
            }
            try each?(&self, node)
        }
    }

    private mutating func use(_ first: UInt64, _ count: Int) throws(PageDamage) {
        guard first >= 2, first < UInt64(uses.count), count <= uses.count - Int(first) else {
            throw PageDamage(page: first, what: "the file has no page of this number")
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

    /// Marks the pages that one transaction freed. The list is their count, then their numbers in
    /// descending order (midl.h).
    private mutating func walkFree(_ node: Page.Node) throws(PageDamage) {
        let bytes: UnsafeRawBufferPointer
        switch node.content {
        case .value(let value): bytes = value
        case .overflow(let page, let count): bytes = try snapshot.overflow(page, bytes: count)
        case .child, .table: throw PageDamage(page: 0, what: "a list of free pages is malformed")
        }
        let numbers = bytes.count / 8
        guard node.key.count == 8, bytes.count % 8 == 0, numbers >= 1,
            1...snapshot.meta.transaction ~= node.key.loadUnaligned(as: UInt64.self)
        else {
            throw PageDamage(page: 0, what: "a list of free pages is malformed")
        }
        let count = bytes.loadUnaligned(as: UInt64.self)
        guard count <= UInt64(numbers - 1) else {
            throw PageDamage(page: 0, what: "a list of free pages has the count \(count)")
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
}
