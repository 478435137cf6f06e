import Foldback
import FoldbackLMDB
import Foundation

/// A log in memory that can be told to wait and to fail.
final class TestStorage: LogStorage {
    private struct Plan {
        var isHolding = false
        var isHeld = false
        var failure: Bool?
        var refused: IntentNumber?
        var sizes: [Int] = []
        var syncs = 0
    }

    private let log = MemoryLog(kind: .acknowledgement, replica: ReplicaID("me")!)
    private let plan = Monitor(Plan())

    var path: String { log.path }
    var header: LogHeader { log.header }
    var usedBytes: Int { log.usedBytes }
    var oldestReadNanoseconds: UInt64 { 0 }
    var writeSizes: [Int] { plan.withLock { $0.sizes } }

    func holdWrites() { plan.withLock { ($0.isHolding, $0.isHeld) = (true, false) } }
    func waitUntilHeld() { _ = plan.wait { $0.isHeld ? () : nil } }
    func releaseWrites() {
        plan.withLock { $0.isHolding = false }
        plan.wakeAll()
    }
    func failWrites(leavingOutcomeUnknown: Bool?) {
        plan.withLock { $0.failure = leavingOutcomeUnknown }
    }

    /// Whatever transaction has this intent cannot be, for a reason that leaves nothing open.
    func refuse(_ number: IntentNumber?) { plan.withLock { $0.refused = number } }

    func write(_ batch: WriteBatch) throws(StorageFailure) {
        plan.withLock { $0.isHeld = true }
        plan.wakeAll()
        _ = plan.wait { $0.isHolding ? nil : () }
        var (failure, refused) = plan.withLock { ($0.failure, $0.refused) }
        for (sequence, bytes) in batch.records where refused != nil {
            let record = try? Record.decoded(
                bytes, at: sequence, predecessor: nil, replicas: header.replicas, codec: RawCodec())
            guard case .intent(let intent) = record?.record.entry else { continue }
            if intent.number == refused { failure = false }
        }
        refused = nil
        if let failure {
            throw StorageFailure(
                path: path, reason: .system(errno: EIO), detail: "on purpose",
                leavesOutcomeUnknown: failure)
        }
        plan.withLock { $0.sizes.append(batch.records.count) }
        try log.write(batch)
    }

    /// Commits an entry that the store knows nothing of.
    func commitBehind(_ entry: Entry, at sequence: LogSequence) throws(StorageFailure) {
        let record = Record(
            stamp: Stamp(sequence: sequence, time: Timestamp(millisecondsSince1970: 0)),
            replica: header.replicas.current, info: [:], entry: entry)
        var batch = WriteBatch()
        batch.append(record.encoded(predecessor: 0, replicas: header.replicas).bytes, at: sequence)
        try log.write(batch)
    }

    var isRelaxed: Bool { true }
    var syncCount: Int { plan.withLock { $0.syncs } }

    func requireUsable() throws(FoldbackError) { try log.requireUsable() }
    func sync() throws(StorageFailure) { plan.withLock { $0.syncs += 1 } }
    func records(
        from start: LogSequence, countMax: Int
    ) throws(FoldbackError) -> [(LogSequence, [UInt8])] {
        try log.records(from: start, countMax: countMax)
    }
    func recordCount() throws(FoldbackError) -> Int { try log.recordCount() }
    func record(at sequence: LogSequence) throws(FoldbackError) -> [UInt8]? {
        try log.record(at: sequence)
    }
    func verdict(of number: IntentNumber) throws(FoldbackError) -> [UInt8]? {
        try log.verdict(of: number)
    }
    func verdicts(
        from start: IntentNumber
    ) throws(FoldbackError) -> [(IntentNumber, [UInt8])] {
        try log.verdicts(from: start)
    }
    func attempts(
        from start: IntentNumber
    ) throws(FoldbackError) -> [(IntentNumber, [UInt8])] {
        try log.attempts(from: start)
    }
    func scanCheckpoints(
        from start: CheckpointKey, _ body: (CheckpointKey, RawSpan) -> Bool
    ) throws(FoldbackError) {
        try log.scanCheckpoints(from: start, body)
    }
    func damagedPages() throws(FoldbackError) -> [(page: UInt64, what: String)] { [] }
    func close() { log.close() }
}
