import Synchronization

/// A shared lock on a directory without a writer, held only during reads.
///
/// Between reads the lock is free. So a process that inspects a log for a long time does not keep a
/// store from opening it.
final class SharedReadLock: Sendable {
    private let lock: WriterLock
    private let readers = Mutex(0)

    init(in directory: String) throws(LMDBError) { lock = try .unheld(in: directory) }

    /// Takes a share. Returns true, and the caller must call ``leave()`` later; or returns false if
    /// a writer has the directory.
    func enter() throws(LMDBError) -> Bool {
        try readers.withLock { count throws(LMDBError) in
            if count == 0 { guard try lock.share() else { return false } }
            count += 1
            return true
        }
    }

    func leave() {
        readers.withLock { count in
            count -= 1
            if count == 0 { lock.giveBack() }
        }
    }
}
