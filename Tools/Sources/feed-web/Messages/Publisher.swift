import Observation

/// Sends messages about a screen when anything that it shows has changed.
@MainActor final class Publisher {
    let hub: Hub
    private let content: @MainActor () -> ScreenContent
    /// The cues that are not in a message yet.
    private var cues: [WireCue] = []
    /// The number of the last content.
    private var shown = 0
    /// Whether there may be a change that is not in a message yet.
    private(set) var isStale = false

    /// - Parameter content: computes what a page shows, from observable objects of the main actor.
    init(boot: String, _ content: @escaping @MainActor () -> ScreenContent) {
        self.content = content
        hub = Hub(boot: boot, content())
        show()
    }

    func tell(_ cue: WireCue) {
        cues.append(cue)
        show()
    }

    /// Sends what has changed. On return, all pages can read it.
    func show() {
        shown += 1
        isStale = false
        let next = withObservationTracking {
            content()
        } onChange: { [weak self, shown] in
            // Everything that is observed changes on the main actor.
            MainActor.assumeIsolated { self?.changes(since: shown) }
        }
        hub.show(next, cues)
        cues = []
    }

    /// Something is about to change: shows it once it has changed.
    private func changes(since content: Int) {
        guard content == shown else { return }
        isStale = true
        Task { if isStale { show() } }
    }
}
