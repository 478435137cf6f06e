import CLMDB

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

extension Environment {
    /// Opens the environment in `directory` for this process alone.
    ///
    /// Creates the directory with its missing parents, and the environment, if they are missing.
    /// Files are for their owner only, and new names are flushed to their directories (L10). If the
    /// process is killed or the power fails during this call, the directory still opens later. May
    /// wait up to 2 s for readers of the closed log.
    /// - Throws: any ``LMDBError``. Nothing is left open or locked.
    package static func open(
        _ directory: String, options: Options = Options()
    ) throws(LMDBError) -> Environment {
        try requireSupportedLibrary()
        for _ in 1..<wipeRacesMax {
            do throws(LMDBError) { return try openOnce(directory, options) } catch {
                // The directory was wiped after this looked at it or created it. Now another is in
                // its place, or none.
                guard error.cause == .directoryReplaced || error.cause == .missing else {
                    throw error
                }
            }
        }
        return try openOnce(directory, options)
    }

    private static let wipeRacesMax = 4

    private static func openOnce(
        _ directory: String, _ options: Options
    ) throws(LMDBError) -> Environment {
        if try Platform.kind(of: directory).0 == .absent { try Platform.createDirectory(directory) }
        return try claiming(directory) { claims throws(LMDBError) in
            let identity = claims.files[0]
            let lock = try WriterLock.exclusive(in: directory, identity) { () throws(LMDBError) in
                let file = try ownDataFile(in: directory, options)
                // Before the file's lock, so that the error names this process as the holder.
                try claims.add(file.identity)
                return file
            }
            let file = lock.file
            // LMDB creates a sparse lock file and writes to it through a map. On a full disk, such
            // a write would kill the process.
            try Platform.fill("\(directory)/\(lockFileName)", toBytes: lockFileBytes)
            var flags = UInt32(MDB_NOTLS)
            if options.relaxed { flags |= UInt32(MDB_NOMETASYNC) }
            let handle = try WriterLock.waitingForReaders(.openEnvironment) {
                () throws(LMDBError) in try openedWithLockFile(file, directory, flags, options)
            }
            let environment = try Environment(
                handle: handle, directory: directory, file: file, isReadOnly: false,
                options: options, claims: claims.files, lock: lock)
            environment.freeDeadReaders()
            do throws(LMDBError) { try environment.requireSoundOutline() } catch {
                environment.abandon()
                throw error
            }
            return environment
        }
    }

    /// Opens the data file for a writer, and creates it first if it is missing or unfinished.
    private static func ownDataFile(
        in directory: String, _ options: Options
    ) throws(LMDBError) -> DataFile {
        let found = try DataFile.find(in: directory, evidenceName: options.evidenceName)
        // Before anything is created.
        try requireSafeLockFile(in: directory)?.requireOwn(lockFileName)
        switch found {
        case .absent, .unfinished: try DataFile.create(in: directory)
        case .present: break
        }
        let file = try DataFile(in: directory, forWriting: true)
        try FileStatus(of: file.descriptor).requireOwn(DataFile.name)
        return file
    }

    /// Checks that LMDB's lock file is safe to write to, as LMDB does, readers included.
    ///
    /// - Returns: nil if it is missing.
    private static func requireSafeLockFile(
        in directory: String
    ) throws(LMDBError) -> FileStatus? {
        guard let found = try FileStatus("\(directory)/\(lockFileName)") else { return nil }
        try found.requireSafe(lockFileName)
        return found
    }

    static let lockFileName = "lock.mdb"
    /// The size of LMDB 0.9's lock file: a header, and 64 bytes for each of the 126 default readers
    /// (mdb.c).
    static let lockFileBytes = 8_192

    /// Opens an existing environment for reading. The data file's bytes do not change (L9).
    ///
    /// If no process holds the environment, reads do not use LMDB's lock file, and nothing is
    /// created. Once a process opens it for writing, reads take a slot in the lock file. Closing
    /// frees the slot.
    /// - Throws: `.missing` if the data file does not exist, or any other ``LMDBError``. Nothing is
    ///   left open or locked.
    package static func openReadOnly(
        _ directory: String, options: Options = Options()
    ) throws(LMDBError) -> Environment {
        try requireSupportedLibrary()
        return try claiming(directory) { claims throws(LMDBError) in
            // A file whose creation was interrupted has nothing to read.
            guard try DataFile.find(in: directory, evidenceName: options.evidenceName) == .present
            else { throw LMDBError(.openEnvironment, .missing) }
            let file = try DataFile(in: directory, forWriting: false)
            try claims.add(file.identity)
            let share = try SharedReadLock(in: directory, file)
            while true {
                let isShared = try share.enter()
                defer { if isShared { share.leave() } }
                let opened =
                    isShared
                    ? try openedWithoutWriter(file, directory, options)
                    : try openedBesideWriter(file, directory, options)
                guard let opened else { continue }
                return try Environment(
                    handle: opened, directory: directory, file: file, isReadOnly: true,
                    options: options, claims: claims.files, lock: nil,
                    share: isShared ? share : nil, anchor: share)
            }
        }
    }

    /// Returns a new LMDB handle for reading, while a ``SharedReadLock`` excludes writers. LMDB's lock file is
    /// not used.
    static func openedWithoutWriter(
        _ file: DataFile, _ directory: String, _ options: Options
    ) throws(LMDBError) -> OpaquePointer {
        try opened(
            file, directory, flags: UInt32(MDB_NOTLS | MDB_RDONLY | MDB_NOLOCK), options: options)
    }

    /// Returns a new LMDB handle for reading beside a writer; nil if a writer was killed while it opened the
    /// environment. Then the caller asks again whether one is there.
    static func openedBesideWriter(
        _ file: DataFile, _ directory: String, _ options: Options
    ) throws(LMDBError) -> OpaquePointer? {
        guard try requireSafeLockFile(in: directory) != nil else {
            throw LMDBError(.openEnvironment, .unsafeFile(lockFileName, .missing))
        }
        let flags = UInt32(MDB_NOTLS | MDB_RDONLY)
        let handle = try openedWithLockFile(file, directory, flags, options)
        // A process that is not ours may keep the lock file for some time.
        if handle == nil { usleep(1_000) }
        return handle
    }

    /// Returns a new LMDB handle that uses LMDB's lock file; nil if that is unfinished.
    private static func openedWithLockFile(
        _ file: DataFile, _ directory: String, _ flags: UInt32, _ options: Options
    ) throws(LMDBError) -> OpaquePointer? {
        let handle = try opened(file, directory, flags: flags, options: options)
        guard hasFinishedLockFile(handle) else {
            mdb_env_close(handle)
            return nil
        }
        return handle
    }

    /// Whether LMDB's lock file names a commit, or the data file has none.
    ///
    /// The first process that opens an environment resets the lock file to commit 0, and writes the last
    /// commit into it when it has opened the data file. If it is killed between, a process that waits for it
    /// takes the lock file as it is (mdb_env_setup_locks and mdb_env_open in mdb.c). Then a reader would miss
    /// its commit, and a writer would begin with commit 1 again. Once all have closed it, the next process
    /// resets it. If no read can begin, the first read says why.
    private static func hasFinishedLockFile(_ handle: OpaquePointer) -> Bool {
        var info = MDB_envinfo()
        var transaction: OpaquePointer?
        mdb_env_info(handle, &info)
        guard info.me_last_txnid > 0,
            mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction) == 0
        else { return true }
        defer { mdb_txn_abort(transaction) }
        return mdb_txn_id(transaction) > 0
    }

    /// Checks that ``open(_:options:)`` can create the directory, or a log in it. Changes nothing.
    /// - Throws: `.notADirectory`; `.foreignFiles`; `.system` if permissions are missing.
    package static func requireCreatable(_ directory: String) throws(LMDBError) {
        switch try Platform.kind(of: directory).0 {
        case .absent:
            let parent = Platform.parent(of: directory)
            if try Platform.kind(of: parent).0 == .absent { return try requireCreatable(parent) }
            try Platform.requireWritable(parent)
        case .directory:
            try Platform.requireWritable(directory)
            try DataFile.requireNoForeignFiles(in: directory)
        case .other: throw LMDBError(.openEnvironment, .notADirectory)
        }
    }

    /// What an opening has claimed in ``OpenFiles`` so far.
    private final class Claims {
        private(set) var files: [FileStatus.Identity] = []

        func add(_ file: FileStatus.Identity) throws(LMDBError) {
            try OpenFiles.claim(file)
            files.append(file)
        }
    }

    /// Claims the directory for this process and calls `open`. Releases all claims if `open`
    /// throws.
    private static func claiming(
        _ directory: String, _ open: (Claims) throws(LMDBError) -> Environment
    ) throws(LMDBError) -> Environment {
        let (kind, identity) = try Platform.kind(of: directory)
        switch kind {
        case .absent: throw LMDBError(.openEnvironment, .missing)
        case .other: throw LMDBError(.openEnvironment, .notADirectory)
        case .directory: break
        }
        let claims = Claims()
        try claims.add(identity)
        do {
            return try open(claims)
        } catch {
            OpenFiles.release(claims.files)
            throw error.classified(at: directory)
        }
    }

    private static func opened(
        _ file: DataFile, _ directory: String, flags: UInt32, options: Options
    ) throws(LMDBError) -> OpaquePointer {
        try requireSoundMetas(file.path)
        var created: OpaquePointer?
        var code = mdb_env_create(&created)
        guard code == 0, let handle = created else {
            throw LMDBError(.openEnvironment, code: code)
        }
        // The map has at least twice the file's size, so that the log has room to grow.
        let bytes = try FileStatus(of: file.descriptor).bytes
        var size = options.mapSizeBytes
        while size < bytes * 2 { size *= 2 }
        mdb_env_set_mapsize(handle, size)
        mdb_env_set_maxdbs(handle, UInt32(options.tablesMax))
        code = mdb_env_open(handle, directory, flags, 0o600)
        guard code == 0 else {
            mdb_env_close(handle)
            throw LMDBError(.openEnvironment, code: code)
        }
        do throws(LMDBError) { try requireSameFile(handle, file) } catch {
            mdb_env_close(handle)
            throw error
        }
        return handle
    }

    /// Checks that LMDB opened the file that this process has locked, and not another file that got
    /// its name since then.
    private static func requireSameFile(
        _ handle: OpaquePointer, _ file: DataFile
    ) throws(LMDBError) {
        var descriptor: Int32 = -1
        try check(mdb_env_get_fd(handle, &descriptor), .openEnvironment, nil)
        guard try FileStatus(of: descriptor).identity == file.identity else {
            throw LMDBError(.openEnvironment, .fileLost(.replaced))
        }
    }

    /// Checks the meta pages, because LMDB follows the newer page without a check.
    ///
    /// If they look damaged, this reads them again: a writing process may have changed one page
    /// after the other was read. Damage that two equal reads show is real.
    private static func requireSoundMetas(_ file: String) throws(LMDBError) {
        guard var metas = try MetaPages(file) else { return }
        while true {
            do throws(LMDBError) { return try metas.requireSound() } catch {
                guard let again = try MetaPages(file), !again.isSame(as: metas) else { throw error }
                metas = again
            }
        }
    }

    /// Returns whether this version of liblmdb is safe: 0.9.24, 0.9.25, and 0.9.32 or later of 0.9.
    ///
    /// Versions 0.9.26 to 0.9.31 destroy shared mutexes on closing (OpenLDAP ITS#9278, reverted in
    /// 0.9.32 by ITS#10095). With them, a second process that reads the log can break the first
    /// process. Version 1.x has a different file format. Source: LMDB's CHANGES, branches
    /// mdb.RE/0.9 and mdb.RE/1.0.
    package static func isSupported(major: Int32, minor: Int32, patch: Int32) -> Bool {
        (major, minor) == (0, 9) && (24...25 ~= patch || patch >= 32)
    }

    private static func requireSupportedLibrary() throws(LMDBError) {
        var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
        mdb_version(&major, &minor, &patch)
        guard isSupported(major: major, minor: minor, patch: patch) else {
            throw LMDBError(
                .openEnvironment, .unsupportedLibrary(version: "\(major).\(minor).\(patch)"))
        }
    }
}
