/// A ``Fold`` whose projection is not named: several may stand on one log.
package protocol AnyFold<Event>: Sendable {
    associatedtype Event: Sendable

    mutating func append(_ intent: UnsettledIntent<Event>) -> (any Error)?
    mutating func retract(_ number: IntentNumber)
    mutating func perform(_ plan: FoldPlan<Event>, at sequence: LogSequence)
    mutating func foldStale(over overlay: Overlay<Event>)
    /// Brings everything up to date; a `FoldedState` of the projection, to be shared with readers.
    mutating func published(over overlay: Overlay<Event>) -> any Sendable
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
    package typealias Event = P.Event

    package mutating func published(over overlay: Overlay<P.Event>) -> any Sendable {
        publish(over: overlay)
        return FoldedState(
            view: view, confirmed: confirmed, conflicted: conflicted, faults: faults,
            counts: counts)
    }
}
