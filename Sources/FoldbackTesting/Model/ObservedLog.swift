import Foldback
import Synchronization

/// A log in memory that calls a closure before each write.
final class ObservedLog: ForwardingLog {
    let log: MemoryLog
    private let watcher = Mutex<(@Sendable () -> Void)?>(nil)

    init(_ log: MemoryLog) { self.log = log }

    func watch(_ watch: @escaping @Sendable () -> Void) { watcher.withLock { $0 = watch } }

    /// The number of committed entries.
    var entryCount: Int { (try? log.recordCount()) ?? 0 }

    func write(_ writes: [TableWrite]) throws(StorageFailure) {
        watcher.withLock { $0 }?()
        try log.write(writes)
    }
}
