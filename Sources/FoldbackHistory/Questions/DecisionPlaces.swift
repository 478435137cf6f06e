import Foldback
import FoldbackCollections

/// Says where the decisions of a server stand among the entries of a log that follows it.
///
/// No two clocks agree, so the logs say what came first. A decision on an intent of the log is later
/// than the entry that recorded it. It is earlier than the entry with its answer, and than the first
/// batch that reaches its position. Decisions are in the order of their positions. Where this leaves
/// a choice, the clocks decide.
package struct DecisionPlaces: Sendable {
    /// A decision that the server's log has.
    package struct Decision: Sendable {
        package let position: Position
        /// The intent that was decided; nil if the server did something by itself.
        package let origin: IntentID?
        package let time: Timestamp

        package init(position: Position, origin: IntentID?, time: Timestamp) {
            self.position = position
            self.origin = origin
            self.time = time
        }
    }

    /// Where a decision stands.
    package struct Place: Hashable, Sendable {
        /// The entry that it follows; 0 if it is before the first.
        package let after: LogSequence
        /// Whether the log knows of the decision. Only then the place stays when the log grows.
        package let isKnown: Bool
    }

    /// The logs are not of one server.
    package struct Mismatch: Error, CustomStringConvertible {
        package let description: String
    }

    /// The entries that recorded and first answered an intent.
    private struct Intent {
        var recorded: LogSequence?
        var answered: LogSequence?
    }

    /// An event or an answer with a position.
    private struct Known {
        let entry: LogSequence
        let position: Position
        let origin: IntentID?
    }

    private var intents: [IntentID: Intent] = [:]
    private var known: [Known] = []
    /// The batches with their ends, both ascending.
    private var batches: [(entry: LogSequence, through: Position)] = []
    /// The entries with the latest time up to each, both ascending.
    private var times: [(entry: LogSequence, time: Timestamp)] = []

    /// Reads a log once.
    ///
    /// - Complexity: O(n) in its entries, also in memory.
    package init(_ log: LogReader) throws(LogError) {
        var ids: [IntentNumber: IntentID] = [:]
        var start = log.first
        while true {
            let entries = try log.entries(from: start, countMax: 512)
            guard let last = entries.last else { return }
            for entry in entries { read(entry, &ids) }
            start = last.sequence.next
        }
    }

    private mutating func read(
        _ entry: LogEntry<[UInt8]>, _ ids: inout [IntentNumber: IntentID]
    ) {
        let sequence = entry.sequence
        times.append((sequence, max(entry.time, times.last?.time ?? entry.time)))
        switch entry.content {
        case .intent(let intent):
            let id = IntentID(replica: entry.replica, number: intent.number)
            ids[intent.number] = id
            intents[id, default: Intent()].recorded = sequence
        case .acknowledged(let number, let position, _):
            let id = ids[number]
            answer(id, at: sequence)
            if let position, let id {
                known.append(Known(entry: sequence, position: position, origin: id))
            }
        case .changed(let number, .rejected): answer(ids[number], at: sequence)
        case .changed: break
        case .confirmed(let events, let through):
            for event in events {
                known.append(
                    Known(entry: sequence, position: event.position, origin: event.origin))
            }
            batches.append((sequence, through))
        }
    }

    /// Notes the first answer.
    private mutating func answer(_ id: IntentID?, at sequence: LogSequence) {
        guard let id, intents[id]?.answered == nil else { return }
        intents[id, default: Intent()].answered = sequence
    }

    // MARK: Placing

    /// Returns a place for each decision.
    ///
    /// - Parameter decisions: those that the server's log has, in the order of their positions.
    /// - Complexity: O(n log m) for m entries of the log.
    package func places(of decisions: [Decision]) throws(Mismatch) -> [Place] {
        try requireOneServer(decisions)
        // The first entry that knows of each decision, or of a later one.
        var knowing = [LogSequence?](repeating: nil, count: decisions.count)
        var next: LogSequence?
        for index in decisions.indices.reversed() {
            if let entry = firstEntry(knowing: decisions[index]) {
                next = min(entry, next ?? entry)
            }
            knowing[index] = next
        }
        var places: [Place] = []
        var after: LogSequence = 0
        for (index, decision) in decisions.enumerated() {
            if let recorded = decision.origin.flatMap({ intents[$0]?.recorded }) {
                after = max(after, recorded)
            }
            let byTime = lastEntry(notLaterThan: decision.time)
            guard let known = knowing[index] else {
                after = max(after, byTime)
                places.append(Place(after: after, isKnown: false))
                continue
            }
            guard after < known else {
                throw Mismatch(
                    description:
                        "entry \(known) knows of position \(decision.position), which was decided after entry \(after)"
                )
            }
            after = max(after, min(byTime, LogSequence(known.value - 1)))
            places.append(Place(after: after, isKnown: true))
        }
        return places
    }

    private func firstEntry(knowing decision: Decision) -> LogSequence? {
        let answered = decision.origin.flatMap { intents[$0]?.answered }
        let batch = batches.partitioningIndex { $0.through >= decision.position }
        let entries = [answered, batch < batches.count ? batches[batch].entry : nil]
        return entries.compactMap(\.self).min()
    }

    private func lastEntry(notLaterThan time: Timestamp) -> LogSequence {
        let count = times.partitioningIndex { $0.time > time }
        return count == 0 ? 0 : times[count - 1].entry
    }

    /// Checks that the server decided what the log has from it.
    private func requireOneServer(_ decisions: [Decision]) throws(Mismatch) {
        guard let first = decisions.first?.position, let end = decisions.last?.position else {
            return
        }
        for found in known where found.position >= first {
            guard found.position <= end else {
                throw Mismatch(
                    description:
                        "entry \(found.entry) has position \(found.position), and the space ends at \(end)"
                )
            }
            let index = decisions.partitioningIndex { $0.position >= found.position }
            let decided = decisions[index...].prefix { $0.position == found.position }
            guard decided.contains(where: { $0.origin == found.origin }) else {
                throw Mismatch(
                    description:
                        "entry \(found.entry) has \(found.origin.map { "intent \($0)" } ?? "an event of the server") at position \(found.position), and the space has not"
                )
            }
        }
    }
}
