import FoldbackUI
import Synchronization

/// A manual clock that knows whether all tasks that it has woken up run again.
///
/// On a slow machine, a task may run long after its sleep has ended. Until then, nothing else tells
/// that something will happen.
final class SettledClock: Sendable {
    /// How many tasks sleep and wait for a frame.
    private struct Counts {
        var sleeping = 0
        var framing = 0
    }

    private let clock: ManualClock
    private let counts = Mutex(Counts())

    init(start: Moment) { clock = ManualClock(start: start) }

    var now: Moment { clock.now }

    /// The moments when sleeping tasks wake up, ascending.
    var wakeUps: [Moment] { clock.wakeUps }

    /// The sources that read this clock.
    var sources: UISources {
        let inner = clock.sources
        return UISources(
            now: inner.now,
            sleep: { moment in
                self.counts.withLock { $0.sleeping += 1 }
                await inner.sleep(moment)
                self.counts.withLock { $0.sleeping -= 1 }
            },
            frame: {
                self.counts.withLock { $0.framing += 1 }
                await inner.frame()
                self.counts.withLock { $0.framing -= 1 }
            })
    }

    /// Whether all tasks that were woken up run again, and no task waits for a frame.
    var isSettled: Bool {
        counts.withLock { $0.sleeping == clock.wakeUps.count && $0.framing == 0 }
    }

    func advance(by duration: Duration) { clock.advance(by: duration) }

    func frame() { clock.frame() }
}
