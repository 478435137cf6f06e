import CLMDB

/// A snapshot of a commit that is held from one call to a later one, where a closure would not do: by the
/// writer while it decides. On one thread, from ``Environment/session()`` to ``end()``.
///
/// `@unchecked Sendable`: handed from hand to hand on that thread only. Whatever is done with it on another
/// one, or behind its end, traps before it reads or changes anything here.
package final class ReadSession: @unchecked Sendable {
    private let owner = MapGate.thread
    private let commit: CommitSnapshot
    private let handle: OpaquePointer
    private let gate: MapGate
    /// Of the owner's thread alone.
    private var isEnded = false

    fileprivate init(_ commit: CommitSnapshot, _ handle: OpaquePointer, _ gate: MapGate) {
        self.commit = commit
        self.handle = handle
        self.gate = gate
    }

    /// Stands until the session ends.
    package var snapshot: CommitSnapshot {
        requireOpen()
        return commit
    }

    /// To be called once; nothing is read afterwards.
    package func end() {
        requireOpen()
        isEnded = true
        mdb_txn_abort(handle)
        gate.leave()
    }

    /// Traps on another thread, and once the session has ended.
    package func requireOpen() {
        precondition(owner == MapGate.thread, "a read session is of the thread that began it")
        precondition(!isEnded, "a read session has ended once")
    }
}

extension Environment {
    /// Begins reading the last commit. Whoever holds it must not write: see ``MapGate``.
    package func session() throws(LMDBError) -> ReadSession {
        let (transaction, snapshot) = try begunReading()
        return ReadSession(snapshot, transaction, gate)
    }
}
