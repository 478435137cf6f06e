/// A ``Fold`` whose projection is not named: several may stand on one log.
package protocol AnyFold: Sendable {
    var identity: ProjectionIdentity { get }

    /// Goes on from a checkpoint.
    /// - Throws: what the state codec throws, with nothing changed.
    mutating func restore(_ section: ProjectionSection) throws

    mutating func append(_ intent: UnsettledIntent) -> (any Error)?
    mutating func retract(_ number: IntentNumber)
    mutating func perform(_ plan: FoldPlan, at sequence: LogSequence)
    mutating func foldStale(over overlay: Overlay)
    /// Brings everything up to date; the states, to be shared with readers.
    mutating func published(over overlay: Overlay) -> any AnyFoldedState
}

/// A ``FoldedState`` whose projection is not named.
package protocol AnyFoldedState: Sendable {
    /// What a checkpoint keeps of it; nil where the projection has no state codec.
    ///
    /// - Complexity: O(n) in the state.
    func section() throws -> ProjectionSection?

    /// Whether it is what a checkpoint, or another fold of the same entries, has.
    func differs(from section: ProjectionSection) throws -> Bool
    func differs(from other: any AnyFoldedState) throws -> Bool
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
    package var identity: ProjectionIdentity { P.identity }

    package mutating func restore(_ section: ProjectionSection) throws {
        guard let codec = P.stateCodec else { throw UnreadableState(reason: "it has no codec") }
        self = Fold(
            confirmed: try codec.decode(section.state.span.bytes), faults: section.faults)
    }

    package mutating func published(over overlay: Overlay) -> any AnyFoldedState {
        publish(over: overlay)
        return FoldedState(
            view: view, confirmed: confirmed, conflicted: conflicted, faults: faults,
            counts: counts)
    }
}

extension FoldedState: AnyFoldedState {
    package func section() throws -> ProjectionSection? {
        guard let codec = P.stateCodec else { return nil }
        return ProjectionSection(
            identity: P.identity, faults: faults, state: try codec.encode(confirmed))
    }

    package func differs(from section: ProjectionSection) throws -> Bool {
        guard let codec = P.stateCodec else { return false }
        let kept = try codec.decode(section.state.span.bytes)
        return try faults != section.faults || Self.differ(confirmed, kept)
    }

    package func differs(from other: any AnyFoldedState) throws -> Bool {
        guard let other = other as? Self else { return true }
        return try faults != other.faults
            || !conflicted.elementsEqual(other.conflicted, by: ==)
            || Self.differ(confirmed, other.confirmed) || Self.differ(view, other.view)
    }

    /// By `==` where the state has one, else by its bytes; equal where it has neither.
    private static func differ(_ a: P, _ b: P) throws -> Bool {
        if let a = a as? any Equatable { return !isEqual(a, b) }
        guard let codec = P.stateCodec else { return false }
        return try codec.encode(a) != codec.encode(b)
    }

    private static func isEqual<E: Equatable>(_ a: E, _ b: P) -> Bool {
        guard let b = b as? E else { return false }
        return a == b
    }
}

/// A checkpoint's state that this code cannot read.
package struct UnreadableState: Error, CustomStringConvertible {
    let reason: String
    package var description: String { "the state cannot be read: \(reason)" }
}
