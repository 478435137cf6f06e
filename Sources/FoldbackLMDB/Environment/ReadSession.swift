import CLMDB

/// A snapshot of one table that lives across several calls, from ``Environment/session(_:)`` to
/// ``end()``.
///
/// The writer uses it while it decides, because a closure cannot span these calls. All calls must
/// come from the thread that began the session.
///
/// `@unchecked Sendable`: use on another thread, or after the end, traps before it reads or changes
/// anything.
package final class ReadSession: @unchecked Sendable {
    private let owner = MapGate.thread
    private let read: TableRead
    private let handle: OpaquePointer
    private let gate: MapGate
    /// Accessed only by the owner's thread.
    private var isEnded = false

    fileprivate init(_ read: TableRead, _ handle: OpaquePointer, _ gate: MapGate) {
        self.read = read
        self.handle = handle
        self.gate = gate
    }

    /// The table. Valid until the session ends.
    package var table: TableRead {
        requireOpen()
        return read
    }

    /// Ends the session. Call it exactly once; no read may follow.
    package func end() {
        requireOpen()
        isEnded = true
        mdb_txn_abort(handle)
        gate.leave()
    }

    private func requireOpen() {
        precondition(owner == MapGate.thread, "a read session was used on another thread")
        precondition(!isEnded, "a read session was used after its end")
    }
}

extension Environment {
    /// Begins a read of the last commit. The thread must not write before the session ends: see
    /// ``MapGate``.
    ///
    /// Blocks while the map is being moved.
    /// - Throws: an error of beginning a read. No session is open then.
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
