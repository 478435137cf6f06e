import Foldback
import Foundation
import Synchronization
import TestSupport

/// A suite that opens stores without a thread over logs in memory.
protocol MemoryLogSuite {}

extension MemoryLogSuite {
    static func store<P: EventFold>(
        _ projection: P.Type, over storage: any LogStorage, _ steps: CatchUpSteps = CatchUpSteps()
    ) throws -> Store<P> where P.Event == Move {
        let core = try StoreCore(
            on: storage, codec: AppCodec(codec: P.codec), projections: ProjectionSet(projection),
            clock: LogSources.counting().now, policy: .manual,
            hasThread: false, progress: steps.add)
        return Store(core: core)
    }

    /// Returns an empty log that a downlink confirms.
    static func downlink() -> MemoryLog {
        MemoryLog(kind: .downlink, replica: ReplicaID("me")!)
    }

    /// Returns foreign events at consecutive positions.
    static func confirmed(
        _ moves: [Move], from position: UInt64 = 1
    ) -> [ConfirmedEvent<Move>] {
        moves.enumerated().map { index, move in
            ConfirmedEvent(
                position: Position(position + UInt64(index)), event: move, origin: nil)
        }
    }
}

/// The progress reports of a store that catches up.
final class CatchUpSteps: Sendable {
    private let all = Mutex<[CatchUpProgress]>([])
    func add(_ step: CatchUpProgress) { all.withLock { $0.append(step) } }
    var sequences: [LogSequence] { all.withLock { $0.map(\.sequence) } }
}

/// A log whose writes all fail after the first `writes` transactions.
final class FailingLog: ForwardingLog {
    let log: MemoryLog
    private let writesLeft: Mutex<Int>

    init(_ rows: MemoryRows, writes: Int) {
        log = MemoryLog(rows)
        writesLeft = Mutex(writes)
    }

    func write(_ writes: [TableWrite]) throws(StorageFailure) {
        let isFailing = writesLeft.withLock { left in
            left -= 1
            return left < 0
        }
        if isFailing {
            throw StorageFailure(
                path: path, reason: .system(errno: EIO), detail: "on purpose",
                leavesOutcomeUnknown: false)
        }
        try log.write(writes)
    }
}
