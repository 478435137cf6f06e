#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// The directory of a closed log, held alone by this process until this object is released (L8,
/// BK7).
///
/// It has the locks of a writer, so no store and no reader can open the log meanwhile. The
/// directory has nothing but a log's files, or nothing at all. No file is created, and no link is
/// followed.
package final class HeldDirectory: Sendable {
    package let path: String
    private let directory: FileLock
    private let file: DataFile?
    /// The directory and the data file, as claimed in ``OpenFiles``.
    private let claims: [FileStatus.Identity]

    private init(
        _ path: String, _ directory: FileLock, _ file: DataFile?, claims: [FileStatus.Identity]
    ) {
        self.path = path
        self.directory = directory
        self.file = file
        self.claims = claims
    }

    deinit {
        // The directory's lock comes last: see ``SharedReadLock``.
        file?.lock.giveBack()
        OpenFiles.release(claims)
    }

    /// Takes the locks of the log at `path`. Blocks while only readers hold them, up to 2 s.
    ///
    /// - Throws: `.missing` if nothing is at the path; `.notADirectory`; `.unsafeFile` if the
    ///   directory or a file in it is a link, has several names, or belongs to another user;
    ///   `.otherFileInLog`; `.openInThisProcess`, `.openInProcess`, `.beingRead`; `.system`.
    ///   Nothing is held then, and nothing was changed.
    package static func hold(_ path: String) throws(LMDBError) -> HeldDirectory {
        guard let status = try FileStatus(path) else {
            throw LMDBError(.lockDirectory, .missing)
        }
        try status.requireDirectory()
        var claims: [FileStatus.Identity] = []
        do throws(LMDBError) {
            try OpenFiles.claim(status.identity)
            claims.append(status.identity)
            let directory = try WriterLock.aloneInDirectory(path, status.identity)
            try requireOnlyLogFiles(in: path)
            var file: DataFile?
            if try FileStatus("\(path)/\(DataFile.name)") != nil {
                let found = try DataFile(in: path, forWriting: true)
                try OpenFiles.claim(found.identity)
                claims.append(found.identity)
                try WriterLock.takeAlone(found.lock, in: path)
                file = found
            }
            return HeldDirectory(path, directory, file, claims: claims)
        } catch {
            OpenFiles.release(claims)
            throw error
        }
    }

    /// Makes a directory with an empty data file and LMDB's lock file for a copy of a log, and holds it.
    ///
    /// - Throws: `.openInProcess` if the directory is there: another process has just made it. The
    ///   errors of ``hold(_:)``, except `.missing`. Nothing is held then, and the directory may be
    ///   there.
    package static func create(_ path: String) throws(LMDBError) -> HeldDirectory {
        if try Platform.kind(of: Platform.parent(of: path)).0 == .absent {
            try Platform.createDirectory(Platform.parent(of: path))
        }
        guard mkdir(path, 0o700) == 0 else {
            throw LMDBError(
                .createDirectory,
                errno == EEXIST ? .openInProcess(pid: nil) : .system(errno: errno))
        }
        try Platform.syncParent(of: path)
        try Platform.createEmpty("\(path)/\(DataFile.name)")
        // Readers of the copy use it while a process holds the directory, for example to replace the copy
        // by a later one.
        do throws(LMDBError) {
            try Platform.fill(
                "\(path)/\(Environment.lockFileName)", toBytes: Environment.lockFileBytes)
        } catch {
            throw error.classified(at: path)
        }
        return try hold(path)
    }

    /// The descriptor of the data file.
    ///
    /// - Precondition: the directory has one.
    var fileDescriptor: Int32 {
        guard let file else { preconditionFailure("\(path) has no data file") }
        return file.descriptor
    }

    /// Flushes the data file, and its name in the directory.
    ///
    /// - Precondition: as ``fileDescriptor``.
    package func sync() throws(LMDBError) {
        guard fsync(fileDescriptor) == 0 else {
            throw LMDBError(.copy, .system(errno: errno))
        }
        try Platform.syncDirectory(path)
    }

    /// Checks that every name in the directory is a log's, and a regular file that nobody else can
    /// have open under another name.
    private static func requireOnlyLogFiles(in path: String) throws(LMDBError) {
        for name in try Platform.names(in: path).sorted() {
            guard DataFile.logNames.contains(name) else {  // mutant: wipe-foreign
                throw LMDBError(.removeDirectory, .otherFileInLog(example: name))
            }
            let file = try FileStatus("\(path)/\(name)")
            try file?.requireSafe(name)
            try file?.requireOwn(name)
        }
    }

    /// Opens the log for reading, under the locks that this object holds.
    ///
    /// - Returns: nil if the log has no commit, because its creation was interrupted.
    /// - Throws: the errors of ``Environment/openReadOnly(_:options:)``. `.damagedPage` if the file
    ///   is not LMDB's, but the marker file shows that a log was here.
    package func openReadOnly() throws(LMDBError) -> Environment? {
        let options = Environment.Options()
        let found = try DataFile.find(in: path, evidenceName: options.evidenceName)
        guard let file, found == .present else { return nil }
        // No other process can write now, so LMDB's lock file is not needed.
        let handle: OpaquePointer
        do throws(LMDBError) {
            handle = try Environment.openedWithoutWriter(file, path, options)
        } catch {
            guard error.cause == .notLMDB, try FileStatus("\(path)/\(options.evidenceName)") != nil
            else { throw error }
            throw LMDBError(.openEnvironment, .damagedPage(0, "it is not a page of LMDB"))
        }
        return try Environment(
            handle: handle, directory: path, file: file, isReadOnly: true, options: options,
            claims: [], lock: nil)
    }

    /// Gives the directory another name in the same parent directory. The locks stay.
    ///
    /// ``remove(at:)`` makes the new name durable.
    ///
    /// - Parameter place: the directory's path now, if it is not ``path`` any more.
    /// - Throws: `.system`, and nothing was changed.
    package func move(from place: String? = nil, to target: String) throws(LMDBError) {
        guard Platform.rename(place ?? path, to: target) else {
            throw LMDBError(.removeDirectory, .system(errno: errno))
        }
    }

    /// Removes the log's files and then the directory.
    ///
    /// Before the first file, it flushes the parent directory. So no power cut brings back an
    /// earlier name of the directory without its files.
    ///
    /// - Parameter path: the directory's path now.
    /// - Throws: `.otherFileInLog` if somebody put a file into the directory in the meantime;
    ///   `.system`. Some files may be removed.
    package func remove(at path: String) throws(LMDBError) {
        try Platform.syncParent(of: path)
        for name in DataFile.logNames {
            guard unlinkat(directory.descriptor, name, 0) == 0 || errno == ENOENT else {
                throw LMDBError(.removeDirectory, .system(errno: errno))
            }
        }
        guard rmdir(path) == 0 || errno == ENOENT else {
            let code = errno
            if let name = try Platform.names(in: path).min() {
                throw LMDBError(.removeDirectory, .otherFileInLog(example: name))
            }
            throw LMDBError(.removeDirectory, .system(errno: code))
        }
        try Platform.syncParent(of: path)
    }
}

/// The names of directories that are being wiped: `.wiped-` and a random UUID (BK7).
package enum WipedName {
    private static let prefix = ".wiped-"

    /// Returns the path that the log at `path` gets while it is removed: in the same parent
    /// directory, so that a rename is enough.
    ///
    /// - Parameter id: a random UUID in lower case.
    package static func path(beside path: String, id: String) -> String {
        precondition(isID(id), "\(id) is not a UUID in lower case")
        return "\(Platform.parent(of: path))/\(prefix)\(id)"
    }

    /// Returns whether a file name has the form that ``path(beside:id:)`` gives.
    private static func matches(_ name: String) -> Bool {
        name.hasPrefix(prefix) && isID(name.dropFirst(prefix.count))
    }

    /// Returns the names of this form in a directory, ascending; none if it does not exist.
    package static func all(in root: String) throws(LMDBError) -> [String] {
        guard try Platform.kind(of: root).0 != .absent else { return [] }
        let names = try Platform.names(in: root)
        return names.filter { matches($0) }.sorted()  // mutant: wiped-name
    }

    private static func isID(_ text: some StringProtocol) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && parts.allSatisfy { $0.utf8.allSatisfy(isLowercaseHexDigit) }
    }

    private static func isLowercaseHexDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte
    }
}
