import Foldback
import FoldbackUI
import Synchronization

/// Frames that never begin. A model that waits for one adopts only what it is told to adopt, so that
/// each step can be measured.
final class HeldFrames: Sendable {
    private let isAwaited = Mutex(false)

    var sources: UISources {
        var sources = UISources.system
        sources.frame = {
            self.isAwaited.withLock { $0 = true }
            // Returns when the model is released, because its task is canceled.
            _ = try? await Task.sleep(for: .seconds(86_400))
        }
        return sources
    }

    /// Records the event until the model has adopted one and waits for a frame. Commands of the model
    /// adopt events without a frame.
    func hold<P: EventFold>(_ store: Store<P>, recording event: P.Event) async throws {
        while !isAwaited.withLock({ $0 }) {
            _ = try await store.record(event)
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
