import FoldbackSync
import Synchronization
import TestSupport

/// What goes wrong with the first calls, in their order; then nothing does.
final class FaultPlan: Sendable {
    private let left: Mutex<ArraySlice<FaultyAuthority<Move>.Fault?>>

    init(_ faults: [FaultyAuthority<Move>.Fault?]) { left = Mutex(faults[...]) }

    func next() -> FaultyAuthority<Move>.Fault? { left.withLock { $0.popFirst() } ?? nil }
}
