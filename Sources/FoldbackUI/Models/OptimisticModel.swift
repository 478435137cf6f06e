import Foldback
import Observation

/// A projection of a store as a view sees it: the state to show, the status of each item, and the
/// commands.
///
/// ```swift
/// let model = OptimisticModel(store)
/// Text("\(model.view.posts[id].likes)")  // with the like, before the server answers
/// if model.status(of: id).worst == .pending { Image(systemName: "clock") }
/// Button("Like") { Task { try await model.perform(.liked(post: id)) } }
/// ```
///
/// The model shows only what is in the log (U4). So a rejected intent is simply not in the next
/// view, and nobody writes code to undo it.
///
/// Properties are observable, and change on the main actor. Commits during one frame are shown
/// together: the first after an idle period at once, then at most one state for each frame (U26).
/// The model does no fold and no disk access on the main actor (U28).
///
/// Make one model for each screen, or share it. All models of one store show one revision, and a
/// command through one of them is in all of them when it returns (U25). An intent outlives model,
/// screen and process (U29). When the store is closed, the last view stays.
///
/// Do not use it for a ``/Foldback/StoredProjection``, whose state does not fit in memory.
@MainActor @Observable public final class OptimisticModel<P: Projection>: StoreModel<P> {
    /// The fold of the overlay over confirmed state: the state to show.
    public private(set) var view: P
    /// The fold of confirmed events alone.
    public private(set) var confirmed: P

    @ObservationIgnored let part: ViewPart<P>
    @ObservationIgnored private let selections = PartList<@MainActor @Sendable (P) -> Void>()

    /// Makes a model of the store's own projection.
    ///
    /// The view is there at once. Statuses and rejections follow a moment later, because they are
    /// computed on another thread.
    /// The model has its own cues, which end with it, unless it shares `cues` with waits. If two models
    /// of one store share cues, each rejection is announced twice.
    public convenience init(
        _ store: Store<P>, cues: Cues? = nil, sources: UISources = .system
    ) {
        self.init(store, showing: P.self, cues: cues, sources: sources)
    }

    /// Makes a model of any projection with which the store was opened. Traps if it was opened
    /// without it.
    public init<Q: EventFold>(
        _ store: Store<Q>, showing projection: P.Type, cues: Cues? = nil,
        sources: UISources = .system
    ) where Q.Event == P.Event {
        let index = store.index(of: P.self)
        let first = ModelGroup<P.Event>.state(of: store)
        let shown = Snapshot<P>(first, index)
        view = shown.view
        confirmed = shown.confirmed
        part = ViewPart(first, at: index)
        super.init(
            StoreLink(
                store, UpdateSource(P.self, at: index, part), from: first, cues, sources))
        part.model = self
        link.follow()
    }

    /// Shows the states that are not nil.
    func show(_ view: P?, _ confirmed: P?) {
        if let view {
            self.view = view
            for show in selections.parts.values { show(view) }
        }
        if let confirmed { self.confirmed = confirmed }
    }

    // MARK: Parts of the view

    /// Returns a part of the view that is observed by itself.
    ///
    /// ```swift
    /// @MainActor final class PersonScreen {  // keeps the selection, and a view keeps the screen in @State
    ///     let name: Selection<String?>
    ///     init(_ model: OptimisticModel<People>, _ id: String) {
    ///         name = model.select { $0.people[id]?.name }
    ///     }
    /// }
    /// Text(screen.name.value ?? "")  // is made again only if the name changes
    /// ```
    ///
    /// Keep the selection as long as its value is shown. A selection that is made in a view's `body`
    /// is released after the `body`, and never changes what was drawn. There, read ``view`` instead.
    ///
    /// - Parameter part: returns the part. Called for each new view, on the main actor, so it should
    ///   cost O(1) or O(log n).
    public func select<Value: Equatable & Sendable>(
        _ part: @escaping @Sendable (P) -> Value
    ) -> Selection<Value> {
        Selection(part(view), of: self) { selection in
            selections.add { [weak selection] view in
                let next = part(view)
                if let selection, next != selection.value { selection.show(next) }
            }
        }
    }

    /// Returns the states of an intent, from the present state to the answer that settles it, each
    /// with a view that has it (U27).
    ///
    /// A receipt of another store of this log does as well, such as a receipt from before the store
    /// was opened again. The intent of another log is a failure.
    public func updates(of receipt: Receipt) -> IntentUpdates<P> {
        IntentUpdates((try? link.openStore)?.core ?? receipt.core, receipt.id) {
            (await self.adoptedView(), self.revision)
        }
    }

    /// Adopts everything that is committed, and returns the view.
    func adoptedView() async -> P {
        await link.adoptNow()  // mutant: view-before-news
        return view
    }
}
