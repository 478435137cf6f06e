import ArgumentParser
import Foldback
import FoldbackExamples
import Foundation

/// The recording process: the one that is killed. It types the rest of the session into the log while
/// an authority acknowledges what has arrived.
struct Record: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Records the rest of a session; started by the demo.", shouldDisplay: false)

    /// Intents between being queued and being durable.
    static let inFlightMax = 512

    @Argument var log: String
    @Argument(help: "The session's edits, one a line.") var edits: String
    @Option(help: "Stop typing here and wait to be killed.") var holdAt: Int?

    func run() async throws {
        let edits = try Data(contentsOf: URL(filePath: self.edits)).split(separator: 0x0A)
        let store = try await Store.open(
            at: URL(filePath: log), Text.self, confirmedBy: .acknowledgement, durability: .durable)
        let recorder = Recorder(store: store, holdAt: holdAt)
        try await recorder.run(edits)
        await store.close()
    }
}

/// Types, waits for each keystroke to be durable, and acknowledges, all at once.
private struct Recorder {
    let store: Store<Text>
    let holdAt: Int?
    let clock = ContinuousClock()

    private struct Keystroke: Sendable {
        let recording: QueuedIntent
        let queuedAt: ContinuousClock.Instant
    }

    func run(_ edits: [Data]) async throws {
        // What the log holds already; the number of the next intent says where to go on.
        let done = Int(store.status.nextIntent.value) - 1
        let unanswered = store.overlay.map(\.number)
        let (typed, keystrokes) = AsyncStream.makeStream(of: [Keystroke].self)
        let (arrived, authority) = AsyncStream.makeStream(of: [IntentNumber].self)
        authority.yield(unanswered)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { keystrokes.finish() }
                try await type(edits[min(done, edits.count)...], keystrokes)
            }
            group.addTask {
                defer { authority.finish() }
                try await measure(typed, authority, done: done, total: edits.count)
            }
            group.addTask { try await acknowledge(arrived) }
            try await group.waitForAll()
        }
    }

    /// Queues the keystrokes in order, at most so many ahead of the disk.
    private func type(
        _ edits: ArraySlice<Data>, _ keystrokes: AsyncStream<[Keystroke]>.Continuation
    ) async throws {
        var inFlight: [QueuedIntent] = []
        inFlight.reserveCapacity(Record.inFlightMax)
        var oldest = 0
        // Handed on a few at a time: a stream costs more than what goes through it.
        var typed: [Keystroke] = []
        for (index, line) in zip(edits.indices, edits) {
            if index == holdAt || typed.count == 32 {
                keystrokes.yield(typed)
                typed.removeAll(keepingCapacity: true)
            }
            if index == holdAt { try await Task.sleep(for: .seconds(600)) }
            let edit = try Edit(json: JSON(parsing: [UInt8](line)))
            let queuedAt = clock.now
            let recording = try await store.enqueue(edit)
            typed.append(Keystroke(recording: recording, queuedAt: queuedAt))
            if inFlight.count < Record.inFlightMax {
                inFlight.append(recording)
            } else {
                _ = try await inFlight[oldest].receipt()
                inFlight[oldest] = recording
                oldest = (oldest + 1) % Record.inFlightMax
            }
        }
        keystrokes.yield(typed)
    }

    /// Notes how long each keystroke took to be durable, and hands it to the authority.
    private func measure(
        _ keystrokes: AsyncStream<[Keystroke]>,
        _ authority: AsyncStream<[IntentNumber]>.Continuation, done: Int, total: Int
    ) async throws {
        var progress = Progress(recorded: done, total: total, start: clock.now)
        progress.report(at: clock.now)
        for await some in keystrokes {
            var durable: [IntentNumber] = []
            for keystroke in some {
                durable.append(try await keystroke.recording.receipt().number)
                let now = clock.now
                progress.note(now - keystroke.queuedAt)
                if progress.isDue || progress.recorded == holdAt { progress.report(at: now) }
            }
            authority.yield(durable)
        }
        progress.report(at: clock.now)
    }

    /// Answers in batches of whatever has arrived, while typing goes on.
    private func acknowledge(_ arrived: AsyncStream<[IntentNumber]>) async throws {
        var batch: [Acknowledgement<Edit>] = []
        for await numbers in arrived {
            batch += numbers.map { Acknowledgement($0) }
            if batch.count >= Record.inFlightMax {
                try await store.acknowledge(contentsOf: batch)
                batch.removeAll(keepingCapacity: true)
            }
        }
        try await store.acknowledge(contentsOf: batch)
    }
}
