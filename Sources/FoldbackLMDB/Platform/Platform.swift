import CLMDB

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// The system calls that a log needs in addition to those of LMDB.
package enum Platform {
    package static func message(errno code: Int32) -> String {
        String(cString: strerror(code))
    }

    /// Returns the time of the monotonic clock, in nanoseconds.
    package static func monotonicNanoseconds() -> UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    }

    /// Returns the bytes that an unprivileged process can still write to the file system at `path`;
    /// nil if statvfs fails.
    package static func freeBytes(at path: String) -> UInt64? {
        var info = statvfs()
        guard statvfs(path, &info) == 0 else { return nil }
        return UInt64(info.f_bavail) * UInt64(info.f_frsize)
    }

    /// Returns whether the process has a free address range of `bytes` bytes.
    ///
    /// Callers ask this before they replace a map by a larger one.
    static func hasAddressSpace(bytes: Int) -> Bool {
        let place = mmap(nil, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0)
        guard place != MAP_FAILED else { return false }
        munmap(place, bytes)
        return true
    }

    /// Extends a file with zeros to `size` bytes, so that its blocks are allocated. A file of that
    /// size or larger does not change.
    static func fill(_ path: String, toBytes size: Int) throws(LMDBError) {
        let existing = try Int(fileSize(path) ?? 0)
        guard existing < size else { return }
        let file = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw LMDBError(.openEnvironment, .system(errno: errno)) }
        defer { close(file) }
        let zeros = [UInt8](repeating: 0, count: size - existing)
        let written = pwrite(file, zeros, zeros.count, off_t(existing))
        guard written == zeros.count else {
            throw LMDBError(.openEnvironment, .system(errno: written < 0 ? errno : ENOSPC))
        }
    }

    /// Returns the free bytes if `code` means a full disk, else nil (L6).
    ///
    /// LMDB reports a full disk as `ENOSPC`, or as `EIO` after a short write (mdb.c 0.9.24,
    /// mdb_page_flush). `EIO` counts as a full disk if fewer than 64 KiB are free.
    static func freeBytesIfFull(errno code: Int32, at path: String) -> UInt64? {
        guard [ENOSPC, EDQUOT, EIO].contains(code) else { return nil }
        let free = freeBytes(at: path) ?? .max
        return code != EIO || free < 1 << 16 ? free : nil
    }

    /// Returns this process's file size limit in bytes if `code` means that `file` has reached it,
    /// else nil.
    ///
    /// The code is `EFBIG`, or `EIO` if the limit cut a write of LMDB short.
    static func fileSizeLimit(errno code: Int32, file: String) -> UInt64? {
        guard [EFBIG, EIO].contains(code) else { return nil }
        var limit = rlimit()
        #if canImport(Darwin)
            let resource = RLIMIT_FSIZE
        #else
            let resource = __rlimit_resource_t(UInt32(RLIMIT_FSIZE.rawValue))
        #endif
        var info = stat()
        guard getrlimit(resource, &limit) == 0, stat(file, &info) == 0 else { return nil }
        let bytes = UInt64(limit.rlim_cur)
        // A write of several pages can fail before the file reaches the limit exactly: allow 8 MiB.
        return bytes < .max / 2 && UInt64(info.st_size) + (8 << 20) > bytes ? bytes : nil
    }

    /// Returns the file's size in bytes; nil if the file does not exist.
    package static func fileSize(_ path: String) throws(LMDBError) -> UInt64? {
        var info = stat()
        if stat(path, &info) == 0 { return UInt64(info.st_size) }
        guard errno == ENOENT else { throw LMDBError(.inspect, .system(errno: errno)) }
        return nil
    }

    /// Returns an identity that a move within the file system keeps, and that a copy or a restore
    /// changes (L11).
    package static func identity(ofFile path: String) throws(LMDBError) -> FileIdentity {
        var inode: UInt64 = 0
        var birth: UInt64 = 0
        guard foldback_file_identity(path, &inode, &birth) == 0 else {
            throw LMDBError(.inspect, .system(errno: errno))
        }
        return FileIdentity(inode: inode, birthNanoseconds: birth)
    }

    /// Flushes the file's content and size.
    static func syncFile(_ path: String) throws(LMDBError) {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw LMDBError(.sync, .system(errno: errno)) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw LMDBError(.sync, .system(errno: errno)) }
    }

    /// Returns the first `bytes` bytes of a file, or fewer if it is shorter. Follows no link.
    static func content(of path: String, bytes: Int) throws(LMDBError) -> [UInt8] {
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw LMDBError(.inspect, .system(errno: errno)) }
        defer { close(file) }
        var content = [UInt8](repeating: 0, count: bytes)
        let count = pread(file, &content, bytes, 0)
        guard count >= 0 else { throw LMDBError(.inspect, .system(errno: errno)) }
        content.removeLast(bytes - count)
        return content
    }

    /// Returns the names in a directory, in any order.
    package static func names(in path: String) throws(LMDBError) -> [String] {
        guard let directory = opendir(path) else {
            throw LMDBError(.inspect, .system(errno: errno))
        }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Flushes the directory, so that the names in it survive a power cut (L10).
    package static func syncDirectory(_ path: String) throws(LMDBError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw LMDBError(.sync, .system(errno: errno)) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw LMDBError(.sync, .system(errno: errno)) }
    }

    /// Creates an empty file for its owner only, and removes any file that had this name.
    package static func createEmpty(_ path: String) throws(LMDBError) {
        unlink(path)
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw LMDBError(.createDirectory, .system(errno: errno)) }
        close(file)
    }

    /// Renames a file and returns true. If that fails, returns false and changes nothing.
    package static func rename(_ path: String, to target: String) -> Bool {
        #if canImport(Darwin)
            Darwin.rename(path, target) == 0
        #else
            Glibc.rename(path, target) == 0
        #endif
    }

    /// Exchanges the names of two files or directories in one step.
    ///
    /// - Throws: `.system`, and nothing was changed; EINVAL if the file system cannot do it.
    package static func exchange(_ path: String, _ other: String) throws(LMDBError) {
        guard foldback_exchange(path, other) == 0 else {
            throw LMDBError(.exchangeDirectories, .system(errno: errno))
        }
    }

    /// Creates a folder if it is missing, and checks that a directory can be moved into it.
    ///
    /// - Throws: `.system`; EEXIST if the target is there, EXDEV if the folder is on another file
    ///   system.
    package static func prepareMove(
        of path: String, into folder: String, as target: String
    ) throws(LMDBError) {
        try createDirectory(folder)
        let isTaken = try kind(of: target).0 != .absent
        let isNear = try kind(of: folder).1.device == kind(of: path).1.device
        guard !isTaken, isNear else {
            throw LMDBError(.exchangeDirectories, .system(errno: isTaken ? EEXIST : EXDEV))
        }
    }

    /// Moves a directory into another one. Both names are flushed.
    ///
    /// - Throws: as ``prepareMove(of:into:as:)``, and nothing was moved.
    package static func move(
        _ path: String, into folder: String, as target: String
    ) throws(LMDBError) {
        try prepareMove(of: path, into: folder, as: target)
        guard rename(path, to: target) else {
            throw LMDBError(.exchangeDirectories, .system(errno: errno))
        }
        try syncDirectory(folder)
        try syncParent(of: path)
    }

    enum Kind { case directory, other, absent }

    /// Returns what is at the path, with its identity. Follows links.
    static func kind(of path: String) throws(LMDBError) -> (Kind, FileStatus.Identity) {
        var info = stat()
        guard stat(path, &info) == 0 else {
            guard errno == ENOENT else { throw LMDBError(.inspect, .system(errno: errno)) }
            return (.absent, FileStatus.Identity(device: 0, inode: 0))
        }
        let isDirectory = info.st_mode & S_IFMT == S_IFDIR
        let identity = FileStatus.Identity(
            device: UInt64(info.st_dev), inode: UInt64(info.st_ino))
        return (isDirectory ? .directory : .other, identity)
    }

    /// Creates the directory and its missing parents, for their owner only, and makes their names
    /// durable (L10).
    static func createDirectory(_ path: String) throws(LMDBError) {
        var code = madeDirectory(path)
        let parent = parent(of: path)
        if code == ENOENT, parent != path, parent != "." {
            try createDirectory(parent)
            // A file system that takes no directories, like /proc, says ENOENT again.
            code = madeDirectory(path)
        }
        guard code == 0 else { throw LMDBError(.createDirectory, .system(errno: code)) }
        try syncParent(of: path)
    }

    /// Makes a directory. Returns 0, also if the name exists, or the error number.
    private static func madeDirectory(_ path: String) -> Int32 {
        mkdir(path, 0o700) == 0 || errno == EEXIST ? 0 : errno
    }

    /// Flushes the parent directory, so that the name `path` survives a power cut (L10).
    package static func syncParent(of path: String) throws(LMDBError) {
        try syncDirectory(parent(of: path))
    }

    static func requireWritable(_ directory: String) throws(LMDBError) {
        guard access(directory, W_OK | X_OK) == 0 else {
            throw LMDBError(.createDirectory, .system(errno: errno))
        }
    }

    /// Returns the path without slashes at its end.
    package static func trimmed(_ path: String) -> Substring {
        var trimmed = Substring(path)
        while trimmed.count > 1, trimmed.hasSuffix("/") { trimmed.removeLast() }
        return trimmed
    }

    package static func parent(of path: String) -> String {
        let trimmed = trimmed(path)
        guard let slash = trimmed.lastIndex(of: "/") else { return "." }
        return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
    }
}

/// A file's inode and birth time in nanoseconds since 1970. The birth time is 0 if the file system
/// has none.
package struct FileIdentity: Equatable, Sendable {
    package let inode: UInt64
    package let birthNanoseconds: UInt64

    package init(inode: UInt64, birthNanoseconds: UInt64) {
        self.inode = inode
        self.birthNanoseconds = birthNanoseconds
    }
}
