import CLMDB

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

extension DataFile {
    /// What an opening finds in a directory.
    enum Found {
        case absent
        /// A file without a commit: a power cut or a full disk interrupted its creation.
        case unfinished
        case present
    }

    /// The name under which a new file is made.
    private static let newName = "data.mdb.new"

    /// The name that an unfinished file with more than its meta pages gets. Its pages are of no use
    /// to Foldback, but they may be of use to a person.
    private static let unfinishedName = "data.mdb.unfinished"

    /// The names of all files that a log can have.
    static let logNames = [
        name, newName, unfinishedName, "lock.mdb", WriterLock.holderFileName, "mark", "mark.new",
    ]
    /// A directory of the file system.
    private static let systemName = "lost+found"

    /// Looks for the data file in `directory`. Follows no link and changes nothing.
    ///
    /// Until the first flush of a new file, any of its first pages may be missing after a power
    /// cut. So a file is unfinished if it is short and neither meta page names a commit. Such a
    /// page is all zeros, or LMDB wrote it before the first commit.
    /// - Parameter evidenceName: a file that exists only if the log was once written. If it is
    ///   there, a data file without a commit is damage.
    /// - Throws: `.unsafeFile`, `.damagedPage`, `.system`.
    static func find(
        in directory: String, evidenceName: String
    ) throws(LMDBError) -> Found {
        let path = "\(directory)/\(name)"
        guard let status = try FileStatus(path) else {
            guard try FileStatus("\(directory)/\(evidenceName)") == nil else {
                throw LMDBError(.openEnvironment, .dataFileMissing)
            }
            return .absent
        }
        try status.requireSafe(name)
        guard try isUnfinished(path, bytes: status.bytes) else { return .present }
        guard try FileStatus("\(directory)/\(evidenceName)") == nil else {
            throw LMDBError(.openEnvironment, .damagedPage(0, "it has no commit"))
        }
        return .unfinished
    }

    /// LMDB's first commit writes a few pages.
    private static let unfinishedBytesMax = 256 << 10

    private static func isUnfinished(_ path: String, bytes: Int) throws(LMDBError) -> Bool {
        guard bytes <= unfinishedBytesMax else { return false }
        let content = try Platform.content(of: path, bytes: bytes)
        return MetaPages.haveNoCommit(content, systemPageSize: Int(getpagesize()))
    }

    /// Makes a data file without commits in `directory`, and flushes it before it gets its name.
    ///
    /// After a power cut, the file is there as a whole or not at all. Replaces an unfinished file.
    /// The caller holds the directory's lock.
    /// - Throws: `.foreignFiles` if the directory has files of others; `.system`, `.diskFull`.
    static func create(in directory: String) throws(LMDBError) {
        try requireNoForeignFiles(in: directory)
        let path = "\(directory)/\(newName)"
        // No link can have this name after this.
        do throws(LMDBError) { try Platform.createEmpty(path) } catch {
            guard try FileStatus(path) == nil else {
                throw LMDBError(.openEnvironment, .unsafeFile(newName, .notAFile))
            }
            throw error
        }
        var created: OpaquePointer?
        let code = mdb_env_create(&created)
        guard code == 0, let handle = created else {
            throw LMDBError(.openEnvironment, code: code)
        }
        // LMDB writes both meta pages on opening. Nobody else knows this file, so it needs no lock.
        let opened = mdb_env_open(handle, path, UInt32(MDB_NOSUBDIR | MDB_NOLOCK), 0o600)
        mdb_env_close(handle)
        guard opened == 0 else { throw LMDBError(.openEnvironment, code: opened) }
        try Platform.syncFile(path)
        try keepUnfinished(in: directory)
        guard Platform.rename(path, to: "\(directory)/\(name)") else {
            throw LMDBError(.openEnvironment, .system(errno: errno))
        }
        try Platform.syncDirectory(directory)
    }

    /// Renames an unfinished file that has more than its meta pages, in case it is not what it
    /// looks like.
    private static func keepUnfinished(in directory: String) throws(LMDBError) {
        let path = "\(directory)/\(name)"
        guard let status = try FileStatus(path) else { return }
        let content = try Platform.content(of: path, bytes: status.bytes)
        guard content.dropFirst(2 * Int(getpagesize())).contains(where: { $0 != 0 }) else { return }
        guard Platform.rename(path, to: "\(directory)/\(unfinishedName)") else {
            throw LMDBError(.openEnvironment, .system(errno: errno))
        }
    }

    /// Checks that a directory without a data file belongs to nobody else.
    /// - Throws: `.foreignFiles`.
    static func requireNoForeignFiles(in directory: String) throws(LMDBError) {
        let foreign = try Platform.names(in: directory).filter {
            !$0.hasPrefix(".") && $0 != systemName && !logNames.contains($0)
        }
        if let example = foreign.min() {
            throw LMDBError(.openEnvironment, .foreignFiles(example: example))
        }
    }
}
