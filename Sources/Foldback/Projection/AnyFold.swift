/// A ``Fold`` whose projection is not named: several may stand on one log.
package protocol AnyFold: Sendable {
    var identity: ProjectionIdentity { get }

    /// Goes on from a checkpoint.
    /// - Throws: what the state codec throws, with nothing changed.
    mutating func restore(_ section: ProjectionSection) throws

    mutating func applyNewest(_ intent: UnsettledIntent) -> (any Error)?
    mutating func rollBackLast(_ number: IntentNumber)
    mutating func perform(_ plan: FoldPlan, at sequence: LogSequence)
    mutating func rebaseView(over overlay: Overlay)
    /// Brings everything up to date; the states, to be shared with readers.
    /// - Parameter isKept: whether readers keep them.
    mutating func makeFoldedState(over overlay: Overlay, isKept: Bool) -> any AnyFoldedState
}

/// A ``FoldedState`` whose projection is not named.
package protocol AnyFoldedState: Sendable {
    var identity: ProjectionIdentity { get }
    /// Whether the projection has a state codec.
    var isEncodable: Bool { get }

    /// What a checkpoint keeps of it.
    ///
    /// - Complexity: O(n) in the state.
    func section() throws -> ProjectionSection

    /// Whether it is what a checkpoint, or another fold of the same entries, has.
    func compared(with section: ProjectionSection) throws -> Comparison
    func compared(with other: any AnyFoldedState) throws -> Comparison
}

/// What comparing two folded states gave.
package enum Comparison: Sendable {
    case same, different
    /// Their bytes differ and they have no `==`: sets and dictionaries are written in any order.
    case unknown
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

    package mutating func makeFoldedState(
        over overlay: Overlay, isKept: Bool
    ) -> any AnyFoldedState {
        isKept ? prepareToPublish(over: overlay) : rebaseView(over: overlay)
        return FoldedState(
            view: view, confirmed: confirmed, conflicted: conflicted, faults: faults,
            counts: counts)
    }
}

extension FoldedState: AnyFoldedState {
    package var identity: ProjectionIdentity { P.identity }
    package var isEncodable: Bool { P.stateCodec != nil }

    package func section() throws -> ProjectionSection {
        guard let codec = P.stateCodec else { throw UnreadableState(reason: "it has no codec") }
        return ProjectionSection(
            identity: P.identity, faults: faults, state: try codec.encode(confirmed))
    }

    package func compared(with section: ProjectionSection) throws -> Comparison {
        guard let codec = P.stateCodec else { return .unknown }
        guard Self.places(of: faults) == Self.places(of: section.faults) else { return .different }
        return try Self.compare(confirmed, try codec.decode(section.state.span.bytes))
    }

    package func compared(with other: any AnyFoldedState) throws -> Comparison {
        guard let other = other as? Self, conflicted.keys == other.conflicted.keys,
            Self.places(of: faults) == Self.places(of: other.faults)
        else { return .different }
        switch try Self.compare(confirmed, other.confirmed) {
        case .same: return try Self.compare(view, other.view)
        case let unlike: return unlike
        }
    }

    /// Where faults are; that an app puts their reasons into other words is no difference.
    private static func places(of faults: [Fault]) -> [Fault] {
        faults.map { Fault(sequence: $0.sequence, origin: $0.origin, reason: "") }
    }

    /// By `==` where the state has one, else by its bytes.
    private static func compare(_ a: P, _ b: P) throws -> Comparison {
        if let a = a as? any Equatable { return isEqual(a, b) ? .same : .different }
        guard let codec = P.stateCodec else { return .unknown }
        return try codec.encode(a) == codec.encode(b) ? .same : .unknown
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
