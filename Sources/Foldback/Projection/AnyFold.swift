/// A ``Fold`` whose projection is not named: several may stand on one log.
package protocol AnyFold: Sendable {
    mutating func append(_ intent: UnsettledIntent) -> (any Error)?
    mutating func retract(_ number: IntentNumber)
    mutating func perform(_ plan: FoldPlan, at sequence: LogSequence)
    mutating func foldStale(over overlay: Overlay)
    /// Brings everything up to date; a `FoldedState` of the projection, to be shared with readers.
    mutating func published(over overlay: Overlay) -> any Sendable
}

/// One projection's states as readers get them.
package struct FoldedState<P: Projection>: Sendable {
    package let view: P
    package let confirmed: P
    package let conflicted: NumberMap<IntentNumber, String>
    package let faults: [Fault]
    package let counts: FoldCounts
}

extension Fold: AnyFold {
    package mutating func published(over overlay: Overlay) -> any Sendable {
        publish(over: overlay)
        return FoldedState(
            view: view, confirmed: confirmed, conflicted: conflicted, faults: faults,
            counts: counts)
    }
}
