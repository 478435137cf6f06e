import FoldbackLMDB

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The directory of a log that no store has open: for maintenance.
public struct LogDirectory: Hashable, Sendable {
    public let url: URL

    public init(at url: URL) { self.url = url }

    /// Removes the rows of all stored projections from a log, which nobody may have open: the next opening
    /// makes them anew from its entries, as for a projection that is new to it.
    ///
    /// For rows, or headers of theirs, whose bytes are damaged; they hold nothing that the entries do not. A
    /// page of the file that is damaged itself, be it of the rows' own tree, is not mended by that: such a
    /// log cannot be opened for writing, and neither can its rows be removed. Its entries can be read as far as
    /// their pages are sound (``LogReader``), and imported into a new log.
    /// - Throws: `.missing`, `.locked`, `.damaged` where more than rows' bytes is, `.newerFormat` where newer
    ///   code made any of the rows, `.storage`. What has been removed by then is made anew as well.
    public func discardRows() async throws(FoldbackError) {
        let path = url.path
        try await Platform.onThread { () throws(FoldbackError) in
            try LMDBLog.openReadOnly(path).close()
            let log = try LMDBLog.open(
                path, kind: nil, newKind: .acknowledgement, replica: nil,
                options: Durability.durable.options, freshReplica: LogSources.system.freshReplica)
            defer { log.close() }
            try log.dropRows(try log.everyStoredRows())
        }
    }
}
