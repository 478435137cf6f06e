import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// The open data file of an environment, `data.mdb`, apart from LMDB's own descriptors of it.
///
/// Other programs can delete, replace or truncate the file while it is open. LMDB does not notice:
/// it writes to a file without a name, or touches its map beyond the file's end, which ends the
/// process. So this object compares the file with the file at the path.
final class DataFile: Sendable {
    static let name = "data.mdb"

    let path: String
    let identity: FileStatus.Identity
    let lock: FileLock
    /// The largest size that was seen, in bytes. LMDB never makes the file smaller.
    private let bytesSeen: Atomic<Int>

    var descriptor: Int32 { lock.descriptor }

    /// Opens the data file in `directory`, and follows no link.
    ///
    /// - Parameter forWriting: whether LMDB will open the file for writing. Some file systems
    ///   (overlayfs) copy a file when it is first opened for writing. Then this must be the copy.
    /// - Throws: `.missing`, `.unsafeFile`, `.system`.
    init(in directory: String, forWriting: Bool) throws(LMDBError) {
        path = "\(directory)/\(Self.name)"
        // A pipe without a writer would keep open(2) waiting, so look before opening.
        guard let found = try FileStatus(path) else {
            throw LMDBError(.openEnvironment, .missing)
        }
        try found.requireSafe(Self.name)
        let mode = forWriting ? O_RDWR : O_RDONLY
        let file = open(path, mode | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw LMDBError(.openEnvironment, .system(errno: errno)) }
        lock = FileLock(file)
        let status = try FileStatus(of: file)
        try status.requireSafe(Self.name)
        identity = status.identity
        bytesSeen = Atomic(status.bytes)
    }

    /// Checks that the file has not become shorter. LMDB may read every page of it then.
    ///
    /// One system call. A truncation after this check can still end the process (SIGBUS).
    /// - Throws: `.fileLost`.
    func requireWhole(_ operation: LMDBError.Operation) throws(LMDBError) {
        let seen = bytesSeen.load(ordering: .acquiring)
        try requireBytes(seen, try FileStatus(of: descriptor), operation)
    }

    /// Checks that the file at the path is still this file, and has not become shorter.
    ///
    /// One system call.
    /// - Throws: `.fileLost`.
    func requirePresent(_ operation: LMDBError.Operation) throws(LMDBError) {
        let seen = bytesSeen.load(ordering: .acquiring)
        guard let found = try FileStatus(path) else {
            throw LMDBError(operation, .fileLost(.gone))
        }
        guard found.identity == identity else {  // mutant: file-identity
            throw LMDBError(operation, .fileLost(.replaced))
        }
        try requireBytes(seen, found, operation)
    }

    /// - Parameter seen: the size that was seen before `status` was asked for. Another thread may
    ///   see a larger file at any time after that.
    private func requireBytes(
        _ seen: Int, _ status: FileStatus, _ operation: LMDBError.Operation
    ) throws(LMDBError) {
        guard status.bytes >= seen else {
            throw LMDBError(operation, .fileLost(.truncated(bytes: status.bytes)))
        }
        bytesSeen.max(status.bytes, ordering: .acquiringAndReleasing)
    }
}
