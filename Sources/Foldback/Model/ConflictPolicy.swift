/// Whether the projections of a store share their conflicts (F9).
///
/// ```swift
/// let store = try await Store.open(
///     at: directory, Channels.self, also: [AdditionalProjection(Messages.self)],
///     conflicts: .shared, confirmedBy: .downlink, durability: .durable)
/// ```
///
/// The choice concerns the overlay alone: an event that the authority confirmed is applied by each
/// projection that can, and is a fault in the others. With one projection there is nothing to
/// choose. <doc:ChoosingBetweenAValueAndRows> gives the reasons for the default.
///
/// The log notes the projections that share, because its views depend on them (F1). From then on,
/// code that lacks one of them cannot show views, and gets `.lacksProjections`. Views of entries
/// before the note stay as they were.
public struct ConflictPolicy: Hashable, Sendable {
    /// Whether an intent that one projection refuses is conflicted in all.
    let isShared: Bool
    /// The names of projections that the app no longer has.
    private(set) var dropped: Set<ExactString> = []

    private init(isShared: Bool) { self.isShared = isShared }

    /// An intent that any projection of the store refuses is conflicted in all of them. So screens
    /// that show different projections agree about each intent. The default.
    public static let shared = ConflictPolicy(isShared: true)

    /// Each projection has its own conflicts: an intent can be in the view of one, and left out of
    /// the view of another. Choose it for projections that no screen shows together, such as
    /// statistics, if they may refuse what the others accept.
    public static let perProjection = ConflictPolicy(isShared: false)

    /// Returns the policy of an app that no longer has some projections which shared conflicts on
    /// this log.
    ///
    /// Without it, opening throws `.lacksProjections`, because a missing projection is more likely
    /// a mistake. Views before the opening need the old code from then on. Names that do not share
    /// change nothing, so the call can stay in the app.
    ///
    /// - Parameter names: the ``EventFold/name`` of each dropped projection.
    public func dropping(_ names: String...) -> ConflictPolicy {
        var policy = self
        policy.dropped.formUnion(names.map { ExactString($0) })
        return policy
    }
}
