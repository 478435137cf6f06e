import CLMDB

extension Environment {
    /// Opens the environment in `directory` for this process alone, creating both where they are
    /// missing: the directory synced into its parent, everything for its owner only (L10).
    ///
    /// A process killed anywhere in here leaves a directory that opens.
    /// - Throws: nothing is left open or locked.
    package static func open(
        _ directory: String, options: Options = Options()
    ) throws(LMDBError) -> Environment {
        try requireSupportedLibrary()
        if Platform.kind(of: directory).0 == .absent { try Platform.createDirectory(directory) }
        let claim = try claim(directory)
        do throws(LMDBError) {
            let lock = try WriterLock.exclusive(in: directory)
            var flags = UInt32(MDB_NOTLS)
            if options.relaxed { flags |= UInt32(MDB_NOMETASYNC) }
            let handle = try opened(directory, flags: flags, options: options)
            // Slots of readers that died: their pages could never be reused (lmdb.h, caveats).
            var dead: Int32 = 0
            mdb_reader_check(handle, &dead)
            return Environment(
                handle: handle, directory: directory, isReadOnly: false, options: options,
                claim: claim, lock: lock)
        } catch {
            OpenDirectories.release(claim)
            throw error
        }
    }

    /// Opens an existing environment to look at it; the data file stays byte for byte as it is (L9).
    ///
    /// One that nobody holds is opened without LMDB's lock file and nothing is created; one that a
    /// process is writing costs a reader slot there, given back on closing.
    package static func openReadOnly(
        _ directory: String, options: Options = Options()
    ) throws(LMDBError) -> Environment {
        try requireSupportedLibrary()
        let claim = try claim(directory)
        do throws(LMDBError) {
            guard Platform.fileSize("\(directory)/data.mdb") != nil else {
                throw LMDBError(.openEnvironment, .missing)
            }
            let share = WriterLock.shared(in: directory)
            let lockFlag = share.isHeldByWriter ? 0 : UInt32(MDB_NOLOCK)
            let handle = try opened(
                directory, flags: UInt32(MDB_NOTLS | MDB_RDONLY) | lockFlag, options: options)
            return Environment(
                handle: handle, directory: directory, isReadOnly: true, options: options,
                claim: claim, lock: share.lock)
        } catch {
            OpenDirectories.release(claim)
            throw error
        }
    }

    private static func claim(_ directory: String) throws(LMDBError) -> OpenDirectories.Key {
        let (kind, device, inode) = Platform.kind(of: directory)
        switch kind {
        case .absent: throw LMDBError(.openEnvironment, .missing)
        case .other: throw LMDBError(.openEnvironment, .notADirectory)
        case .directory: break
        }
        let key = OpenDirectories.Key(device: device, inode: inode)
        try OpenDirectories.claim(key)
        return key
    }

    private static func opened(
        _ directory: String, flags: UInt32, options: Options
    ) throws(LMDBError) -> OpaquePointer {
        var created: OpaquePointer?
        var code = mdb_env_create(&created)
        guard code == 0, let handle = created else {
            throw LMDBError(.openEnvironment, code: code)
        }
        // A log that has grown starts with room to grow on.
        let file = Int(Platform.fileSize("\(directory)/data.mdb") ?? 0)
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

    /// 0.9.26 to 0.9.31 destroy shared mutexes on closing (OpenLDAP ITS#9278, taken back in 0.9.32 by
    /// ITS#10095): a second process that looks at the log can break the first. 1.x has another file
    /// format. Both from LMDB's CHANGES, branches mdb.RE/0.9 and mdb.RE/1.0.
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
