import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// A lock on the directory that excludes other processes: one store for each directory (L8).
///
/// It is an flock(2) on the directory itself. The directory always exists, so a log that was copied
/// as its data file alone can be shared without creating a file. ``OpenDirectories`` does the same
/// within this process, by device and inode. LMDB's files are not locked: closing any descriptor of
/// lock.mdb would drop LMDB's own locks (lmdb.h, caveats).
///
/// A writer holds the directory exclusively. A process that reads a log without a writer takes a
/// share during each read (``SharedReadLock``), so that no writer overwrites the pages that it
/// reads. If a writer finds only such readers, it waits for them up to
/// ``readersWaitMaxMilliseconds`` (L9).
final class WriterLock: Sendable {
    /// The file with the holder's process id, for messages. It is not locked.
    static let holderFileName = "writer.pid"
    /// The longest time that an opening writer waits for readers of the closed log.
    static let readersWaitMaxMilliseconds = 2_000

    private let descriptor: Int32
    private let directory: String
    private let generation = ForkCount.generation

    private init(directory: String) throws(LMDBError) {
        descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        self.directory = directory
        guard descriptor >= 0 else { throw LMDBError(.lockDirectory, .system(errno: errno)) }
    }

    // The parent unlocks explicitly, because closing alone keeps the lock while a forked child has
    // the descriptor. The child must not unlock: the lock is the parent's.
    deinit {
        if generation == ForkCount.generation { flock(descriptor, LOCK_UN) }
        close(descriptor)
    }

    /// Takes the directory exclusively. Blocks while only readers hold it, up to
    /// ``readersWaitMaxMilliseconds``.
    /// - Throws: `.openInProcess`, `.beingRead`, `.system`. No lock is held then.
    static func exclusive(in directory: String) throws(LMDBError) -> WriterLock {
        let lock = try WriterLock(directory: directory)
        var waited = 0
        while try !lock.take(LOCK_EX) {
            // If a share is possible, only readers hold the lock.
            guard try lock.take(LOCK_SH) else {
                throw LMDBError(.lockDirectory, .openInProcess(pid: lock.holder))
            }
            lock.giveBack()
            guard waited < readersWaitMaxMilliseconds else {
                throw LMDBError(.lockDirectory, .beingRead)
            }
            usleep(10_000)
            waited += 10
        }
        lock.writeHolder()
        return lock
    }

    /// Returns a lock that is not taken yet, for a ``SharedReadLock``.
    static func unheld(in directory: String) throws(LMDBError) -> WriterLock {
        try WriterLock(directory: directory)
    }

    /// Takes a share and returns true; returns false if a writer has the directory.
    func share() throws(LMDBError) -> Bool { try take(LOCK_SH) }

    func giveBack() { flock(descriptor, LOCK_UN) }

    /// Takes the lock and returns true; returns false if another process has a conflicting lock.
    /// Never waits.
    private func take(_ mode: Int32) throws(LMDBError) -> Bool {
        while flock(descriptor, mode | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            guard errno == EINTR else { throw LMDBError(.lockDirectory, .system(errno: errno)) }
        }
        return true
    }

    private var holder: Int32? {
        let file = open("\(directory)/\(Self.holderFileName)", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = read(file, &bytes, bytes.count)
        guard count > 0 else { return nil }
        return Int32(String(decoding: bytes[..<count], as: UTF8.self).filter(\.isNumber))
    }

    /// Writes this process's id to the holder file. Failures are ignored, because only messages use
    /// it.
    private func writeHolder() {
        let path = "\(directory)/\(Self.holderFileName)"
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        let text = Array("\(getpid())\n".utf8)
        _ = write(file, text, text.count)
    }
}

/// The directories that this process has open, by device and inode (L8).
struct OpenDirectories {
    struct Key: Hashable, Sendable {
        let device: UInt64
        let inode: UInt64
    }

    private static let all = Mutex<Set<Key>>([])

    static func claim(_ key: Key) throws(LMDBError) {
        guard all.withLock({ $0.insert(key).inserted }) else {
            throw LMDBError(.lockDirectory, .openInThisProcess)
        }
    }

    static func release(_ key: Key) {
        all.withLock { _ = $0.remove(key) }
    }
}
