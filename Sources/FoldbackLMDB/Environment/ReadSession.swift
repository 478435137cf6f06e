import CLMDB

/// A snapshot of a commit that lives across several calls, from ``Environment/session()`` to
/// ``end()``.
///
/// The writer uses it while it decides, because a closure cannot span these calls. All calls must
/// come from the thread that began the session.
///
/// `@unchecked Sendable`: use on another thread, or after the end, traps before it reads or changes
/// anything.
package final class ReadSession: @unchecked Sendable {
    private let owner = MapGate.thread
    private let commit: CommitSnapshot
    private let handle: OpaquePointer
    private let gate: MapGate
    /// Accessed only by the owner's thread.
    private var isEnded = false

    fileprivate init(_ commit: CommitSnapshot, _ handle: OpaquePointer, _ gate: MapGate) {
        self.commit = commit
        self.handle = handle
        self.gate = gate
    }

    /// The commit. Valid until the session ends.
    package var snapshot: CommitSnapshot {
        requireOpen()
        return commit
    }

    /// Ends the session. Call it exactly once; no read may follow.
    package func end() {
        requireOpen()
        isEnded = true
        mdb_txn_abort(handle)
        gate.leave()
    }

    /// Traps on another thread, and after the session has ended.
    package func requireOpen() {
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
    package func session() throws(LMDBError) -> ReadSession {
        let (transaction, snapshot) = try begunReading()
        return ReadSession(snapshot, transaction, gate)
    }
}
