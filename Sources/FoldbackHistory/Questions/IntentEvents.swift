import Foldback

/// The confirmed events of an intent in one entry, and what they changed: one element of
/// ``LogReader/events(from:in:also:)``.
package struct IntentEvents<Event: Sendable>: Sendable {
    package let entry: LogEntry<Event>
    /// The places of the events in ``/Foldback/LogEntry/events``.
    package let places: [Int]
    /// Where confirmed state after each of the events differs from the state before it.
    package let changes: [JSONDifference]
}

extension LogReader {
    /// Returns the confirmed events of an intent of any replica, oldest first; none if no event names it.
    ///
    /// ``story(of:in:also:)`` says more about an intent that the log has recorded. A server's log has
    /// recorded none.
    ///
    /// - Complexity: reads the log once, and folds it from the checkpoint before the first of the events.
    /// - Throws: `.lacksProjections`, `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    package func events<P: Projection>(
        from intent: IntentID, in projection: P.Type, also: [AdditionalProjection<P.Event>] = []
    ) throws(LogError) -> [IntentEvents<P.Event>] {
        let sequences = try sequences(naming: intent)
        guard let first = sequences.first else { return [] }
        var replay = try replay(projection, also: also, from: first.before)
        var found: [IntentEvents<P.Event>] = []
        for (before, sequence) in sequences {
            while replay.sequence < before, try replay.nextRecord() != nil {}
            let state = replay.snapshot.confirmed
            guard let entry = try replay.next(), entry.sequence == sequence,
                case .confirmed(let events, _) = entry.content
            else { preconditionFailure("entry \(sequence) is not the batch that it was") }
            found.append(
                IntentEvents(
                    entry: entry, places: events.indices.filter { events[$0].origin == intent },
                    changes: state.changes(by: replay.confirmedEvents, of: intent)))
        }
        return found
    }

    /// Returns the entries that name an intent as an origin, each with the sequence before it.
    private func sequences(
        naming intent: IntentID
    ) throws(LogError) -> [(before: LogSequence, sequence: LogSequence)] {
        var found: [(before: LogSequence, sequence: LogSequence)] = []
        var before = LogSequence(first.value - 1)
        while true {
            let entries = try entries(from: before.next, countMax: 512)
            guard !entries.isEmpty else { return found }
            for entry in entries {
                if entry.origins.contains(intent) { found.append((before, entry.sequence)) }
                before = entry.sequence
            }
        }
    }
}

extension LogEntry where Event == [UInt8] {
    /// Returns the entry with its events decoded by an app's codec, as
    /// ``RecordedHistory/read(by:)`` does.
    package func read<AppEvent>(by codec: any EventCodec<AppEvent>) -> LogEntry<AppEvent> {
        let codec = AppCodec(codec: codec)
        let record = Record(self)
        return LogEntry<AppEvent>(
            record.replacing(
                record.entry.mappingPayloads {
                    codec.payload(reading: $0.bytes, format: $0.format)
                }))
    }
}

extension Projection {
    /// Returns what the events of an intent change if all events are applied one after the other. An event
    /// that does not apply changes nothing (F9).
    fileprivate func changes(by events: [Folded], of intent: IntentID) -> [JSONDifference] {
        var state = self
        var changes: [JSONDifference] = []
        for folded in events {
            guard let event: Event = folded.payload.event() else { continue }
            var next = state
            do { try next.apply(event, folded.context) } catch { continue }
            if case .intent(intent) = folded.context.origin {
                changes += state.differences(to: next)
            }
            state = next
        }
        return changes
    }
}
