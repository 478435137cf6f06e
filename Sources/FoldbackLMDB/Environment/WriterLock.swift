import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// The locks that give one environment to one process (L8): on the directory, and on its data file.
///
/// The directory exists before the data file, and its lock covers the file's creation. The file's
/// lock stops a process that reaches the same file through another directory. ``OpenFiles`` does
/// the same within this process. LMDB's files are not locked: closing any descriptor of lock.mdb
/// would drop LMDB's own locks (lmdb.h, caveats).
///
/// A writer holds both locks alone. A process that reads a log without a writer takes shares during
/// each read (``SharedReadLock``), so that no writer overwrites the pages that it reads. If a
/// writer finds only such readers, it waits for them up to ``readersWaitMaxMilliseconds`` (L9).
final class WriterLock: Sendable {
    /// The file with the holder's process id, for messages. It is not locked.
    static let holderFileName = "writer.pid"
    /// The longest time that an opening writer waits for readers of the closed log.
    static let readersWaitMaxMilliseconds = 2_000

    private let directory: FileLock
    let file: DataFile

    private init(_ directory: FileLock, _ file: DataFile) {
        self.directory = directory
        self.file = file
    }

    // Reads that have not ended keep the file open, so its lock is given back here.
    deinit { file.lock.giveBack() }

    /// Takes the directory and its data file alone. Blocks while only readers hold them, up to
    /// ``readersWaitMaxMilliseconds``.
    ///
    /// - Parameters:
    ///   - identity: the directory's, which the caller has claimed.
    ///   - prepare: returns the data file, after creating it if it is missing. Called with the
    ///     directory's lock.
    /// - Throws: `.openInProcess`, `.beingRead`, `.directoryReplaced`, `.system`, or what `prepare`
    ///   throws. No lock is held then.
    static func exclusive(
        in path: String, _ identity: FileStatus.Identity,
        _ prepare: () throws(LMDBError) -> DataFile
    ) throws(LMDBError) -> WriterLock {
        let directory = try aloneInDirectory(path, identity)
        let file = try prepare()
        try takeAlone(file.lock, in: path)
        writeHolder(in: path)
        return WriterLock(directory, file)
    }

    /// Returns a lock on the directory that is not taken yet.
    static func directoryLock(_ path: String) throws(LMDBError) -> FileLock {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let isGone = errno == ENOENT
            throw LMDBError(.lockDirectory, isGone ? .directoryReplaced : .system(errno: errno))
        }
        return FileLock(descriptor)
    }

    /// Takes the directory alone.
    ///
    /// Another process may have wiped the log after the caller looked at the path (BK7). Then the
    /// lock is of a directory that no longer has this path, and it protects nothing.
    /// - Throws: `.openInProcess`, `.beingRead`, `.directoryReplaced`, `.system`.
    static func aloneInDirectory(
        _ path: String, _ identity: FileStatus.Identity
    ) throws(LMDBError) -> FileLock {
        let lock = try directoryLock(path)
        try takeAlone(lock, in: path)
        guard try FileStatus(of: lock.descriptor).identity == identity,
            try Platform.kind(of: path).1 == identity
        else { throw LMDBError(.lockDirectory, .directoryReplaced) }
        return lock
    }

    static func takeAlone(_ lock: FileLock, in path: String) throws(LMDBError) {
        try waitingForReaders(.lockDirectory) { () throws(LMDBError) -> Void? in
            if try lock.takeAlone() { return () }
            // If a share is possible, only readers hold the lock.
            guard try lock.share() else {
                throw LMDBError(.lockDirectory, .openInProcess(pid: holder(in: path)))
            }
            lock.giveBack()
            return nil
        }
    }

    /// Returns what `attempt` returns. Repeats it while it returns nil because of readers, up to
    /// ``readersWaitMaxMilliseconds``.
    /// - Throws: `.beingRead`, or what `attempt` throws.
    static func waitingForReaders<R>(
        _ operation: LMDBError.Operation, _ attempt: () throws(LMDBError) -> R?
    ) throws(LMDBError) -> R {
        var waited = 0
        while true {
            if let result = try attempt() { return result }
            guard waited < readersWaitMaxMilliseconds else {
                throw LMDBError(operation, .beingRead)
            }
            usleep(10_000)
            waited += 10
        }
    }

    /// Returns whether a process holds the directory alone, and which.
    ///
    /// This takes a share for a moment. A writer that opens the log at this moment waits for it as
    /// for any reader (L9), and a writer that has the log open does not notice. The system gives
    /// back the lock of a process that was killed.
    static func presentHolder(in path: String) -> (isThere: Bool, process: Int32?) {
        guard let lock = try? directoryLock(path), let isFree = try? lock.share() else {
            return (false, nil)
        }
        // Ending the lock gives back the share.
        return isFree ? (false, nil) : (true, holder(in: path))
    }

    /// Returns the process id in the holder file; nil if there is none, or it is not a plain file.
    private static func holder(in directory: String) -> Int32? {
        let path = "\(directory)/\(holderFileName)"
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = read(file, &bytes, bytes.count)
        guard count > 0 else { return nil }
        return Int32(String(decoding: bytes[..<count], as: UTF8.self).filter(\.isNumber))
    }

    /// Writes this process's id to a new holder file. Failures are ignored, because only messages
    /// use it.
    private static func writeHolder(in directory: String) {
        let path = "\(directory)/\(holderFileName)"
        // Whatever had this name, a link or a pipe, is removed and not written to.
        unlink(path)
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        let text = Array("\(getpid())\n".utf8)
        _ = write(file, text, text.count)
    }
}

/// The directories and data files that this process has open (L8).
struct OpenFiles {
    private static let all = Mutex<Set<FileStatus.Identity>>([])

    static func claim(_ file: FileStatus.Identity) throws(LMDBError) {
        guard all.withLock({ $0.insert(file).inserted }) else {
            throw LMDBError(.lockDirectory, .openInThisProcess)
        }
    }

    static func release(_ files: [FileStatus.Identity]) {
        all.withLock { $0.subtract(files) }
    }
}
