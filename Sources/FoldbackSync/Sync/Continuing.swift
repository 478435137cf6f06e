import Foldback

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How a ``Sync`` continues when the authority is another one or has lost data (N6, S6).
///
/// ```swift
/// let continuing = Continuing(opening: Self.open) { brought in
///     await wantsBack(brought.lacking) ? .bring : .discard
/// }
/// ```
///
/// The sync continues on a new log in the same place (`continueOnNewLog` of ``/Foldback/Store``), which
/// has the user's pending intents. If the old log has confirmed work that the authority lacks, or may
/// have, the closure decides about that. Else nothing of the old log is needed, and it is removed.
public struct Continuing<P: EventFold>: Sendable {
    /// What to do with an old log.
    public enum Choice: Hashable, Sendable {
        /// Record again what the authority lacks, as new intents on which it decides, and remove the
        /// old log. It stays if it has intents that cannot be brought
        /// (``/Foldback/BroughtWork/unknown``).
        case bring
        /// Remove the old log, and what only it has.
        case discard
        /// Keep the old log. The closure is asked again when ``Sync/run()`` begins the next time.
        case keep
    }

    let open: @Sendable (URL) async throws(LogError) -> Store<P>
    let choose: @Sendable (BroughtWork) async -> Choice

    /// - Parameters:
    ///   - open: opens a log, as the app opens its log.
    ///   - choose: decides about an old log. It is called once the new log is in use, so it may ask the
    ///     user and take its time. If its task is canceled, return `.keep` soon. It is called for each old log that is still there when
    ///     ``Sync/run()`` begins, for example because the app ended before the user had answered.
    public init(
        opening open: @escaping @Sendable (URL) async throws(LogError) -> Store<P>,
        choosing choose: @escaping @Sendable (BroughtWork) async -> Choice
    ) {
        self.open = open
        self.choose = choose
    }
}
