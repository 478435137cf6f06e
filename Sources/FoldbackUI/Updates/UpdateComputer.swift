import Foldback

/// Computes the updates from one published state of a store to the next.
///
/// A status depends on five sorted maps of a published state: overlay, drafts, conflicts, rejections
/// and attempts. Only the reason of a rejection is read from the log. Two states share most of their maps,
/// so the difference costs as much as the changes, however many commits were skipped (U25).
struct UpdateComputer<Event: Sendable>: Sendable {
    private let source: UpdateSource<Event>
    /// The rejections of the receiver's state before the first update. They are not news.
    private let first: NumberMap<IntentNumber, LogSequence>
    private var last: PublishedState?
    private(set) var table = StatusTable()
    /// Whether the last update changed the marks of an intent.
    private(set) var areMarksChanged = false
    /// The rejected intents that could not be read, and are read again with the next update.
    private var failures: [IntentNumber: FailedRead] = [:]

    private struct FailedRead {
        let error: LogError
        /// Whether the rejection is news once it is read.
        let isNews: Bool
    }

    /// Whether the store was closed before all marks were read.
    var isCutOff: Bool {
        failures.values.contains { if case .closed = $0.error { true } else { false } }
    }

    init(_ source: UpdateSource<Event>, from first: PublishedState) {
        (self.source, self.first) = (source, first.rejections)
    }

    /// Returns the update to a published state.
    ///
    /// - Parameters:
    ///   - latched: why the store refuses commands; nil if it does not.
    ///   - rejected: reads a rejected intent of the log.
    /// - Complexity: O(n) in the intents that changed.
    mutating func update(
        to new: PublishedState, latched: StorageFailure?,
        rejected: (IntentNumber, LogSequence) throws(LogError) -> RejectedIntent
    ) -> Update {
        var news: [RejectedIntent] = []
        let touched = intents(changedIn: new).union(failures.keys)
        let unread = failures
        failures = [:]
        areMarksChanged = !touched.isEmpty
        for number in touched {
            let isNews =
                unread[number]?.isNews ?? ((last?.rejections ?? first)[number] == nil)
            table.set(mark(of: number, in: new, isNews: isNews, &news, rejected), for: number)
        }
        let isRejectionTouched = touched.contains {
            new.rejections[$0] != nil || last?.rejections[$0] != nil
        }
        last = new
        return Update(
            published: new, statuses: table.takeChanges(),
            rejections: isRejectionTouched ? table.rejections : nil,
            news: news.sorted { place(of: $0, in: new) < place(of: $1, in: new) },
            condition: latched.map { StoreCondition(latchedBy: $0) }
                ?? failures.values.first.map { .unreadable(reason: "\($0.error)") } ?? .open)
    }

    /// Returns the numbers of the intents whose marks may differ from those of the last update.
    private func intents(changedIn new: PublishedState) -> Set<IntentNumber> {
        var numbers: Set<IntentNumber> = []
        let old = last
        new.overlay.forEachChange(
            since: old?.overlay ?? Overlay(),
            areSame: { $0.recorded === $1.recorded && $0.acceptance === $1.acceptance }
        ) { number, _, _ in numbers.insert(number) }
        new.drafts.forEachChange(since: old?.drafts ?? Drafts(), areSame: ==) { number, _, _ in
            numbers.insert(number)
        }
        source.conflicts(new).forEachChange(since: old.map(source.conflicts)) {
            numbers.insert($0)
        }
        new.rejections.forEachChange(
            since: old?.rejections ?? NumberMap(), areSame: ==
        ) { number, _, _ in numbers.insert(number) }
        new.attempts.forEachChange(
            since: old?.attempts ?? Attempts(), areSame: ==
        ) { number, _, _ in numbers.insert(number) }
        return numbers
    }

    private func place(of intent: RejectedIntent, in new: PublishedState) -> LogSequence {
        new.rejections[intent.recorded.number] ?? 0
    }

    /// Returns the marks of an intent; nil if it has none.
    ///
    /// - Parameter isNews: whether a rejection is not told yet.
    private mutating func mark(
        of number: IntentNumber, in new: PublishedState, isNews: Bool,
        _ news: inout [RejectedIntent],
        _ rejected: (IntentNumber, LogSequence) throws(LogError) -> RejectedIntent
    ) -> StatusTable.MarkedIntent? {
        if let intent = new.unsettledIntent(number) {
            let conflict = source.conflicts(new)[number]
            return marked(
                IntentMark(
                    intent, conflict: conflict, isHeld: new.drafts[number] == .held,
                    attempt: new.attempts[number]),
                intent.recorded, intent.payload,
                isHidden: conflict != nil || !intent.isOptimistic)  // mutant: hidden-intents
        }
        guard let sequence = new.rejections[number] else { return nil }
        do throws(LogError) {
            let intent = try rejected(number, sequence)
            if isNews { news.append(intent) }
            return marked(
                IntentMark(intent.recorded, intent.rejection), intent.recorded,
                intent.recorded.payload, isHidden: true)
        } catch {
            failures[number] = FailedRead(error: error, isNews: isNews)
            return nil
        }
    }

    private func marked(
        _ mark: IntentMark, _ recorded: RecordedIntent, _ payload: Payload, isHidden: Bool
    ) -> StatusTable.MarkedIntent {
        let items = payload.event(as: Event.self).map {
            source.items($0, EventContext(.intent(recorded.id)))
        }
        return StatusTable.MarkedIntent(
            mark: mark, items: items ?? [],
            hidden: isHidden
                ? HiddenMark(recorded: recorded, payload: payload, mark: mark) : nil)
    }
}
