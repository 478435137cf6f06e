import CLMDB

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// A file's identity, kind, owner, number of names, and size, at one moment.
///
/// It does not ask for the file's times, because that would make the next flush slower (shim.h).
struct FileStatus: Sendable {
    /// What stays the same while a file exists, under whatever name.
    struct Identity: Hashable, Sendable {
        let device: UInt64
        let inode: UInt64
    }

    let identity: Identity
    let bytes: Int
    private let linkCount: Int
    private let kind: mode_t
    private let owner: uid_t

    private init(_ info: foldback_status) {
        identity = Identity(device: info.device, inode: info.inode)
        bytes = Int(info.bytes)
        linkCount = Int(info.link_count)
        kind = mode_t(info.mode) & S_IFMT
        owner = info.owner
    }

    /// The status of what has this name, which may be a symbolic link; nil if nothing has it.
    init?(_ path: String) throws(LMDBError) {
        var info = foldback_status()
        guard foldback_read_status(-1, path, &info) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw LMDBError(.inspect, .system(errno: errno))
        }
        self.init(info)
    }

    /// The status of an open file.
    init(of descriptor: Int32) throws(LMDBError) {
        var info = foldback_status()
        guard foldback_read_status(descriptor, nil, &info) == 0 else {
            throw LMDBError(.inspect, .system(errno: errno))
        }
        self.init(info)
    }

    /// Checks that this is a directory, and not a link to one.
    /// - Throws: `.unsafeFile`, `.notADirectory`.
    func requireDirectory() throws(LMDBError) {
        guard kind != S_IFLNK else {
            throw LMDBError(.inspect, .unsafeFile("the directory", .symbolicLink))
        }
        guard kind == S_IFDIR else { throw LMDBError(.inspect, .notADirectory) }
    }

    /// Checks that this is a regular file with one name.
    ///
    /// Locks belong to a directory and to a file. Through a symbolic link or a second hard link,
    /// the same file is in two directories. Reading or writing a pipe or a device could wait
    /// forever.
    /// - Throws: `.unsafeFile`.
    func requireSafe(_ name: String) throws(LMDBError) {
        let problem: FileProblem? =
            switch kind {
            case S_IFLNK: .symbolicLink
            case S_IFREG: linkCount > 1 ? .hardLinks(linkCount) : nil  // mutant: hard-links
            default: .notAFile
            }
        if let problem { throw LMDBError(.inspect, .unsafeFile(name, problem)) }
    }

    /// Checks that this process's user owns the file. The superuser may use every file.
    /// - Throws: `.unsafeFile`.
    func requireOwn(_ name: String) throws(LMDBError) {
        let user = geteuid()
        guard owner == user || user == 0 else {
            throw LMDBError(.inspect, .unsafeFile(name, .otherOwner(owner)))
        }
    }
}

/// A reason why a file of a log is not safe to open.
package enum FileProblem: Hashable, Sendable {
    case symbolicLink
    /// The file has this many names.
    case hardLinks(Int)
    /// A pipe, a device, a socket or a directory.
    case notAFile
    case missing
    /// The user id of the file's owner.
    case otherOwner(UInt32)
}

/// What happened to a data file while it was open.
package enum FileLoss: Hashable, Sendable {
    /// No file is at the path: the file or a directory above it was deleted or moved.
    case gone
    /// Another file is at the path.
    case replaced
    /// The file is shorter than it was. Its size now, in bytes.
    case truncated(bytes: Int)
}
