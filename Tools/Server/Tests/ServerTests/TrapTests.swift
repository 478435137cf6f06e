import Foldback
import FoldbackHTTP
import FoldbackSync
import Foundation
import Processes
import Synchronization
import Testing

/// Question: what does a rule cost that ends the whole server?
@Suite struct TrapTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    /// A server that is started again on its port whenever it ends, as a supervisor does it.
    private final class SupervisedServer: Sendable {
        let address: URL
        private let running: Mutex<TestServer?>
        private let count = Mutex(1)

        var startCount: Int { count.withLock { $0 } }

        init(in folder: Folder) async throws {
            let server = try await Self.start(in: folder, port: 0)
            address = server.address
            running = Mutex(server)
        }

        private static func start(in folder: Folder, port: Int) async throws -> TestServer {
            try await TestServer.start(
                "trapping-server", in: folder,
                environment: [
                    "FOLDBACK_LISTEN": "127.0.0.1:\(port)", "SWIFT_BACKTRACE": "enable=no",
                ], errors: .none)
        }

        func supervise(in folder: Folder) async throws {
            while let server = running.withLock(\.self) {
                _ = try await onThread { server.process.waitUntilExit() }
                guard running.withLock({ $0 != nil }) else { return }
                let next = try await Self.start(in: folder, port: address.port ?? 0)
                count.withLock { $0 += 1 }
                let isWanted = running.withLock { running in
                    if running != nil { running = next }
                    return running != nil
                }
                if !isWanted { _ = try await next.stop() }
            }
        }

        func end() async throws {
            let last = running.withLock { running in
                defer { running = nil }
                return running
            }
            _ = try await last?.stop()
        }
    }

    @Test func `devices quarantine an intent on which a server traps, and send the others`()
        async throws
    {
        let server = try await SupervisedServer(in: folder)
        let token = try await TestServer.token("ann", in: folder)
        let store = try await Store.open(
            at: folder.url.appending(path: "device", directoryHint: .isDirectory), Documents.self,
            confirmedBy: .downlink, durability: .relaxed)
        for number in 1...20 {
            let key = number == 7 ? "trap" : "key \(number)"
            try await store.record(.set(ExactString(key), 1))
        }
        let policy = SyncPolicy(
            intentsPerRequestMax: 64, requestsMax: 2, backoffMin: .milliseconds(20),
            backoffMax: .milliseconds(200), delayMax: .seconds(60), quarantineAfter: 3)
        let sync = Sync(
            store, with: HTTPAuthority(server.address, space: "main", token: token),
            policy: policy)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.supervise(in: folder) }
            group.addTask { try await sync.run() }
            for _ in 0..<3_000
            where store.attempt(of: 7)?.quarantine == nil || store.snapshot.pending != [7] {
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(store.snapshot.pending == [7])
            #expect(sync.status.outbox.quarantined.keys.sorted() == [7])
            try await server.end()
            group.cancelAll()
            try await group.waitForAll()
        }
        #expect(server.startCount > 3)

        // A server without the flaw, on the same data.
        let fixed = try await TestServer.start(in: folder)
        let next = Sync(
            store, with: HTTPAuthority(fixed.address, space: "main", token: token),
            policy: .ordered)
        try await next.release(7)
        #expect(try await next.drain(within: .seconds(30)) == .drained)
        #expect(store.overlay.isEmpty && store.confirmed.json["trap"] == 1)
        _ = try await fixed.stop()
        await store.close()
    }
}
