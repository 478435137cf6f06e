import Foldback
import Foundation

/// Logs of 1,000,000 letters: made once for each kind of log, and copied for whoever wants one.
actor MailboxLogs {
    static let rowCount: UInt64 = 1_000_000
    /// Rows of one event.
    private static let fillCount: UInt32 = 1_000

    private let folder: URL
    private var made: [LogKind: URL] = [:]
    private var histories: [Int: URL] = [:]

    /// - Parameter folder: in memory, where there is such a file system.
    init(in folder: URL) { self.folder = folder }

    /// Puts a log with just the rows there.
    func copy(_ kind: LogKind, to directory: URL) async throws {
        try FileManager.default.copyItem(at: try await log(of: kind), to: directory)
    }

    private func log(of kind: LogKind) async throws -> URL {
        if let url = made[kind] { return url }
        writeError("  writing \(Int(Self.rowCount).grouped) rows")
        let url = folder.appending(
            path: "letters-\(kind.rawValue)", directoryHint: .isDirectory)
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
        made[kind] = url
        return url
    }

    /// A log with the rows, so many entries, half of them intents and half acknowledgements, and then
    /// 1,000 intents that are pending. It ends with a checkpoint.
    func history(entryCount: Int, in folder: URL) async throws -> URL {
        if let url = histories[entryCount] { return url }
        let url = folder.appending(
            path: "letters-\(entryCount)", directoryHint: .isDirectory)
        try await copy(.acknowledgement, to: url)
        writeError("  writing \(entryCount.grouped) entries")
        let store = try await Self.open(at: url, .acknowledgement, checkpoints: .automatic)
        var left = (entryCount - Int(store.status.sequence.value)) / 2
        var key: UInt64 = 0
        while left > 0 {
            let count = min(left, 512)
            let numbers = try await store.recordAll(
                (0..<count).map { _ in
                    key = (key + 7_919) % Self.rowCount
                    return .starred(key)
                })
            try await store.acknowledge(contentsOf: numbers.map { Acknowledgement($0) })
            left -= count
        }
        _ = try await store.recordAll((0..<1_000).map { .starred($0 * 997 % Self.rowCount) })
        try await store.checkpoint()
        // Or the system would write it out under what is timed next.
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
    /// As the server sends it.
    func confirmed(at position: Position) throws -> Confirmed {
        Confirmed(
            position: position, payload: try Mailbox.codec.payload(of: self), origin: nil)
    }
}
