/// The writes of one transaction. It is pure data, so that it can be written again in a larger map.
///
/// The functions that add writes are with their tables.
package struct WriteBatch: Sendable {
    package internal(set) var records = RecordBuffer()
    /// The last settlement of each intent whose settlement changed.
    var settlements = NumberMap<IntentNumber, SettlementRow>()
    /// The last attempt of each intent whose attempt changed; nil removes the row.
    var attempts: [IntentNumber: Attempt?] = [:]
    var checkpoints: [TableWrite] = []
    var rows: [TableWrite] = []
    var projections: [TableWrite] = []
    var conflicts: [TableWrite] = []
    var registered: [TableWrite] = []
    var lineage: Lineage?
    /// Nil: unchanged. The inner nil removes the row.
    var digest: NotedDigest??
    /// Nil: unchanged. The inner nil removes the row.
    var lostData: LostData??
    var continued: ContinuedIntents?
    var sharedConflicts: SharedConflicts?
    var seenFaults: SeenFaults?

    package init() {}

    /// A settlement comes with the record of its entry.
    package var isEmpty: Bool {
        records.isEmpty && attempts.isEmpty && checkpoints.isEmpty && rows.isEmpty
            && projections.isEmpty && conflicts.isEmpty && registered.isEmpty
            && lineage == nil && digest == nil && lostData == nil && continued == nil
            && sharedConflicts == nil && seenFaults == nil
    }

    package var hasEntries: Bool { !records.isEmpty }
    var hasFactsBeside: Bool {
        !attempts.isEmpty || lineage != nil || digest != nil || lostData != nil
            || seenFaults != nil
    }

    /// All writes, in the order of execution.
    package var writes: [TableWrite] { records.writes + otherWrites }

    /// The writes after those of the records, in the order of execution.
    fileprivate var otherWrites: [TableWrite] {
        // In order of keys, because neighboring keys are on the same page.
        var writes = settlements.map { number, row in
            TableWrite(.verdicts, LogKey(number), row.encoded(for: number))
        }
        for (number, attempt) in attempts.sorted(by: { $0.key < $1.key }) {
            writes.append(TableWrite(.attempts, LogKey(number), attempt?.encoded(for: number)))
        }
        writes += checkpoints
        writes += rows.sorted { $0.key < $1.key }
        writes += projections
        writes += conflicts
        writes += registered
        if let lineage {
            writes.append(TableWrite(.log, .bytes(Lineage.key), lineage.encoded))
        }
        if let digest {
            writes.append(TableWrite(.log, .bytes(NotedDigest.key), digest?.encoded))
        }
        if let lostData {
            writes.append(TableWrite(.log, .bytes(LostData.key), lostData?.encoded))
        }
        if let seenFaults {
            writes.append(TableWrite(.log, .bytes(SeenFaults.key), seenFaults.encoded))
        }
        if let continued {
            writes.append(TableWrite(.log, .bytes(ContinuedIntents.key), continued.encoded))
        }
        if let sharedConflicts {
            writes.append(
                TableWrite(.log, .bytes(SharedConflicts.key), sharedConflicts.encoded))
        }
        return writes
    }
}

extension LogStorage {
    /// Commits all writes of the batch, or none.
    package func write(_ batch: WriteBatch) throws(StorageFailure) {
        try write(batch.records, batch.otherWrites)
    }
}
