import FoldbackUI
import Synchronization

/// A manual clock that knows whether all tasks that it has woken up run again.
///
/// On a slow machine, a task may run long after its sleep has ended. Until then, nothing else tells
/// that something will happen.
final class SettledClock: Sendable {
    private struct Counts {
        var begun = 0
        var ended = 0
    }

    private let clock: ManualClock
    private let sleeps = Mutex(Counts())
    private let frames = Mutex(Counts())

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
                self.sleeps.withLock { $0.begun += 1 }
                await inner.sleep(moment)
                self.sleeps.withLock { $0.ended += 1 }
            },
            frame: {
                self.frames.withLock { $0.begun += 1 }
                await inner.frame()
                self.frames.withLock { $0.ended += 1 }
            })
    }

    /// Whether all tasks that were woken up run again, and no task waits for a frame.
    var isSettled: Bool {
        let sleeping = sleeps.withLock { $0.begun - $0.ended }
        return sleeping == clock.wakeUps.count && frames.withLock { $0.begun == $0.ended }
    }

    func advance(by duration: Duration) { clock.advance(by: duration) }

    func frame() { clock.frame() }
}
