/// What an intent touches, in each projection of a log; nil where that is not known (F16, F22, F23).
package struct IntentTouch: Sendable {
    /// In each projection whose state is a value.
    package let keys: [Set<TouchedKey>?]
    /// In each stored projection: the rows that it reads and writes.
    package let rows: [RowEvaluation?]

    /// Returns whether both touch a key in common, as far as that is known.
    package func overlaps(_ other: IntentTouch) -> Bool {
        comparisons(with: other).contains { $0 ?? false }
    }

    /// Returns whether both touch a key in common, or may.
    package func mayOverlap(_ other: IntentTouch) -> Bool {
        comparisons(with: other).contains { $0 ?? true }
    }

    /// Whether they touch the same in each projection; nil if that is not known.
    ///
    /// Two that only read a row do not touch the same.
    private func comparisons(with other: IntentTouch) -> [Bool?] {
        zip(keys, other.keys).map { mine, theirs in
            guard let mine, let theirs else { return nil }
            return !mine.isDisjoint(with: theirs)
        }
            + zip(rows, other.rows).map { mine, theirs in
                guard let mine, let theirs else { return nil }
                return mine.depends(on: theirs) || theirs.depends(on: mine)
            }
    }
}

extension LogFold {
    /// Returns what an intent of the overlay touches. The views are up to date.
    func touch(of intent: UnsettledIntent) -> IntentTouch {
        IntentTouch(
            keys: folds.map { $0.keys(touchedBy: intent) },
            rows: rows.map { $0.overlay.applied(intent.recorded.number) })
    }
}

extension PublishedState {
    /// Returns what an intent of the overlay touches.
    package func touch(of intent: UnsettledIntent) -> IntentTouch {
        IntentTouch(
            keys: views.map { $0.keys(touchedBy: intent) },
            rows: rows.map { $0.overlay?.applied(intent.recorded.number) })
    }
}
