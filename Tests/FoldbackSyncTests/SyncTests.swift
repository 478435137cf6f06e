import Foldback
import FoldbackSync
import FoldbackTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// These tests ask whether one object keeps a log in sync: in both directions, over another server, in
/// the background, and with a status that says what to do (S6).
@Suite struct SyncTests {
    private let directory = TemporaryDirectory()

    private static let policy = SyncPolicy(
        intentsPerRequestMax: 3, requestsMax: 1, backoffMin: .seconds(1), backoffMax: .seconds(8),
        delayMax: .seconds(60))

    @Sendable private static func open(_ url: URL) async throws(LogError) -> Store<Board> {
        try await Store.open(
            at: url, Board.self, confirmedBy: .downlink, durability: .relaxed)
    }

    private static func server(_ name: String) -> InProcessAuthority<Board> {
        InProcessAuthority(Board.self, lineage: Lineage(name)!)
    }

    @Sendable private static func key(_ move: Move) -> String? {
        if case .set(let key, _) = move { key } else { nil }
    }

    private func memory() -> Store<Board> {
        Store.inMemory(
            Board.self, confirmedBy: .downlink, replica: ReplicaID("me"), sources: .counting())
    }

    private func keptLogs() async throws -> [URL] {
        try await LogDirectory(at: directory.log).keptLogs()
    }

    /// Runs a sync during `body`, and cancels it after that.
    private static func run<P: EventFold>(
        _ sync: Sync<P>, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await sync.run() }
            group.addTask {
                try await body()
                throw CancellationError()
            }
            do { for try await _ in group {} } catch is CancellationError {}
            group.cancelAll()
        }
    }

    /// Waits until nothing is pending in the store that the sync has.
    private static func settled(_ sync: Sync<Board>, after old: Store<Board>? = nil) async {
        for await store in sync.stores where store !== old {
            for await snapshot in store.views where snapshot.overlay.isEmpty { return }
        }
    }

    // MARK: Both directions

    @Test func `a sync sends what is recorded, and fetches what others do`() async throws {
        let server = Self.server("first")
        _ = try await server.submit([
            Submission(id: IntentID(replica: ReplicaID("other")!, number: 1), event: .set("o", 1))
        ])
        let store = memory()
        let time = VirtualTime()
        try await time.run {
            let sync = Sync(store, with: server, policy: Self.policy, sources: time.sources)
            #expect(sync.status.obstacle == .paused(.stopped) && sync.status.lastContact == nil)
            try await store.record(.set("a", 1))
            #expect(sync.status.pendingCount == 1 && sync.status.oldestPending != nil)
            try await Self.run(sync) {
                await Self.settled(sync)
                #expect(store.view.cells.keys.sorted() == ["a", "o"])
                #expect(sync.status.obstacle == nil && sync.status.oldestPending == nil)
                #expect(sync.status.lastContact != nil)
                #expect(sync.status.message == "Everything is saved on the server.")
            }
        }
    }

    @Test func `a second run is refused, and after a canceled run it waits`() async throws {
        let store = memory()
        let time = VirtualTime()
        try await time.run {
            let sync = Sync(
                store, with: Self.server("first"), policy: Self.policy, sources: time.sources)
            try await Self.run(sync) {
                await time.sources.sleep(.seconds(1))
                let error = await syncError(sync.run)
                guard case .alreadyRunning? = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
            try await Self.run(sync) { _ = try await sync.fetch() }
        }
    }

    @Test func `what the app tells reaches both directions, and the status says it`() async throws {
        let server = Self.server("first")
        let store = memory()
        let time = VirtualTime()
        try await time.run {
            let sync = Sync(store, with: server, policy: Self.policy, sources: time.sources)
            try await Self.run(sync) {
                sync.tell(.wentOffline)
                try await store.record(.set("a", 1))
                await time.sources.sleep(.seconds(100))
                #expect(store.snapshot.pending == [1] && server.decidedCount == 0)
                #expect(sync.status.obstacle == .paused(.offline) && !sync.status.isOnline)
                #expect(
                    sync.status.suggestion
                        == "One change is kept, and sent when there is a connection.")
                sync.tell(.signedOut(reason: "you have signed out"))
                sync.tell(.wentOnline)
                await time.sources.sleep(.seconds(100))
                #expect(
                    sync.status.obstacle == .paused(.signedOut(reason: "you have signed out")))
                #expect(sync.status.suggestion == "Sign in again.")
                sync.tell(.signedIn)
                await Self.settled(sync)
                #expect(sync.status.obstacle == nil)
            }
        }
    }

    @Test func `the status says that the server fails`() async throws {
        let store = memory()
        let failing = StubAuthority<Move>([], rest: .fail(.failed(reason: "HTTP 500")))
        let time = VirtualTime()
        try await time.run {
            let sync = Sync(
                store, with: failing, policy: .concurrent(requestsMax: 1), sources: time.sources)
            try await store.record(.set("a", 1))
            try await Self.run(sync) {
                await time.sources.sleep(.seconds(600))
                // Everything that waits makes the server fail, so that is what holds it up.
                let failure = AuthorityFailure.failed(reason: "HTTP 500")
                #expect(sync.status.obstacle == .paused(.failing(failure)))
            }
        }
    }

    @Test func `the status names what the server fails on, and what needs an update`()
        async throws
    {
        let written = memory()
        for move in [.claim("a"), .set("a", 1), .set("b", 1)] as [Move] {
            try await written.record(move)
        }
        let store = try Store.inMemory(
            OutboxTests.ShortSightedBoard.self, reopening: try #require(written.memoryRows),
            sources: .counting())
        let time = VirtualTime()
        try await time.run {
            let sync = Sync(
                store, with: PoisonedAuthority(InProcessAuthority(Board.self), 2),
                policy: .concurrent(requestsMax: 2), sources: time.sources)
            try await Self.run(sync) {
                await time.sources.sleep(.seconds(600))
                // The server works for another intent, so it is not the server that holds it up.
                try await store.record(.set("c", 1))
                await time.sources.sleep(.seconds(5))
                #expect(sync.status.obstacle == .quarantined([2]))
                #expect(sync.status.message == "The server fails on one change.")
                #expect(
                    sync.status.suggestion
                        == "Wait for a new version of the app or the server, or give the changes up."
                )
                _ = try await store.abandon(2)
                await time.sources.sleep(.seconds(10))
                #expect(store.snapshot.pending == [1])
                #expect(sync.status.obstacle == .unreadable([1]))
                #expect(sync.status.message == "One change is from a newer version of the app.")
                #expect(sync.status.suggestion == "Update the app.")
            }
        }
    }

    // MARK: Another server

    /// Syncs a log with an authority that then loses its data. Returns the store, and the new authority.
    private func superseded() async throws -> (Store<Board>, InProcessAuthority<Board>) {
        let first = Self.server("first")
        let store = try await Self.open(directory.log)
        try await store.record(.set("a", 1))
        try await store.exchangeAll(with: first, policy: Self.policy)
        try await store.record(.set("b", 2))
        return (store, Self.server("second"))
    }

    /// A command or a background task drains, and ends. Many rounds, because a drain once waited for a
    /// change of the status that it had missed.
    @Test func `N6: a drain brings what the server has lost, and sends it`() async throws {
        for _ in 0..<50 {
            let (store, server) = try await superseded()
            let sync = Sync(
                store, with: server, policy: Self.policy,
                continuing: Continuing(opening: Self.open) { _ in .bring })
            #expect(try await sync.drain(within: .seconds(60)) == .drained)
            #expect(sync.store !== store && sync.store.overlay.isEmpty)
            #expect(server.state.cells.keys.sorted() == ["a", "b"])
            #expect(try await keptLogs().isEmpty)
            await sync.store.close()
            for url in try FileManager.default.contentsOfDirectory(
                at: directory.log.deletingLastPathComponent(), includingPropertiesForKeys: nil)
            { try FileManager.default.removeItem(at: url) }
        }
    }

    @Test(arguments: [Continuing<Board>.Choice.bring, .discard, .keep])
    func `N6: a sync continues on a new log, and the app decides about the old one`(
        choice: Continuing<Board>.Choice
    ) async throws {
        let (store, server) = try await superseded()
        let asked = Mutex<[BroughtWork]>([])
        let sync = Sync(
            store, with: server, policy: Self.policy,
            continuing: Continuing(opening: Self.open) { brought in
                asked.withLock { $0.append(brought) }
                return choice
            })
        let isSettled = Signal()
        try await Self.run(sync) {
            await Self.settled(sync, after: store)
            while asked.withLock(\.isEmpty) { try await Task.sleep(for: .milliseconds(1)) }
            if choice == .bring {
                while server.decidedCount < 2 { try await Task.sleep(for: .milliseconds(1)) }
                await Self.settled(sync, after: store)
            }
            while try await keptLogs().isEmpty != (choice != .keep) {
                try await Task.sleep(for: .milliseconds(1))
            }
        }
        _ = isSettled
        #expect(asked.withLock { $0.map(\.lacking) } == [1])
        let cells = choice == .bring ? ["a", "b"] : ["b"]
        #expect(sync.store.view.cells.keys.sorted() == cells)
        #expect(server.state.cells.keys.sorted() == cells)
        #expect(store !== sync.store)
        await sync.store.close()
    }

    @Test func `N6: without lacking work, the old log goes without a question`() async throws {
        let store = try await Self.open(directory.log)
        try await store.confirm([], through: 0, from: Lineage("first"))
        try await store.record(.set("b", 2))
        let server = Self.server("second")
        let sync = Sync(
            store, with: server, policy: Self.policy,
            continuing: Continuing(opening: Self.open) { _ in
                Issue.record("nothing is lacking, but the app was asked")
                return .keep
            })
        try await Self.run(sync) {
            await Self.settled(sync, after: store)
            while try await !keptLogs().isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        }
        #expect(server.state.cells.keys.sorted() == ["b"])
        await sync.store.close()
    }

    @Test func `N6: an app that ends before the user has answered is asked again`() async throws {
        let (store, server) = try await superseded()
        let asked = Signal()
        let first = Sync(
            store, with: server, policy: Self.policy,
            continuing: Continuing(opening: Self.open) { _ in
                asked.ring()
                // The user does not answer.
                try? await Task.sleep(for: .seconds(1_000))
                return .keep
            })
        try await Self.run(first) { await asked.wait(after: 0) }
        #expect(try await keptLogs().count == 1)
        await first.store.close()

        let next = Sync(
            try await Self.open(directory.log), with: server, policy: Self.policy,
            continuing: Continuing(opening: Self.open) { brought in
                #expect(brought.lacking == 1)
                return .bring
            })
        try await Self.run(next) {
            while server.decidedCount < 2 { try await Task.sleep(for: .milliseconds(1)) }
            while try await !keptLogs().isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        }
        #expect(server.state.cells.keys.sorted() == ["a", "b"])
        await next.store.close()
    }

    /// The process was killed between the two renames of an exchange.
    @Test func `N6: a new log that is not in place yet is not taken for an old one`() async throws {
        let store = try await Self.open(directory.log)
        try await store.record(.set("b", 2))
        let place = KeptLogs.path(of: store.status.replica, beside: store.status.path)
        let unfinished = try await Self.open(URL(filePath: place, directoryHint: .isDirectory))
        try await unfinished.record(.set("b", 2), once: "\(store.status.replica)/1")
        await unfinished.close()
        #expect(try await keptLogs().count == 1)
        let server = Self.server("first")
        let sync = Sync(
            store, with: server, policy: Self.policy,
            continuing: Continuing(opening: Self.open) { _ in
                Issue.record("the app was asked about the new log")
                return .keep
            })
        try await Self.run(sync) {
            await Self.settled(sync)
            try await Task.sleep(for: .milliseconds(100))
        }
        #expect(server.decidedCount == 1)
        #expect(try await keptLogs().count == 1)
        await store.close()
    }

    @Test func `N6: the new log has the link that the app has told`() async throws {
        let (store, server) = try await superseded()
        let sync = Sync(
            store, with: server, policy: Self.policy,
            continuing: Continuing(opening: Self.open) { _ in .keep })
        let stores = Mutex(0)
        try await Self.run(sync) {
            for await next in sync.stores {
                stores.withLock { $0 += 1 }
                if next !== store { break }
                // Nothing stops continuing, but the new log must not be sent from.
            }
            sync.tell(.wentOffline)
            try await sync.store.record(.set("c", 3))
            try await Task.sleep(for: .milliseconds(50))
            #expect(sync.status.obstacle == .paused(.offline))
            #expect(sync.store.snapshot.pending.contains { $0 != 1 })
        }
        #expect(stores.withLock { $0 } >= 1)
        await sync.store.close()
    }

    @Test func `N6: without a way to continue, the run ends`() async throws {
        let (store, server) = try await superseded()
        let sync = Sync(store, with: server, policy: Self.policy)
        guard case .superseded(shared: 0)? = await syncError(sync.run) else {
            Issue.record("the run did not end as superseded")
            return
        }
        await store.close()
    }

    // MARK: Background time

    @Test func `a drain sends and fetches until nothing is left`() async throws {
        let server = Self.server("first")
        let store = memory()
        let time = VirtualTime()
        try await time.run {
            let sync = Sync(store, with: server, policy: Self.policy, sources: time.sources)
            for number in 1...20 { try await store.record(.set("k\(number)", number)) }
            try await store.record(.set("draft", 1), held: true)
            try await store.record(.add("draft", 1))
            let result = try await sync.drain(within: .seconds(25))
            #expect(result == .drained)
            // The draft, and what waits for it, stay.
            #expect(store.snapshot.pending == [21, 22] && store.snapshot.accepted.isEmpty)
            #expect(sync.status.obstacle == .paused(.stopped))
        }
    }

    /// Without lanes, everything after a quarantined intent waits for it.
    @Test(arguments: [false, true])
    func `a drain does not wait for what a quarantined intent holds up`(
        hasLanes: Bool
    ) async throws {
        let store = memory()
        let time = VirtualTime()
        try await time.run {
            let sync = Sync(
                store, with: PoisonedAuthority(Self.server("first"), 2), policy: Self.policy,
                sources: time.sources, lane: hasLanes ? Self.key : nil)
            for key in ["a", "b", "a", "b", "c"] { try await store.record(.set(key, 1)) }
            let result = try await sync.drain(within: .seconds(3_600))
            #expect(result == .drained)
        }
        #expect(store.snapshot.pending == (hasLanes ? [2, 4] : [2, 3, 4, 5]))
    }

    @Test func `a drain beside a run waits for what the run does`() async throws {
        let server = Self.server("first")
        let store = memory()
        let time = VirtualTime()
        try await time.run {
            let sync = Sync(store, with: server, policy: Self.policy, sources: time.sources)
            for number in 1...20 { try await store.record(.set("k\(number)", number)) }
            try await Self.run(sync) {
                let result = try await sync.drain(within: .seconds(25))
                #expect(result == .drained)
                #expect(store.overlay.isEmpty)
            }
        }
    }

    /// Calls `body` in virtual time with a device that has 20 intents, and whose server answers after
    /// four seconds.
    private func withSlowServer(
        _ body:
            @escaping @Sendable (Sync<Board>, InProcessAuthority<Board>, VirtualTime) async throws
            -> Void
    ) async throws {
        let server = Self.server("first")
        let store = memory()
        let time = VirtualTime()
        let slow = DelayedAuthority(
            server, there: { .seconds(2) }, back: { .seconds(2) }, sleep: time.sources.sleep)
        try await time.run {
            let sync = Sync(store, with: slow, policy: Self.policy, sources: time.sources)
            for number in 1...20 { try await store.record(.set("k\(number)", number)) }
            try await body(sync, server, time)
        }
    }

    /// A push message wakes an app, which drains, and then the user opens it.
    @Test func `a run that comes during a drain goes on after it`() async throws {
        try await withSlowServer { sync, server, time in
            async let result = sync.drain(within: .seconds(10))
            await time.sources.sleep(.seconds(1))
            try await Self.run(sync) {
                await Self.settled(sync)
                #expect(server.decidedCount == 20)
            }
            let drained = try await result
            #expect(drained != .drained)
        }
    }

    @Test func `a drain goes on alone after the run beside it is canceled`() async throws {
        try await withSlowServer { sync, server, time in
            async let result = {
                await time.sources.sleep(.seconds(1))
                return try await sync.drain(within: .seconds(600))
            }()
            try await Self.run(sync) { await time.sources.sleep(.seconds(3)) }
            let drained = try await result
            #expect(drained == .drained && server.decidedCount == 20)
        }
    }

    @Test func `a drain ends when the time is up, and the next one goes on`() async throws {
        try await withSlowServer { sync, server, _ in
            let result = try await sync.drain(within: .seconds(10))
            guard case .timedOut(let left) = result else {
                Issue.record("\(result)")
                return
            }
            #expect(left > 0 && left < 20)
            while try await sync.drain(within: .seconds(10)) != .drained {}
            #expect(sync.status.pendingCount == 0 && server.decidedCount == 20)
        }
    }

    @Test func `a drain says that no user is signed in, and waits while offline`() async throws {
        let store = memory()
        let time = VirtualTime()
        try await time.run {
            let sync = Sync(
                store, with: Self.server("first"), policy: Self.policy, sources: time.sources)
            try await store.record(.set("a", 1))
            sync.tell(.wentOffline)
            let result = try await sync.drain(within: .seconds(25))
            #expect(result == .timedOut(left: 1))
            sync.tell(.signedOut(reason: "by hand"))
            let next = try await sync.drain(within: .seconds(25))
            #expect(next == .failed(.unauthenticated(reason: "by hand")))
        }
    }
}
