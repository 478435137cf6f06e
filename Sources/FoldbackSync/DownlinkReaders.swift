import Foldback
import Synchronization

/// The readers of a downlink, and their shared state. Any task reports inputs here, and each reader
/// asks for its steps.
final class DownlinkReaders: Sendable {
    /// The changes of the state.
    let changes = Signal()
    private let state: Mutex<DownlinkState>
    private let last = Mutex<ReaderNumber>(0)
    private let sources: SyncSources

    init(policy: SyncPolicy, isNeeded: Bool, sources: SyncSources) {
        self.sources = sources
        state = Mutex(DownlinkState(policy: policy, isNeeded: isNeeded))
    }

    func status<P>(of store: Store<P>) -> DownlinkStatus {
        let log = store.core.published
        return state.withLock { DownlinkStatus($0, of: log) }
    }

    func failure(of reader: ReaderNumber) -> AuthorityFailure? {
        state.withLock { $0.failure(of: reader) }
    }

    // MARK: Inputs

    func say(_ input: DownlinkState.Input) {
        // Read the time under the lock, so that a later input never gets an earlier time.
        state.withLock { $0.take(input, at: sources.now(), jitter: sources.jitter()) }
        changes.ring()
    }

    /// Adds a reader. It ends with ``DownlinkState/Input/ended(_:)``.
    func begin(_ purpose: DownlinkState.Purpose) -> ReaderNumber {
        let reader = last.withLock { last in
            last = last.next
            return last
        }
        say(.began(reader, purpose))
        return reader
    }

    // MARK: Steps

    /// Returns the reader's next step, and the number of changes that it includes.
    func next(_ reader: ReaderNumber) -> (step: DownlinkState.Step, seen: Int) {
        let seen = changes.count
        let step = state.withLock { $0.next(reader, at: sources.now()) }
        // The beginning of a request changes the status.
        if case .request = step { changes.ring() }
        return (step, seen)
    }

    /// Waits until this time, until there is a change after `seen`, or until the task is canceled.
    func idle(until: Timestamp?, seen: Int) async {
        _ = await changes.wait(after: seen, until: until, sources)
    }

    /// Waits until the reader should no longer wait for its request, or until the task is canceled.
    func waitUntilDropped(_ reader: ReaderNumber) async {
        await changes.wait { [self] in state.withLock { $0.isDropped(reader) } }
    }
}
