import Foldback

/// An entry that changed a value: one element of ``LogReader/causes(of:in:also:upTo:)``.
public struct Cause<Event: Sendable>: Sendable {
    public let entry: LogEntry<Event>
    /// The intents that the entry is about: its own, those that it answers, and those that its
    /// events name.
    public let intents: [IntentID]
    /// The change of the value in the view.
    public let view: Change
    /// The change of the value in confirmed state.
    public let confirmed: Change
    /// The events of a batch that changed the value in confirmed state, by their places in
    /// ``/Foldback/LogEntry/events``, in the order in which the log applies them. Empty for other
    /// entries, and if only the view changed.
    public internal(set) var events: [Int] = []

    public struct Change: Hashable, Sendable {
        /// The value before the entry; nil if there was none.
        public let old: JSON?
        /// The value after the entry; nil if there is none.
        public let new: JSON?

        public var isChange: Bool { old != new }
    }
}

extension LogReader {
    /// Returns the entries that changed the value at a place, in the view or in confirmed state,
    /// oldest first. An entry that confirms a correct prediction changes only confirmed state.
    ///
    /// - Parameters:
    ///   - place: a place in the state as ``/Foldback/JSON/init(describing:)`` shows it. For
    ///     ``/Foldback/Documents`` it starts with the document's key.
    ///   - projection: the projection whose state is compared.
    ///   - also: the log's other projections; see ``replay(_:also:from:)``.
    ///   - last: the last entry to read; nil reads to the end.
    /// - Complexity: folds the log once, and again if a batch of several events changed the value.
    ///   If ``TraceableProjection/places(touchedBy:_:)`` says which events touch the place, only the
    ///   states after those events are compared.
    /// - Throws: `.beyondEnd`, `.lacksProjections`, `.damaged`, `.newerFormat`, `.closed`,
    ///   `.storage`.
    public func causes<P: Projection>(
        of place: JSONPointer, in projection: P.Type,
        also: [AdditionalProjection<P.Event>] = [], upTo last: LogSequence? = nil
    ) throws(LogError) -> [Cause<P.Event>] {
        let end = try lastSequence()
        if let last, last > end { throw .beyondEnd(last, last: end) }
        var causes: [Cause<P.Event>] = []
        var batches: [ChangingBatch] = []
        var recorders = Recorders(of: log)
        var replay = try replay(projection, also: also)
        replay.startTracking()
        var view = replay.snapshot.view.shown(at: place)
        var confirmed = replay.snapshot.confirmed.shown(at: place)
        while replay.sequence < last ?? end {
            let before = replay.sequence
            guard let record = try replay.nextRecord() else { break }
            recorders.note(record)
            let touched = replay.touched
            let newView =
                touched.view.has(place) ? replay.snapshot.view.shown(at: place) : view
            let newConfirmed =
                touched.confirmed.has(place)
                ? replay.snapshot.confirmed.shown(at: place) : confirmed
            guard newView != view || newConfirmed != confirmed else { continue }
            let entry = LogEntry<P.Event>(record)
            if case .confirmed = record.entry, newConfirmed != confirmed {
                batches.append(ChangingBatch(cause: causes.count, before: before))
            }
            causes.append(
                Cause(
                    entry: entry, intents: recorders.intents(of: entry),
                    view: Cause.Change(old: view, new: newView),
                    confirmed: Cause.Change(old: confirmed, new: newConfirmed)))
            (view, confirmed) = (newView, newConfirmed)
        }
        try findEvents(of: batches, in: &causes, at: place, in: projection, also: also)
        return causes
    }

    /// Finds the events of each batch that changed the value: applies them one by one to the
    /// confirmed state before the batch.
    ///
    /// This is a pass of its own, because keeping the state before each entry would copy what the
    /// entry changes.
    private func findEvents<P: Projection>(
        of batches: [ChangingBatch], in causes: inout [Cause<P.Event>], at place: JSONPointer,
        in projection: P.Type, also: [AdditionalProjection<P.Event>]
    ) throws(LogError) {
        for batch in batches { causes[batch.cause].events = [0] }
        let several = batches.filter { causes[$0.cause].entry.events.count > 1 }
        guard let first = several.first else { return }
        var replay = try replay(projection, also: also, from: first.before)
        for batch in several {
            while replay.sequence < batch.before, try replay.nextRecord() != nil {}
            let before = replay.snapshot.confirmed
            _ = try replay.nextRecord()
            let events = replay.confirmedEvents
            let places = causes[batch.cause].entry.placesByPosition.suffix(events.count)
            causes[batch.cause].events = before.changes(at: place, by: events)
                .map { places[places.startIndex + $0] }
        }
    }
}

/// A batch that changed the value in confirmed state.
private struct ChangingBatch {
    /// The place of its cause.
    let cause: Int
    /// The entry before it. A history with gaps lacks some sequences.
    let before: LogSequence
}

extension LogEntry {
    /// The places of a batch's events in order of their positions: first those that the log had
    /// already, then those that it applied (F5).
    fileprivate var placesByPosition: [Int] {
        guard case .confirmed(let events, _) = content else { return [] }
        return events.indices.sorted { (events[$0].position, $0) < (events[$1].position, $1) }
    }
}

extension Projection {
    /// Returns the places of the events that change the value at a place, if they are applied one
    /// after the other. An event that does not apply changes nothing (F9).
    fileprivate func changes(at place: JSONPointer, by events: [Folded]) -> [Int] {
        var state = self
        var value = shown(at: place)
        return events.indices.filter { index in
            guard let event: Event = events[index].payload.event() else { return false }
            var next = state
            do { try next.apply(event, events[index].context) } catch { return false }
            let old = value
            (state, value) = (next, next.shown(at: place))
            return value != old
        }
    }
}

/// The replica that recorded each intent. A copied log continues as another replica.
private struct Recorders {
    /// The first number of each replica. Numbers rise.
    private var replicas: [(first: IntentNumber, replica: ReplicaID)] = []

    init(of log: any LogStorage) {
        let names = log.header.replicas.names
        replicas = (log.base?.replicas ?? []).map { ($0.number, names[Int($0.place)]) }
    }

    mutating func note(_ record: Record) {
        guard case .intent(let intent) = record.entry, record.replica != replicas.last?.replica
        else { return }
        replicas.append((intent.number, record.replica))
    }

    /// Returns the intents that the entry is about.
    func intents<Event>(of entry: LogEntry<Event>) -> [IntentID] {
        let own = entry.intentNumbers.compactMap { number in
            replicas.last { $0.first <= number }
                .map { IntentID(replica: $0.replica, number: number) }
        }
        return own + entry.origins
    }
}
