import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// One store per directory (L8): in this process by device and inode, among processes by flock(2) on
/// the directory itself, which is always there: also a log copied as its data file alone can be shared
/// without creating anything.
///
/// LMDB's files are left alone: closing any descriptor of lock.mdb would drop LMDB's own locks
/// (lmdb.h, caveats). A writer holds the directory exclusively. A process that looks at a log which
/// nobody holds shares it during each read (``SharedReadLock``), so that no writer overwrites pages under
/// its eyes; a writer that meets only such readers waits for them a little (L9).
final class WriterLock: Sendable {
    /// The holder's process id, for messages; not locked.
    static let holderFileName = "writer.pid"
    /// How long an opening writer waits for readers of the closed log.
    static let readersWaitMaxMilliseconds = 2_000

    private let descriptor: Int32
    private let directory: String
    private let generation = ForkCount.generation

    private init(directory: String) throws(LMDBError) {
        descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        self.directory = directory
        guard descriptor >= 0 else { throw LMDBError(.lockDirectory, .system(errno: errno)) }
    }

    /// Given back also where a forked child still has the descriptor; by the child it is not.
    deinit {
        if generation == ForkCount.generation { flock(descriptor, LOCK_UN) }
        close(descriptor)
    }

    /// - Throws: `.openInProcess`, `.beingRead`, `.system`.
    static func exclusive(in directory: String) throws(LMDBError) -> WriterLock {
        let lock = try WriterLock(directory: directory)
        var waited = 0
        while try !lock.take(LOCK_EX) {
            // A lock that can be shared is held by readers only.
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

    /// Nobody's yet, for a ``SharedReadLock``.
    static func unheld(in directory: String) throws(LMDBError) -> WriterLock {
        try WriterLock(directory: directory)
    }

    /// False if a writer has it.
    func share() throws(LMDBError) -> Bool { try take(LOCK_SH) }

    func giveBack() { flock(descriptor, LOCK_UN) }

    /// False if somebody else has what this excludes.
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

    /// Only for messages: that it cannot be written is no reason not to open.
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
