import Synchronization

/// A clock that moves only when it is told to: for tests, previews and demos.
///
/// ```swift
/// let clock = ManualClock()
/// let progress = ProgressModel(sources: clock.sources)
/// progress.start(Wait(.loading))
/// await clock.waitForSleepers(1)
/// clock.advance(by: .milliseconds(100))
/// ```
///
/// The clock has no `sleep(for:)`. Work that takes time in a test, such as the answer of a stub,
/// sleeps by ``sources``: `await clock.sources.sleep(clock.now.advanced(by: .seconds(5)))`.
///
/// All methods may be called on any task. A task that wakes up runs later, like any other task.
public final class ManualClock: Sendable {
    private struct Sleeper {
        let id: Int
        /// Nil for the next frame.
        let until: Moment?
        let continuation: CheckedContinuation<Void, Never>
    }

    /// A task that waits for sleepers or for tasks that wait for a frame.
    private struct Watcher {
        let id: Int
        let count: Int
        let isForFrames: Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct Content {
        var now: Moment
        var sleepers: [Sleeper] = []
        var watchers: [Watcher] = []
        private var lastID = 0

        init(now: Moment) { self.now = now }

        mutating func nextID() -> Int {
            lastID += 1
            return lastID
        }

        mutating func removeSleepers(where isWoken: (Sleeper) -> Bool) -> [Sleeper] {
            let woken = sleepers.filter(isWoken)
            sleepers.removeAll(where: isWoken)
            return woken
        }

        /// Removes the watchers that have seen enough tasks.
        mutating func removeWatchers() -> [CheckedContinuation<Void, Never>] {
            let frames = sleepers.count { $0.until == nil }
            let seen = { (watcher: Watcher) in
                watcher.count <= (watcher.isForFrames ? frames : sleepers.count - frames)
            }
            let done = watchers.filter(seen)
            watchers.removeAll(where: seen)
            return done.map(\.continuation)
        }
    }

    private let content: Mutex<Content>

    /// - Parameter start: the first moment.
    public init(start: Moment = .zero) { content = Mutex(Content(now: start)) }

    /// The sources that read this clock.
    public var sources: UISources {
        UISources(
            now: { self.now }, sleep: { await self.sleep(until: $0) },
            frame: { await self.sleep(until: nil) })
    }

    public var now: Moment { content.withLock { $0.now } }

    /// The moments when sleeping tasks wake up, ascending.
    public var wakeUps: [Moment] {
        content.withLock { $0.sleepers.compactMap(\.until) }.sorted()
    }

    /// Moves the clock forward, and wakes the tasks that sleep until then, in order of time.
    ///
    /// - Precondition: the duration is not negative.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "a clock goes back by \(duration)")
        let woken = content.withLock { content in
            let now = content.now.advanced(by: duration)
            content.now = now
            return content.removeSleepers { $0.until.map { $0 <= now } ?? false }
        }
        let order = woken.sorted { ($0.until ?? .zero, $0.id) < ($1.until ?? .zero, $1.id) }
        for sleeper in order { sleeper.continuation.resume() }
    }

    /// Begins a frame, and wakes the tasks that wait for it.
    public func frame() {
        let woken = content.withLock { $0.removeSleepers { $0.until == nil } }
        for sleeper in woken { sleeper.continuation.resume() }
    }

    /// Returns when at least `count` tasks sleep, or earlier if the task is canceled.
    public func waitForSleepers(_ count: Int) async { await watch(count, isForFrames: false) }

    /// Returns when at least `count` tasks wait for a frame, or earlier if the task is canceled.
    public func waitForFrames(_ count: Int) async { await watch(count, isForFrames: true) }

    // MARK: Waiting

    private func sleep(until moment: Moment?) async {
        let id = content.withLock { $0.nextID() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let sleeper = Sleeper(id: id, until: moment, continuation: continuation)
                let done: [CheckedContinuation<Void, Never>] = content.withLock { content in
                    guard !Task.isCancelled, moment.map({ $0 > content.now }) ?? true else {
                        return [continuation]
                    }
                    content.sleepers.append(sleeper)
                    return content.removeWatchers()
                }
                for continuation in done { continuation.resume() }
            }
        } onCancel: {
            let woken = content.withLock { $0.removeSleepers { $0.id == id } }
            for sleeper in woken { sleeper.continuation.resume() }
        }
    }

    private func watch(_ count: Int, isForFrames: Bool) async {
        let id = content.withLock { $0.nextID() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let watcher = Watcher(
                    id: id, count: count, isForFrames: isForFrames, continuation: continuation)
                let done: [CheckedContinuation<Void, Never>] = content.withLock { content in
                    guard !Task.isCancelled else { return [continuation] }
                    content.watchers.append(watcher)
                    return content.removeWatchers()
                }
                for continuation in done { continuation.resume() }
            }
        } onCancel: {
            let watcher = content.withLock { content in
                let index = content.watchers.firstIndex { $0.id == id }
                return index.map { content.watchers.remove(at: $0) }
            }
            watcher?.continuation.resume()
        }
    }
}
