/// What a batch of the downlink means: which intents it confirms, and which of its events are new
/// (F5, F6).
extension LogState {
    /// Decides a batch: checks its positions (F5), and finds the intents that it confirms. These
    /// are the accepted intents that `through` reaches (F3), and the intents that its events name
    /// (F6).
    func batchDecision(
        _ events: [Confirmed], _ named: Position?,
        _ settled: SettledIntents
    ) throws(LogError) -> Decision {
        guard kind == .downlink else {  // mutant: batch-source
            return .refuse(.batchInAcknowledgementLog)
        }
        guard events.allSatisfy({ $0.position >= 1 }) else { return .refuse(.positionBelowOne) }
        let highest = events.map(\.position).max() ?? 0
        let through = named ?? highest
        guard through >= highest else {
            return .refuse(.throughBelowPosition(through: through, highest: highest))
        }
        var confirmed = Set(accepted(upTo: through))
        for event in events where try confirms(event, settled) {
            confirmed.insert(event.origin!.number)
        }
        guard through > self.through || !confirmed.isEmpty else { return .ignoreBatch }
        let batch = ConfirmedBatch(events: events, through: through, settled: confirmed.sorted())
        var entries: [Entry] = [.confirmed(batch)]
        for number in batch.settled {
            entries += try restorations(of: number, besides: confirmed, settled)
        }
        return .append(entries)
    }

    /// Returns whether the event confirms an intent of this log (F6).
    ///
    /// An event after `through` confirms the intent that it names, also a rejected or withdrawn
    /// intent. An event at or below `through` confirms the intent only while it is unsettled.
    private func confirms(
        _ event: Confirmed, _ settled: SettledIntents
    ) throws(LogError) -> Bool {
        guard let origin = event.origin, wasRecorded(origin.number) else { return false }
        if let intent = overlay[origin.number] {  // mutant: skipped-event
            return intent.recorded.id == origin
        }
        // An intent of another replica is not looked up, even if this log has its number too.
        guard settled.isOwn(origin.replica), let intent = try settled.find(origin.number),
            intent.id == origin
        else { return false }
        switch intent.settlement {
        case .confirmed: return false
        // It was taken back before it was sent (C4).
        case .withdrawn where intent.isCompacted: return false
        case .rejected, .withdrawn: return event.position > through
        }
    }

    // MARK: Its events

    /// Returns the events after `through`, in order of position. Events that share a position keep
    /// their order in the batch (F5).
    package static func newEvents(
        in events: [Confirmed], after through: Position
    ) -> [Confirmed] {
        let newEvents = events.filter { $0.position > through }  // mutant: applied-once
        let isSorted = zip(newEvents, newEvents.dropFirst()).allSatisfy {
            $0.position <= $1.position
        }
        if isSorted { return newEvents }  // mutant: batch-order
        return newEvents.enumerated()
            .sorted { ($0.element.position, $0.offset) < ($1.element.position, $1.offset) }
            .map(\.element)
    }

    /// Returns whether the batch confirms the head of the overlay exactly as the view folds it.
    ///
    /// The new events must be the first optimistic intents, in order and with equal payloads, and
    /// the batch must settle these intents only. Then the view folds the same list of events as
    /// before.
    func isFastForward(_ newEvents: [Confirmed], settling: [IntentNumber]) -> Bool {
        guard newEvents.count == settling.count else { return false }
        var settling = settling.makeIterator()
        var events = newEvents.makeIterator()
        for (number, intent) in overlay where intent.isOptimistic {
            guard let event = events.next() else { return true }
            guard settling.next() == number, event.origin == intent.recorded.id,
                event.payload.isSame(as: intent.payload)
            else { return false }
        }
        return events.next() == nil
    }
}
