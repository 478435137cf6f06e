import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// One store per directory (L8): in this process by device and inode, among processes by flock(2) on
/// a file of its own.
///
/// LMDB's files are left alone: closing any descriptor of lock.mdb would drop LMDB's own locks
/// (lmdb.h, caveats). A writer holds `writer.lock` exclusively. A process that reads a log which
/// nobody holds shares it meanwhile, so that no writer overwrites pages under its eyes; a writer
/// that meets only such readers waits for them a little (L9).
final class WriterLock: Sendable {
    static let fileName = "writer.lock"
    /// How long an opening writer waits for readers of the closed log.
    static let readersWaitMaxMilliseconds = 2_000

    private let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    /// Closing the descriptor gives the lock back; so does the end of the process.
    deinit { close(descriptor) }

    /// - Throws: `.openInProcess`, `.beingRead`, `.system`.
    static func exclusive(in directory: String) throws(LMDBError) -> WriterLock {
        let descriptor = open("\(directory)/\(fileName)", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw LMDBError(.lockDirectory, .system(errno: errno)) }
        let lock = WriterLock(descriptor: descriptor)
        var waited = 0
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else {
                throw LMDBError(.lockDirectory, .system(errno: errno))
            }
            // A lock that can be shared is held by readers only.
            guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else {
                throw LMDBError(.lockDirectory, .openInProcess(pid: lock.holder))
            }
            flock(descriptor, LOCK_UN)
            guard waited < readersWaitMaxMilliseconds else {
                throw LMDBError(.lockDirectory, .beingRead)
            }
            usleep(10_000)
            waited += 10
        }
        lock.writeHolder()
        return lock
    }

    /// A share of the lock; nil if a writer has it, or if there is no lock file to share.
    static func shared(in directory: String) -> (lock: WriterLock?, isHeldByWriter: Bool) {
        let descriptor = open("\(directory)/\(fileName)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return (nil, false) }
        let lock = WriterLock(descriptor: descriptor)
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return (nil, true) }
        return (lock, false)
    }

    /// The process id that the holder wrote into the file, for the message only.
    private var holder: Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return Int32(String(decoding: bytes[..<count], as: UTF8.self).filter(\.isNumber))
    }

    private func writeHolder() {
        let text = Array("\(getpid())\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = pwrite(descriptor, text, text.count, 0)
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
