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
        if try Platform.kind(of: directory).0 == .absent { try Platform.createDirectory(directory) }
        return try claiming(directory) { claim throws(LMDBError) in
            let lock = try WriterLock.exclusive(in: directory)
            if try Platform.fileSize("\(directory)/\(options.evidenceName)") == nil {
                try Platform.discardUnfinished("\(directory)/data.mdb")
            }
            // LMDB makes its lock file sparse and writes to it through a map: on a full disk the process
            // would die of that.
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

    /// What LMDB 0.9 needs for its default of 126 readers, 64 bytes each behind a header (mdb.c).
    private static let lockFileBytes = 8_192

    /// Opens an existing environment to look at it; the data file stays byte for byte as it is (L9).
    ///
    /// One that nobody holds is read without LMDB's lock file and nothing is created; once a process writes it,
    /// reading costs a slot there, given back on closing.
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

    /// - Parameter isShared: whether a ``SharedReadLock`` keeps writers away while somebody reads.
    static func openedReadOnly(
        _ directory: String, isShared: Bool, _ options: Options
    ) throws(LMDBError) -> OpaquePointer {
        let lockFlag = isShared ? UInt32(MDB_NOLOCK) : 0
        return try opened(
            directory, flags: UInt32(MDB_NOTLS | MDB_RDONLY) | lockFlag, options: options)
    }

    /// - Throws: where ``open(_:options:)`` could not create the directory, or a log in it. Changes nothing.
    package static func requireCreatable(_ directory: String) throws(LMDBError) {
        switch try Platform.kind(of: directory).0 {
        case .absent: try Platform.requireWritable(Platform.parent(of: directory))
        case .directory: try Platform.requireWritable(directory)
        case .other: throw LMDBError(.openEnvironment, .notADirectory)
        }
    }

    /// Opens while this process has the directory for itself, and gives it back if that fails.
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
        // A log that has grown starts with room to grow on.
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

    /// LMDB picks a meta page and follows it, whatever it says. Read twice where it looks wrong: a process
    /// that writes may have changed one after the other was read.
    private static func requireSoundMetas(_ file: String) throws(LMDBError) {
        guard var metas = try MetaPages(file) else { return }
        while true {
            do throws(LMDBError) { return try metas.requireSound() } catch {
                guard let again = try MetaPages(file), !again.isSame(as: metas) else { throw error }
                metas = again
            }
        }
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
