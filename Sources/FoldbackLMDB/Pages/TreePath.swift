#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// The way from a tree's root to a place in one of its leaves, and on from there in order of key.
struct TreePath {
    private static let depthMax = 32

    private let snapshot: CommitSnapshot
    /// From the root down; the index of the child, or in the leaf of the node.
    private(set) var steps: [(page: Page, index: Int)] = []

    typealias Key = UnsafeRawBufferPointer

    /// To the leaf where `key` is or would be put, and in it to the first key that is not before `key`;
    /// nil: to the first of all.
    init(in snapshot: CommitSnapshot, of tree: Tree, to key: Key?) throws(PageDamage) {
        self.snapshot = snapshot
        guard let root = tree.root else { return }
        guard 1...Self.depthMax ~= tree.depth else {
            throw PageDamage(page: root, what: "its tree is said to be \(tree.depth) levels deep")
        }
        steps.reserveCapacity(tree.depth)
        var number = root
        for level in 1...tree.depth {
            let page = try snapshot.page(number, level == tree.depth ? .leaf : .branch)
            let index = try key.map { key throws(PageDamage) in try Self.place(of: key, in: page) }
            steps.append((page, index ?? 0))
            if level < tree.depth { number = try child() }
        }
    }

    /// To the last leaf of all.
    init(in snapshot: CommitSnapshot, toLastOf tree: Tree) throws(PageDamage) {
        self.snapshot = snapshot
        guard let root = tree.root else { return }
        guard 1...Self.depthMax ~= tree.depth else {
            throw PageDamage(page: root, what: "its tree is said to be \(tree.depth) levels deep")
        }
        var number = root
        for level in 1...tree.depth {
            let page = try snapshot.page(number, level == tree.depth ? .leaf : .branch)
            steps.append((page, page.count - 1))
            if level < tree.depth { number = try child() }
        }
    }

    /// Behind the last node of all, for ``retreat()``.
    init(in snapshot: CommitSnapshot, behindLastOf tree: Tree) throws(PageDamage) {
        try self.init(in: snapshot, toLastOf: tree)
        if !steps.isEmpty { steps[steps.count - 1].index += 1 }
    }

    /// Whether its leaf is the last of the tree.
    var isAtEdge: Bool {
        steps.dropLast().allSatisfy { $0.index == $0.page.count - 1 }
    }

    /// The node that the path leads to; nil behind the last of its leaf.
    func node() throws(PageDamage) -> Page.Node? {
        guard let leaf = steps.last, leaf.index < leaf.page.count else { return nil }
        return try leaf.page.node(leaf.index)
    }

    /// From behind a leaf's last node to the first of the next.
    mutating func leaveLeaf() throws(PageDamage) {
        guard let leaf = steps.last, leaf.index == leaf.page.count else { return }
        try advanceLeaf()
    }

    /// The same, if it has that key.
    func node(at key: Key) throws(PageDamage) -> Page.Node? {
        guard let node = try node(), Self.compare(node.key, key) == 0 else { return nil }
        return node
    }

    /// Of the leaf that the path leads to.
    func damage(_ what: String) -> PageDamage {
        PageDamage(page: steps.last?.page.number ?? 0, what: what)
    }

    /// The node's value; bytes of the file.
    func value(of node: Page.Node) throws(PageDamage) -> UnsafeRawBufferPointer {
        try snapshot.value(of: node)
    }

    /// On to the next node; keys have to rise, so this comes to an end.
    mutating func advance() throws(PageDamage) {
        guard let last = try node() else { return }
        try advance(from: last)
    }

    /// - Parameter last: the node that the path leads to.
    mutating func advance(from last: Page.Node) throws(PageDamage) {
        steps[steps.count - 1].index += 1
        try leaveLeaf()
        guard let leaf = steps.last, leaf.index < leaf.page.count else { return }
        guard Self.compare(last.key, try leaf.page.key(leaf.index).key) < 0 else {
            throw steps[steps.count - 1].page.damage("its keys do not rise")
        }
    }

    /// To the first node of the next leaf, or behind the last.
    private mutating func advanceLeaf() throws(PageDamage) {
        let depth = steps.count
        steps.removeLast()
        while let step = steps.last, step.index + 1 == step.page.count { steps.removeLast() }
        guard !steps.isEmpty else { return }
        steps[steps.count - 1].index += 1
        while steps.count < depth {
            let kind: Page.Kind = steps.count == depth - 1 ? .leaf : .branch
            steps.append((try snapshot.page(try child(), kind), 0))
        }
    }

    /// Back to the node before; false where there is none. Keys have to fall.
    mutating func retreat() throws(PageDamage) -> Bool {
        let next = try node()?.key
        let depth = steps.count
        while let step = steps.last, step.index == 0 { steps.removeLast() }
        guard !steps.isEmpty else { return false }
        steps[steps.count - 1].index -= 1
        while steps.count < depth {
            let kind: Page.Kind = steps.count == depth - 1 ? .leaf : .branch
            let page = try snapshot.page(try child(), kind)
            guard page.count > 0 else { throw page.damage("it is empty") }
            steps.append((page, page.count - 1))
        }
        guard let next, let found = try node()?.key else { return true }
        guard Self.compare(found, next) < 0 else {
            throw steps[steps.count - 1].page.damage("its keys do not rise")
        }
        return true
    }

    private func child() throws(PageDamage) -> UInt64 {
        let (page, index) = steps[steps.count - 1]
        guard case .child(let number) = try page.node(index).content else {
            throw page.damage("it has no children")
        }
        return number
    }

    /// The node at `key`, if there is one: the same way without keeping it, so that nothing is allocated.
    static func node(
        at key: Key, in snapshot: CommitSnapshot, of tree: Tree
    ) throws(PageDamage) -> Page.Node? {
        guard var number = tree.root else { return nil }
        guard 1...depthMax ~= tree.depth else {
            throw PageDamage(page: number, what: "its tree is said to be \(tree.depth) levels deep")
        }
        for _ in 1..<tree.depth {
            let page = try snapshot.page(number, .branch)
            guard case .child(let child) = try page.node(try place(of: key, in: page)).content
            else { throw page.damage("it has no children") }
            number = child
        }
        let leaf = try snapshot.page(number, .leaf)
        let index = try place(of: key, in: leaf)
        guard index < leaf.count else { return nil }
        let node = try leaf.node(index)
        return compare(node.key, key) == 0 ? node : nil
    }

    /// In a leaf: the first node not before `key`. In a branch: the last child whose keys begin at or
    /// before it; the first has no key of its own.
    private static func place(of key: Key, in page: Page) throws(PageDamage) -> Int {
        var low = page.kind == .branch ? 1 : 0
        var high = page.count
        while low < high {
            let middle = (low + high) / 2
            let order = compare(try page.key(middle).key, key)
            let isBefore = page.kind == .branch ? order <= 0 : order < 0
            if isBefore { low = middle + 1 } else { high = middle }
        }
        return page.kind == .branch ? low - 1 : low
    }

    /// LMDB's default order: by bytes, a prefix before what it begins.
    static func compare(_ a: Key, _ b: Key) -> Int {
        let count = min(a.count, b.count)
        if count > 0, let a = a.baseAddress, let b = b.baseAddress {
            let order = memcmp(a, b, count)
            if order != 0 { return Int(order) }
        }
        return a.count - b.count
    }
}
