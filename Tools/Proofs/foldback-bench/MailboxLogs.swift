import Foldback
import Foundation

/// Logs of 1,000,000 messages. The actor writes one for each kind of log, and makes copies on
/// request.
actor MailboxLogs {
    static let rowCount: UInt64 = 1_000_000
    /// The number of rows that one event adds.
    private static let fillCount: UInt32 = 1_000

    private let folder: URL
    private var logs: [LogKind: URL] = [:]
    private var histories: [Int: URL] = [:]

    /// - Parameter folder: A folder in memory, if the system has such a file system.
    init(in folder: URL) { self.folder = folder }

    /// Copies a log that has the rows and no other entries to `directory`.
    func copy(_ kind: LogKind, to directory: URL) async throws {
        try FileManager.default.copyItem(at: try await log(of: kind), to: directory)
    }

    private func log(of kind: LogKind) async throws -> URL {
        if let url = logs[kind] { return url }
        writeError("  writing \(Int(Self.rowCount).grouped) rows")
        let url = folder.appending(
            path: "mailbox-\(kind.rawValue)", directoryHint: .isDirectory)
        let store = try await Self.open(at: url, kind)
        var position: Position = 0
        for first in stride(from: 0, to: Self.rowCount, by: Int(Self.fillCount)) {
            let event = Mailbox.Event.filled(from: first, count: Self.fillCount)
            switch kind {
            case .acknowledgement:
                let receipt = try await store.record(event, confirmOnly: true)
                try await store.acknowledge(receipt.number)
            case .downlink:
                position = position.next
                try await store.perform([
                    .confirm([try event.confirmed(at: position)], through: nil)
                ])
            }
        }
        try await store.checkpoint()
        try await store.flush()
        await store.close()
        logs[kind] = url
        return url
    }

    /// Returns a log with the rows and `entryCount` entries, half of them intents and half
    /// acknowledgements.
    ///
    /// Then 1,000 pending intents and a checkpoint follow.
    func history(entryCount: Int, in folder: URL) async throws -> URL {
        if let url = histories[entryCount] { return url }
        let url = folder.appending(
            path: "mailbox-\(entryCount)", directoryHint: .isDirectory)
        try await copy(.acknowledgement, to: url)
        writeError("  writing \(entryCount.grouped) entries")
        let store = try await Self.open(at: url, .acknowledgement, checkpoints: .automatic)
        var remaining = (entryCount - Int(store.status.sequence.value)) / 2
        var key: UInt64 = 0
        while remaining > 0 {
            let count = min(remaining, 512)
            let numbers = try await store.recordAll(
                (0..<count).map { _ in
                    key = (key + 7_919) % Self.rowCount
                    return .starred(key)
                })
            try await store.acknowledge(contentsOf: numbers.map { Acknowledgement($0) })
            remaining -= count
        }
        _ = try await store.recordAll((0..<1_000).map { .starred($0 * 997 % Self.rowCount) })
        try await store.checkpoint()
        // Otherwise the system writes the data during the next measurement.
        try await store.flush()
        await store.close()
        histories[entryCount] = url
        return url
    }

    private static func open(
        at url: URL, _ kind: LogKind, checkpoints: CheckpointPolicy = .manual
    ) async throws -> Store<Mailbox> {
        try await Store.open(
            at: url, Mailbox.self, confirmedBy: kind, durability: .relaxed,
            checkpoints: checkpoints)
    }
}

extension Mailbox.Event {
    /// The event as the server sends it.
    func confirmed(at position: Position) throws -> Confirmed {
        Confirmed(
            position: position, payload: try Mailbox.codec.payload(of: self), origin: nil)
    }
}
