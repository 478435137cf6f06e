import ArgumentParser
import Foldback
import FoldbackExamples
import Foundation

/// The recording process, which the demo kills.
///
/// It types the rest of the session into the log while an authority acknowledges the intents.
struct Record: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Records the rest of a session; started by the demo.", shouldDisplay: false)

    /// The most intents that are queued and not yet durable.
    static let inFlightMax = 512

    @Argument var log: String
    @Argument(help: "The file of the session's edits, one on each line.") var edits: String
    @Option(help: "Stops typing at this intent and waits for a signal.") var holdAt: Int?

    func run() async throws {
        let edits = try Data(contentsOf: URL(filePath: self.edits)).split(separator: 0x0A)
        let store = try await Store.open(
            at: URL(filePath: log), Text.self, confirmedBy: .acknowledgement, durability: .durable)
        let recorder = Recorder(store: store, holdAt: holdAt)
        try await recorder.run(edits)
        await store.close()
    }
}

/// Types keystrokes, waits until they are durable, and acknowledges them, all at the same time.
private struct Recorder {
    let store: Store<Text>
    let holdAt: Int?
    let clock = ContinuousClock()

    private struct Keystroke: Sendable {
        let recording: QueuedIntent
        let queuedAt: ContinuousClock.Instant
    }

    func run(_ edits: [Data]) async throws {
        // The log already holds the intents before the next number.
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

    /// Queues the keystrokes in order, at most ``Record/inFlightMax`` ahead of the disk.
    private func type(
        _ edits: ArraySlice<Data>, _ keystrokes: AsyncStream<[Keystroke]>.Continuation
    ) async throws {
        var inFlight: [QueuedIntent] = []
        inFlight.reserveCapacity(Record.inFlightMax)
        var oldest = 0
        // Keystrokes go through the stream in groups, because one element costs more than a
        // keystroke.
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

    /// Measures how long each keystroke takes until it is durable, and passes it to the authority.
    private func measure(
        _ keystrokes: AsyncStream<[Keystroke]>,
        _ authority: AsyncStream<[IntentNumber]>.Continuation, done: Int, total: Int
    ) async throws {
        var progress = Progress(recorded: done, total: total, start: clock.now)
        progress.report(at: clock.now)
        for await group in keystrokes {
            var durable: [IntentNumber] = []
            for keystroke in group {
                durable.append(try await keystroke.recording.receipt().number)
                let now = clock.now
                progress.note(now - keystroke.queuedAt)
                if progress.isDue || progress.recorded == holdAt { progress.report(at: now) }
            }
            authority.yield(durable)
        }
        progress.report(at: clock.now)
    }

    /// Acknowledges the durable intents in batches while typing continues.
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
