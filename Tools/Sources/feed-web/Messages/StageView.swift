import Foundation

/// The stage as messages show it.
@MainActor final class StageView {
    private let stage: Stage
    private let authority: FeedAuthority
    private let clock: FeedClock
    private let replicas: [String]
    private let restarts: Int

    init(
        _ stage: Stage, _ authority: FeedAuthority, _ clock: FeedClock, replicas: [String],
        restarts: Int
    ) {
        (self.stage, self.authority, self.clock) = (stage, authority, clock)
        (self.replicas, self.restarts) = (replicas, restarts)
    }

    var shown: WireStage {
        let settings = stage.settings
        return WireStage(
            holding: settings.isHolding,
            held: stage.held.map {
                WireStage.Held(id: $0.id, by: $0.by, what: $0.what, text: $0.text)
            },
            offline: settings.offline.sorted(), rejectNext: settings.rejectsNext,
            loseNextAnswer: settings.losesNextAnswer, delay: settings.delay,
            clock: clock.kind.rawValue, now: clock.kind == .manual ? settings.now : 0,
            replicas: replicas, restarts: restarts, pid: getpid(),
            decided: authority.ledger.decidedCount)
    }
}
