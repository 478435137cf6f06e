import Synchronization

/// A share of a directory that nobody writes, held while somebody reads and not between: looking at a log for long
/// keeps no store from opening it.
final class SharedReadLock: Sendable {
    private let lock: WriterLock
    private let readers = Mutex(0)

    init(in directory: String) throws(LMDBError) { lock = try .unheld(in: directory) }

    /// To be followed by ``leave()``; false if a writer has the directory.
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
