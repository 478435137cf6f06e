/// What depends on an intent, as far as keys tell (F23).
extension Store {
    /// Returns the intents that came after an intent and touch a key in common with it: those in the
    /// overlay, and those whose rejection is listed; ascending.
    ///
    /// A screen offers them together with the intent, for example to retry a refused task and the
    /// comments on it. For a projection whose state is a value, keys are those of
    /// ``Projection/keys(touchedBy:_:)``, and events without known keys are left out. For rows, one of
    /// the two intents writes a row that the other reads or writes.
    ///
    /// May be called from any task. May block on the disk for short reads.
    ///
    /// - Throws: `.unknownIntent`, `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    /// - Complexity: O(n) in the overlay after the intent and in listed rejections; one `apply` for each
    ///   of them and each stored projection.
    public func following(_ number: IntentNumber) throws(LogError) -> [IntentNumber] {
        let published = core.published
        let touched = try touch(of: number, in: published)
        let later =
            published.overlay.from(number.next).map(\.key)
            + published.rejections.from(number.next).map(\.key)
        var found: [IntentNumber] = []
        for other in later.sorted() where try touch(of: other, in: published).overlaps(touched) {
            found.append(other)
        }
        return found
    }

    /// Returns what an intent touches on the rows before it. What is not in the view is tried on all of
    /// it.
    private func touch(
        of number: IntentNumber, in published: PublishedState
    ) throws(LogError) -> IntentTouch {
        let recorded = try core.recorded(number)
        let shown = published.overlay[number]
        let intent = shown ?? UnsettledIntent(recorded)
        return IntentTouch(
            keys: published.views.map { $0.keys(touchedBy: intent) },
            rows: zip(core.projections.rows, published.rows).map { fold, folded in
                fold.touches(
                    intent, before: shown == nil ? IntentNumber(.max) : number, in: folded,
                    over: core.storage)
            })
    }
}
