import Foldback
import Foundation

/// Logs of documents in which every intent is settled, each made once for all sections that want it.
actor SettledLogs {
    struct Shape: Hashable, Sendable {
        /// Half of them intents, half acknowledgements.
        let entryCount: Int
        let keyCount: Int

        var words: String {
            "\(entryCount.grouped) settled entries over \(keyCount.grouped) keys"
        }
    }

    private let folder: URL
    private var made: [Shape: URL] = [:]

    init(in folder: URL) { self.folder = folder }

    /// The log's directory; it ends with a checkpoint, unless entries were added since.
    func log(of shape: Shape) async throws -> URL {
        if let url = made[shape] { return url }
        writeError("  writing \(shape.words)")
        let url = folder.appending(
            path: "settled-\(shape.entryCount)-\(shape.keyCount)", directoryHint: .isDirectory)
        try await Self.add(shape.entryCount, to: url, shape, .automatic)
        made[shape] = url
        return url
    }

    /// Adds entries behind the log's last checkpoint, and writes none.
    func extend(_ shape: Shape, byEntries count: Int) async throws {
        try await Self.add(count, to: try await log(of: shape), shape, .manual)
    }

    private static func add(
        _ entryCount: Int, to url: URL, _ shape: Shape, _ checkpoints: CheckpointPolicy
    ) async throws {
        let store = try await Store.open(
            at: url, Documents.self, confirmedBy: .acknowledgement, durability: .relaxed,
            checkpoints: checkpoints)
        try await settle(entryCount, Events.documents(keyCount: shape.keyCount), in: store)
        if checkpoints != .manual { try await store.checkpoint() }
        // Or the system would write it out under what is timed next.
        try await store.flush()
        await store.close()
    }

    /// The same entries of counters.
    func counters(of shape: Shape) async throws -> URL {
        writeError("  writing \(shape.words), of counters")
        let url = folder.appending(
            path: "counters-\(shape.entryCount)-\(shape.keyCount)", directoryHint: .isDirectory)
        let store = try await Store.open(
            at: url, Counters.self, confirmedBy: .acknowledgement, durability: .relaxed)
        try await Self.settle(
            shape.entryCount, Counters.events(keyCount: shape.keyCount), in: store)
        try await store.flush()
        await store.close()
        return url
    }

    private static func settle<P: Projection>(
        _ entryCount: Int, _ events: [P.Event], in store: Store<P>
    ) async throws {
        var left = entryCount / 2
        while left > 0 {
            let count = min(left, 512)
            var recordings: [QueuedIntent] = []
            for _ in 0..<count {
                recordings.append(try await store.enqueue(events[left % events.count]))
                left -= 1
            }
            var answers: [Acknowledgement<P.Event>] = []
            for recording in recordings {
                answers.append(Acknowledgement(try await recording.receipt().number))
            }
            try await store.acknowledge(contentsOf: answers)
        }
    }
}
