/// A log that forwards each call to another log, unless the conforming type overrides the call.
/// Tests use it to watch a log, or to make a log fail on purpose.
package protocol ForwardingLog: LogStorage {
    associatedtype Log: LogStorage
    /// The log that receives the calls.
    var log: Log { get }
}

extension ForwardingLog {
    package var path: String { log.path }
    package var header: LogHeader { log.header }
    package var base: LogBase? { log.base }
    package var usedBytes: Int { log.usedBytes }
    package var oldestReadNanoseconds: UInt64 { log.oldestReadNanoseconds }
    package var isRelaxed: Bool { log.isRelaxed }
    package func requireUsable() throws(LogError) { try log.requireUsable() }
    package func read(_ body: (any StorageSnapshot) -> Void) throws(LogError) {
        try log.read(body)
    }
    package func openForWriting(
        _ table: LogTable
    ) throws(LogError) -> any StorageTable { try log.openForWriting(table) }
    package func endReadingForWriting() { log.endReadingForWriting() }
    package func write(_ writes: [TableWrite]) throws(StorageFailure) { try log.write(writes) }
    package func requireSoundPages() throws(StorageFailure) { try log.requireSoundPages() }
    package func sync() throws(StorageFailure) { try log.sync() }
    package func damagedPages() throws(LogError) -> [(page: UInt64, what: String)] {
        try log.damagedPages()
    }
    package func close() { log.close() }
}
