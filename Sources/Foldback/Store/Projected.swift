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
    public var snapshot: Snapshot<P> { Snapshot(core.published, index) }
    /// The fold of the overlay over confirmed state: the state to show. O(1), from any thread.
    public var view: P { folded.view }
    /// The fold of confirmed events alone. O(1), from any thread.
    public var confirmed: P { folded.confirmed }
    /// The confirmed events that this projection could not apply, oldest first (F9).
    public var faults: [Fault] { folded.faults }

    package var folded: FoldedState<P> { core.published.folded(P.self, at: index) }

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
    /// - Throws: `.beyondEnd`, `.compacted` below the base of a compacted log, `.damaged`,
    ///   `.newerFormat`, `.closed`, `.storage`. `.lacksProjections` if the projection shared conflicts
    ///   there with one that the store lacks.
    /// - Complexity: one `apply` for each confirmed event between the nearest usable checkpoint and
    ///   `sequence`, and for each intent that is in the overlay there. The same for each value that
    ///   shares its conflicts. If a stored projection does, the log's notes of the conflicts are read
    ///   too; without notes, both are folded from the first entry: see
    ///   <doc:ChoosingBetweenAValueAndRows>.
    public func snapshot(at sequence: LogSequence) async throws(LogError) -> Snapshot<P> {
        try core.snapshot(of: P.self, at: sequence)
    }
}

extension StoreCore {
    func snapshot<P: Projection>(
        of _: P.Type, at sequence: LogSequence
    ) throws(LogError) -> Snapshot<P> {
        try storage.requireUsable()
        let last = published.sequence
        guard sequence <= last else { throw .beyondEnd(sequence, last: last) }
        var fold = try LogFold.past(
            storage, .init(Fold<P>()), among: projections, shared, codec: codec,
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

    /// Pending and accepted intents in number order. O(1): an intent is copied when it is read.
    public var overlay: OverlayIntents<P.Event> { published.intents() }
    /// Returns the intents of the overlay that touch `key`, as `P.keys(touchedBy:_:)` declares.
    /// O(n) in the overlay.
    ///
    /// An intent whose event this code cannot read is left out.
    public func overlay(touching key: P.Key) -> [OverlayIntent<P.Event>] {
        published.overlay.compactMap { _, intent in
            let context = EventContext(.intent(intent.recorded.id))
            guard let event = intent.payload.event(as: P.Event.self),
                P.keys(touchedBy: event, context).contains(key)
            else { return nil }
            return OverlayIntent(intent)
        }
    }
    /// Rejected intents that are neither dismissed nor retried, ascending. ``Store/intent(_:)`` has
    /// the reason.
    public var rejections: [IntentNumber] { published.rejections.keys }
    /// The numbers of the pending intents, ascending. O(n) in the overlay.
    public var pending: [IntentNumber] {
        published.numbers(in: .pending)  // mutant: pending-numbers
    }
    /// The numbers of the drafts that are not released yet, ascending (F22).
    package var drafts: [IntentNumber] { published.drafts.held }
    /// The numbers of the accepted intents, ascending. O(n) in the overlay.
    public var accepted: [IntentNumber] { published.numbers(in: .accepted) }
    /// The intents of the overlay that do not apply to their current base, ascending. They are left
    /// out of the view until they apply (F9).
    public var conflicted: [IntentNumber] { folded.conflicted.keys }
    /// Returns the reason why an intent is conflicted; nil if it is not conflicted. It is the error's
    /// `errorDescription` if it is a `LocalizedError` and has one, else its description.
    public func conflict(of number: IntentNumber) -> String? { folded.conflicted[number] }
}

extension PublishedState {
    func intents<Event: Sendable>() -> OverlayIntents<Event> { OverlayIntents(overlay) }

    func numbers(in state: IntentState) -> [IntentNumber] {
        overlay.filter { $0.value.state == state }.map(\.key)
    }
}
