import ArgumentParser
import Foldback
import FoldbackHTTP
import FoldbackSync
import Foundation
import Synchronization

/// A device that records and syncs until it is killed, or told to stop.
///
/// It prints a line for each intent that is recorded, and for each answer that it gets.
struct Device: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Records and syncs until a line comes in.", shouldDisplay: false)

    @Argument var name: String
    @Argument var log: String
    @Argument var server: String
    @Argument var token: String

    /// The milliseconds of a drain. A device with it syncs only in drains, as apps in the background do.
    @Option var drain: Int?

    /// Waits are short, because the server is back soon. A request may fail several times by kills alone, so
    /// an intent that is held back after three failures is tried again soon.
    private static let policy = SyncPolicy(
        intentsPerRequestMax: 64, requestsMax: 1, backoffMin: .milliseconds(20),
        backoffMax: .milliseconds(200), delayMax: .seconds(1), waiting: .seconds(5))

    func run() async throws {
        guard let server = URL(string: server) else { throw ValidationError("not an address") }
        let store = try await Store.open(
            at: URL(filePath: log, directoryHint: .isDirectory), Documents.self,
            confirmedBy: .downlink, durability: .durable)
        let authority = NotedAuthority(
            HTTPAuthority<DocumentEvent>(server, space: "default", token: token))
        let sync = Sync(store, with: authority, policy: Self.policy)
        let isStopping = Atomic(false)
        Thread.detachNewThread {
            _ = readLine()
            isStopping.store(true, ordering: .relaxed)
        }
        let running = drain == nil ? Task { try await sync.run() } : nil
        let key = ExactString(name)
        if store.view[key] == nil { try await record(.set(key, ["count": 0]), in: store) }
        while !isStopping.load(ordering: .relaxed) {
            for _ in 0..<(drain == nil ? 1 : 20) {
                try await record(.increment(key, field: "count", by: .integer(1)), in: store)
            }
            if let drain {
                Line.say(["draining": true])
                let result = try await sync.drain(within: .milliseconds(drain))
                let isTimedOut = if case .timedOut = result { true } else { false }
                Line.say(["timedOut": .bool(isTimedOut)])
            } else {
                try await Task.sleep(for: .milliseconds(2))
            }
        }
        try await finish(sync)
        running?.cancel()
        try await running?.value
        await store.close()
    }
}

extension Device {
    /// Sends everything. A drain leaves an intent that the server failed on by kills alone, so this waits
    /// until it is tried again.
    private func finish(_ sync: Sync<Documents>) async throws {
        let end = ContinuousClock.now.advanced(by: .seconds(60))
        repeat {
            let result = try await sync.drain(within: .seconds(60))
            if result == .drained, sync.status.pendingCount == 0 { return }
            try await Task.sleep(for: .milliseconds(100))
        } while .now < end
        throw ValidationError("\(sync.status.message)")
    }

    private func record(_ event: DocumentEvent, in store: Store<Documents>) async throws {
        Line.say(try await store.record(event).id.members(as: "recorded"))
    }
}

/// An authority that notes its answers.
private struct NotedAuthority: Authority {
    let authority: HTTPAuthority<DocumentEvent>

    init(_ authority: HTTPAuthority<DocumentEvent>) { self.authority = authority }

    func submit(
        _ intents: [Submission<DocumentEvent>], from device: SyncPoint
    ) async throws(AuthorityFailure) -> Verdicts<DocumentEvent> {
        let answer = try await authority.submit(intents, from: device)
        for (id, verdict) in answer.byIntent {
            guard case .accepted(let position?, _) = verdict else { continue }
            var line = id.members(as: "accepted")
            line["position"] = .integer(Int64(position.value))
            Line.say(line)
        }
        return answer
    }

    func changes(
        after device: SyncPoint
    ) async throws(AuthorityFailure) -> Changes<DocumentEvent> {
        try await authority.changes(after: device)
    }

    func changes(
        after device: SyncPoint, waiting: Duration
    ) async throws(AuthorityFailure) -> Changes<DocumentEvent> {
        try await authority.changes(after: device, waiting: waiting)
    }
}

extension IntentID {
    fileprivate func members(as name: ExactString) -> JSON.Object {
        [name: .integer(Int64(number.value)), "replica": .string(ExactString(replica.name.string))]
    }
}

/// Lines of output, each one JSON object.
enum Line {
    static func say(_ object: JSON.Object) {
        FileHandle.standardOutput.write(Data("\(JSON.object(object))\n".utf8))
    }
}
