import FoldbackLMDB
import Synchronization

/// What a store has published, and everyone who waits for the next state.
///
/// The writer publishes; readers read ``current`` or wait for it. Everything that a reader can know
/// is in one ``PublishedState``, so two facts that are read together are of one moment.
///
/// The order of F15 is: ``publish(_:_:)`` rings ``changes``, then the writer resumes the callers of
/// the commit, and then ``deliver(_:)`` rings for those who wait for answers.
package final class Publication: Sendable {
    private struct States {
        var current: PublishedState
        /// The state before `current`. A reader of rows may have begun to read it.
        var previous: PublishedState?
        /// The state that is being written and is not published yet.
        var upcoming: PublishedState?
    }

    private let states: Monitor<States>
    /// Rings after each change of ``current``.
    package let changes = Signal()
    /// Rings after answers, for those who follow all answers.
    private let answers = Signal()
    /// Ring after the answer to one intent. Only intents that somebody waits for are here, each with
    /// the number of those who wait.
    private let answersByIntent = Mutex<[IntentNumber: (signal: Signal, waiting: Int)]>([:])
    private let watchers = Mutex<[RowWatcher]>([])

    package init(_ state: PublishedState) { states = Monitor(States(current: state)) }

    // MARK: Reading

    /// The last published state. O(1), from any thread.
    package var current: PublishedState { states.withLock { $0.current } }

    /// Returns a part of the last published state, without copying the whole. O(1), from any
    /// thread.
    package func read<R>(_ body: (borrowing PublishedState) -> R) -> R {
        states.withLock { body($0.current) }
    }

    /// Returns the state for a snapshot of the stored rows at `sequence`. O(1), from any thread.
    ///
    /// - Returns: nil if the state is not kept any more, because there were newer commits, or if
    ///   the commit failed.
    func state(at sequence: LogSequence) -> PublishedState? {
        states.withLock { states in
            [states.current, states.upcoming, states.previous].lazy.compactMap { $0 }
                .first { $0.sequence == sequence }
        }
    }

    // MARK: Waiting

    /// Waits until a published state meets the condition, and returns the state then. Nil if the
    /// task is canceled first.
    ///
    /// A closed store publishes nothing more, so a condition also asks for
    /// ``PublishedState/isClosed``.
    ///
    /// - Parameter condition: called by the writer too, so it must be short.
    package nonisolated(nonsending) func next(
        where condition: @escaping @Sendable (borrowing PublishedState) -> Bool
    ) async -> PublishedState? {
        while await changes.wait(until: { [self] in read(condition) }) {
            let current = current
            if condition(current) { return current }
        }
        return nil
    }

    /// Waits until there is an entry after `sequence` whose answers are delivered, until the store is
    /// closed, or until the task is canceled.
    nonisolated(nonsending) func waitForAnswers(after sequence: LogSequence) async {
        await answers.wait { [self] in read { $0.sequence > sequence || $0.isClosed } }
    }

    /// Waits until an intent of the overlay has another state than `last`, until the store is closed,
    /// or until the task is canceled.
    nonisolated(nonsending) func waitForAnswer(
        to number: IntentNumber, after last: IntentState?
    ) async {
        let signal = answersByIntent.withLock { waited in
            let (signal, waiting) = waited[number] ?? (Signal(), 0)
            waited[number] = (signal, waiting + 1)
            return signal
        }
        defer {
            answersByIntent.withLock { waited in
                let waiting = (waited[number]?.waiting ?? 1) - 1
                waited[number] = waiting == 0 ? nil : (signal, waiting)
            }
        }
        await signal.wait { [self] in read { $0.overlay[number]?.state != last || $0.isClosed } }
    }

    /// Waits until readers of views see the state at `sequence` or a later state. Returns true then;
    /// returns false if the commit failed.
    ///
    /// Blocks the calling thread between a commit and its publication. That is short, except when
    /// the first relaxed commit of a store flushes the file. May be called inside a read, because the
    /// writer needs no room between these steps.
    ///
    /// - Parameter sequence: of a state that ``state(at:)`` returned.
    func block(untilPublished sequence: LogSequence) -> Bool {
        states.wait { states in
            if states.current.sequence >= sequence { return true }
            return states.upcoming == nil ? false : nil
        } ?? false
    }

    // MARK: The writer

    /// Announces a state that the writer begins to write. Nil takes it back: the commit failed.
    func announce(_ next: PublishedState?) {
        states.withLock { $0.upcoming = next?.with(obstaclesOf: $0.current) }
        if next == nil { states.wakeAll() }
    }

    /// Makes the state of a commit the state that readers see, and tells them (F15).
    ///
    /// - Parameter changes: the changes of rows, for each stored projection; nil if they are not
    ///   known.
    func publish(_ next: PublishedState, _ rowChanges: [[RowChangeBytes]?]) {
        states.withLock { states in
            precondition(
                next.sequence >= states.current.sequence,
                "state \(next.sequence) is before \(states.current.sequence) (F15)")
            precondition(
                next.through >= states.current.through
                    && next.nextNumber >= states.current.nextNumber,
                "state \(next.sequence) has a lower position or intent number than the one before")
            states.previous = next.rows.isEmpty ? nil : states.current
            states.current = next.with(obstaclesOf: states.current)
            states.upcoming = nil
        }
        states.wakeAll()
        for watcher in watchers.withLock({ $0 }) { watcher.gather(rowChanges, at: next.sequence) }
        changes.ring()
    }

    /// Changes facts of the published state that no entry changes, and tells its readers.
    package func change(_ body: (inout PublishedState) -> Void) {
        states.withLock { body(&$0.current) }
        changes.ring()
    }

    /// Resumes those who wait for the answers to these intents, or for any answer.
    package func deliver(_ answered: [IntentNumber]) {
        answers.ring()
        let signals = answersByIntent.withLock { waited in
            waited.isEmpty ? [] : answered.compactMap { waited[$0]?.signal }
        }
        for signal in signals { signal.ring() }
    }

    /// Ends all waiting, because the store is closed.
    func close() {
        change { $0.isClosed = true }
        answers.ring()
        let signals = answersByIntent.withLock { waited in
            waited.sorted { $0.key < $1.key }.map(\.value.signal)
        }
        for signal in signals { signal.ring() }
    }

    // MARK: Watchers of rows

    /// Whether there is a watcher of rows.
    var watchesRows: Bool { watchers.withLock { !$0.isEmpty } }

    /// Hands the watcher the changes of rows of each commit until the returned value is released.
    func watch(_ watcher: RowWatcher) -> Listening {
        watchers.withLock { $0.append(watcher) }
        return Listening { [weak self] in
            self?.watchers.withLock { $0.removeAll { $0 === watcher } }
        }
    }
}
