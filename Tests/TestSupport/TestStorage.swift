import Foldback
import FoldbackLMDB
import Foundation

/// A log in memory that waits and fails on request.
package final class TestStorage: ForwardingLog {
    private struct Plan {
        var isHolding = false
        var isHeld = false
        var failure: Bool?
        var writesAllTheSame = false
        var refuses: (@Sendable (RecordedIntent) -> Bool)?
        var sizes: [Int] = []
        var syncs = 0
        var failsSyncs = false
        var reason = StorageFailure.Reason.system(errno: EIO)
    }

    package let log = MemoryLog(kind: .acknowledgement, replica: ReplicaID("me")!)
    private let plan = Monitor(Plan())

    package var writeSizes: [Int] { plan.withLock { $0.sizes } }

    package init() {}

    /// A store over this storage, with a writer's thread.
    package func store<P: EventFold>(
        _ projection: P.Type, also: [AdditionalProjection<P.Event>] = []
    ) async throws(LogError) -> Store<P> {
        let core = try await StoreCore.open(
            codec: AppCodec(codec: P.codec), projections: ProjectionSet(projection, also),
            clock: LogSources.counting().now, policy: .manual
        ) { () throws(LogError) in self }
        return Store(core: core)
    }

    package func holdWrites() { plan.withLock { ($0.isHolding, $0.isHeld) = (true, false) } }
    /// Waits without blocking a thread of Swift's pool, because the writer may need it.
    package func waitUntilHeld() async {
        while !plan.withLock({ $0.isHeld }) { await Task.yield() }
    }
    package func releaseWrites() {
        plan.withLock { $0.isHolding = false }
        plan.wakeAll()
    }
    /// - Parameter writingAnyway: writes the batch although it reports a failure.
    package func failWrites(
        leavingOutcomeUnknown: Bool?, writingAnyway: Bool = false,
        _ reason: StorageFailure.Reason = .system(errno: EIO)
    ) {
        plan.withLock {
            $0.failure = leavingOutcomeUnknown
            $0.reason = reason
            $0.writesAllTheSame = writingAnyway
        }
    }

    /// Lets every transaction with this intent fail with a known outcome.
    package func refuse(_ number: IntentNumber?) {
        refuse { $0.number == number }
    }

    /// Lets every transaction with such an intent fail with a known outcome.
    package func refuse(_ refuses: @escaping @Sendable (RecordedIntent) -> Bool) {
        plan.withLock { $0.refuses = refuses }
    }

    package func write(_ writes: [TableWrite]) throws(StorageFailure) {
        plan.withLock { $0.isHeld = true }
        plan.wakeAll()
        _ = plan.wait { $0.isHolding ? nil : () }
        var (failure, refuses) = plan.withLock { ($0.failure, $0.refuses) }
        let records = writes.filter { $0.table == .entries }
        for write in records where refuses != nil {
            let record = try? Record.decoded(
                write.value ?? [], at: LogSequence(write.key.number), predecessor: nil,
                replicas: header.replicas, codec: RawCodec())
            guard case .intent(let intent) = record?.record.entry else { continue }
            if refuses?(intent) == true { failure = false }
        }
        refuses = nil
        if let failure {
            if plan.withLock({ $0.writesAllTheSame }) { try log.write(writes) }
            throw StorageFailure(
                path: path, reason: plan.withLock { $0.reason }, detail: "on purpose",
                leavesOutcomeUnknown: failure)
        }
        if !records.isEmpty { plan.withLock { $0.sizes.append(records.count) } }
        try log.write(writes)
    }

    /// Commits an entry without the store.
    package func commitUnpublished(_ entry: Entry, at sequence: LogSequence) throws(StorageFailure)
    {
        let record = Record(
            stamp: Stamp(sequence: sequence, time: Timestamp(millisecondsSince1970: 0)),
            replica: header.replicas.current, info: [:], entry: entry)
        var batch = WriteBatch()
        _ = batch.writeRecord(record, predecessor: 0, replicas: header.replicas)
        try log.write(batch)
    }

    /// Replaces the bytes of a confirmed cell of the first ``RowBoard``.
    package func damage(_ cell: String) throws(StorageFailure) {
        try writeRow(Array("1 and some bytes".utf8), at: Self.key(of: cell))
    }

    /// Writes a cell of the first ``RowBoard`` without an entry.
    package func forge(_ cell: String, _ value: Int) throws(StorageFailure) {
        let key = Self.key(of: cell)
        try writeRow(StoredRow.sealed(Array("\(value)".utf8), at: key), at: key)
    }

    private static func key(of cell: String) -> KeyBytes {
        KeyBytes(cell.bytes(after: [0, 0, 0, 1, 0, 0]))
    }

    private func writeRow(_ bytes: [UInt8], at key: KeyBytes) throws(StorageFailure) {
        var batch = WriteBatch()
        batch.writeRow(bytes, at: key)
        try log.write(batch)
    }

    package var isRelaxed: Bool { true }
    package var syncCount: Int { plan.withLock { $0.syncs } }

    package func failSyncs() { plan.withLock { $0.failsSyncs = true } }

    package func sync() throws(StorageFailure) {
        let fails = plan.withLock { plan in
            plan.syncs += 1
            return plan.failsSyncs
        }
        guard fails else { return }
        throw StorageFailure(
            path: path, reason: .system(errno: EIO), detail: "on purpose",
            leavesOutcomeUnknown: true)
    }
}
