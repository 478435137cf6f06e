import Foldback
import Foundation

/// A log of documents with intents pending, answered in batches of which each is one transaction.
struct PendingLog: Sendable {
    let store: Store<Documents>
    private let gate: WriterGate
    private let events: [DocumentEvent]
    /// The server's last.
    private var position: Position = 0

    /// What answering took.
    struct Cost: Sendable {
        let elapsed: Duration
        /// Calls of `apply`.
        let folds: FoldCounts
    }

    init(at directory: URL, _ kind: LogKind, pendingCount: Int) async throws {
        gate = WriterGate()
        events = Events.documents(keyCount: 1_000)
        // Checkpoints would be written beside what is timed, at moments of their own.
        store = try await Foldback.open(
            at: directory, Documents.self, confirmedBy: kind, durability: .relaxed,
            checkpoints: .manual, sources: gate.sources)
        try await record(count: pendingCount)
    }

    func record(count: Int) async throws {
        _ = try await store.recordAll((0..<count).lazy.map { [events] in events[$0 % 1_000] })
    }

    func close() async { await store.close() }

    // MARK: Answers

    /// Queues them all, then lets the writer go: the time from the first being queued to the last
    /// caller being resumed.
    func cost(of commands: [Command]) async throws -> Cost {
        gate.close()
        // Refused, but only when the writer has asked for the time.
        let held = try await store.core.submit(
            .command(.withdraw(0), isForced: true), bytes: 0)
        gate.waitForWriter()
        let before = store.projected.folded.counts
        let clock = ContinuousClock()
        let start = clock.now
        var requests: [Request] = []
        requests.reserveCapacity(commands.count)
        for command in commands {
            requests.append(
                try await store.core.submit(.command(command, isForced: true), bytes: 64))
        }
        gate.open()
        for request in requests { _ = try await request.outcome() }
        let elapsed = clock.now - start
        let after = store.projected.folded.counts
        await requireRefused(held)
        return Cost(
            elapsed: elapsed,
            folds: FoldCounts(
                overlay: after.overlay - before.overlay,
                confirmed: after.confirmed - before.confirmed))
    }

    private func requireRefused(_ request: Request) async {
        do throws(FoldbackError) {
            let outcome = try await request.outcome()
            preconditionFailure("there is no intent 0, and withdrawing it gave \(outcome)")
        } catch {
            guard case .unknownIntent = error else {
                preconditionFailure("withdrawing intent 0 gave \(error)")
            }
        }
    }

    var pending: [IntentNumber] { store.snapshot.pending }

    mutating func nextPosition() -> Position {
        position = position.next
        return position
    }

    /// A foreign event at the server's next position.
    mutating func foreignEvent() throws -> Confirmed {
        let position = nextPosition()
        let event = events[Int(position.value) % events.count]
        return Confirmed(
            position: position, payload: try Documents.codec.payload(of: event), origin: nil)
    }

    /// The downlink brings what was accepted, at the positions that were promised.
    func confirmAccepted() async throws {
        let events = store.core.writer.published.overlay.values.compactMap { intent in
            intent.acceptance?.position.map { position in
                Confirmed(
                    position: position, payload: intent.payload, origin: intent.recorded.id)
            }
        }
        let batch = Command.confirm(events, through: nil)
        _ = try await store.core.submit(.command(batch, isForced: true), bytes: 0).outcome()
    }
}
