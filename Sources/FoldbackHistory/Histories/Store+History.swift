import Foldback

extension Store {
    /// Returns all entries so far as one value. The value does not change while the store
    /// continues.
    ///
    /// - Complexity: reads the whole log into memory. May block on the disk.
    /// - Throws: `.log` with the errors of ``entries(from:countMax:)``; `.doesNotFollow` if the entries
    ///   are not damaged but do not make a log.
    public func history() throws(HistoryError) -> RecordedHistory<P.Event> {
        let records = try HistoryError.converting { () throws(LogError) -> [Record] in
            try self.records()
        }
        let header = core.storage.header
        return try RecordedHistory(
            kind: header.kind, replica: header.replicas.current, records: records,
            shared: core.shared, codec: core.codec)
    }

    private func records() throws(LogError) -> [Record] {
        let last = core.published.sequence
        var records: [Record] = []
        while LogSequence(UInt64(records.count)) < last {
            let next = LogSequence(UInt64(records.count)).next
            records += try core.records(from: next, upTo: last)
        }
        return records
    }
}
