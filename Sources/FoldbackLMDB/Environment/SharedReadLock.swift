import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// Shared locks on a directory without a writer and on its data file, held only during reads.
///
/// Between reads the locks are free. So a process that inspects a log for a long time does not keep
/// a store from opening it.
final class SharedReadLock: Sendable {
    private let directory: FileLock
    private let file: FileLock
    private let readers = Mutex(0)
    /// The longest time that the system is given to end a killed process.
    private static let waitMaxMilliseconds = 100

    init(in directory: String, _ file: DataFile) throws(LMDBError) {
        self.directory = try WriterLock.directoryLock(directory)
        self.file = file.lock
    }

    /// Takes a share. Returns true, and the caller must call ``leave()`` later; or returns false if
    /// a writer has the directory.
    /// - Throws: `.openInProcess` if a writer has the file through another directory; `.system`.
    func enter() throws(LMDBError) -> Bool {
        try readers.withLock { count throws(LMDBError) in
            if count == 0 { guard try shareAll() else { return false } }
            count += 1
            return true
        }
    }

    func leave() {
        readers.withLock { count in
            count -= 1
            if count == 0 { giveBackAll() }
        }
    }

    private func shareAll() throws(LMDBError) -> Bool {
        do throws(LMDBError) {
            guard try directory.share() else { return false }
            // A writer holds the directory before the file, and gives it back after the file. So a
            // writer of the file alone is in another directory, with another lock file. Or it was
            // killed, and the system has given back the lock of the directory first.
            for _ in 0..<Self.waitMaxMilliseconds {
                if try file.share() { return true }
                usleep(1_000)
            }
            throw LMDBError(.lockDirectory, .openInProcess(pid: nil))
        } catch {
            giveBackAll()
            throw error
        }
    }

    private func giveBackAll() {
        file.giveBack()
        directory.giveBack()
    }
}
