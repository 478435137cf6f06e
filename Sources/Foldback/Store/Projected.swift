/// One projection of a store.
public struct Projected<P: Projection>: Sendable {
    let core: StoreCore
    let index: Int

    /// This projection's states with the overlay at the last commit. O(1), any thread.
    public var snapshot: Snapshot<P> { Snapshot(core.writer.publishedState, index) }
    public var view: P { folded.view }
    public var confirmed: P { folded.confirmed }
    public var faults: [Fault] { folded.faults }

    package var folded: FoldedState<P> { core.writer.publishedState.folded(P.self, at: index) }

    public func overlay(touching key: P.Key) -> [OverlayIntent<P.Event>] {
        snapshot.overlay(touching: key)
    }

    /// Snapshots as they are published: the present one, then one for each commit while somebody takes
    /// them. A reader that is slower than the commits gets the latest and misses those between. Ends
    /// when the store is closed.
    public var views: Views<P> { Views(core: core, index: index) }

    /// The states as they were after entry `sequence`; 0 is before the first (F11).
    ///
    /// - Complexity: folds the log from the nearest checkpoint before `sequence`, on the calling task's
    ///   executor; a bounded piece of the log is in memory at a time.
    /// - Throws: `.beyondEnd`, `.damaged`, `.newerFormat`, `.closed`, `.storage`.
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

/// A projection's states at one sequence, with the overlay that tells them apart.
public struct Snapshot<P: Projection>: Sendable {
    private let published: PublishedState
    private let folded: FoldedState<P>

    package init(_ published: PublishedState, _ index: Int) {
        self.published = published
        folded = published.folded(P.self, at: index)
    }

    public var sequence: LogSequence { published.sequence }
    /// The highest position that ``confirmed`` covers.
    public var through: Position { published.through }
    public var view: P { folded.view }
    public var confirmed: P { folded.confirmed }

    /// Confirmed events that could not be applied so far, oldest first (F9).
    public var faults: [Fault] { folded.faults }

    /// Pending and accepted intents in order of number.
    public var overlay: [OverlayIntent<P.Event>] { published.intents() }
    /// Those that touch `key`, as the projection declares it. O(n) in the overlay.
    public func overlay(touching key: P.Key) -> [OverlayIntent<P.Event>] {
        overlay.filter { intent in
            let context = EventContext(.intent(intent.id))
            return intent.event.map { P.keys(touchedBy: $0, context).contains(key) } ?? false
        }
    }
    /// Rejected intents that are neither dismissed nor retried; ``Store/intent(_:)`` says why.
    public var rejections: [IntentNumber] { published.rejections.keys }
    /// Their numbers, by state; ascending, as all lists of numbers here.
    public var pending: [IntentNumber] {
        published.numbers(in: .pending)  // mutant: pending-numbers
    }
    public var accepted: [IntentNumber] { published.numbers(in: .accepted) }
    /// Intents in the overlay that do not apply to the present base and are left out of the view until
    /// they do (F9).
    public var conflicted: [IntentNumber] { folded.conflicted.keys }
    /// Why an intent is conflicted; nil if it is not.
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

/// An intent that is not settled yet.
public struct OverlayIntent<Event: Sendable>: Sendable {
    public let id: IntentID
    /// What the overlay folds: the intent's own event, or the server's words where it has sent some
    /// (F3). Nil where this code cannot read it (L5). For the view; what is sent is ``recordedEvent``.
    public let event: Event?
    /// `.pending` or `.accepted`.
    public let state: IntentState
    /// When it was recorded.
    public let time: Timestamp
    /// Listed, and folded only once it is confirmed (F13).
    public let isConfirmOnly: Bool
    public let info: [String: String]
    /// While it is in the overlay, recording with this key joins it (F14).
    public let once: String?
    /// The rejected intent that this one retries.
    public let retries: IntentNumber?
    /// The event as it was recorded: what is sent to the server, again under the same id if need be (A1).
    /// Nil where this code cannot read it.
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

    public var number: IntentNumber { id.number }
}
