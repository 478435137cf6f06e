import Foldback
import FoldbackExamples
import Foundation

/// An editing session, typed into Foldback and into Loro with one commit for each keystroke.
///
/// Foldback records each keystroke durably, and an authority acknowledges it, while typing goes on.
/// At the end, view and confirmed state are the last text. Loro keeps everything in memory. Both
/// measure typing alone: the session is in memory when it begins.
struct EditingSession {
    private let trace: Trace
    private let edits: [Edit]
    private let directory: URL
    private let loro: LoroProcess?

    private static let rounds = 5
    private static let sides = ["Foldback durable", "Loro in memory"]

    /// - Returns: nil if the options name neither a session nor a text.
    init?(_ options: Options, in directory: URL) throws {
        if let session = options.session {
            trace = try Trace(file: URL(filePath: session))
        } else if let text = options.text {
            let file = URL(filePath: text)
            trace = Trace(
                typing: String(decoding: try contents(of: file), as: UTF8.self),
                name: "typing \(file.lastPathComponent)")
        } else {
            return nil
        }
        edits = trace.intents
        self.directory = directory
        loro = try LoroProcess(options, edits, end: trace.end, in: directory)
    }

    /// The sides take turns, so that other load on the machine affects both.
    func figures() async throws -> [Figure] {
        var seconds: [[Double]] = [[], []]
        for round in 0..<Self.rounds {
            writeError("editing session, round \(round + 1) of \(Self.rounds)")
            seconds[0].append(try await typedIntoFoldback(round))
            if let loro { seconds[1].append(try loro.seconds()) }
        }
        let name = "editing session, one commit for each keystroke"
        let words = "\(edits.count) keystrokes, \(trace.name)"
        var figures = zip(Self.sides, seconds).filter { !$1.isEmpty }.map { side, seconds in
            Figure(
                side: side, name: name, value: seconds.sorted().percentile(50), unit: "s",
                n: seconds.count, note: words)
        }
        if loro != nil {
            figures.append(
                zip(seconds[0], seconds[1]).map { $0 / $1 }
                    .ratio(of: Self.sides[0], to: Self.sides[1], name, aim: 3))
        }
        return figures
    }

    // MARK: Foldback

    /// The most keystrokes that are queued and not yet durable, and the acknowledgements of a batch.
    private static let together = 512

    private func typedIntoFoldback(_ round: Int) async throws -> Double {
        let log = directory.appending(path: "session-\(round)", directoryHint: .isDirectory)
        let store = try await Store.open(
            at: log, Text.self, confirmedBy: .acknowledgement, durability: .durable)
        let clock = ContinuousClock()
        let start = clock.now
        let (typed, keystrokes) = AsyncStream.makeStream(of: [QueuedIntent].self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { keystrokes.finish() }
                try await Self.type(edits, into: store, keystrokes)
            }
            group.addTask { try await Self.acknowledge(typed, in: store) }
            try await group.waitForAll()
        }
        let elapsed = clock.now - start
        let end = Array(trace.end.unicodeScalars)
        precondition(
            Array(store.view.string.unicodeScalars) == end
                && Array(store.confirmed.string.unicodeScalars) == end,
            "the view or confirmed state is not the session's last text")
        await store.close()
        try FileManager.default.removeItem(at: log)
        return elapsed / .seconds(1)
    }

    /// Queues the keystrokes in their order, at most ``together`` ahead of the disk.
    private static func type(
        _ edits: [Edit], into store: Store<Text>,
        _ keystrokes: AsyncStream<[QueuedIntent]>.Continuation
    ) async throws {
        var oldest: [QueuedIntent] = []
        var newest: [QueuedIntent] = []
        for edit in edits {
            if newest.count == together {
                keystrokes.yield(newest)
                oldest = newest
                newest.removeAll(keepingCapacity: true)
            }
            if newest.count < oldest.count { _ = try await oldest[newest.count].receipt() }
            newest.append(try await store.enqueue(edit))
        }
        keystrokes.yield(newest)
    }

    /// Acknowledges keystrokes once they are durable, while typing goes on.
    private static func acknowledge(
        _ typed: AsyncStream<[QueuedIntent]>, in store: Store<Text>
    ) async throws {
        for await group in typed {
            var answers: [Acknowledgement<Edit>] = []
            for keystroke in group {
                answers.append(Acknowledgement(try await keystroke.receipt().number))
            }
            try await store.acknowledge(contentsOf: answers)
        }
    }
}
