#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Looks at a log without its app's types and without touching it, also while a store has it open in
/// another process (L9).
///
/// The data file stays byte for byte as it is. A log that nobody holds is opened without a lock file,
/// and a store that opens meanwhile waits up to two seconds for the reader to be gone.
public final class LogReader: Sendable {
    private let log: LMDBLog
    private let codec = RawCodec()

    /// - Throws: `.missing`, `.notALog`, `.locked` with `.thisProcess`, `.newerFormat`, `.damaged`,
    ///   `.storage`.
    public init(at directory: URL) throws(FoldbackError) {
        log = try LMDBLog.openReadOnly(directory.path)
    }

    /// Gives the log back; reading afterwards throws `.closed`.
    public func close() { log.close() }

    /// See ``Store/entries(from:countMax:)``; events are the bytes that their codec wrote.
    public func entries(
        from start: LogSequence, countMax: Int
    ) throws(FoldbackError) -> [LogEntry<[UInt8]>] {
        try log.decodedRecords(from: start, countMax: countMax, codec: codec).map(LogEntry.init)
    }

    /// Counts, from reading the whole log: every record is verified on the way.
    public func status() throws(FoldbackError) -> StoreStatus {
        var fold = LogFold(of: log, folds: [])
        try fold.replay(log, codec: codec)
        let state = fold.state
        return StoreStatus(
            path: log.path, replica: log.header.replicas.current, kind: log.header.kind,
            sequence: state.sequence, through: state.through,
            pendingCount: state.overlay.count - state.acceptedCount,
            acceptedCount: state.acceptedCount, rejectedCount: state.rejections.count,
            nextIntent: state.nextNumber, bytesOnDisk: log.usedBytes, oldestRead: .zero)
    }
}
