import Foldback

/// What the updates of a projection need to know about its type.
struct UpdateSource<Event: Sendable>: Sendable {
    /// Returns the intents that do not apply, with the reasons (F9).
    let conflicts: @Sendable (PublishedState) -> Conflicts
    /// Returns the confirmed events that could not be applied, oldest first (F9).
    let faults: @Sendable (PublishedState) -> [Fault]
    /// Returns the items that an event is about.
    let items: @Sendable (Event, EventContext) -> [ItemReference<AnyItemID>]
    /// Returns the parts of rows to read with the next update; nil if there can be none.
    let parts: @Sendable () -> (any PreparedParts)?
    /// Returns how to show the view of a state; nil if it has not changed.
    let view: @Sendable (PublishedState) -> ShowPart?
}

extension UpdateSource {
    /// The source of a projection at an index of the store's projections.
    ///
    /// - Parameter part: nil if nobody shows the view.
    init<P: Projection>(_: P.Type, at index: Int, _ part: ViewPart<P>? = nil)
    where P.Event == Event {
        conflicts = { $0.folded(P.self, at: index).conflicted }
        faults = { Snapshot<P>($0, index).faults }
        items = itemReader(of: P.self)
        self.parts = { nil }
        view = { part?.show($0) }
    }

    /// The source of a stored projection at an index of the store's stored projections.
    init<P: StoredProjection>(at index: Int, _ parts: RowParts<P>) where P.Event == Event {
        conflicts = { $0.rows[index].conflicted }
        faults = { $0.rows[index].faults }
        items = itemReader(of: P.self)
        self.parts = { parts.prepared(at: index) }
        view = { _ in nil }
    }
}

/// Returns the function that reads the items of an event; it returns none if the projection is not
/// ``Itemized``.
private func itemReader<P: EventFold>(
    of projection: P.Type
) -> @Sendable (P.Event, EventContext) -> [ItemReference<AnyItemID>] {
    func reader<I: Itemized>(
        _ itemized: I.Type
    ) -> @Sendable (P.Event, EventContext) -> [ItemReference<AnyItemID>] {
        { event, context in
            guard let event = event as? I.Event else {
                preconditionFailure("\(I.self) has events of type \(I.Event.self)")
            }
            return I.items(of: event, context).map {
                ItemReference(AnyItemID($0.id), facet: $0.facet)
            }
        }
    }
    guard let itemized = projection as? any Itemized.Type else { return { _, _ in [] } }
    return reader(itemized)
}
