import Foldback
import FoldbackSync

extension Store {
    /// Sends all intents of the overlay, waits for their answers, and fetches.
    func sync<A: Projection>(with server: InProcessAuthority<A>) async throws
    where A.Event == P.Event {
        let outbox = Outbox(self, to: server, policy: .ordered)
        let sending = Task { try await outbox.run() }
        outbox.tell(.wentOnline)
        for number in overlay.map(\.number) { _ = try await receipt(for: number).answer() }
        sending.cancel()
        try await sending.value
        _ = try await Downlink(self, from: server, policy: .ordered).fetch()
    }
}
