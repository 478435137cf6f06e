import Foldback

/// New numbers for the intents of a history. First assign all numbers, then make the entries.
struct Renumbering {
    private(set) var numbers: [IntentNumber: IntentNumber] = [:]
    /// Includes the replica, because intents of different replicas may have the same number.
    private var ids: [IntentID: IntentID] = [:]
    private var taken: Set<IntentID> = []

    /// Assigns a new number to the entry's own intent. Ignores entries that record no intent.
    mutating func number<Event>(_ entry: LogEntry<Event>, _ new: IntentNumber) {
        guard case .intent(let intent) = entry.content else { return }
        let id = IntentID(replica: entry.replica, number: new)
        numbers[intent.number] = new
        ids[IntentID(replica: entry.replica, number: intent.number)] = id
        taken.insert(id)
    }

    /// Returns the entry with the new numbers.
    ///
    /// - Parameter own: the number of the entry's own intent, if that intent is new.
    func made<Event>(
        of entry: LogEntry<Event>, at sequence: LogSequence, _ own: IntentNumber? = nil
    ) -> LogEntry<Event> {
        LogEntry(
            sequence: sequence, time: entry.time, replica: entry.replica, info: entry.info,
            content: made(of: entry.content, own))
    }

    private func made<Event>(
        of content: LogEntry<Event>.Content, _ own: IntentNumber?
    ) -> LogEntry<Event>.Content {
        func new(_ number: IntentNumber) -> IntentNumber { numbers[number] ?? number }
        switch content {
        case .intent(var intent):
            intent.number = own ?? new(intent.number)
            intent.retries = intent.retries.flatMap { numbers[$0] }
            intent.replaces = intent.replaces.flatMap { numbers[$0] }
            intent.group = intent.group.flatMap { numbers[$0] }
            intent.undoes = intent.undoes.flatMap { numbers[$0] }
            return .intent(intent)
        case .acknowledged(let number, let position, let replacement):
            return .acknowledged(new(number), position: position, replacement: replacement)
        case .changed(let number, let change): return .changed(new(number), change)
        case .confirmed(let events, let through):
            return .confirmed(
                events.map { event in
                    BatchEvent(
                        position: event.position, event: event.event,
                        origin: event.origin.flatMap(made))
                }, through: through)
        }
    }

    /// Returns nil for an intent that is not in the history if another intent now has its id.
    private func made(of origin: IntentID) -> IntentID? {
        ids[origin] ?? (taken.contains(origin) ? nil : origin)
    }
}
