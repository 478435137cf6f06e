/// A ``Fold`` without the type of its projection, because a log can have several projections.
package protocol AnyFold: Sendable {
    var identity: ProjectionIdentity { get }
    /// The name under which the projection shares conflicts: its own name, or that of the stored
    /// projection that it stands for (``RowsInMemory``).
    var memberName: ExactString { get }

    /// The number of confirmed events that did not apply (F9).
    var faultCount: Int { get }
    /// See ``EventFold/identitiesAtBase``.
    var identitiesAtBase: [ProjectionIdentity] { get }

    /// Continues from a checkpoint, or from a base, whose section may be of an earlier version (C6).
    ///
    /// - Throws: the state codec's error; ``PartlyReadState`` if the state has a member that this
    ///   code does not read (E12). The fold stays unchanged.
    mutating func restore(_ section: ProjectionSection) throws

    /// See ``Fold/confirm(_:at:)``.
    mutating func confirm(_ events: [Folded], at sequence: LogSequence)
    /// See ``Fold/applyToView(_:)``.
    mutating func applyToView(_ intent: UnsettledIntent) -> (any Error)?
    /// See ``Fold/undoLast()``.
    mutating func undoLast()
    /// See ``Fold/rollBack(before:)``.
    mutating func rollBack(before number: IntentNumber) -> IntentNumber
    /// See ``Fold/keepSavepoint(after:)``.
    mutating func keepSavepoint(after number: IntentNumber)
    /// See ``Fold/fastForward(through:)``.
    mutating func fastForward(through number: IntentNumber)
    /// Whether the projection is ``Undoable``.
    var isUndoable: Bool { get }
    /// See ``Fold/inverse(ofNewest:)``.
    func inverse(ofNewest intent: RecordedIntent) -> Payload?
    /// See ``Fold/inverse(ofFolded:over:leavingOut:)``.
    func inverse(
        ofFolded intent: UnsettledIntent, over overlay: Overlay,
        leavingOut isConflicted: (IntentNumber) -> Bool
    ) -> Payload?
    /// See ``TouchedKey/keys(touchedBy:in:)``.
    func keys(touchedBy intent: UnsettledIntent) -> Set<TouchedKey>?

    /// Returns both states to share with readers.
    ///
    /// - Precondition: the view is up to date.
    /// - Parameters:
    ///   - conflicts: the conflicts of the projection's group.
    ///   - isKept: whether readers keep the states. If so, the view becomes a savepoint.
    mutating func makeFoldedState(
        over overlay: Overlay, _ conflicts: Conflicts, isKept: Bool
    ) -> any AnyFoldedState

    /// Returns one of the fold's states.
    ///
    /// - Precondition: `Q` is the fold's projection.
    func state<Q: Projection>(_ which: ComparedState, of type: Q.Type) -> Q
}

/// One of the two states of a fold.
package enum ComparedState: Sendable {
    /// The view, which must be up to date.
    case view
    case confirmed
}

/// A ``FoldedState`` without the type of its projection.
package protocol AnyFoldedState: Sendable {
    var identity: ProjectionIdentity { get }
    /// Whether the projection has a state codec.
    var isEncodable: Bool { get }
    /// See ``TouchedKey/keys(touchedBy:in:)``.
    func keys(touchedBy intent: UnsettledIntent) -> Set<TouchedKey>?
    /// The confirmed events that could not be applied, oldest first (F9).
    var faults: [Fault] { get }

    /// Returns the section for a checkpoint.
    ///
    /// - Complexity: O(n) in the state.
    /// - Throws: the state codec's error, or `UnreadableState` if the projection has no state
    ///   codec.
    func section() throws -> ProjectionSection

    /// Compares the confirmed state and its faults with those of a checkpoint.
    func compared(with section: ProjectionSection) throws -> Comparison
    /// Compares the states, faults and conflicts with those of another fold of the same entries.
    func compared(with other: any AnyFoldedState) throws -> Comparison
}

/// The result of a comparison of two folded states.
package enum Comparison: Sendable {
    case same, different
    /// The states have no `==` and their bytes differ, or they have no codec. Different bytes prove
    /// nothing, because sets and dictionaries are encoded in any order.
    case unknown
}

/// One projection's states at one sequence, for readers.
package struct FoldedState<P: Projection>: Sendable {
    package let view: P
    package let confirmed: P
    package let conflicted: Conflicts
    package let faults: [Fault]
    package let counts: FoldCounts
    package let excerpt: StateExcerpt
}

extension Fold: AnyFold {
    package var identity: ProjectionIdentity { P.identity }

    package var identitiesAtBase: [ProjectionIdentity] { P.identitiesAtBase }

    package mutating func restore(_ section: ProjectionSection) throws {
        self = Fold(
            confirmed: try state(of: section), faults: section.faults, inPlaceOf: memberName,
            excerpt: excerpt)
    }

    private func state(of section: ProjectionSection) throws -> P {
        let earlier = P.earlierVersions.first { $0.number == section.identity.version }
        if let earlier, case .migrating(let migrate) = earlier.taking,
            section.identity.version != P.version
        {
            let made = try migrate(section.state)
            guard let state = made as? P else {
                preconditionFailure("a migration made \(type(of: made)), not \(P.self)")
            }
            return state
        }
        guard let codec = P.stateCodec else { throw UnreadableState(reason: "it has no codec") }
        let left = try excerpt.membersLeft(in: section.sample, of: section.state)
        guard left.isEmpty else {  // mutant: state-part
            throw PartlyReadState(members: left.sorted())
        }
        return try codec.decode(section.state.span.bytes)
    }

    package mutating func makeFoldedState(
        over overlay: Overlay, _ conflicts: Conflicts, isKept: Bool
    ) -> any AnyFoldedState {
        if isKept { prepareToPublish(over: overlay) }
        return FoldedState(
            view: view, confirmed: confirmed, conflicted: conflicts, faults: faults,
            counts: counts, excerpt: excerpt)
    }
}

extension Fold {
    package var faultCount: Int { faults.count }

    package func keys(touchedBy intent: UnsettledIntent) -> Set<TouchedKey>? {
        TouchedKey.keys(touchedBy: intent, in: P.self)
    }

    package func state<Q: Projection>(_ which: ComparedState, of type: Q.Type) -> Q {
        guard let state = (which == .view ? view : confirmed) as? Q else {
            preconditionFailure("the fold is of \(P.self), not of \(type)")
        }
        return state
    }
}

extension FoldedState: AnyFoldedState {
    package var identity: ProjectionIdentity { P.identity }
    package var isEncodable: Bool { P.stateCodec != nil }

    package func keys(touchedBy intent: UnsettledIntent) -> Set<TouchedKey>? {
        TouchedKey.keys(touchedBy: intent, in: P.self)
    }

    package func section() throws -> ProjectionSection {
        guard let codec = P.stateCodec else { throw UnreadableState(reason: "it has no codec") }
        let state = try codec.encode(confirmed)
        return ProjectionSection(
            identity: P.identity, faults: faults, sample: excerpt.sample(of: state), state: state)
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

    /// The faults without their reasons, because an app may reword its errors.
    private static func places(of faults: [Fault]) -> [Fault] {
        faults.map { Fault(sequence: $0.sequence, origin: $0.origin, reason: "") }
    }

    /// Compares by `==` if the state has it, else by the encoded bytes.
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

/// The error for a checkpoint's state that this code cannot read.
package struct UnreadableState: Error, CustomStringConvertible {
    let reason: String
    package var description: String { "the state cannot be read: \(reason)" }
}

/// The error for a checkpoint's state that this code reads only in part (E12). What it does not
/// read would be missing from the next checkpoint.
package struct PartlyReadState: Error, CustomStringConvertible {
    let members: [JSONPointer]
    package var description: String {
        "this code does not read \(members.map(\.description).joined(separator: ", ")) of the state"
    }
}
