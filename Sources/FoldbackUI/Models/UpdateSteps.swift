// The two steps of an update, for measurements: a model takes them by itself.

extension StoreModel {
    /// Reads everything that is committed, on no particular actor, and shows nothing.
    package final func readUpdate() async { await link.group.reader.read() }

    /// Shows what was read: the work of the main actor for an update.
    package final func showUpdate() { link.group.adopt() }
}
