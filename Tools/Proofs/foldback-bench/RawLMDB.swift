import CLMDB
import Foldback
import FoldbackLMDB
import Foundation

/// Plain LMDB: the baseline for the cost of Foldback's own work.
///
/// It has the log's tables, keys, flags and bytes, one thread, and a map that is large enough from
/// the start. It is as durable as the log: `MDB_NOTLS`, with `MDB_NOMETASYNC` if relaxed; never
/// `MDB_NOSYNC`, `MDB_WRITEMAP` or `MDB_MAPASYNC` (L2).
struct RawLMDB {
    private let environment: OpaquePointer
    private let entries: MDB_dbi
    private let verdicts: MDB_dbi
    private let attempts: MDB_dbi

    private static let mapSizeBytes = 8 << 30

    init(creating directory: String, _ durability: Durability) throws {
        var created: OpaquePointer?
        try check(mdb_env_create(&created))
        guard let created else { throw RawFailure(code: ENOMEM) }
        environment = created
        do {
            try check(mdb_env_set_mapsize(created, Self.mapSizeBytes))
            try check(mdb_env_set_maxdbs(created, 16))
            var flags = UInt32(MDB_NOTLS)
            if durability == .relaxed { flags |= UInt32(MDB_NOMETASYNC) }
            try check(mdb_env_open(created, directory, flags, 0o600))
            let transaction = try Self.begun(in: created)
            entries = try Self.table("entries", in: transaction)
            verdicts = try Self.table("verdicts", in: transaction)
            attempts = try Self.table("attempts", in: transaction)
            try check(mdb_txn_commit(transaction))
        } catch {
            mdb_env_close(created)
            throw error
        }
    }

    func close() { mdb_env_close(environment) }

    /// Appends records, and puts a verdict for each if `rows` is not empty, in one transaction.
    func commit(
        _ records: ArraySlice<[UInt8]>, from sequence: UInt64, verdicts rows: ArraySlice<[UInt8]>
    ) throws {
        try withTransaction { transaction in
            var key = sequence
            for record in records {
                try Self.put(
                    record, at: key, in: entries, transaction, flags: UInt32(MDB_APPEND))
                key += 1
            }
            key = sequence
            for row in rows {
                try Self.put(row, at: key, in: verdicts, transaction, flags: 0)
                key += 1
            }
        }
    }

    /// One write of a transaction.
    enum Write: Sendable {
        /// Appends a record at a sequence that is higher than all before.
        case record([UInt8], at: UInt64)
        case verdict([UInt8], of: UInt64)
        case attempt([UInt8], of: UInt64)
        case removeAttempt(of: UInt64)
    }

    /// Carries out writes in their order, in one transaction.
    func commit(_ writes: [Write]) throws {
        try withTransaction { transaction in
            for write in writes {
                switch write {
                case .record(let record, let key):
                    try Self.put(
                        record, at: key, in: entries, transaction, flags: UInt32(MDB_APPEND))
                case .verdict(let row, let key):
                    try Self.put(row, at: key, in: verdicts, transaction, flags: 0)
                case .attempt(let row, let key):
                    try Self.put(row, at: key, in: attempts, transaction, flags: 0)
                case .removeAttempt(let key):
                    try Self.remove(key, from: attempts, transaction)
                }
            }
        }
    }

    private func withTransaction(_ body: (OpaquePointer) throws -> Void) throws {
        let transaction = try Self.begun(in: environment)
        do { try body(transaction) } catch {
            mdb_txn_abort(transaction)
            throw error
        }
        try check(mdb_txn_commit(transaction))
    }

    static func begun(
        in environment: OpaquePointer, flags: UInt32 = 0
    ) throws -> OpaquePointer {
        var transaction: OpaquePointer?
        try check(mdb_txn_begin(environment, nil, flags, &transaction))
        guard let transaction else { throw RawFailure(code: ENOMEM) }
        return transaction
    }

    static func table(
        _ name: String, in transaction: OpaquePointer
    ) throws -> MDB_dbi {
        var table = MDB_dbi()
        try check(mdb_dbi_open(transaction, name, UInt32(MDB_CREATE), &table))
        return table
    }

    private static func put(
        _ value: [UInt8], at key: UInt64, in table: MDB_dbi, _ transaction: OpaquePointer,
        flags: UInt32
    ) throws {
        let code = withUnsafeBytes(of: key.bigEndian) { key in
            value.withUnsafeBytes { value in
                var key = MDB_val(reading: key)
                var value = MDB_val(reading: value)
                return mdb_put(transaction, table, &key, &value, flags)
            }
        }
        try check(code)
    }

    private static func remove(
        _ key: UInt64, from table: MDB_dbi, _ transaction: OpaquePointer
    ) throws {
        let code = withUnsafeBytes(of: key.bigEndian) { key in
            var key = MDB_val(reading: key)
            return mdb_del(transaction, table, &key, nil)
        }
        try check(code)
    }
}

extension MDB_val {
    /// LMDB's API needs a mutable pointer, and LMDB does not write through it.
    init(reading bytes: UnsafeRawBufferPointer) {
        self.init(
            mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }
}

func check(_ code: Int32) throws {
    guard code == MDB_SUCCESS else { throw RawFailure(code: code) }
}

struct RawFailure: Error, CustomStringConvertible {
    let code: Int32
    var description: String { "raw LMDB: \(String(cString: mdb_strerror(code)))" }
}

// MARK: Records and speed

/// Records as Foldback encodes them, and the verdicts of the records that settle an intent.
struct EncodedRecords: Sendable {
    let records: [[UInt8]]
    let verdicts: [[UInt8]]

    /// Intents with ``Events/raw``.
    static func intents(count: Int) -> EncodedRecords {
        of(count) { number in
            let intent = RecordedIntent(
                id: IntentID(replica: replica, number: number),
                payload: Payload(
                    bytes: Events.raw[Int(number.value) % Events.raw.count],
                    format: IdentityCodec().format, content: .unreadable("not read")),
                isConfirmOnly: false, once: nil, retries: nil, info: [:],
                sequence: LogSequence(number.value), time: time)
            return (.intent(intent), nil)
        }
    }

    /// Acknowledgements that settle their intent, as in an acknowledgement log.
    static func acknowledgements(count: Int) -> EncodedRecords {
        of(count) { number in
            let answer = Acknowledged(
                number: number, position: nil, replacement: nil, settles: true)
            let row = SettlementRow(
                settlement: .confirmed, intentSequence: LogSequence(number.value),
                settlementSequence: LogSequence(number.value + UInt64(count)))
            return (.acknowledged(answer), row.encoded(for: number))
        }
    }

    private static let replica = LogSources.system.freshReplica()
    private static let time = LogSources.system.now()

    private static func of(
        _ count: Int, _ entry: (IntentNumber) -> (Entry, verdict: [UInt8]?)
    ) -> EncodedRecords {
        let replicas = ReplicaTable([replica])
        var records: [[UInt8]] = []
        var verdicts: [[UInt8]] = []
        var chain: UInt64 = 0
        for number in 1...UInt64(count) {
            let (entry, verdict) = entry(IntentNumber(number))
            let record = Record(
                stamp: Stamp(sequence: LogSequence(number), time: time), replica: replica,
                info: [:], entry: entry)
            let encoded = record.encoded(predecessor: chain, replicas: replicas)
            chain = encoded.checksum
            records.append(encoded.bytes)
            if let verdict { verdicts.append(verdict) }
        }
        return EncodedRecords(records: records, verdicts: verdicts)
    }

    /// Writes the records to a new environment, `perTransaction` in each transaction, on a thread
    /// that may block.
    func pace(
        in directory: URL, _ durability: Durability, perTransaction: Int, upTo limit: Limit
    ) async throws -> Pace {
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: false)
        let path = directory.path
        return try await Platform.onThread { () throws(any Error) in
            let raw = try RawLMDB(creating: path, durability)
            defer { raw.close() }
            return try pace(of: raw, perTransaction, limit)
        }
    }

    private func pace(
        of raw: RawLMDB, _ perTransaction: Int, _ limit: Limit
    ) throws -> Pace {
        let clock = ContinuousClock()
        let countMax = min(limit.count, records.count) - perTransaction
        var latencies: [Duration] = []
        latencies.reserveCapacity(limit.count / perTransaction)
        var done = 0
        let start = clock.now
        let end = start + limit.time
        var last = start
        while done <= countMax, last < end {
            let range = done..<done + perTransaction
            try raw.commit(
                records[range], from: UInt64(done) + 1,
                verdicts: verdicts.isEmpty ? [] : verdicts[range])
            done += perTransaction
            let now = clock.now
            latencies.append(now - last)
            last = now
        }
        return Pace(count: done, elapsed: last - start, latencies: latencies)
    }
}

/// The end of one round of a load: the first of the two limits that is reached.
struct Limit: Sendable {
    let count: Int
    let time: Duration
}
