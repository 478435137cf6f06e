import Foldback
import Foundation

/// A log of messages with pending intents. Each batch of answers is one transaction.
///
/// ```
/// a a a a a  b b b b b  …  the intents, in groups; each group is on one row
/// ^          ^             the oldest of each group is answered, which is timed
///   ^ ^ ^ ^    ^ ^ ^ ^     the others are removed after that, which is not timed
/// ```
///
/// Before that, as many groups are recorded as are answered. So the number of pending intents stays
/// the same.
struct PendingMail: Sendable {
    private let gated: GatedStore<Mailbox>
    private let places: PendingPlaces
    private var recordedCount = 0
    private var numbers: PendingNumbers
    /// The server's last position.
    private var position: Position

    /// - Parameter directory: A log that has the rows.
    init(
        at directory: URL, _ kind: LogKind, _ places: PendingPlaces, pendingCount: Int
    ) async throws {
        let gate = WriterGate()
        // No checkpoints, because they would be written during a measurement.
        let store = try await Store.open(
            at: directory, Mailbox.self, confirmedBy: kind, durability: .relaxed,
            checkpoints: .manual, sources: gate.sources)
        gated = GatedStore(
            store: store, counts: { $0.projected.folded.counts }, gate: gate)
        self.places = places
        position = try store.read { $0.through }
        numbers = PendingNumbers(from: store.status.nextIntent)
        try await store.perform(try recordings(count: pendingCount))
    }

    private var store: Store<Mailbox> { gated.store }

    func close() async { await store.close() }

    private mutating func recordings(count: Int) throws -> [Command] {
        defer { recordedCount += count }
        return try (recordedCount..<recordedCount + count).map { number in
            let event = Mailbox.Event.starred(places.key(ofIntent: number))
            return .record(
                Proposal(
                    payload: try Mailbox.codec.payload(of: event), isConfirmOnly: false, once: nil,
                    info: [:]))
        }
    }

    /// Measures the cost of `count` answers in one transaction.
    mutating func cost(of answer: RowAnswer, count: Int) async throws -> BatchCost {
        let size = places.groupSize
        let recordings = try recordings(count: count * size)
        if answer == .recording {
            let cost = try await gated.cost(of: Array(recordings.prefix(count)))
            try await store.perform(Array(recordings.dropFirst(count)))
            try await remove(newest(count * size), answer)
            return cost
        }
        try await store.perform(recordings)
        let isOld = answer == .acknowledgingOldest || answer == .rejectingOldest
        let groups = isOld ? numbers.takeOldest(count * size) : newest(count * size)
        let answered = answer == .rejectingNewest ? size - 1 : 0
        let answeredNumbers = groups.enumerated().filter { $0.offset % size == answered }.map(
            \.element)
        let commands = try commands(answer, answeredNumbers)
        let cost = try await gated.cost(of: commands)
        let unanswered =
            answer == .foreignEvent ? groups : groups.filter { !answeredNumbers.contains($0) }
        try await remove(unanswered, answer)
        return cost
    }

    private func newest(_ count: Int) -> [IntentNumber] {
        PendingNumbers.newest(count, before: store.status.nextIntent)
    }

    /// Removes intents, the newest first, because no other intent depends on it.
    private func remove(_ numbers: [IntentNumber], _ answer: RowAnswer) async throws {
        switch answer.logKind {
        case .downlink: try await store.perform(numbers.reversed().map { .change($0, .withdraw) })
        case .acknowledgement:
            try await store.perform(
                numbers.map { .acknowledge($0, position: nil, replacement: nil) })
        }
    }

    private mutating func commands(
        _ answer: RowAnswer, _ numbers: [IntentNumber]
    ) throws -> [Command] {
        switch answer {
        case .recording: preconditionFailure("recording is not an answer")
        case .acknowledgingOldest:
            return numbers.map { .acknowledge($0, position: nil, replacement: nil) }
        case .rejectingOldest, .rejectingNewest:
            let refusal = Rejection(code: "forbidden", message: "not yours")
            let ordered = answer == .rejectingNewest ? numbers.reversed() : numbers
            return ordered.map { .reject($0, refusal) }
        case .foreignEvent:
            // The events change the rows of the newest groups.
            let first = recordedCount - numbers.count * places.groupSize
            return try numbers.indices.map { index in
                position = position.next
                let key = places.key(ofIntent: first + index * places.groupSize)
                let event = Mailbox.Event.starred(key)
                return .confirm([try event.confirmed(at: position)], through: nil)
            }
        }
    }
}
