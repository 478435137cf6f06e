import Foldback
import Foundation

/// A log of letters with intents pending, answered in batches of which each is one transaction.
///
/// ```
/// a a a a a  b b b b b  …  the intents, in groups of which each lies on one row
/// ^          ^             of so many groups the oldest is answered, which is timed;
///   ^ ^ ^ ^    ^ ^ ^ ^     the others are taken away afterwards, which is not
/// ```
///
/// As many groups are recorded before, so that the log has as many pending afterwards as it had.
struct PendingMail: Sendable {
    private let gated: GatedStore<Mailbox>
    private let places: PendingPlaces
    private var recordedCount = 0
    /// The server's last.
    private var position: Position

    /// - Parameter directory: of a log that has the rows.
    init(
        at directory: URL, _ kind: LogKind, _ places: PendingPlaces, pendingCount: Int
    ) async throws {
        let gate = WriterGate()
        // Checkpoints would be written beside what is timed, at moments of their own.
        let store = try await Store.open(
            at: directory, Mailbox.self, confirmedBy: kind, durability: .relaxed,
            checkpoints: .manual, sources: gate.sources)
        gated = GatedStore(
            store: store, counts: { $0.projected.folded.counts }, gate: gate)
        self.places = places
        position = try store.read { $0.through }
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

    /// What so many answers in one transaction cost.
    mutating func cost(of answer: RowAnswer, count: Int) async throws -> BatchCost {
        let size = places.groupSize
        let recordings = try recordings(count: count * size)
        if answer == .recording {
            let cost = try await gated.cost(of: Array(recordings.prefix(count)))
            try await store.perform(Array(recordings.dropFirst(count)))
            try await remove(try pending().suffix(count * size), answer)
            return cost
        }
        try await store.perform(recordings)
        let pending = try pending()
        let isOld = answer == .acknowledgingOldest || answer == .rejectingOldest
        let groups = isOld ? pending.prefix(count * size) : pending.suffix(count * size)
        let answered = answer == .rejectingNewest ? size - 1 : 0
        let numbers = groups.enumerated().filter { $0.offset % size == answered }.map(\.element)
        let commands = try commands(answer, numbers)
        let cost = try await gated.cost(of: commands)
        let rest = answer == .foreignEvent ? groups : groups.filter { !numbers.contains($0) }[...]
        try await remove(rest, answer)
        return cost
    }

    private func pending() throws -> [IntentNumber] { try store.read { $0.pending } }

    /// Takes them away again: the newest first, on which no others stand.
    private func remove(_ numbers: ArraySlice<IntentNumber>, _ answer: RowAnswer) async throws {
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
        case .recording: preconditionFailure("recording is no answer")
        case .acknowledgingOldest:
            return numbers.map { .acknowledge($0, position: nil, replacement: nil) }
        case .rejectingOldest, .rejectingNewest:
            let refusal = Rejection(code: "forbidden", message: "not yours")
            let ordered = answer == .rejectingNewest ? numbers.reversed() : numbers
            return ordered.map { .reject($0, refusal) }
        case .foreignEvent:
            // On the rows of the newest groups.
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
