/// What code does with the states or rows that an earlier version of its projection left at the base
/// of a compacted log (C6).
///
/// ```swift
/// static let version: UInt32 = 3
/// static var earlierVersions: [EarlierVersion<Self>] {
///     [.adopted(2), .migrated(1) { (old: TasksOfVersion1) in Tasks(old) }]
/// }
/// ```
/// A log with all of its entries needs none of this: its states and rows are folded again. The removed
/// entries of a compacted log cannot be folded, so what the base has is all that is left of them.
public struct EarlierVersion<P: EventFold>: Sendable {
    /// The ``EventFold/version`` that made the states or rows.
    public let number: UInt32
    let taking: Taking

    enum Taking: Sendable {
        case adopting
        /// Makes the state, or rows in memory, of the bytes of a section.
        case migrating(@Sendable ([UInt8]) throws -> any Sendable)
        case refolding
    }

    /// The states or rows mean the same, and this code reads them: a member was added that has a
    /// default, or an index.
    ///
    /// Index entries are made again. A row whose table is not in the schema any more cannot be adopted.
    public static func adopted(_ number: UInt32) -> Self { Self(number: number, taking: .adopting) }

    /// Nothing can be made of them, so this code opens a compacted log only with an archive
    /// (`LogError.needsHistory`).
    ///
    /// It says that this is on purpose, for `checkEvolution` of FoldbackTesting.
    public static func refolded(_ number: UInt32) -> Self {
        Self(number: number, taking: .refolding)
    }
}

extension EarlierVersion where P: Projection {
    /// The state is what `migrate` makes of the state that `codec` reads.
    ///
    /// `migrate` must return what folding the same events again would give, because devices that still
    /// have all entries do that.
    public static func migrated<Codec: StateCodec>(
        _ number: UInt32, reading codec: Codec,
        _ migrate: @escaping @Sendable (Codec.State) throws -> P
    ) -> Self {
        Self(
            number: number,
            taking: .migrating { try migrate(try codec.decode($0.span.bytes)) })
    }

    /// The state is what `migrate` makes of the state that JSON has.
    ///
    /// `migrate` must return what folding the same events again would give, because devices that still
    /// have all entries do that.
    public static func migrated<Old: Codable>(
        _ number: UInt32, _ migrate: @escaping @Sendable (Old) throws -> P
    ) -> Self { migrated(number, reading: JSONStateCodec<Old>(), migrate) }
}

extension EventFold {
    public static var earlierVersions: [EarlierVersion<Self>] { [] }

    /// What may be at a base for this code to begin there: the present version first.
    package static var identitiesAtBase: [ProjectionIdentity] {
        [identity]
            + versionsAtBase.sorted(by: >).map {
                ProjectionIdentity(name: identity.name, version: $0)
            }
    }

    /// The earlier versions whose states or rows this code takes.
    package static var versionsAtBase: Set<UInt32> {
        Set(
            earlierVersions.filter { if case .refolding = $0.taking { false } else { true } }
                .map(\.number)
        ).subtracting([version])
    }

    /// The earlier versions whose states or rows mean the same.
    package static var adoptedVersions: Set<UInt32> {
        Set(
            earlierVersions.filter { if case .adopting = $0.taking { true } else { false } }
                .map(\.number))
    }
}

extension Projection {
    /// Returns the state that this code makes of a state at a base.
    ///
    /// - Throws: the errors of the codec and of the migration; an error if the state has a member that
    ///   this code does not read.
    package static func state(atBase state: [UInt8], version: UInt32) throws -> Self {
        var fold = Fold<Self>()
        try fold.restore(
            ProjectionSection(
                identity: ProjectionIdentity(name: identity.name, version: version), faults: [],
                sample: state, state: state))
        return fold.state(.confirmed, of: Self.self)
    }
}
