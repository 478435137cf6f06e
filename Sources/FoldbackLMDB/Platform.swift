import CLMDB

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// The few calls to the system that a log needs beside LMDB's own.
package enum Platform {
    package static func message(errno code: Int32) -> String {
        String(cString: strerror(code))
    }

    package static var processID: Int32 { getpid() }

    /// Nanoseconds of a clock that only goes forward.
    package static func monotonicNanoseconds() -> UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    }

    /// Bytes that an unprivileged process may still write to the file system at `path`; nil where it
    /// does not say.
    package static func freeBytes(at path: String) -> UInt64? {
        var info = statvfs()
        guard statvfs(path, &info) == 0 else { return nil }
        return UInt64(info.f_bavail) * UInt64(info.f_frsize)
    }

    /// The bytes left if `code` means a full disk. LMDB reports one as `ENOSPC`, or as `EIO` after a
    /// short write (mdb.c 0.9.24, mdb_page_flush): then the file system knows which it was (L6).
    static func freeBytesIfFull(errno code: Int32, at path: String) -> UInt64? {
        guard [ENOSPC, EDQUOT, EIO].contains(code) else { return nil }
        let free = freeBytes(at: path) ?? .max
        return code != EIO || free < 1 << 16 ? free : nil
    }

    package static func fileSize(_ path: String) -> UInt64? {
        var info = stat()
        return stat(path, &info) == 0 ? UInt64(info.st_size) : nil
    }

    /// What stays the same while a file is moved within its file system and changes when it is
    /// copied or restored (L11).
    package static func identity(ofFile path: String) throws(LMDBError) -> FileIdentity {
        var inode: UInt64 = 0
        var birth: UInt64 = 0
        guard foldback_file_identity(path, &inode, &birth) == 0 else {
            throw LMDBError(.inspect, .system(errno: errno))
        }
        return FileIdentity(inode: inode, birthNanoseconds: birth)
    }

    /// Makes the directory's entries survive a power cut (L10).
    package static func syncDirectory(_ path: String) throws(LMDBError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw LMDBError(.sync, .system(errno: errno)) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw LMDBError(.sync, .system(errno: errno)) }
    }

    enum Kind { case directory, other, absent }

    static func kind(of path: String) -> (Kind, device: UInt64, inode: UInt64) {
        var info = stat()
        guard stat(path, &info) == 0 else { return (.absent, 0, 0) }
        let isDirectory = info.st_mode & S_IFMT == S_IFDIR
        return (isDirectory ? .directory : .other, UInt64(info.st_dev), UInt64(info.st_ino))
    }

    /// Creates the directory, for its owner only, and makes its name durable (L10).
    static func createDirectory(_ path: String) throws(LMDBError) {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw LMDBError(.createDirectory, .system(errno: errno))
        }
        try syncDirectory(parent(of: path))
    }

    private static func parent(of path: String) -> String {
        var trimmed = Substring(path)
        while trimmed.count > 1, trimmed.hasSuffix("/") { trimmed.removeLast() }
        guard let slash = trimmed.lastIndex(of: "/") else { return "." }
        return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
    }
}

/// A file's inode and time of birth in nanoseconds since 1970, 0 where the file system keeps none.
package struct FileIdentity: Equatable, Sendable {
    package let inode: UInt64
    package let birthNanoseconds: UInt64

    package init(inode: UInt64, birthNanoseconds: UInt64) {
        self.inode = inode
        self.birthNanoseconds = birthNanoseconds
    }
}
