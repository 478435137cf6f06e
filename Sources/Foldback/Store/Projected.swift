/// One projection of a store, with its states; see `Store.projected(_:)`.
///
/// ```swift
/// let statistics = store.projected(Statistics.self)
/// for await snapshot in statistics.views { show(snapshot.view) }
/// ```
///
/// The store itself has the same properties for its own projection. Use this type for the
/// additional projections. Stored projections have ``ProjectedRows``.
public struct Projected<P: Projection>: Sendable {
    let core: StoreCore
    let index: Int

    /// The projection's states and the overlay at the last commit: one consistent value.
    ///
    /// O(1), from any thread. Still available when the store is closed or latched.
    public var snapshot: Snapshot<P> { Snapshot(core.writer.publishedState, index) }
    /// The fold of the overlay over confirmed state: the state to show. O(1), from any thread.
    public var view: P { folded.view }
    /// The fold of confirmed events alone. O(1), from any thread.
    public var confirmed: P { folded.confirmed }
    /// The confirmed events that this projection could not apply, oldest first (F9).
    public var faults: [Fault] { folded.faults }

    package var folded: FoldedState<P> { core.writer.publishedState.folded(P.self, at: index) }

    /// Returns the intents of the overlay that touch `key`, as `P.keys(touchedBy:_:)` declares.
    /// O(n) in the overlay.
    public func overlay(touching key: P.Key) -> [OverlayIntent<P.Event>] {
        snapshot.overlay(touching: key)
    }

    /// The snapshots as they are published: the current snapshot, then one for each commit.
    ///
    /// A reader that is slower than the commits gets the latest snapshot and misses those in
    /// between. The sequence ends when the store is closed.
    public var views: Views<P> { Views(core: core, index: index) }

    /// Returns the states as they were after entry `sequence`; 0 is before the first entry (F11).
    ///
    /// Runs on the calling task's executor and blocks it on the disk. Keeps a bounded piece of the
    /// log in memory.
    ///
    /// - Throws: `.beyondEnd`, `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    /// - Complexity: one `apply` for each confirmed event between the nearest usable checkpoint and
    ///   `sequence`, and for each intent that is in the overlay there.
    public func snapshot(at sequence: LogSequence) async throws(FoldbackError) -> Snapshot<P> {
        try core.snapshot(of: P.self, at: sequence)
    }
}

extension StoreCore {
    func snapshot<P: Projection>(
        of _: P.Type, at sequence: LogSequence
    ) throws(FoldbackError) -> Snapshot<P> {
        try storage.requireUsable()
        let last = writer.publishedState.sequence
        guard sequence <= last else { throw .beyondEnd(sequence, last: last) }
        var (fold, _) = try LogFold.folded(
            storage, folds: [Fold<P>()], codec: codec,
            upTo: sequence)  // mutant: past-view
        return Snapshot(fold.makePublishedState(), 0)
    }
}

/// A projection's states and the overlay at one sequence: one consistent value.
///
/// ```swift
/// let snapshot = store.snapshot
/// show(snapshot.view, isSaving: !snapshot.pending.isEmpty)
/// ```
///
/// It is valid on any thread and never changes, also after the store is closed. It keeps its states
/// in memory, so do not collect many snapshots: read past states with ``Projected/snapshot(at:)``.
public struct Snapshot<P: Projection>: Sendable {
    private let published: PublishedState
    private let folded: FoldedState<P>

    /// - Parameter index: the projection's place in the views of `published`.
    package init(_ published: PublishedState, _ index: Int) {
        self.published = published
        folded = published.folded(P.self, at: index)
    }

    /// The last entry that the snapshot covers.
    public var sequence: LogSequence { published.sequence }
    /// The highest position that ``confirmed`` covers.
    public var through: Position { published.through }
    /// The fold of the overlay over confirmed state: the state to show. O(1).
    public var view: P { folded.view }
    /// The fold of confirmed events alone. O(1).
    public var confirmed: P { folded.confirmed }

    /// The confirmed events that could not be applied so far, oldest first (F9).
    public var faults: [Fault] { folded.faults }

    /// Pending and accepted intents in number order. O(n) in their count.
    public var overlay: [OverlayIntent<P.Event>] { published.intents() }
    /// Returns the intents of the overlay that touch `key`, as `P.keys(touchedBy:_:)` declares.
    /// O(n) in the overlay.
    ///
    /// An intent whose event this code cannot read is left out.
    public func overlay(touching key: P.Key) -> [OverlayIntent<P.Event>] {
        overlay.filter { intent in
            let context = EventContext(.intent(intent.id))
            return intent.event.map { P.keys(touchedBy: $0, context).contains(key) } ?? false
        }
    }
    /// Rejected intents that are neither dismissed nor retried, ascending. ``Store/intent(_:)`` has
    /// the reason.
    public var rejections: [IntentNumber] { published.rejections.keys }
    /// The numbers of the pending intents, ascending. O(n) in the overlay.
    public var pending: [IntentNumber] {
        published.numbers(in: .pending)  // mutant: pending-numbers
    }
    /// The numbers of the accepted intents, ascending. O(n) in the overlay.
    public var accepted: [IntentNumber] { published.numbers(in: .accepted) }
    /// The intents of the overlay that do not apply to their current base, ascending. They are left
    /// out of the view until they apply (F9).
    public var conflicted: [IntentNumber] { folded.conflicted.keys }
    /// Returns the error that makes an intent conflicted, as text; nil if it is not conflicted.
    public func conflict(of number: IntentNumber) -> String? { folded.conflicted[number] }
}

extension PublishedState {
    func intents<Event: Sendable>() -> [OverlayIntent<Event>] {
        overlay.values.map(OverlayIntent.init)
    }

    func numbers(in state: IntentState) -> [IntentNumber] {
        overlay.filter { $0.value.state == state }.map(\.key)
    }
}

/// An intent in the overlay: pending or accepted.
public struct OverlayIntent<Event: Sendable>: Sendable {
    /// The replica that recorded the intent, and its number.
    public let id: IntentID
    /// The event that the overlay folds: the server's replacement if there is one, else the
    /// recorded event (F3).
    ///
    /// Nil if this code cannot read it (L5). For the view; ``recordedEvent`` is the event to send.
    public let event: Event?
    /// `.pending` or `.accepted`.
    public let state: IntentState
    /// When the intent was recorded.
    public let time: Timestamp
    /// Whether the intent is listed, but folded only once it is confirmed (F13).
    public let isConfirmOnly: Bool
    /// The `info` with which it was recorded.
    public let info: [String: String]
    /// The intent's once key; nil if none. While the intent is in the overlay, recording with this
    /// key returns it (F14).
    public let once: String?
    /// The rejected intent that this intent retries; nil if none.
    public let retries: IntentNumber?
    /// The event as it was recorded, to be sent to the server, always under the same id (A1).
    ///
    /// Nil if this code cannot read it (L5).
    public let recordedEvent: Event?

    init(_ intent: UnsettledIntent) {
        once = intent.recorded.once?.string
        retries = intent.recorded.retries
        recordedEvent = intent.recorded.payload.event()
        id = intent.recorded.id
        event = intent.payload.event()
        state = intent.state
        time = intent.recorded.time
        isConfirmOnly = intent.recorded.isConfirmOnly
        info = intent.recorded.info
    }

    /// The intent's number in this log.
    public var number: IntentNumber { id.number }
}
