/// One table in an active read. Its root is looked up once.
///
/// Keys are bytes here; the typed functions of ``ReadTransaction`` use this type. Values are valid
/// only until the read ends.
package struct TableRead: Sendable {
    typealias Bytes = UnsafeRawBufferPointer

    private let snapshot: CommitSnapshot
    private let name: String
    /// The length of each key; nil if keys may have any length.
    private let keyBytes: Int?
    /// The table's tree; nil if the table does not exist yet.
    private let tree: Tree?

    init(_ snapshot: CommitSnapshot, _ name: String, keyBytes: Int? = nil) throws(LMDBError) {
        self.snapshot = snapshot
        self.name = name
        self.keyBytes = keyBytes
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
            body(try key(of: node, path), try path.value(of: node))
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
            body(try key(of: node, path), try path.value(of: node))
        }
    }

    /// What `body` makes of the last key, without reading its value; nil if the table is empty.
    package func lastKey<R>(
        _ body: (UnsafeRawBufferPointer) -> R
    ) throws(LMDBError) -> R? {
        var last: R?
        try walkBackwards(before: nil) { path, node throws(PageDamage) in
            last = body(try key(of: node, path))
            return false
        }
        return last
    }

    private func key(
        of node: Page.Node, _ path: borrowing TreePath
    ) throws(PageDamage) -> UnsafeRawBufferPointer {
        guard node.key.count == keyBytes ?? node.key.count else { throw path.wrongKey(node) }
        return node.key
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
                    try TreePath(in: snapshot, afterLastOf: tree)
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

    package func count<Key>(of table: Table<Key>) throws(LMDBError) -> Int {
        Int(clamping: try tree(table.name, .inspect)?.entries ?? 0)
    }

    /// The table in this read, to be used while the read goes on.
    ///
    /// - Parameter keyBytes: the length of each key; another length is damage. Nil if keys may have
    ///   any length.
    package func opened<Key>(
        _ table: Table<Key>, keyBytes: Int? = nil
    ) throws(LMDBError) -> TableRead {
        try TableRead(self, table.name, keyBytes: keyBytes)
    }

    func tree(_ name: String, _ operation: LMDBError.Operation) throws(LMDBError) -> Tree? {
        do throws(PageDamage) { return try tree(named: name) } catch {
            throw LMDBError(operation, table: name, error)
        }
    }
}

extension TreePath {
    fileprivate func key<Key: TableKey>(of node: Page.Node) throws(PageDamage) -> Key {
        guard let key = Key(keyBytes: node.key) else { throw wrongKey(node) }
        return key
    }

    fileprivate func wrongKey(_ node: Page.Node) -> PageDamage {
        damage("a key of \(node.key.count) bytes is not valid in this table")
    }
}
