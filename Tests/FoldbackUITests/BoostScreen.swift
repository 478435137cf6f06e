import Foldback
import FoldbackUI
import TestSupport

/// A screen with a button that boosts "a": a confirm-only intent, whose wait blocks the item.
@MainActor struct BoostScreen {
    let clock = ManualClock()
    let store = Store.board()
    let model: OptimisticModel<Board>
    let progress: ProgressModel
    let wait = Wait(
        "boosting", presentation: .obstructive(.items("a")), initiator: .user(origin: "boost"),
        isDurable: true)

    init() {
        model = OptimisticModel(store, sources: Frames().sources)
        progress = ProgressModel(sources: clock.sources)
    }

    var phase: ProgressPhase? { progress.appearance?.phase }

    /// Presses the button.
    func boost(
        once: String? = nil, recorded: @escaping @MainActor (Receipt) -> Void = { _ in }
    ) -> Task<Answer, any Error> {
        Task {
            try await model.perform(
                confirmOnly: .set("a", 1), showing: wait, in: progress, once: once,
                recorded: recorded)
        }
    }
}
