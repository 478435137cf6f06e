import CLMDB

/// A snapshot that is held from one call to a later one, where a closure would not do: by the writer
/// while it decides. On one thread, from ``Environment/session()`` to ``end()``.
///
/// `@unchecked Sendable`: handed from hand to hand on that thread only.
package final class ReadSession: @unchecked Sendable {
    private let handle: OpaquePointer
    private let snapshot: Snapshot
    private let gate: MapGate
    /// Of the table that was asked for last, which is mostly the same one.
    private var known: (name: String, tree: Tree?)?

    init(_ handle: OpaquePointer, _ snapshot: Snapshot, _ gate: MapGate) {
        self.handle = handle
        self.snapshot = snapshot
        self.gate = gate
    }

    /// To be called once; nothing is read afterwards.
    package func end() {
        mdb_txn_abort(handle)
        gate.leave()
    }

    /// Calls `body` with the value's bytes, which it must not keep; nil if the key is not there.
    package func get<Key, R>(
        _ table: Table<Key>, _ key: Key, _ body: (RawSpan) -> R
    ) throws(LMDBError) -> R? {
        guard let tree = try tree(of: table.name) else { return nil }
        return try snapshot.get(table, tree, key, body)
    }

    private func tree(of name: String) throws(LMDBError) -> Tree? {
        if let known, known.name == name { return known.tree }
        let tree = try snapshot.tree(name, .get)
        known = (name, tree)
        return tree
    }

    /// Calls `body` with each pair from `start` on, in order of key, until it answers false. The
    /// bytes must not be kept.
    package func scan<Key>(
        _ table: Table<Key>, from start: Key?, _ body: (Key, RawSpan) -> Bool
    ) throws(LMDBError) {
        try snapshot.scan(table, from: start, body)
    }
}

extension Environment {
    /// Begins reading the last commit. Whoever holds it must not write: see ``MapGate``.
    package func session() throws(LMDBError) -> ReadSession {
        try begunReading { transaction, snapshot in ReadSession(transaction, snapshot, gate) }
    }
}

extension Snapshot {
    func get<Key, R>(
        _ table: Table<Key>, _ key: Key, _ body: (RawSpan) -> R
    ) throws(LMDBError) -> R? {
        guard let tree = try tree(table.name, .get) else { return nil }
        return try get(table, tree, key, body)
    }

    fileprivate func get<Key, R>(
        _ table: Table<Key>, _ tree: Tree, _ key: Key, _ body: (RawSpan) -> R
    ) throws(LMDBError) -> R? {
        do throws(PageDamage) {
            return try key.withKeyBytes { key throws(PageDamage) -> R? in
                guard let node = try TreePath.node(at: key, in: self, of: tree) else { return nil }
                return body(try value(of: node).bytes)
            }
        } catch {
            throw LMDBError(.get, table: table.name, error)
        }
    }

    /// Calls `body` with each pair from `start` on, in order of key, until it answers false.
    func scan<Key>(
        _ table: Table<Key>, from start: Key?, _ body: (Key, RawSpan) -> Bool
    ) throws(LMDBError) {
        guard let tree = try tree(table.name, .scan) else { return }
        do throws(PageDamage) {
            var path = try self.path(in: tree, to: start)
            try path.leaveLeaf()
            while let node = try path.node() {
                guard body(try path.key(of: node), try path.value(of: node).bytes) else { return }
                try path.advance()
            }
        } catch {
            throw LMDBError(.scan, table: table.name, error)
        }
    }

    /// The same backwards: the pairs before `end`, the last one first; nil: from the last of all.
    func scanBackwards<Key>(
        _ table: Table<Key>, before end: Key?, _ body: (Key, RawSpan) -> Bool
    ) throws(LMDBError) {
        guard let tree = try tree(table.name, .scan) else { return }
        do throws(PageDamage) {
            var path =
                if let end { try self.path(in: tree, to: end) } else {
                    try TreePath(in: self, behindLastOf: tree)
                }
            while try path.retreat(), let node = try path.node() {
                guard body(try path.key(of: node), try path.value(of: node).bytes) else { return }
            }
        } catch {
            throw LMDBError(.scan, table: table.name, error)
        }
    }

    func lastKey<Key>(of table: Table<Key>) throws(LMDBError) -> Key? {
        var last: Key?
        try scanBackwards(table, before: nil) { key, _ in
            last = key
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

    private func path<Key: TableKey>(
        in tree: Tree, to start: Key?
    ) throws(PageDamage) -> TreePath {
        guard let start else { return try TreePath(in: self, of: tree, to: nil) }
        return try start.withKeyBytes { start throws(PageDamage) in
            try TreePath(in: self, of: tree, to: start)
        }
    }
}

extension TreePath {
    func key<Key: TableKey>(of node: Page.Node) throws(PageDamage) -> Key {
        guard let key = Key(keyBytes: node.key) else {
            throw damage("a key of \(node.key.count) bytes is none of the table's")
        }
        return key
    }
}

/// One table in a read that is going on, its root looked up once: for values that stand only while the
/// read's closure runs. Without types, for it is what all reading of rows goes through.
package struct TableRead: Sendable {
    private let snapshot: Snapshot
    private let name: String
    private let tree: Tree?

    fileprivate init(_ snapshot: Snapshot, _ name: String) throws(LMDBError) {
        self.snapshot = snapshot
        self.name = name
        tree = try snapshot.tree(name, .get)
    }

    /// The value's bytes, which are the file's and stand while the read does; nil if the key is not there.
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

    /// Calls `body` with each pair from `start` on, in order of key, until it answers false.
    package func scan(
        from start: UnsafeRawBufferPointer,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool
    ) throws(LMDBError) {
        guard let tree else { return }
        do throws(PageDamage) {
            var path = try TreePath(in: snapshot, of: tree, to: start)
            try path.leaveLeaf()
            while let node = try path.node() {
                guard body(node.key, try snapshot.value(of: node)) else { return }
                try path.advance(from: node)
            }
        } catch {
            throw LMDBError(.scan, table: name, error)
        }
    }

    /// The same backwards: the pairs before `end`, the last one first; nil: from the last of all.
    package func scanBackwards(
        before end: UnsafeRawBufferPointer?,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool
    ) throws(LMDBError) {
        guard let tree else { return }
        do throws(PageDamage) {
            var path =
                if let end { try TreePath(in: snapshot, of: tree, to: end) } else {
                    try TreePath(in: snapshot, behindLastOf: tree)
                }
            while try path.retreat(), let node = try path.node() {
                guard body(node.key, try snapshot.value(of: node)) else { return }
            }
        } catch {
            throw LMDBError(.scan, table: name, error)
        }
    }
}

extension ReadTransaction {
    /// The table in this read, to be used inside the closure that has the read, and not kept.
    package func opened<Key>(_ table: Table<Key>) throws(LMDBError) -> TableRead {
        try TableRead(snapshot, table.name)
    }
}
