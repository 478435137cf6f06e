import Foldback
import FoldbackSync
import FoldbackTesting
import FoldbackUI
import TestSupport
import Testing

/// Question: does a screen show what a sync does, while it does it (S6)?
@MainActor @Suite struct StatusModelTests {
    @Test func `a model shows the status of a sync until its task is canceled`() async throws {
        let store = Store.inMemory(
            Board.self, confirmedBy: .downlink, replica: ReplicaID("me"), sources: .counting())
        let sync = Sync(store, with: InProcessAuthority(Board.self), policy: .ordered)
        let model = StatusModel(sync.status)
        #expect(model.value.message == "Syncing is not running.")
        let following = Task { await model.follow(sync.statuses) }
        let running = Task { try await sync.run() }
        sync.tell(.wentOffline)
        try await store.record(.set("a", 1))
        while model.value.obstacle != .paused(.offline) { await Task.yield() }
        #expect(model.value.pendingCount == 1)
        sync.tell(.wentOnline)
        while model.value.message != "Everything is saved on the server." { await Task.yield() }
        running.cancel()
        try await running.value
        following.cancel()
        await following.value
        await store.close()
    }
}
