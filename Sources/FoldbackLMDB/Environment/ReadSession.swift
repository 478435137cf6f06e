import CLMDB

/// A snapshot of one table that is held from one call to a later one, where a closure would not do: by the
/// writer while it decides. On one thread, from ``Environment/session(_:)`` to ``end()``.
///
/// `@unchecked Sendable`: handed from hand to hand on that thread only. Whatever is done with it on another
/// one, or behind its end, traps before it reads or changes anything here.
package final class ReadSession: @unchecked Sendable {
    private let owner = MapGate.thread
    private let read: TableRead
    private let handle: OpaquePointer
    private let gate: MapGate
    /// Of the owner's thread alone.
    private var isEnded = false

    fileprivate init(_ read: TableRead, _ handle: OpaquePointer, _ gate: MapGate) {
        self.read = read
        self.handle = handle
        self.gate = gate
    }

    /// Stands until the session ends.
    package var table: TableRead {
        requireOpen()
        return read
    }

    /// To be called once; nothing is read afterwards.
    package func end() {
        requireOpen()
        isEnded = true
        mdb_txn_abort(handle)
        gate.leave()
    }

    private func requireOpen() {
        precondition(owner == MapGate.thread, "a read session is of the thread that began it")
        precondition(!isEnded, "a read session has ended once")
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
