import Foldback

/// P2 of rows: a watcher is told of exactly the rows that change.
extension RowsInMemory {
    /// The first wrong change: a reported old or new value that is wrong, a row that changed
    /// without a report, or after a single commit, a report of a row that did not change.
    ///
    /// A row also changes when it becomes pending or stops being pending.
    static func flaw(
        in changes: RowWatcher.Gathered, from old: RowModelState<Self>, to new: RowModelState<Self>
    ) -> String? {
        let (before, after) = (seen(old), seen(new))
        guard changes.isComplete else {
            return canBeKept(before, after) ? "it leaves out changes although there are few" : nil
        }
        var unreported = Set(before.keys).union(after.keys)
        for (key, change) in changes.changes.sorted(by: { $0.key < $1.key }) {
            let key = Array(key.bytes.dropFirst(StoredRow.prefixBytes))
            unreported.remove(key)
            guard change.old == (before[key] ?? unseen(key, old)) else {
                return "\(key.hexadecimal) is reported with a wrong old value"
            }
            guard change.new == (after[key] ?? unseen(key, new)) else {
                return "\(key.hexadecimal) is reported with a wrong new value"
            }
            // After several commits it may have changed back.
            guard change.old != change.new || new.sequence.value > old.sequence.value + 1 else {
                return "\(key.hexadecimal) is reported, but did not change"
            }
        }
        for key in unreported.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let (was, now) = (before[key] ?? unseen(key, old), after[key] ?? unseen(key, new))
            guard was != now else { continue }
            return "\(key.hexadecimal) changed or disappeared without a report"
        }
        return nil
    }

    /// The rows that exist, and whether they are pending.
    private static func seen(_ shown: RowModelState<Self>) -> [[UInt8]: VisibleRow] {
        var seen: [[UInt8]: VisibleRow] = [:]
        for (key, value) in shown.view.everything {
            seen[key] = VisibleRow(value: .row(value), isPending: shown.pendingKeys.contains(key))
        }
        return seen
    }

    /// The value of a row that does not exist.
    private static func unseen(_ key: [UInt8], _ shown: RowModelState<Self>) -> VisibleRow {
        VisibleRow(value: .absent, isPending: shown.pendingKeys.contains(key))
    }

    /// Whether the changes of all these rows fit into what the store keeps for a slow watcher.
    private static func canBeKept(
        _ before: [[UInt8]: VisibleRow], _ after: [[UInt8]: VisibleRow]
    ) -> Bool {
        let rows = Array(before.values) + Array(after.values)
        let bytes = rows.reduce(0) { $0 + ($1.value.bytes?.count ?? 0) }
        return rows.count <= Limits.rowChangesMax && bytes <= Limits.rowChangesBytesMax
    }
}
