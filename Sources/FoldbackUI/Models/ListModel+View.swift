import Foldback

extension ListModel {
    /// Makes a list of a view, whose rows have the ids of the model's items.
    ///
    /// - Parameters:
    ///   - model: the model of the view.
    ///   - rows: adds sections and rows for a view. Called on no particular actor. A repeated id is
    ///     a ``failure``.
    ///   - ghost: returns the item of a hidden intent, with an id that the view does not have; nil
    ///     if there is nothing to show. By default, there are no ghosts.
    /// - Complexity: for each new view or mark, the cost of `rows`, O(n) in rows, and one call of
    ///   `ghost` for each hidden intent. Not on the main actor.
    public convenience init<P: Projection & Itemized>(
        of model: OptimisticModel<P>,
        rows: @escaping @Sendable (inout Snapshot.Builder, P) throws(ListError) -> Void,
        ghost: @escaping @Sendable (HiddenIntent<P.Event>, P) -> Item? = { _, _ in nil }
    ) where P.ItemID == Item.ID {
        self.init(of: model, itemID: { $0 }, rows: rows, ghost: ghost)
    }

    /// Makes a list of a view, as without `itemID`, for rows whose ids are not the ids of items.
    ///
    /// - Parameters:
    ///   - model: the model of the view.
    ///   - itemID: returns the item whose status a row has; nil if the row has no status.
    ///   - rows: adds sections and rows for a view.
    ///   - ghost: returns the item of a hidden intent; nil if there is nothing to show.
    public convenience init<P: Projection & Itemized>(
        of model: OptimisticModel<P>, itemID: @escaping @Sendable (Item.ID) -> P.ItemID?,
        rows: @escaping @Sendable (inout Snapshot.Builder, P) throws(ListError) -> Void,
        ghost: @escaping @Sendable (HiddenIntent<P.Event>, P) -> Item? = { _, _ in nil }
    ) {
        self.init(
            of: model, model.link,
            .init(
                input: { [views = model.part.views] in .success(views.sent.value) },
                revision: { [views = model.part.views] in views.sendCount },
                itemID: { itemID($0).map { AnyItemID($0) } }, ghost: ghost),
            rows: rows)
    }
}
