import Foldback
import Synchronization

/// A log in memory that tells somebody before it writes.
final class ObservedLog: ForwardingLog {
    let log: MemoryLog
    private let watching = Mutex<(@Sendable () -> Void)?>(nil)

    init(_ log: MemoryLog) { self.log = log }

    func watch(_ watch: @escaping @Sendable () -> Void) { watching.withLock { $0 = watch } }

    /// Entries that are committed.
    var rowCount: Int { (try? log.recordCount()) ?? 0 }

    func write(_ writes: [TableWrite]) throws(StorageFailure) {
        watching.withLock { $0 }?()
        try log.write(writes)
    }
}
