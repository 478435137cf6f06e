import CLMDB

extension Environment {
    /// Opens the environment in `directory` for this process alone.
    ///
    /// Creates the directory and the environment if they are missing. Files are for their owner
    /// only, and the directory's name is flushed to its parent (L10). If the process is killed
    /// during this call, the directory still opens later. May wait up to 2 s for readers of the
    /// closed log.
    /// - Throws: any ``LMDBError``. Nothing is left open or locked.
    package static func open(
        _ directory: String, options: Options = Options()
    ) throws(LMDBError) -> Environment {
        try requireSupportedLibrary()
        if try Platform.kind(of: directory).0 == .absent { try Platform.createDirectory(directory) }
        return try claiming(directory) { claim throws(LMDBError) in
            let lock = try WriterLock.exclusive(in: directory)
            if try Platform.fileSize("\(directory)/\(options.evidenceName)") == nil {
                try Platform.discardUnfinished("\(directory)/data.mdb")
            }
            // LMDB creates a sparse lock file and writes to it through a map. On a full disk, such
            // a write would kill the process.
            try Platform.fill("\(directory)/lock.mdb", toBytes: lockFileBytes)
            var flags = UInt32(MDB_NOTLS)
            if options.relaxed { flags |= UInt32(MDB_NOMETASYNC) }
            let handle = try opened(directory, flags: flags, options: options)
            let environment = try Environment(
                handle: handle, directory: directory, isReadOnly: false, options: options,
                claim: claim, lock: lock)
            environment.freeDeadReaders()
            do throws(LMDBError) { try environment.requireSoundStructure() } catch {
                environment.abandon()
                throw error
            }
            return environment
        }
    }

    /// The size of LMDB 0.9's lock file: a header, and 64 bytes for each of the 126 default readers
    /// (mdb.c).
    private static let lockFileBytes = 8_192

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
        return try claiming(directory) { claim throws(LMDBError) in
            guard try Platform.fileSize("\(directory)/data.mdb") ?? 0 > 0 else {
                throw LMDBError(.openEnvironment, .missing)
            }
            let share = try SharedReadLock(in: directory)
            let isShared = try share.enter()
            defer { if isShared { share.leave() } }
            let handle = try openedReadOnly(directory, isShared: isShared, options)
            return try Environment(
                handle: handle, directory: directory, isReadOnly: true, options: options,
                claim: claim, lock: nil, share: isShared ? share : nil)
        }
    }

    /// Returns a new LMDB handle for reading.
    ///
    /// - Parameter isShared: whether a ``SharedReadLock`` excludes writers during reads. Then
    ///   LMDB's lock file is not used.
    static func openedReadOnly(
        _ directory: String, isShared: Bool, _ options: Options
    ) throws(LMDBError) -> OpaquePointer {
        let lockFlag = isShared ? UInt32(MDB_NOLOCK) : 0
        return try opened(
            directory, flags: UInt32(MDB_NOTLS | MDB_RDONLY) | lockFlag, options: options)
    }

    /// Checks that ``open(_:options:)`` can create the directory, or a log in it. Changes nothing.
    /// - Throws: `.notADirectory`, or `.system` if permissions or the parent directory are missing.
    package static func requireCreatable(_ directory: String) throws(LMDBError) {
        switch try Platform.kind(of: directory).0 {
        case .absent: try Platform.requireWritable(Platform.parent(of: directory))
        case .directory: try Platform.requireWritable(directory)
        case .other: throw LMDBError(.openEnvironment, .notADirectory)
        }
    }

    /// Claims the directory for this process and calls `open`. Releases the claim if `open` throws.
    private static func claiming(
        _ directory: String,
        _ open: (OpenDirectories.Key) throws(LMDBError) -> Environment
    ) throws(LMDBError) -> Environment {
        let (kind, device, inode) = try Platform.kind(of: directory)
        switch kind {
        case .absent: throw LMDBError(.openEnvironment, .missing)
        case .other: throw LMDBError(.openEnvironment, .notADirectory)
        case .directory: break
        }
        let key = OpenDirectories.Key(device: device, inode: inode)
        try OpenDirectories.claim(key)
        do {
            return try open(key)
        } catch {
            OpenDirectories.release(key)
            throw error.classified(at: directory)
        }
    }

    private static func opened(
        _ directory: String, flags: UInt32, options: Options
    ) throws(LMDBError) -> OpaquePointer {
        try requireSoundMetas("\(directory)/data.mdb")
        var created: OpaquePointer?
        var code = mdb_env_create(&created)
        guard code == 0, let handle = created else {
            throw LMDBError(.openEnvironment, code: code)
        }
        // The map has at least twice the file's size, so that the log has room to grow.
        let file = try Int(Platform.fileSize("\(directory)/data.mdb") ?? 0)
        var size = options.mapSizeBytes
        while size < file * 2 { size *= 2 }
        mdb_env_set_mapsize(handle, size)
        mdb_env_set_maxdbs(handle, UInt32(options.tablesMax))
        code = mdb_env_open(handle, directory, flags, 0o600)
        guard code == 0 else {
            mdb_env_close(handle)
            throw LMDBError(.openEnvironment, code: code)
        }
        return handle
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
