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
        let intent = try named(number, in: published)
        let touched = try touch(of: intent, in: published)
        var found: [IntentNumber] = []
        let later =
            published.overlay.from(number.next).map(\.key)
            + published.rejections.from(number.next).map(\.key)
        for other in later.sorted() {
            let other = try named(other, in: published)
            if try touch(of: other, in: published).overlaps(touched) {
                found.append(other.id.number)
            }
        }
        return found
    }

    /// An intent as the view has it, or as it was recorded.
    private struct NamedIntent {
        let id: IntentID
        let payload: Payload
        let isInOverlay: Bool
    }

    /// What an intent touches, in each projection of the store.
    private struct Touch {
        let keys: [Set<AnyHashable>?]
        let rows: [RowEvaluation?]

        func overlaps(_ other: Touch) -> Bool {
            zip(keys, other.keys).contains { mine, theirs in
                mine.map { !$0.isDisjoint(with: theirs ?? []) } ?? false
            }
                || zip(rows, other.rows).contains { mine, theirs in
                    guard let mine, let theirs else { return false }
                    return mine.depends(on: theirs) || theirs.depends(on: mine)
                }
        }
    }

    private func named(
        _ number: IntentNumber, in published: PublishedState
    ) throws(LogError) -> NamedIntent {
        if let intent = published.overlay[number] {
            return NamedIntent(id: intent.recorded.id, payload: intent.payload, isInOverlay: true)
        }
        let recorded = try core.recorded(number)
        return NamedIntent(id: recorded.id, payload: recorded.payload, isInOverlay: false)
    }

    private func touch(
        of intent: NamedIntent, in published: PublishedState
    ) throws(LogError) -> Touch {
        try core.storage.requireUsable()
        // What is not in the view is tried on all of it.
        let number = intent.isInOverlay ? intent.id.number : IntentNumber(.max)
        return Touch(
            keys: published.views.map { $0.keys(touchedBy: intent.payload, intent.id) },
            rows: zip(core.projections.rows, published.rows).map { fold, folded in
                fold.touches(
                    intent.payload, intent.id, before: number, in: folded, over: core.storage)
            })
    }
}
