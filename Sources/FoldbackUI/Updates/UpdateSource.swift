import Foldback

/// What the updates of a projection need to know about its type.
struct UpdateSource<Event: Sendable>: Sendable {
    /// Returns the intents that do not apply, with the reasons (F9).
    let conflicts: @Sendable (PublishedState) -> Conflicts
    /// Returns whether the views and the confirmed states of two publications are known to be equal.
    let areEqual: @Sendable (PublishedState, PublishedState) -> (views: Bool, confirmed: Bool)
    /// Returns the items that an event is about.
    let items: @Sendable (Event, EventContext) -> [ItemReference<AnyItemID>]
    /// Returns the present state, with the parts of rows that changed.
    let read: @Sendable (any UpdatedStore<Event>) -> PartsRead
}

/// The parts of rows that changed, and the state at which they were read.
struct PartsRead: Sendable {
    var published: PublishedState
    var parts: [PartID: ShowPart] = [:]
}

extension UpdateSource {
    /// The source of a projection at an index of the store's projections.
    init<P: Projection>(_: P.Type, at index: Int) where P.Event == Event {
        conflicts = { $0.folded(P.self, at: index).conflicted }
        areEqual = { old, new in
            if old.sequence == new.sequence { return (true, true) }
            let (old, new) = (old.folded(P.self, at: index), new.folded(P.self, at: index))
            return (isEqual(old.view, new.view), isEqual(old.confirmed, new.confirmed))
        }
        items = itemReader(of: P.self)
        read = { PartsRead(published: $0.core.published) }
    }

    /// The source of a stored projection at an index of the store's stored projections.
    init<P: StoredProjection>(at index: Int, _ parts: RowParts<P>) where P.Event == Event {
        conflicts = { $0.rows[index].conflicted }
        areEqual = { ($0.sequence == $1.sequence, true) }
        items = itemReader(of: P.self)
        read = { parts.read(in: $0.projected(P.self), $0.core.publication) }
    }
}

/// Returns whether two values are known to be equal. False if their type has no `==`.
private func isEqual<Value>(_ first: Value, _ second: Value) -> Bool {
    func compared<E: Equatable>(_ first: E) -> Bool { first == second as? E }
    guard let first = first as? any Equatable else { return false }
    return compared(first)
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
