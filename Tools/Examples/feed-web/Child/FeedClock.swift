import Foldback
import FoldbackSync
import FoldbackUI

/// The sources of time of everything in the process: the devices, the authority and the server.
struct FeedClock: Sendable {
    let ui: UISources
    let sync: SyncSources
    let log: LogSources
    /// Nil if the time passes by itself.
    let manual: SettledClock?

    /// The system's clock.
    static let system = FeedClock(ui: .system, sync: .system, log: .system, manual: nil)

    /// A clock that moves only when it is told to. Backoff then has no randomness.
    ///
    /// - Parameter start: the first moment, so that the time of day does not go back after a restart.
    static func manual(start: Duration) -> FeedClock {
        let clock = SettledClock(start: Moment(sinceStart: start))
        let now = { @Sendable in
            Timestamp(
                millisecondsSince1970: epoch + Int64(clock.now.sinceStart / .milliseconds(1)))
        }
        let ui = clock.sources
        let sync = SyncSources(
            now: now, sleep: { await ui.sleep(clock.now.advanced(by: $0)) }, jitter: { 1 })
        let log = LogSources(now: now, freshReplica: LogSources.system.freshReplica)
        return FeedClock(ui: ui, sync: sync, log: log, manual: clock)
    }

    /// 2026-01-01T00:00:00Z.
    private static let epoch: Int64 = 1_767_225_600_000

    /// The seconds since the clock's start.
    var seconds: Double { ui.now().sinceStart / .seconds(1) }
}
