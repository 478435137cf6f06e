import Foldback
import Foundation

/// A log of documents with pending intents. Each batch of answers is one transaction.
struct PendingLog: Sendable {
    let store: Store<Documents>
    private let gate: WriterGate
    private let events: [DocumentEvent]
    private var numbers: PendingNumbers
    /// The server's last position.
    private var position: Position = 0

    init(at directory: URL, _ kind: LogKind, pendingCount: Int) async throws {
        gate = WriterGate()
        events = Events.documents(keyCount: 1_000)
        // No checkpoints, because they would be written during a measurement.
        store = try await Store.open(
            at: directory, Documents.self, confirmedBy: kind, durability: .relaxed,
            checkpoints: .manual, sources: gate.sources)
        numbers = PendingNumbers(from: store.status.nextIntent)
        try await record(count: pendingCount)
    }

    func record(count: Int) async throws {
        _ = try await store.recordAll((0..<count).lazy.map { [events] in events[$0 % 1_000] })
    }

    func close() async { await store.close() }

    // MARK: Answers

    func cost(of commands: [Command]) async throws -> BatchCost {
        let gated = GatedStore(
            store: store, counts: { $0.projected.folded.counts }, gate: gate)
        return try await gated.cost(of: commands)
    }

    mutating func takeOldest(_ count: Int) -> [IntentNumber] { numbers.takeOldest(count) }

    func newest(_ count: Int) -> [IntentNumber] {
        PendingNumbers.newest(count, before: store.status.nextIntent)
    }

    mutating func nextPosition() -> Position {
        position = position.next
        return position
    }

    /// Another replica's event at the server's next position.
    mutating func foreignEvent() throws -> Confirmed {
        let position = nextPosition()
        let event = events[Int(position.value) % events.count]
        return Confirmed(
            position: position, payload: try Documents.codec.payload(of: event), origin: nil)
    }

    /// Confirms the accepted intents by the downlink, at the positions that their answers named.
    func confirmAccepted() async throws {
        // The accepted intents are the oldest.
        let accepted = store.core.published.overlay.prefix {
            $0.value.acceptance != nil
        }
        let events = accepted.compactMap { _, intent in
            intent.acceptance?.position.map { position in
                Confirmed(
                    position: position, payload: intent.payload, origin: intent.recorded.id)
            }
        }
        let batch = Command.confirm(events, through: nil)
        _ = try await store.core.runner.submit(.command(batch, isForced: true), bytes: 0).outcome()
    }
}
