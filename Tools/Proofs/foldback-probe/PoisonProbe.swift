import Foldback
import FoldbackSync
import Foundation
import Synchronization

/// `foldback-probe poison LOG BOOK ordered|concurrent POISON`: sends a log's pending intents to an
/// authority that fails on requests with the poisoned intent.
///
/// The process ends when the poisoned intent is quarantined and every intent that need not wait for
/// it is settled. If `POISON` is 0, it releases what is quarantined first, and ends when nothing is
/// pending.
enum PoisonProbe {
    static func run(_ arguments: ArraySlice<String>) async throws {
        let words = Array(arguments)
        guard words.count == 4, let policy = policies[words[2]], let poison = UInt64(words[3])
        else { throw WrongUse() }
        let store = try await Store.open(
            at: URL(filePath: words[0]), Documents.self, confirmedBy: .acknowledgement,
            durability: .durable)
        let authority = try BookAuthority(at: words[1], failingOn: IntentNumber(poison))
        let outbox = Outbox(store, to: authority, policy: policy)
        if poison == 0 {
            for number in store.attempts.keys { try await outbox.release(number) }
        }
        try await withThrowingTaskGroup { group in
            group.addTask { try await outbox.run() }
            // What ends it is not all in the status, and equal states are not repeated.
            while !isDone(outbox.status, store, poison) {
                try await Task.sleep(for: .milliseconds(1))
            }
            // The status says it a moment before the log has it.
            while poison > 0, store.attempt(of: IntentNumber(poison))?.quarantine == nil {
                try await Task.sleep(for: .milliseconds(1))
            }
            group.cancelAll()
            try await group.waitForAll()
        }
        say("\(store.status.pendingCount) pending\n")
        await store.close()
    }

    /// Policies with short waits. A quarantined intent is tried again only at the next start.
    private static let policies = [
        "ordered": policy(requestsMax: 1), "concurrent": policy(requestsMax: 2),
    ]

    private static func policy(requestsMax: Int) -> SyncPolicy {
        SyncPolicy(
            intentsPerRequestMax: 64, requestsMax: requestsMax, backoffMin: .milliseconds(1),
            backoffMax: .milliseconds(2), delayMax: .seconds(3_600), quarantineAfter: 3)
    }

    private static func isDone(
        _ status: OutboxStatus, _ store: Store<Documents>, _ poison: UInt64
    ) -> Bool {
        guard poison > 0 else { return store.status.pendingCount == 0 }
        guard Array(status.quarantined.keys) == [IntentNumber(poison)] else { return false }
        return !status.blocking.isEmpty || store.status.pendingCount == 1
    }
}

/// An authority that keeps its requests and decisions in a file: a line `failed 1 2 3` for a request
/// that it fails on, and a line `settled 1` for an intent that it accepts.
///
/// It flushes the file before it answers. So it knows after a kill what it has decided.
private final class BookAuthority: Authority {
    private struct Book {
        let file: FileHandle
        var settled: Set<IntentNumber> = []

        mutating func write(_ line: String) throws {
            try file.write(contentsOf: Data("\(line)\n".utf8))
            try file.synchronize()
        }
    }

    private let book: Mutex<Book>
    private let poison: IntentNumber

    init(at path: String, failingOn poison: IntentNumber) throws {
        var settled: Set<IntentNumber> = []
        for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words[0] == "settled", let number = UInt64(words[1]) else { continue }
            settled.insert(IntentNumber(number))
        }
        guard let file = FileHandle(forUpdatingAtPath: path) else { throw WrongUse() }
        try file.seekToEnd()
        book = Mutex(Book(file: file, settled: settled))
        self.poison = poison
    }

    func submit(
        _ intents: [Submission<DocumentEvent>], from device: SyncPoint
    ) async throws(AuthorityFailure) -> Verdicts<DocumentEvent> {
        let numbers = intents.map(\.id.number)
        do {
            try book.withLock { book in
                guard !numbers.contains(poison) else {
                    let words = numbers.map(\.description).joined(separator: " ")
                    return try book.write("failed \(words)")
                }
                for number in numbers where book.settled.insert(number).inserted {
                    try book.write("settled \(number)")
                }
            }
        } catch {
            throw .unreachable(reason: "\(error)")
        }
        if numbers.contains(poison) { throw .failed(reason: "this intent is poison") }
        return Verdicts(
            Dictionary(
                uniqueKeysWithValues: intents.map {
                    ($0.id, .accepted(position: nil, replacement: nil))
                }))
    }

    func changes(
        after device: SyncPoint
    ) async throws(AuthorityFailure) -> Changes<DocumentEvent> {
        Changes(events: [], through: device.through, hasMore: false)
    }
}
