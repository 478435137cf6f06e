/// One table in an active read. Its root is looked up once.
///
/// Keys are bytes here; the typed functions of ``ReadTransaction`` use this type. Values are valid
/// only until the read ends.
package struct TableRead: Sendable {
    typealias Bytes = UnsafeRawBufferPointer

    private let snapshot: CommitSnapshot
    private let name: String
    /// The table's tree; nil if the table does not exist yet.
    private let tree: Tree?

    init(_ snapshot: CommitSnapshot, _ name: String) throws(LMDBError) {
        self.snapshot = snapshot
        self.name = name
        tree = try snapshot.tree(name, .get)
    }

    /// Returns the value's bytes, which are the file's and are valid until the read ends; nil if
    /// the key is not in the table.
    package func value(
        at key: UnsafeRawBufferPointer
    ) throws(LMDBError) -> UnsafeRawBufferPointer? {
        guard let tree else { return nil }
        do throws(PageDamage) {
            guard let node = try TreePath.node(at: key, in: snapshot, of: tree) else { return nil }
            return try snapshot.value(of: node)
        } catch {
            throw LMDBError(.get, table: name, error)
        }
    }

    /// Calls `body` with each pair from `start` on, in order of key, until `body` returns false.
    package func scan(
        from start: UnsafeRawBufferPointer,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool
    ) throws(LMDBError) {
        try walk(from: start) { path, node throws(PageDamage) in
            body(node.key, try path.value(of: node))
        }
    }

    /// Calls `body` with each pair before `end`, in descending order of key, until `body` returns
    /// false.
    /// - Parameter end: the key to start before; nil starts at the table's last pair.
    package func scanBackwards(
        before end: UnsafeRawBufferPointer?,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool
    ) throws(LMDBError) {
        try walkBackwards(before: end) { path, node throws(PageDamage) in
            body(node.key, try path.value(of: node))
        }
    }

    typealias Visit = (borrowing TreePath, Page.Node) throws(PageDamage) -> Bool

    /// - Parameter start: the first key; nil starts at the table's first pair.
    func walk(from start: Bytes?, _ body: Visit) throws(LMDBError) {
        guard let tree else { return }
        do throws(PageDamage) {
            var path = try TreePath(in: snapshot, of: tree, to: start)
            try path.leaveLeaf()
            while let node = try path.node() {
                guard try body(path, node) else { return }
                try path.advance(from: node)
            }
        } catch {
            throw LMDBError(.scan, table: name, error)
        }
    }

    func walkBackwards(before end: Bytes?, _ body: Visit) throws(LMDBError) {
        guard let tree else { return }
        do throws(PageDamage) {
            var path =
                if let end { try TreePath(in: snapshot, of: tree, to: end) } else {
                    try TreePath(in: snapshot, behindLastOf: tree)
                }
            while try path.retreat(), let node = try path.node() {
                guard try body(path, node) else { return }
            }
        } catch {
            throw LMDBError(.scan, table: name, error)
        }
    }
}

// MARK: Typed keys

extension CommitSnapshot {
    func get<Key, R>(
        _ table: Table<Key>, _ key: Key, _ body: (RawSpan) -> R
    ) throws(LMDBError) -> R? {
        let read = try TableRead(self, table.name)
        return try key.withKeyBytes { key throws(LMDBError) -> R? in
            try read.value(at: key).map { body($0.bytes) }
        }
    }

    /// Calls `body` with each pair from `start` on, in order of key, until `body` returns false.
    func scan<Key>(
        _ table: Table<Key>, from start: Key?, _ body: (Key, RawSpan) -> Bool
    ) throws(LMDBError) {
        let read = try TableRead(self, table.name)
        func visit(_ path: borrowing TreePath, _ node: Page.Node) throws(PageDamage) -> Bool {
            body(try path.key(of: node), try path.value(of: node).bytes)
        }
        guard let start else { return try read.walk(from: nil, visit) }
        try start.withKeyBytes { start throws(LMDBError) in try read.walk(from: start, visit) }
    }

    func lastKey<Key>(of table: Table<Key>) throws(LMDBError) -> Key? {
        var last: Key?
        try TableRead(self, table.name).walkBackwards(before: nil) {
            path, node throws(PageDamage) in
            last = try path.key(of: node)
            return false
        }
        return last
    }

    func count<Key>(of table: Table<Key>) throws(LMDBError) -> Int {
        Int(clamping: try tree(table.name, .inspect)?.entries ?? 0)
    }

    func tree(_ name: String, _ operation: LMDBError.Operation) throws(LMDBError) -> Tree? {
        do throws(PageDamage) { return try tree(named: name) } catch {
            throw LMDBError(operation, table: name, error)
        }
    }
}

extension TreePath {
    fileprivate func key<Key: TableKey>(of node: Page.Node) throws(PageDamage) -> Key {
        guard let key = Key(keyBytes: node.key) else {
            throw damage("a key of \(node.key.count) bytes is not valid in this table")
        }
        return key
    }
}

extension ReadTransaction {
    /// Returns the table in this read. Use it only inside the closure of the read.
    package func opened<Key>(_ table: Table<Key>) throws(LMDBError) -> TableRead {
        try TableRead(snapshot, table.name)
    }
}
