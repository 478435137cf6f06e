// The two steps of an update, for measurements: a model takes them by itself.

extension OptimisticModel {
    /// Reads everything that is committed, on no particular actor, and shows nothing.
    package func readUpdate() async { await link.read() }

    /// Shows what was read: the work of the main actor for an update.
    package func showUpdate() { link.adopt() }
}

extension RowsModel {
    /// Reads everything that is committed, on no particular actor, and shows nothing.
    package func readUpdate() async { await link.read() }

    /// Shows what was read: the work of the main actor for an update.
    package func showUpdate() { link.adopt() }
}
