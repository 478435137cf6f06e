import Foldback
import Observation

/// A list of a model's items: its snapshot, and its difference from the snapshot before.
///
/// ```swift
/// let posts = ListModel<String, Post>(of: model) { list, feed in
///     list.section("posts")
///     for ghost in list.ghosts { list.ghost(ghost) }
///     list.items(feed.posts.values.sorted { $0.id > $1.id })
/// } ghost: { intent, feed in
///     guard case .posted(let text) = intent.event else { return nil }
///     return Post(id: intent.id(), text: text)
/// }
/// ForEach(posts.snapshot.sections[0].rows) { row in PostRow(row.content, row.status) }
/// ```
///
/// The rows, their statuses and the difference are computed on no particular actor, not on the main
/// actor (U28). They are shown in the turn of the main actor that shows the view, so that the list,
/// the view and the statuses are always of one revision (U25). When a command of the model returns,
/// its lists include it (U24), so commands wait for the rows function. A list that is equal to the
/// list before notifies nobody.
///
/// *Statuses.* Each row that `list.items(_:)` and `list.known(ids:)` add has the status of the item
/// with its id.
///
/// *Ghosts.* No view has the result of a rejected, conflicted or confirm-only intent. So that
/// refused work does not vanish, `ghost` returns the item that the intent would have made, under
/// the id that the result would have, or nil. The rows function finds these items in `list.ghosts`,
/// and places them. A ghost that it does not place is at the end of the last section. Without a
/// section, a ghost is a ``failure``. If there is a row with the id of a ghost, the row only gets
/// the intent's mark. A ghost stays until its intent is dismissed, retried or applied (U32). So
/// that a retry's row replaces the ghost, `items(of:_:)` of ``Itemized`` must name the item that
/// the event creates.
///
/// It keeps its model. Do not make a list for each row; one list can have many sections.
@MainActor @Observable
public final class ListModel<
    SectionID: Hashable & Sendable, Item: Identifiable & Equatable & Sendable
> where Item.ID: Sendable {
    public typealias Snapshot = ListSnapshot<SectionID, Item>
    public typealias Difference = ListDifference<SectionID, Item>

    /// The list. Without sections before it was built for the first time.
    public var snapshot: Snapshot {
        access(keyPath: \.snapshot)
        return shown.snapshot
    }

    /// What has changed since the snapshot that was shown before, however many states were skipped.
    /// The first difference begins with a list without sections.
    public var difference: Difference {
        access(keyPath: \.snapshot)
        return shown.difference
    }

    /// Whether the list was not built yet. It says nothing about the list, so do not show that the
    /// list is empty.
    public private(set) var isLoading = true
    /// Why the last list could not be built, for example because of two rows with the same id
    /// (U19). The list before it stays. Nil once a list could be built.
    public private(set) var failure: ListFailure?

    @ObservationIgnored private var shown = (snapshot: Snapshot(), difference: Difference())
    @ObservationIgnored private let listeners = PartList<Listener>()
    /// The model, and the membership in its lists.
    @ObservationIgnored private var kept: [AnyObject] = []
    @ObservationIgnored private var revision: @MainActor () -> LogSequence = { 0 }
    @ObservationIgnored private var rebuildNow: @MainActor () async -> Void = {}

    private typealias Listener = @MainActor @Sendable (ListUpdate<SectionID, Item>) -> Void

    init<Event, Input>(
        of model: AnyObject, _ link: StoreLink<Event>,
        _ source: ListRelay<Event, Input, SectionID, Item>.Source,
        rows: @escaping ListRelay<Event, Input, SectionID, Item>.Rows,
        keeping more: AnyObject? = nil
    ) {
        let relay = ListRelay(source, rows) { [weak self] snapshot, difference, failure in
            self?.show(snapshot, difference, failure)
        }
        revision = { link.revision }
        rebuildNow = {
            relay.askRebuild()
            await link.adoptNow()
        }
        kept = [model, link.add(relay)] + (more.map { [$0] } ?? [])
    }

    private func show(_ snapshot: Snapshot, _ difference: Difference, _ failure: ListFailure?) {
        let isFirst = isLoading && failure == nil
        if isFirst { isLoading = false }
        if self.failure != failure { self.failure = failure }
        guard isFirst || !difference.isEmpty else { return }
        withMutation(keyPath: \.snapshot) { shown = (snapshot, difference) }
        let update = ListUpdate(
            revision: revision(), snapshot: snapshot, difference: difference)
        for listener in listeners.parts.values { listener(update) }
    }

    /// Builds the list again, because the rows depend on something beside the model. On return, it
    /// is shown.
    ///
    /// ```swift
    /// let isLoading = Mutex(true)  // read by the rows function, which may run on any thread
    /// isLoading.withLock { $0 = false }
    /// await posts.rebuild()
    /// ```
    public func rebuild() async { await rebuildNow() }

    /// Calls `body` with each later update, until the returned value is released.
    ///
    /// ```swift
    /// send(.all(list.snapshot))
    /// sending = list.listen { send(.steps($0.difference.steps)) }
    /// ```
    ///
    /// It is for consumers that must not skip an update, such as a server that sends the steps to a
    /// web page. Each difference begins with the snapshot of the update before; the first begins
    /// with ``snapshot`` as it is now. The model's view, statuses and revision are those of the
    /// update, and cues about them follow (U27). The first list is an update also if it is empty.
    public func listen(
        _ body: @escaping @MainActor @Sendable (ListUpdate<SectionID, Item>) -> Void
    ) -> ListSubscription {
        ListSubscription(listeners.add(body))
    }
}

/// A list that was shown, with its difference from the list shown before.
public struct ListUpdate<
    SectionID: Hashable & Sendable, Item: Identifiable & Equatable & Sendable
>: Sendable where Item.ID: Sendable {
    /// The last entry that the model includes. The list can be of an earlier entry, if it is equal.
    public let revision: LogSequence
    public let snapshot: ListSnapshot<SectionID, Item>
    public let difference: ListDifference<SectionID, Item>
}

/// Calls a listener until it is released; see ``ListModel/listen(_:)``.
public final class ListSubscription: Sendable {
    private let listening: Listening

    init(_ listening: Listening) { self.listening = listening }
}
