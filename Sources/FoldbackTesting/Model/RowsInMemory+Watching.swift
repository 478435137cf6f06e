import Foldback

/// P2 of rows: whoever watches them is told of just those that change.
extension RowsInMemory {
    /// Rows that are told to be or to have been what they are not, those that have changed and are not told,
    /// and behind one commit those that are told and have not changed.
    ///
    /// A row also changes where it is pending no longer, or only now.
    static func flaw(
        in told: RowWatcher.Gathered, from old: RowModelState<Self>, to new: RowModelState<Self>
    ) -> String? {
        let (before, after) = (seen(old), seen(new))
        guard told.isComplete else {
            return canBeKept(before, after) ? "it is not told all, though that is not much" : nil
        }
        var left = Set(before.keys).union(after.keys)
        for (key, change) in told.changes.sorted(by: { $0.key < $1.key }) {
            let key = Array(key.bytes.dropFirst(StoredRow.prefixBytes))
            left.remove(key)
            guard change.old == (before[key] ?? unseen(key, old)) else {
                return "\(key.hexadecimal) is told to have been what it was not"
            }
            guard change.new == (after[key] ?? unseen(key, new)) else {
                return "\(key.hexadecimal) is told to be what it is not"
            }
            // Behind several it may have changed back.
            guard change.old != change.new || new.sequence.value > old.sequence.value + 1 else {
                return "\(key.hexadecimal) is told, and has not changed"
            }
        }
        for key in left.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let (was, now) = (before[key] ?? unseen(key, old), after[key] ?? unseen(key, new))
            guard was != now else { continue }
            return "\(key.hexadecimal) has changed or is gone, and nobody is told"
        }
        return nil
    }

    /// Rows that are there, and whether they are pending.
    private static func seen(_ shown: RowModelState<Self>) -> [[UInt8]: VisibleRow] {
        var seen: [[UInt8]: VisibleRow] = [:]
        for (key, value) in shown.view.everything {
            seen[key] = VisibleRow(value: .row(value), isPending: shown.pendingKeys.contains(key))
        }
        return seen
    }

    /// Of a row that is not there.
    private static func unseen(_ key: [UInt8], _ shown: RowModelState<Self>) -> VisibleRow {
        VisibleRow(value: .absent, isPending: shown.pendingKeys.contains(key))
    }

    /// Whether all of this could change and still be kept for somebody who takes it late.
    private static func canBeKept(
        _ before: [[UInt8]: VisibleRow], _ after: [[UInt8]: VisibleRow]
    ) -> Bool {
        let rows = Array(before.values) + Array(after.values)
        let bytes = rows.reduce(0) { $0 + ($1.value.bytes?.count ?? 0) }
        return rows.count <= Limits.rowChangesMax && bytes <= Limits.rowChangesBytesMax
    }
}
