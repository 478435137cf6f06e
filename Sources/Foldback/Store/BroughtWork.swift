#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The part of a superseded log's work that is recorded again in the log that continues it (N6).
///
/// Rejections that are not dismissed come along in both cases. They are never sent.
public enum WorkToBring: Hashable, Sendable {
    /// The intents that no authority has confirmed.
    case pending
    /// Also this replica's intents that the lost authority had confirmed, and that the present
    /// authority lacks. They are sent again as new intents, so the present authority decides on them.
    ///
    /// This needs an authority whose events name their intents (``ConfirmedEvent/origin``). They
    /// are also the intents of the logs that the superseded log continues itself. If the superseded
    /// log has no entry of such an intent, the confirmed event that names it is recorded: the event
    /// as the authority had it, without `info`, and not confirm-only.
    case pendingAndConfirmed
}

/// What a log got of the work of a superseded log, and what the present authority lacks (N6).
///
/// ```swift
/// if brought.lacking > 0, await user.wantsBack(brought.lacking) {
///     try await store.bring(.pendingAndConfirmed, from: kept)
/// }
/// ```
///
/// While a log is continued, the counts include what an interrupted call brought. A later `bring`
/// counts only what it recorded itself.
public struct BroughtWork: Hashable, Sendable {
    /// The intents that no authority has confirmed, and that are pending in the new log.
    public let pending: Int
    /// The intents that the lost authority had confirmed, and that are pending in the new log.
    public let confirmed: Int
    /// The rejections that the user has not dismissed, and that are listed in the new log.
    public let rejections: Int
    /// This replica's intents that an event of the lost authority names, and that the present
    /// authority does not have confirmed. `confirmed` of them are pending again. An intent of an
    /// earlier log that several events name is counted here, and only the kept log that recorded it
    /// can bring it.
    public let lacking: Int
    /// This replica's intents that count as confirmed in the superseded log, but that no event
    /// names. Nothing shows whether the present authority has them, so they are not brought. In a
    /// compacted log, all that were confirmed before its base count here: their events are gone.
    public let unknown: Int
    /// The directory of the superseded log; nil if it was in memory. Remove it with
    /// ``Store/wipe(at:discardingPending:)`` when nothing of it is needed any more.
    public let keptLog: URL?

    package init(
        pending: Int, confirmed: Int, rejections: Int, lacking: Int, unknown: Int, keptLog: URL?
    ) {
        self.pending = pending
        self.confirmed = confirmed
        self.rejections = rejections
        self.lacking = lacking
        self.unknown = unknown
        self.keptLog = keptLog
    }

    /// Returns the counts with the directory of the superseded log.
    package func keeping(_ log: URL?) -> BroughtWork {
        BroughtWork(
            pending: pending, confirmed: confirmed, rejections: rejections, lacking: lacking,
            unknown: unknown, keptLog: log)
    }
}
