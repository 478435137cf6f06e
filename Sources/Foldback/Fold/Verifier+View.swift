extension Verifier {
    /// Compares the views with those that an open store shows. Its sequence is that of the fold.
    mutating func compare(_ end: PublishedState) {
        guard fold.state.sequence == end.sequence else { return }
        let published = fold.makePublishedState()
        // Otherwise the store began at a checkpoint, or with rows, of code that read more events
        // than this code. Projections that share conflicts see each other's states.
        guard isSharingKnown, published.unread == end.unread,
            published.partlyRead == end.partlyRead,
            zip(published.rows, end.rows).allSatisfy({ $0.lacksSame(as: $1) })
        else {
            let names = published.views.map(\.identity.name) + published.rows.map(\.identity.name)
            notCompared.formUnion(names.map(\.string))
            return
        }
        for (rows, shown) in zip(published.rows, end.rows) where !rows.overlaySame(as: shown) {
            find(
                .view(projection: rows.identity.name.string),
                "the rows of its overlay differ from the fold of the entries")
        }
        for (view, shown) in zip(published.views, end.views) {
            note(
                { try view.compared(with: shown) }, view.identity,
                .view(projection: view.identity.name.string),
                "it differs from the fold of the entries; apply may depend on more than the event "
                    + "and its context (F12), or apply was changed without another version")
        }
    }
}
