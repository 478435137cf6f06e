import Synchronization

/// Gathers what somebody has not taken yet of the changes of some rows, in bounded space.
package final class RowWatcher: Sendable {
    /// What has changed since the last was taken.
    package struct Gathered: Sendable {
        package var sequence: LogSequence
        package var changes: [KeyBytes: (old: VisibleRow, new: VisibleRow)] = [:]
        /// Of all that these rows were in between.
        fileprivate var bytes = 0
        /// False: more has changed than is kept here.
        package var isComplete = true

        package var isEmpty: Bool { isComplete && changes.isEmpty }

        package init(sequence: LogSequence = 0) { self.sequence = sequence }
    }

    private let index: Int
    private let span: KeySpan
    private let gathered = Mutex(Gathered())
    private let bell: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - index: of the projection among the stored ones.
    ///   - bell: rung when there is something to be taken; ends with the store.
    package init(_ index: Int, _ span: KeySpan, bell: AsyncStream<Void>.Continuation) {
        self.index = index
        self.span = span
        self.bell = bell
    }

    package func close() { bell.finish() }

    /// What has gathered; nothing is left.
    package func take() -> Gathered {
        gathered.withLock { gathered in
            defer { gathered = Gathered(sequence: gathered.sequence) }
            return gathered
        }
    }

    /// Called by the writer behind each commit.
    func notifyPublished(_ sequence: LogSequence, _ changes: [[RowChangeBytes]?]) {
        let changes = changes[index]
        let isEmpty = gathered.withLock { gathered in
            gathered.sequence = sequence
            guard let changes else {
                // The commit was prepared before anybody watched, or an old row cannot be read.
                gathered.isComplete = false
                return false
            }
            for change in changes where span.contains(change.key) {
                Self.add(change, to: &gathered)
            }
            return gathered.isEmpty
        }
        if !isEmpty { bell.yield() }
    }

    private static func add(_ change: RowChangeBytes, to gathered: inout Gathered) {
        guard gathered.isComplete else { return }
        // One that has changed back is kept: whoever has read in between has seen it otherwise.
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
