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

    /// Whether so much address space can be had at once: asked before a map is given up for a larger one.
    static func hasAddressSpace(bytes: Int) -> Bool {
        let place = mmap(nil, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0)
        guard place != MAP_FAILED else { return false }
        munmap(place, bytes)
        return true
    }

    /// Fills a file with zeros up to a size, so that its blocks are there. One that is large enough is
    /// left as it is.
    static func fill(_ path: String, toBytes size: Int) throws(LMDBError) {
        let have = try Int(fileSize(path) ?? 0)
        guard have < size else { return }
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw LMDBError(.openEnvironment, .system(errno: errno)) }
        defer { close(file) }
        let zeros = [UInt8](repeating: 0, count: size - have)
        let written = pwrite(file, zeros, zeros.count, off_t(have))
        guard written == zeros.count else {
            throw LMDBError(.openEnvironment, .system(errno: written < 0 ? errno : ENOSPC))
        }
    }

    /// A data file whose making was cut off, by a full disk or a power cut, before anything could be
    /// committed: shorter than LMDB's two first pages, or nothing but zeros. LMDB would not open it again.
    /// To be asked only where nothing says that there has been a log.
    static func discardUnfinished(_ path: String) throws(LMDBError) {
        guard let size = try fileSize(path), 1...(64 << 10) ~= size else { return }
        let file = open(path, O_RDWR | O_CLOEXEC)
        guard file >= 0 else { throw LMDBError(.openEnvironment, .system(errno: errno)) }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        guard read(file, &bytes, bytes.count) == bytes.count else { return }
        // The magic number of a meta page, behind the 16 bytes of a page's header, its page size, and the
        // number of its commit (mdb.c 0.9.24): before the first there was nothing to lose.
        let isMeta = bytes.count >= 152 && Array(bytes[16..<20]) == [0xDE, 0xC0, 0xEF, 0xBE]
        let pageSize = isMeta ? bytes[40..<44].reversed().reduce(0) { $0 << 8 | Int($1) } : 0
        let isBeforeFirst = isMeta && bytes[144..<152].allSatisfy { $0 == 0 }
        let isUnfinished = bytes.allSatisfy { $0 == 0 } || (isBeforeFirst && size < 2 * pageSize)
        guard isUnfinished else { return }
        guard ftruncate(file, 0) == 0 else {
            throw LMDBError(.openEnvironment, .system(errno: errno))
        }
    }

    /// The bytes left if `code` means a full disk. LMDB reports one as `ENOSPC`, or as `EIO` after a
    /// short write (mdb.c 0.9.24, mdb_page_flush): then the file system knows which it was (L6).
    static func freeBytesIfFull(errno code: Int32, at path: String) -> UInt64? {
        guard [ENOSPC, EDQUOT, EIO].contains(code) else { return nil }
        let free = freeBytes(at: path) ?? .max
        return code != EIO || free < 1 << 16 ? free : nil
    }

    /// The most bytes that this process may write to a file, if `code` means that a file has reached
    /// it: `EFBIG`, or `EIO` from LMDB after a write that was cut short there.
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
        // A write of several pages stops at the limit, or did not begin a page before it.
        return bytes < .max / 2 && UInt64(info.st_size) + (8 << 20) > bytes ? bytes : nil
    }

    /// Nil where there is no such file.
    package static func fileSize(_ path: String) throws(LMDBError) -> UInt64? {
        var info = stat()
        if stat(path, &info) == 0 { return UInt64(info.st_size) }
        guard errno == ENOENT else { throw LMDBError(.inspect, .system(errno: errno)) }
        return nil
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

    /// Makes an empty file of its own, whatever was there.
    package static func createEmpty(_ path: String) throws(LMDBError) {
        unlink(path)
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw LMDBError(.createDirectory, .system(errno: errno)) }
        close(file)
    }

    /// False where that cannot be done; nothing is changed then.
    package static func rename(_ path: String, to target: String) -> Bool {
        #if canImport(Darwin)
            Darwin.rename(path, target) == 0
        #else
            Glibc.rename(path, target) == 0
        #endif
    }

    enum Kind { case directory, other, absent }

    static func kind(of path: String) throws(LMDBError) -> (Kind, device: UInt64, inode: UInt64) {
        var info = stat()
        guard stat(path, &info) == 0 else {
            guard errno == ENOENT else { throw LMDBError(.inspect, .system(errno: errno)) }
            return (.absent, 0, 0)
        }
        let isDirectory = info.st_mode & S_IFMT == S_IFDIR
        return (isDirectory ? .directory : .other, UInt64(info.st_dev), UInt64(info.st_ino))
    }

    /// Creates the directory, for its owner only, and makes its name durable (L10).
    static func createDirectory(_ path: String) throws(LMDBError) {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw LMDBError(.createDirectory, .system(errno: errno))
        }
        try syncParent(of: path)
    }

    /// Makes the directory's own name survive a power cut (L10).
    package static func syncParent(of path: String) throws(LMDBError) {
        try syncDirectory(parent(of: path))
    }

    static func requireWritable(_ directory: String) throws(LMDBError) {
        guard access(directory, W_OK | X_OK) == 0 else {
            throw LMDBError(.createDirectory, .system(errno: errno))
        }
    }

    static func parent(of path: String) -> String {
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
