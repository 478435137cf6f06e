import Foldback
import FoldbackLMDB
import Foundation

/// A log in memory that can be told to wait and to fail.
package final class TestStorage: ForwardingLog {
    private struct Plan {
        var isHolding = false
        var isHeld = false
        var failure: Bool?
        var refused: IntentNumber?
        var sizes: [Int] = []
        var syncs = 0
    }

    package let log = MemoryLog(kind: .acknowledgement, replica: ReplicaID("me")!)
    private let plan = Monitor(Plan())

    package var writeSizes: [Int] { plan.withLock { $0.sizes } }

    package init() {}

    package func holdWrites() { plan.withLock { ($0.isHolding, $0.isHeld) = (true, false) } }
    package func waitUntilHeld() { _ = plan.wait { $0.isHeld ? () : nil } }
    package func releaseWrites() {
        plan.withLock { $0.isHolding = false }
        plan.wakeAll()
    }
    package func failWrites(leavingOutcomeUnknown: Bool?) {
        plan.withLock { $0.failure = leavingOutcomeUnknown }
    }

    /// Whatever transaction has this intent cannot be, for a reason that leaves nothing open.
    package func refuse(_ number: IntentNumber?) { plan.withLock { $0.refused = number } }

    package func write(_ batch: WriteBatch) throws(StorageFailure) {
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
    package func commitBehind(_ entry: Entry, at sequence: LogSequence) throws(StorageFailure) {
        let record = Record(
            stamp: Stamp(sequence: sequence, time: Timestamp(millisecondsSince1970: 0)),
            replica: header.replicas.current, info: [:], entry: entry)
        var batch = WriteBatch()
        batch.append(record.encoded(predecessor: 0, replicas: header.replicas).bytes, at: sequence)
        try log.write(batch)
    }

    package var isRelaxed: Bool { true }
    package var syncCount: Int { plan.withLock { $0.syncs } }

    package func sync() throws(StorageFailure) { plan.withLock { $0.syncs += 1 } }
}
