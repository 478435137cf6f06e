import FoldbackLMDB

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The directory of a log that no store has open, for maintenance.
///
/// ```swift
/// try await LogDirectory(at: url).discardRows()
/// ```
///
/// Do not use it for a log that is open: close the store first. To remove a log, use
/// ``Store/wipe(at:discardingPending:)``.
public struct LogDirectory: Hashable, Sendable {
    /// The directory's file URL.
    public let url: URL

    /// Names the directory. Nothing is read or written.
    public init(at url: URL) { self.url = url }

    /// Removes the rows of all stored projections from the log.
    ///
    /// The next opening makes the rows again from the log's entries, as for a projection that is
    /// new to the log. Nothing is lost, because rows have nothing that the entries do not have. Use
    /// it if the bytes of rows, or of their headers, are damaged. No store may have the log open.
    ///
    /// This does not repair damaged pages of the file, not even pages of the rows' own tree. A log
    /// with such pages cannot be opened for writing, so its rows cannot be removed. Its entries can
    /// be read with `LogReader` as far as their pages are intact, and imported into a new log.
    ///
    /// Runs on its own thread. Suspends the caller.
    ///
    /// - Throws: `.missing`; `.locked`; `.notALog`; `.unsafeFile`; `.damaged` if more than the bytes
    ///   of rows is damaged; `.newerFormat` if newer code made any of the rows;
    ///   `.unsupportedLibrary`; `.storage`. The next opening also makes the rows again that were
    ///   removed before the error.
    /// - Complexity: O(n) in rows and index entries.
    public func discardRows() async throws(LogError) {
        let path = try url.logPath()
        try await Platform.onThread { () throws(LogError) in
            let log = try LMDBLog.openExisting(
                path, freshReplica: LogSources.system.freshReplica)
            defer { log.close() }
            // What was prepared has the same rows (C10).
            try PreparedLog.remove(beside: log)
            try log.dropRows(try log.allStoredRows())
        }
    }
}
