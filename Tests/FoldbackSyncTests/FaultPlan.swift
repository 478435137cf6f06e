import FoldbackSync
import Synchronization
import TestSupport

/// The faults of the first calls, in order. Later calls have no fault.
final class FaultPlan: Sendable {
    private let left: Mutex<ArraySlice<FaultyAuthority<Move>.Fault?>>

    init(_ faults: [FaultyAuthority<Move>.Fault?]) { left = Mutex(faults[...]) }

    func next() -> FaultyAuthority<Move>.Fault? { left.withLock { $0.popFirst() } ?? nil }
}
