import FoldbackLMDB

extension LMDBLog {
    /// Opens the log for writing, and creates it if it does not exist.
    ///
    /// If the process is killed at any point of the call, the directory still opens afterwards. If
    /// the data file was copied or restored, the log gets a fresh replica id before anything is
    /// recorded (L11).
    ///
    /// - Parameters:
    ///   - kind: The kind that an existing log must have; nil accepts any kind.
    ///   - newKind: The kind of a log that is created.
    ///   - replica: The replica id of a log that is created.
    ///   - firstWrites: The writes of the transaction that creates a log.
    ///   - newBase: Where a log that is created begins, if it is the compacted form of another.
    ///   - earlier: The replicas of entries to be imported, in order. If there are any, the log
    ///     must not have entries yet.
    ///   - isSameLog: Whether a copied log goes on as the log that it was copied from, because it is to
    ///     take that log's place.
    ///   - freshReplica: Returns a replica id that no other log has.
    /// - Throws: `.kindDiffers`; `.notEmpty` if `earlier` has replicas and the log has entries;
    ///   `.locked`, `.notALog`, `.unsafeFile`, `.damaged`, `.newerFormat`, `.storage`.
    package static func open(
        _ path: String, kind: LogKind?, newKind: LogKind, replica: NewReplica,
        newBase: LogBase? = nil,
        earlier: [ReplicaID] = [], options: Environment.Options,
        firstWrites: [TableWrite] = [], isSameLog: Bool = false, freshReplica: () -> ReplicaID
    ) throws(LogError) -> LMDBLog {
        let environment = try translating(path) { () throws(LMDBError) in
            try Environment.open(path, options: options)
        }
        let (file, marker) = try translating(path) { () throws(LMDBError) in
            (try Platform.mark(ofFile: "\(path)/data.mdb") ?? .none, try CopyMarker(path))
        }
        let mark = marker.found
        let existing = try header(in: environment)
        var header: LogHeader
        if let existing {
            header = existing
        } else {
            let id = try replica.id(freshReplica)
            header = LogHeader(
                kind: newKind, replicas: ReplicaTable([id]), file: file, marks: [mark])
            header.isCompacted = newBase != nil
        }
        if let kind, kind != header.kind {
            throw .kindDiffers(path: path, existing: header.kind, asked: kind)
        }
        if header.file != file || !header.marks.contains(mark) {
            header.file = file
            header.marks = [mark]
            if !isSameLog {
                header.replicas = ReplicaTable(header.replicas.names + [freshReplica()])
            }
        }
        if !earlier.isEmpty {
            // Check before the replica table changes, because records name replicas by their places
            // in it.
            try requireNoEntries(in: environment)
            let own = header.replicas.names.filter { !earlier.contains($0) }
            header.replicas = ReplicaTable(earlier + (own.isEmpty ? [freshReplica()] : own))
        }
        let base =
            try existing.map { e throws(LogError) in try self.base(of: e, in: environment) }
            ?? newBase
        let isCompacted = header.isCompacted
        let bytes = header == existing ? nil : header.encoded()
        return try translating(path) { () throws(LMDBError) in
            let tables = try environment.write { transaction throws(LMDBError) in
                let log: Table<String> = try transaction.table(Self.headerTable)
                if let bytes { try transaction.put(bytes, at: LogHeader.key, in: log) }
                var tables: [Table<LogKey>?] = []
                for table in LogTable.allCases {
                    // A log that was never compacted stays as older code made it.
                    let isMissing = table == .kept && !isCompacted
                    tables.append(isMissing ? nil : try transaction.table(table.name))
                }
                let opened = Tables(log: log, all: tables)
                let baseRow = newBase.map { TableWrite(.log, .bytes(LogBase.key), $0.encoded) }
                for write in existing == nil ? firstWrites + [baseRow].compactMap(\.self) : [] {
                    try LMDBLog.perform(write, in: opened, transaction)
                }
                return opened
            }
            // Without this, a power cut could lose the names of the files, and the name of the
            // directory. An earlier process may have created or exchanged the directory and died
            // before it flushed the name (L10, N6).
            try Platform.syncDirectory(path)
            try Platform.syncParent(of: path)
            return LMDBLog(
                environment: environment, header: header, base: base, tables: tables,
                marker: marker)
        }
    }

    /// Opens an existing log for maintenance by this process alone.
    ///
    /// - Throws: `.missing`; as ``open(_:kind:newKind:replica:newBase:earlier:options:firstWrites:isSameLog:freshReplica:)``.
    package static func openExisting(
        _ path: String, isSameLog: Bool = false, freshReplica: () -> ReplicaID
    ) throws(LogError) -> LMDBLog {
        // The other call would create it.
        try openReadOnly(path).close()
        return try open(
            path, kind: nil, newKind: .acknowledgement, replica: .random,
            options: Durability.durable.options, isSameLog: isSameLog, freshReplica: freshReplica)
    }

    /// Creates a log, and fills it with `fill`. Runs on its own thread.
    ///
    /// - Parameter earlier: As in
    ///   ``open(_:kind:newKind:replica:newBase:earlier:options:firstWrites:isSameLog:freshReplica:)``.
    package static func create(
        _ path: String, kind: LogKind, earlier: [ReplicaID],
        fill: @escaping @Sendable (LMDBLog) throws(LogError) -> Void
    ) async throws(LogError) {
        try await Platform.onThread { () throws(LogError) in
            let log = try open(
                path, kind: kind, newKind: kind, replica: .random, earlier: earlier,
                options: Durability.durable.options,
                freshReplica: LogSources.system.freshReplica)
            defer { log.close() }
            try fill(log)
        }
    }

    /// Checks whether ``open(_:kind:newKind:replica:newBase:earlier:options:firstWrites:isSameLog:freshReplica:)``
    /// would succeed for an import. Changes nothing.
    ///
    /// - Throws: The errors of that call, as far as they can be known now.
    package static func checkImport(into path: String, of kind: LogKind) throws(LogError) {
        let log: LMDBLog
        do throws(LogError) { log = try openReadOnly(path) } catch {
            guard case .missing = error else { throw error }
            return try translating(path) { () throws(LMDBError) in
                try Environment.requireCreatable(path)
            }
        }
        defer { log.close() }
        guard log.header.kind == kind else {
            throw .kindDiffers(path: path, existing: log.header.kind, asked: kind)
        }
        try requireNoEntries(in: log.environment)
        guard !log.environment.isBeingWritten else {
            throw .locked(path: path, holder: .process(nil))
        }
    }

    private static func requireNoEntries(in environment: Environment) throws(LogError) {
        let path = environment.directory
        let count = try translating(path) { () throws(LMDBError) in
            try environment.read { transaction throws(LMDBError) in
                let entries: Table<LogKey>? = try transaction.table(LogTable.entries.name)
                return try entries.map { entries throws(LMDBError) in
                    try transaction.count(of: entries)
                } ?? 0
            }
        }
        guard count == 0 else { throw .notEmpty(path: path, entryCount: count) }
    }

    /// Opens an existing log for reading only. Creates and changes nothing (L9).
    ///
    /// - Throws: `.missing` if the directory has no log; `.notALog`, `.unsafeFile`, `.damaged`,
    ///   `.newerFormat`, `.storage`.
    package static func openReadOnly(_ path: String) throws(LogError) -> LMDBLog {
        try reading(
            try translating(path) { () throws(LMDBError) in try Environment.openReadOnly(path) })
    }

    /// Returns the log of an environment that is only read.
    ///
    /// - Throws: as ``openReadOnly(_:)``.
    package static func reading(_ environment: Environment) throws(LogError) -> LMDBLog {
        let path = environment.directory
        guard let header = try header(in: environment) else { throw .missing(path: path) }
        let tables = try translating(path) { () throws(LMDBError) in
            try environment.read { transaction throws(LMDBError) -> Tables? in
                guard let log: Table<String> = try transaction.table(Self.headerTable) else {
                    return nil
                }
                var all: [Table<LogKey>?] = []
                for table in LogTable.allCases {
                    all.append(try transaction.table(table.name))
                }
                let tables = Tables(log: log, all: all)
                // A log of an older Foldback may lack the other tables.
                return tables[.entries] == nil || tables[.verdicts] == nil ? nil : tables
            }
        }
        guard let tables else { throw .missing(path: path) }
        return LMDBLog(
            environment: environment, header: header,
            base: try base(of: header, in: environment), tables: tables, marker: nil)
    }

    /// Returns the row that says where a compacted log begins; nil for other logs.
    private static func base(
        of header: LogHeader, in environment: Environment
    ) throws(LogError) -> LogBase? {
        guard header.isCompacted else { return nil }
        let path = environment.directory
        let found = try translating(path) { () throws(LMDBError) in
            try environment.read { transaction throws(LMDBError) -> [UInt8]? in
                let log: Table<LogKey>? = try transaction.table(headerTable)
                return try log.flatMap { log throws(LMDBError) in
                    try transaction.get(log, .bytes(LogBase.key)) { Array(copying: $0) }
                }
            }
        }
        guard let found else {
            throw .damaged(path: path, sequence: nil, reason: "the row base is missing")
        }
        do throws(FormatError) { return try LogBase(decoding: found) } catch {
            throw LogError(error, at: "\(path), table log, base", sequence: nil)
        }
    }

    private static let headerTable = "log"

    private enum Found {
        case nothing, foreign
        /// Foldback's tables, without the named table or header.
        case lacking(String)
        case header([UInt8])
    }

    /// Returns the header; nil if nothing was ever written, because the log is new or its creation
    /// was interrupted.
    private static func header(in environment: Environment) throws(LogError) -> LogHeader? {
        let path = environment.directory
        let found = try translating(path) { () throws(LMDBError) in
            try environment.read { transaction throws(LMDBError) -> Found in
                try self.found(in: transaction)
            }
        }
        switch found {
        case .nothing: return nil
        case .foreign: throw .notALog(path: path, reason: "another program made its LMDB file")
        case .lacking(let what):
            throw .damaged(path: path, sequence: nil, reason: "\(what) is missing")
        case .header(let bytes):
            do throws(FormatError) {
                return try LogHeader(decoding: bytes)
            } catch {
                throw LogError(error, at: "\(path), the header", sequence: nil)
            }
        }
    }

    private static func found(
        in transaction: borrowing ReadTransaction
    ) throws(LMDBError) -> Found {
        if transaction.isEmptyEnvironment() { return .nothing }
        let log: Table<String>? = try transaction.table(headerTable)
        let entries: Table<LogKey>? = try transaction.table(LogTable.entries.name)
        let verdicts: Table<LogKey>? = try transaction.table(LogTable.verdicts.name)
        switch (log, entries, verdicts) {
        case (nil, nil, nil): return .foreign
        case (nil, _, _): return .lacking("table \(headerTable)")
        case (_, nil, _): return .lacking("table \(LogTable.entries)")
        case (_, _, nil): return .lacking("table \(LogTable.verdicts)")
        case (let log?, _, _):
            let bytes = try transaction.get(log, LogHeader.key) { Array(copying: $0) }
            return bytes.map { .header($0) } ?? .lacking("the header")
        }
    }

    package static func translating<R>(
        _ path: String, _ body: () throws(LMDBError) -> R
    ) throws(LogError) -> R {
        do { return try body() } catch { throw LogError(error, at: path) }
    }
}
