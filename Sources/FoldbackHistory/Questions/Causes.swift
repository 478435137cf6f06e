import Foldback

/// An entry behind which a value came out otherwise: one line of ``LogReader/causes(of:in:upTo:)``.
public struct Cause<Event: Sendable>: Sendable {
    public let entry: LogEntry<Event>
    /// The intents that the entry is about: its own, those it answers, those its events name.
    public let intents: [IntentID]
    /// What the view had there, and has.
    public let view: Change
    /// The same of confirmed state.
    public let confirmed: Change

    public struct Change: Hashable, Sendable {
        /// Nil: nothing was there.
        public let old: JSON?
        /// Nil: nothing is there.
        public let new: JSON?

        public var isChange: Bool { old != new }
    }
}

extension LogReader {
    /// Which entries made a value what it is: those behind which the view or confirmed state had another value at
    /// that place, oldest first. A confirmation of what was predicted changes what is confirmed alone.
    ///
    /// - Parameters:
    ///   - place: in the state as ``JSON/init(describing:)`` shows it; of ``Documents`` its key, and on from there.
    ///   - projection: whose state it is.
    ///   - last: the last entry that is looked at; nil: to the end.
    /// - Complexity: folds the log once. Where ``Projection/places(touchedBy:_:)`` says which events
    ///   touch the place, states are looked at behind these alone.
    /// - Throws: `.beyondEnd`, `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    public func causes<P: Projection>(
        of place: JSONPointer, in projection: P.Type, upTo last: LogSequence? = nil
    ) throws(FoldbackError) -> [Cause<P.Event>] {
        let end = try lastSequence()
        if let last, last > end { throw .beyondEnd(last, last: end) }
        var causes: [Cause<P.Event>] = []
        var recorders = Recorders()
        var replay = try replay(projection)
        replay.noteTouched()
        var view = replay.snapshot.view.shown(at: place)
        var confirmed = replay.snapshot.confirmed.shown(at: place)
        while replay.sequence < last ?? end, let record = try replay.nextRecord() {
            recorders.note(record)
            let newView =
                replay.touched.view.has(place) ? replay.snapshot.view.shown(at: place) : view
            let newConfirmed =
                replay.touched.confirmed.has(place)
                ? replay.snapshot.confirmed.shown(at: place) : confirmed
            guard newView != view || newConfirmed != confirmed else { continue }
            let entry = LogEntry<P.Event>(record)
            causes.append(
                Cause(
                    entry: entry, intents: recorders.intents(of: entry),
                    view: Cause.Change(old: view, new: newView),
                    confirmed: Cause.Change(old: confirmed, new: newConfirmed)))
            (view, confirmed) = (newView, newConfirmed)
        }
        return causes
    }
}

/// Which replica recorded each intent: a log that was copied goes on as another one.
private struct Recorders {
    /// From which number on; numbers rise.
    private var replicas: [(first: IntentNumber, replica: ReplicaID)] = []

    mutating func note(_ record: Record) {
        guard case .intent(let intent) = record.entry, record.replica != replicas.last?.replica
        else { return }
        replicas.append((intent.number, record.replica))
    }

    /// The intents that the entry is about.
    func intents<Event>(of entry: LogEntry<Event>) -> [IntentID] {
        let own = entry.intentNumbers.compactMap { number in
            replicas.last { $0.first <= number }
                .map { IntentID(replica: $0.replica, number: number) }
        }
        return own + entry.origins
    }
}
