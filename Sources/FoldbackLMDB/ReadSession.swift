import CLMDB

/// A snapshot of one table that is held from one call to a later one, where a closure would not do: by the
/// writer while it decides. On one thread, from ``Environment/session(_:)`` to ``end()``.
///
/// `@unchecked Sendable`: handed from hand to hand on that thread only. ``MapGate`` knows its readers by
/// thread and traps where another one ends it.
package final class ReadSession: @unchecked Sendable {
    package let table: TableRead
    private let handle: OpaquePointer
    private let gate: MapGate

    fileprivate init(_ table: TableRead, _ handle: OpaquePointer, _ gate: MapGate) {
        self.table = table
        self.handle = handle
        self.gate = gate
    }

    /// To be called once; nothing is read afterwards.
    package func end() {
        mdb_txn_abort(handle)
        gate.leave()
    }
}

extension Environment {
    /// Begins reading the last commit. Whoever holds it must not write: see ``MapGate``.
    package func session<Key>(_ table: Table<Key>) throws(LMDBError) -> ReadSession {
        let (transaction, snapshot) = try begunReading()
        do throws(LMDBError) {
            return ReadSession(try TableRead(snapshot, table.name), transaction, gate)
        } catch {
            mdb_txn_abort(transaction)
            gate.leave()
            throw error
        }
    }
}
