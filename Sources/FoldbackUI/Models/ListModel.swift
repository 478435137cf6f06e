import Foldback
import Observation

/// A list of a model's items.
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
/// The rows and their statuses are computed and compared on no particular actor, not on the main
/// actor (U28). They are shown in the turn of the main actor that shows the view, so that the list,
/// the view and the statuses are always of one revision (U25). When a command of the model returns,
/// its lists include it (U24), so commands wait for the rows function. A list that is equal to the
/// list before notifies nobody.
///
/// *Differences.* The model publishes whole snapshots. A consumer that needs the edits, such as a
/// server that sends them to a web page, keeps the snapshot that it has, and compares, where it
/// likes:
///
/// ```swift
/// let next = posts.snapshot
/// send(next.difference(from: sent).steps)
/// sent = next
/// ```
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

    /// The list. Without sections before it was built for the first time.
    public var snapshot: Snapshot {
        access(keyPath: \.snapshot)
        return shown
    }

    /// Whether the list was not built yet. It says nothing about the list, so do not show that the
    /// list is empty.
    public private(set) var isLoading = true
    /// Why the last list could not be built, for example because of two rows with the same id
    /// (U19). The list before it stays. Nil once a list could be built.
    public private(set) var failure: ListFailure?

    /// Without a generated setter, which would compare all rows.
    @ObservationIgnored private var shown = Snapshot()
    /// The model, and the membership in its lists.
    @ObservationIgnored private var kept: [AnyObject] = []
    @ObservationIgnored private var rebuildNow: @MainActor () async -> Void = {}

    init<Event, Input>(
        of model: AnyObject, _ link: StoreLink<Event>,
        _ source: ListPart<Event, Input, SectionID, Item>.Source,
        rows: @escaping ListPart<Event, Input, SectionID, Item>.Rows,
        keeping more: AnyObject? = nil
    ) {
        let part = ListPart(source, rows) { [weak self] in self?.show($0, $1) }
        rebuildNow = {
            part.askRebuild()
            await link.adoptNow()
        }
        kept = [model, link.add(part)] + (more.map { [$0] } ?? [])
    }

    /// Shows what is not nil.
    private func show(_ snapshot: Snapshot?, _ progress: ListProgress?) {
        if let progress {
            if isLoading != progress.isLoading { isLoading = progress.isLoading }
            if failure != progress.failure { failure = progress.failure }
        }
        if let snapshot { withMutation(keyPath: \.snapshot) { shown = snapshot } }
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
}
