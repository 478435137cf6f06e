/// A check of the pages of the last commit that LMDB will read, before LMDB changes a table.
///
/// For the writer's thread only. A page is checked once: later content of the same page was written
/// by LMDB from memory.
final class WriteGuard {
    private var snapshot: CommitSnapshot
    private var trees: [KnownTree] = []
    /// Tables whose last pages were checked. One check is enough, because appended rows go to pages
    /// that LMDB derives from these.
    private var edges: [String] = []
    private var soundPages: Set<UInt64> = []

    private static let soundPagesMax = 1 << 16

    /// A table of the commit before the transaction.
    private struct KnownTree {
        let name: String
        /// Nil if the commit does not have the table.
        let tree: Tree?
        /// A key after all keys of the table, for which the pages were checked. LMDB reads the same
        /// pages for all later keys.
        var checkedEnd: [UInt8]?
    }

    /// The meta page of the last commit: of this environment, or found on opening.
    private var last: Meta

    /// The result of the check of all pages; nil before it.
    private var structure: Result<Void, PageDamage>?

    init(_ snapshot: CommitSnapshot) {
        self.snapshot = snapshot
        last = snapshot.meta
    }

    /// Begins a transaction that follows the commit of `snapshot`.
    ///
    /// - Parameter snapshot: nil if the file does not have the commit that LMDB wrote last.
    /// - Throws: `.writtenByOthers` if this environment did not write that commit. The page numbers
    ///   that this guard and LMDB know are worthless then.
    func begin(_ snapshot: CommitSnapshot?) throws(LMDBError) {
        guard let snapshot, snapshot.meta == last else {
            throw LMDBError(.beginWrite, .writtenByOthers)
        }
        self.snapshot = snapshot
        isChanged = false
        trees.removeAll(keepingCapacity: true)
        if soundPages.count > Self.soundPagesMax { soundPages.removeAll() }
    }

    /// Whether the transaction has changed a row.
    private var isChanged = false

    func noteChange() { isChanged = true }

    /// Notes the commit of the transaction.
    ///
    /// - Parameter snapshot: nil if the file does not have the commit.
    /// - Throws: `.writtenByOthers` if the transaction changed rows and its commit is missing.
    func committed(_ snapshot: CommitSnapshot?) throws(LMDBError) {
        if let snapshot { return last = snapshot.meta }
        guard !isChanged else { throw LMDBError(.verifyCommit, .writtenByOthers) }
    }

    /// Checks that the newest commit of the file is this environment's.
    /// - Throws: `.writtenByOthers`.
    func requireOwn(_ newest: CommitSnapshot?) throws(LMDBError) {
        guard newest?.meta == last else { throw LMDBError(.verifyCommit, .writtenByOthers) }
    }

    /// Checks that no free page is in use. The first change of the environment needs this.
    func requireSoundStructure() throws(PageDamage) { try requireSoundStructure(of: snapshot) }

    /// Checks that no free page of a commit is in use. Only the first call checks.
    ///
    /// After it, only LMDB changes the lists of free pages, from memory.
    func requireSoundStructure(of snapshot: CommitSnapshot) throws(PageDamage) {
        let known = structure ?? StructureCheck(snapshot, .tables(except: [])).result
        structure = known
        try known.get()
    }

    /// Whether the commit before the transaction has the table.
    func isListed(_ table: String) throws(PageDamage) -> Bool {
        try snapshot.tree(named: table) != nil
    }

    /// Checks the pages that LMDB reads when it puts a row at `key`.
    func requirePath(to key: UnsafeRawBufferPointer, in table: String) throws(PageDamage) {
        let place = try place(of: table)
        guard let tree = trees[place].tree else { return }
        if let end = trees[place].checkedEnd, end.isBefore(key) { return }
        let path = try TreePath(in: snapshot, of: tree, to: key)
        try requireValue(try path.node(at: key))
        if !path.isAtEdge || !edges.contains(table) {
            try requireSound(path)
            if path.isAtEdge { edges.append(table) }
        }
        if path.isAtEdge, try path.node() == nil { trees[place].checkedEnd = Array(key) }
    }

    /// Checks the pages that LMDB reads when it appends a row.
    func requireEdge(of table: String) throws(PageDamage) {
        guard !edges.contains(table), let tree = try tree(table) else { return }
        try requireSound(try TreePath(in: snapshot, toLastOf: tree))
        edges.append(table)
    }

    /// Checks the pages that LMDB reads when it deletes the row at `key`. LMDB may merge the row's
    /// page with the previous or the next page.
    func requireNeighbors(of key: UnsafeRawBufferPointer, in table: String) throws(PageDamage) {
        try requirePath(to: key, in: table)
        guard let tree = try tree(table) else { return }
        let path = try TreePath(in: snapshot, of: tree, to: key)
        var bounds = Page.Bounds()
        for (level, step) in path.steps.enumerated().dropLast() {
            let kind = path.steps[level + 1].page.kind
            for index in [step.index - 1, step.index + 1] where 0..<step.page.count ~= index {
                guard case .child(let number) = try step.page.node(index).content else { continue }
                let bounds = try step.page.bounds(of: index, in: bounds)
                let depth = path.steps.count - level - 1
                try requireLeftmost(try snapshot.page(number, kind), bounds, depth: depth)
            }
            bounds = try step.page.bounds(of: step.index, in: bounds)
        }
    }

    /// Checks a neighbor page, and the pages below it that LMDB reads to find its first key (mdb.c,
    /// mdb_page_search_lowest).
    private func requireLeftmost(
        _ page: Page, _ bounds: Page.Bounds, depth: Int
    ) throws(PageDamage) {
        try requireSound(page, bounds)
        guard depth > 1, case .child(let number) = try page.node(0).content else { return }
        try requireLeftmost(
            try snapshot.page(number, depth == 2 ? .leaf : .branch),
            try page.bounds(of: 0, in: bounds), depth: depth - 1)
    }

    private func requireSound(_ path: TreePath) throws(PageDamage) {
        var bounds = Page.Bounds()
        for step in path.steps {
            try requireSound(step.page, bounds)
            if step.page.kind == .branch {
                bounds = try step.page.bounds(of: step.index, in: bounds)
            }
        }
    }

    private func requireValue(_ node: Page.Node?) throws(PageDamage) {
        guard case .overflow(let page, let bytes)? = node?.content else { return }
        // LMDB frees as many pages as the first page's header says. A value has more pages than it
        // needs only if one transaction puts a key twice, and Foldback never does that.
        let pages = try snapshot.overflowPages(page, bytes: bytes)
        guard pages == (Page.headerBytes + bytes - 1) / snapshot.pageSize + 1 else {
            throw PageDamage(page: page, what: "its header has the wrong page count \(pages)")
        }
    }

    private func requireSound(_ page: Page, _ bounds: Page.Bounds) throws(PageDamage) {
        guard !soundPages.contains(page.number) else { return }
        try page.requireSound(in: bounds)
        soundPages.insert(page.number)
    }

    private func tree(_ name: String) throws(PageDamage) -> Tree? {
        trees[try place(of: name)].tree
    }

    /// Returns the table's place in `trees`.
    private func place(of name: String) throws(PageDamage) -> Int {
        if let known = trees.firstIndex(where: { $0.name == name }) { return known }
        trees.append(KnownTree(name: name, tree: try snapshot.tree(named: name)))
        return trees.count - 1
    }
}

extension [UInt8] {
    fileprivate func isBefore(_ key: UnsafeRawBufferPointer) -> Bool {
        withUnsafeBytes { TreePath.compare($0, key) < 0 }
    }
}
