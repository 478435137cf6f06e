import Foldback
import Foundation

/// Logs of documents in which every intent is settled. Each log is written once for all sections.
actor SettledLogs {
    struct Shape: Hashable, Sendable {
        /// Half of the entries are intents, and half are acknowledgements.
        let entryCount: Int
        let keyCount: Int
        /// How many of the acknowledgements bring an event that this code cannot read (E4).
        var unreadCount = 0

        var words: String {
            let unread = unreadCount == 0 ? "" : ", \(unreadCount.grouped) of them unread"
            return "\(entryCount.grouped) settled entries over \(keyCount.grouped) keys\(unread)"
        }
    }

    private let folder: URL
    private var logs: [Shape: URL] = [:]

    init(in folder: URL) { self.folder = folder }

    /// Returns the log's directory. The log ends with a checkpoint unless it was extended.
    func log(of shape: Shape) async throws -> URL {
        if let url = logs[shape] { return url }
        writeError("  writing \(shape.words)")
        let url = folder.appending(
            path: "settled-\(shape.entryCount)-\(shape.keyCount)-\(shape.unreadCount)",
            directoryHint: .isDirectory)
        try await Self.add(shape.entryCount, to: url, shape, .automatic)
        logs[shape] = url
        return url
    }

    /// Adds entries after the log's last checkpoint, and writes no checkpoint.
    func extend(_ shape: Shape, byEntries count: Int) async throws {
        try await Self.add(count, to: try await log(of: shape), shape, .manual)
    }

    /// Adds settled intents to the log at `url`, which need not exist yet.
    static func add(
        _ entryCount: Int, to url: URL, _ shape: Shape, _ checkpoints: CheckpointPolicy
    ) async throws {
        let store = try await Store.open(
            at: url, Documents.self, confirmedBy: .acknowledgement, durability: .relaxed,
            checkpoints: checkpoints)
        let newer = RecordedEvent(
            format: Documents.codec.format, bytes: Array(#"{"op":"pin","key":"a"}"#.utf8))
        try await settle(
            entryCount, Events.documents(keyCount: shape.keyCount), in: store,
            unread: (newer, shape.entryCount == entryCount ? shape.unreadCount : 0))
        if checkpoints != .manual { try await store.checkpoint() }
        // Otherwise the system writes the data during the next measurement.
        try await store.flush()
        await store.close()
    }

    /// Writes a log of counters with as many entries, and returns its directory.
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
        _ entryCount: Int, _ events: [P.Event], in store: Store<P>,
        unread: (event: RecordedEvent, count: Int)? = nil
    ) async throws {
        var remaining = entryCount / 2
        // The unread events are spread evenly.
        let step = unread.map { $0.count == 0 ? .max : remaining / $0.count } ?? .max
        while remaining > 0 {
            let count = min(remaining, 512)
            var recordings: [QueuedIntent] = []
            for _ in 0..<count {
                recordings.append(try await store.enqueue(events[remaining % events.count]))
                remaining -= 1
            }
            var answers: [Acknowledgement<P.Event>] = []
            for recording in recordings {
                let number = try await recording.receipt().number
                let isUnread = number.value.isMultiple(of: UInt64(step))
                answers.append(
                    Acknowledgement(
                        number, delivered: isUnread ? unread.map { .recorded($0.event) } : nil))
            }
            try await store.acknowledge(contentsOf: answers)
        }
    }
}
