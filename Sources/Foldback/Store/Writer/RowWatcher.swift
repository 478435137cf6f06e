import Synchronization

/// Collects the changes to spans of rows until a reader takes them, in bounded memory.
package final class RowWatcher: Sendable {
    /// The changes since the last take.
    package struct Gathered: Sendable {
        /// The last entry that the changes cover.
        package var sequence: LogSequence
        /// Each changed row once: as it was at the last take, and as it is now.
        package var changes: [KeyBytes: (old: VisibleRow, new: VisibleRow)] = [:]
        /// The bytes of all changes that were added, also of the values in between.
        fileprivate var bytes = 0
        /// Whether `changes` has all changes. False if more changed than is kept, or if the changes
        /// of a commit are not known.
        package var isComplete = true

        /// Whether a reader has nothing to take.
        package var isEmpty: Bool { isComplete && changes.isEmpty }

        package init(sequence: LogSequence = 0) { self.sequence = sequence }
    }

    private let index: Int
    private let spans: [KeySpan]
    private let gathered = Mutex(Gathered())

    /// Creates a watcher, for ``Publication/watch(_:)``.
    ///
    /// - Parameters:
    ///   - index: the place of the projection among the stored projections.
    ///   - spans: the keys to watch.
    package init(_ index: Int, _ spans: [KeySpan]) {
        self.index = index
        self.spans = spans
    }

    /// Whether there is nothing to take.
    var isEmpty: Bool { gathered.withLock { $0.isEmpty } }

    /// Returns the collected changes, and removes them here.
    package func take() -> Gathered {
        gathered.withLock { gathered in
            defer { gathered = Gathered(sequence: gathered.sequence) }
            return gathered
        }
    }

    /// Adds the changes of a commit. The writer calls it before it rings for the commit.
    func gather(_ changes: [[RowChangeBytes]?], at sequence: LogSequence) {
        let changes = changes[index]
        gathered.withLock { gathered in
            gathered.sequence = sequence
            guard let changes else {
                // The commit was prepared before there was a watcher, or a changed row cannot be
                // read.
                gathered.isComplete = false
                return
            }
            for change in changes where spans.contains(where: { $0.contains(change.key) }) {
                Self.add(change, to: &gathered)
            }
        }
    }

    private static func add(_ change: RowChangeBytes, to gathered: inout Gathered) {
        guard gathered.isComplete else { return }
        // A row that changed back is kept, because a reader may have seen the value in between.
        let old = gathered.changes[change.key]?.old ?? change.old
        gathered.changes[change.key] = (old, change.new)
        gathered.bytes += change.old.bytes + change.new.bytes
        if gathered.changes.count > Limits.rowChangesMax
            || gathered.bytes > Limits.rowChangesBytesMax
        {
            gathered.changes = [:]
            gathered.isComplete = false
        }
    }
}

extension VisibleRow {
    fileprivate var bytes: Int { value.bytes?.count ?? 0 }
}
