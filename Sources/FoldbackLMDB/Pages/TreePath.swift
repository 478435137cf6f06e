#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// A position in a tree: the pages from the root to a leaf, and an index in each. It moves in order
/// of key.
struct TreePath {
    private static let depthMax = 32

    private let snapshot: CommitSnapshot
    /// The pages from the root to the leaf. The index names a child of a branch, or a node of the
    /// leaf.
    private(set) var steps: [(page: Page, index: Int)] = []

    typealias Key = UnsafeRawBufferPointer

    /// The position of the first key that is not before `key`, in the leaf where `key` is or would
    /// be put; with nil, the position of the tree's first key.
    ///
    /// If all keys of that leaf are before `key`, the position is after the leaf's last node.
    init(in snapshot: CommitSnapshot, of tree: Tree, to key: Key?) throws(PageDamage) {
        self.snapshot = snapshot
        guard let root = tree.root else { return }
        guard 1...Self.depthMax ~= tree.depth else {
            throw PageDamage(page: root, what: "its tree has an invalid depth of \(tree.depth)")
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

    /// The position of the tree's last node.
    init(in snapshot: CommitSnapshot, toLastOf tree: Tree) throws(PageDamage) {
        self.snapshot = snapshot
        guard let root = tree.root else { return }
        guard 1...Self.depthMax ~= tree.depth else {
            throw PageDamage(page: root, what: "its tree has an invalid depth of \(tree.depth)")
        }
        var number = root
        for level in 1...tree.depth {
            let page = try snapshot.page(number, level == tree.depth ? .leaf : .branch)
            steps.append((page, page.count - 1))
            if level < tree.depth { number = try child() }
        }
    }

    /// The position after the tree's last node, for ``retreat()``.
    init(in snapshot: CommitSnapshot, afterLastOf tree: Tree) throws(PageDamage) {
        try self.init(in: snapshot, toLastOf: tree)
        if !steps.isEmpty { steps[steps.count - 1].index += 1 }
    }

    /// Whether the leaf is the last leaf of the tree.
    var isAtEdge: Bool {
        steps.dropLast().allSatisfy { $0.index == $0.page.count - 1 }
    }

    /// Returns the node at this position; nil after the last node of the leaf.
    func node() throws(PageDamage) -> Page.Node? {
        guard let leaf = steps.last, leaf.index < leaf.page.count else { return nil }
        return try leaf.page.node(leaf.index)
    }

    /// Moves from the position after a leaf's last node to the first node of the next leaf.
    mutating func leaveLeaf() throws(PageDamage) {
        guard let leaf = steps.last, leaf.index == leaf.page.count else { return }
        try advanceLeaf()
    }

    /// Returns the node at this position if its key is `key`, else nil.
    func node(at key: Key) throws(PageDamage) -> Page.Node? {
        guard let node = try node(), Self.compare(node.key, key) == 0 else { return nil }
        return node
    }

    /// Returns a damage of the leaf at this position.
    func damage(_ what: String) -> PageDamage {
        PageDamage(page: steps.last?.page.number ?? 0, what: what)
    }

    /// Returns the node's value, as bytes of the map.
    func value(of node: Page.Node) throws(PageDamage) -> UnsafeRawBufferPointer {
        try snapshot.value(of: node)
    }

    /// Moves to the next node. Keys must rise, so a damaged tree cannot make a scan endless.
    mutating func advance() throws(PageDamage) {
        guard let last = try node() else { return }
        try advance(from: last)
    }

    /// - Parameter last: the node at this position.
    mutating func advance(from last: Page.Node) throws(PageDamage) {
        steps[steps.count - 1].index += 1
        try leaveLeaf()
        guard let leaf = steps.last, leaf.index < leaf.page.count else { return }
        guard Self.compare(last.key, try leaf.page.key(leaf.index).key) < 0 else {
            throw steps[steps.count - 1].page.damage("its keys do not rise")
        }
    }

    /// Moves to the first node of the next leaf. After the last leaf, the path is empty.
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

    /// Moves to the previous node; false if there is none. Keys must fall, so that a scan ends.
    mutating func retreat() throws(PageDamage) -> Bool {
        let next = try node()?.key
        let depth = steps.count
        while let step = steps.last, step.index == 0 { steps.removeLast() }
        guard !steps.isEmpty else { return false }
        steps[steps.count - 1].index -= 1
        while steps.count < depth {
            let kind: Page.Kind = steps.count == depth - 1 ? .leaf : .branch
            let page = try snapshot.page(try child(), kind)
            guard page.count > 0 else { throw page.damage("it has no nodes") }
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
            throw page.damage("it is a branch without children")
        }
        return number
    }

    /// Returns the node at `key`; nil if there is none. Keeps no path, so it allocates nothing.
    static func node(
        at key: Key, in snapshot: CommitSnapshot, of tree: Tree
    ) throws(PageDamage) -> Page.Node? {
        guard var number = tree.root else { return nil }
        guard 1...depthMax ~= tree.depth else {
            throw PageDamage(page: number, what: "its tree has an invalid depth of \(tree.depth)")
        }
        for _ in 1..<tree.depth {
            let page = try snapshot.page(number, .branch)
            guard case .child(let child) = try page.node(try place(of: key, in: page)).content
            else { throw page.damage("it is a branch without children") }
            number = child
        }
        let leaf = try snapshot.page(number, .leaf)
        let index = try place(of: key, in: leaf)
        guard index < leaf.count else { return nil }
        let node = try leaf.node(index)
        return compare(node.key, key) == 0 ? node : nil
    }

    /// Returns an index in the page: in a leaf, the first node that is not before `key`; in a
    /// branch, the last child whose first key is not after `key`. A branch's first child has no
    /// key.
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

    /// Compares keys in LMDB's default order: by bytes, a prefix before a longer key. Negative if
    /// `a` is before `b`, 0 if they are equal.
    static func compare(_ a: Key, _ b: Key) -> Int {
        let count = min(a.count, b.count)
        if count > 0, let a = a.baseAddress, let b = b.baseAddress {
            let order = memcmp(a, b, count)
            if order != 0 { return Int(order) }
        }
        return a.count - b.count
    }
}
