/// A log folded up to some entry: the semantics and every projection's states.
///
/// The store goes on from it; a past view is one that stops early (F11).
package struct LogFold: Sendable {
    package var state: LogState
    package var folds: [any AnyFold]
    /// Stored projections.
    package var rows: [RowFold]
    /// The checksum of the last record, which the next one carries (L5).
    package private(set) var chain: UInt64 = 0
    /// Bytes of the records that were taken in, from wherever this began.
    package private(set) var recordBytes = 0
    /// The first entry that confirmed what this code cannot read. No checkpoint is made behind it: newer
    /// code will read it (L5).
    package private(set) var firstUnreadable: LogSequence?

    /// Before the first entry.
    package init(of storage: any LogStorage, folds: [any AnyFold], rows: [RowFold] = []) {
        let header = storage.header
        self.init(
            kind: header.kind, replica: header.replicas.current, folds: folds, rows: rows)
    }

    /// Before the first entry.
    package init(
        kind: LogKind, replica: ReplicaID, folds: [any AnyFold], rows: [RowFold] = []
    ) {
        state = LogState(kind: kind, replica: replica)
        self.folds = folds
        self.rows = rows
    }

    /// At a checkpoint of the log; the projections' states are still to be restored.
    init(
        of storage: any LogStorage, folds: [any AnyFold], rows: [RowFold], at log: LogSection
    ) {
        let header = storage.header
        state = LogState(
            kind: header.kind, replica: header.replicas.current, sequence: log.sequence,
            nextNumber: log.nextNumber, through: log.through, overlay: log.overlay,
            rejections: log.rejections)
        chain = log.chain
        self.folds = folds
        self.rows = rows
    }

    /// Of a stored row that could not be read: what was done since the last commit is worthless.
    package var failure: FoldbackError? { rows.lazy.compactMap(\.failure).first }

    /// Appends an entry of which this is the record.
    package mutating func advance(
        _ entry: Entry, at sequence: LogSequence, checksum: UInt64, bytes: Int,
        settledIntent: RecordedIntent?
    ) -> Effects {
        chain = checksum
        recordBytes += bytes
        return state.apply(entry, at: sequence, settledIntent: settledIntent)
    }

    package mutating func perform(_ plan: FoldPlan) {
        let sequence = state.sequence
        if firstUnreadable == nil, plan.confirm.contains(where: \.payload.isUnreadable) {
            firstUnreadable = sequence
        }
        for index in folds.indices { folds[index].perform(plan, at: sequence) }
        for index in rows.indices { rows[index].perform(plan, at: sequence) }
    }

    /// Takes in the records behind the present sequence, up to `last` or to the end.
    ///
    /// - Parameter taken: called behind each.
    /// - Complexity: one `apply` for each confirmed event.
    /// - Throws: `.damaged`, `.newerFormat`, naming the sequence; nothing behind it was taken in.
    package mutating func replay(
        _ storage: any LogStorage, codec: any PayloadCodec, upTo last: LogSequence? = nil,
        _ taken: (inout LogFold, Effects) throws(FoldbackError) -> Void = { _, _ in }
    ) throws(FoldbackError) {
        var records = RecordReader(storage, behind: state.sequence, upTo: last)
        while let (sequence, bytes) = try records.next() {
            try taken(&self, try applyRecord(bytes, at: sequence, storage, codec).effects)
        }
    }

    /// Takes in the record of the next entry.
    ///
    /// - Throws: as ``replay(_:codec:upTo:_:)``.
    package mutating func applyRecord(
        _ bytes: [UInt8], at sequence: LogSequence, _ storage: any LogStorage,
        _ codec: any PayloadCodec
    ) throws(FoldbackError) -> (record: Record, effects: Effects) {
        let record: Record
        let checksum: UInt64
        do throws(FormatError) {
            (record, checksum) = try Record.decoded(
                bytes, at: sequence, predecessor: chain, replicas: storage.header.replicas,
                codec: codec)
        } catch {
            throw FoldbackError(error, at: storage.path, sequence: sequence)
        }
        // What was taken out of a history with gaps was never recorded, and the rest was decided on so.
        if !storage.hasGaps, let reason = state.contradiction(in: record.entry) {
            throw .damaged(path: storage.path, sequence: sequence, reason: reason)
        }
        var settledIntent: RecordedIntent?
        if let number = state.settledIntentNeeded(by: record.entry) {
            settledIntent = try storage.settledIntent(number, codec: codec).recorded
        }
        let effects = advance(
            record.entry, at: sequence, checksum: checksum, bytes: bytes.count,
            settledIntent: settledIntent)
        perform(effects.fold)
        if let failure { throw failure }
        return (record, effects)
    }
}

/// A log's records one after the other, read in bounded pieces (L8). Behind the last of a log that goes on,
/// there may be more later.
package struct RecordReader: Sendable {
    private let storage: any LogStorage
    private let last: LogSequence?
    /// Of the record that was given out last.
    private var sequence: LogSequence
    private var piece: ArraySlice<(LogSequence, [UInt8])> = []

    package init(
        _ storage: any LogStorage, behind sequence: LogSequence, upTo last: LogSequence? = nil
    ) {
        self.storage = storage
        self.sequence = sequence
        self.last = last
    }

    /// Nil at the end.
    ///
    /// - Throws: `.damaged` where a record is missing; what the storage throws.
    package mutating func next() throws(FoldbackError) -> (LogSequence, [UInt8])? {
        if piece.isEmpty { try readOn() }
        guard let record = piece.popFirst() else { return nil }
        guard record.0 == sequence.next || storage.hasGaps else {
            throw .damaged(
                path: storage.path, sequence: sequence.next,
                reason: "the record is missing, and \(record.0) comes next")
        }
        sequence = record.0
        return record
    }

    private mutating func readOn() throws(FoldbackError) {
        let left = last.map { Int(clamping: $0.value - min(sequence.value, $0.value)) } ?? .max
        guard left > 0 else { return }
        // Counted before the end is reached: a live log may have grown since.
        let count = try storage.recordCount()
        piece = try storage.records(from: sequence.next, countMax: left)[...]
        // Where there are gaps, so many records can go beyond the last.
        if storage.hasGaps, let last { piece = piece.prefix { $0.0 <= last } }
        guard piece.isEmpty, sequence.value < UInt64(count), !storage.hasGaps else { return }
        throw .damaged(
            path: storage.path, sequence: sequence.next,
            reason: "the log has \(count) records, and the rest cannot be found")
    }
}

extension LogStorage {
    /// An intent that has been settled: its row, and its own entry.
    ///
    /// - Parameter uncommitted: what is to be written in the transaction being prepared.
    package func settledIntent(
        _ number: IntentNumber, codec: any PayloadCodec, uncommitted: WriteBatch = WriteBatch()
    ) throws(FoldbackError) -> (row: SettlementRow, recorded: RecordedIntent) {
        let row = try settledRow(of: number, uncommitted)
        let sequence = row.intentSequence
        let pending = uncommitted.record(at: sequence)
        guard let bytes = pending != nil ? pending : try record(at: sequence) else {
            throw .damaged(path: path, sequence: sequence, reason: "the record is missing")
        }
        do throws(FormatError) {
            let record = try Record.decoded(
                bytes, at: sequence, predecessor: nil, replicas: header.replicas, codec: codec
            ).record
            guard case .intent(let recorded) = record.entry, recorded.number == number else {
                throw .damaged("it should be intent \(number)")
            }
            return (row, recorded)
        } catch {
            throw FoldbackError(error, at: path, sequence: sequence)
        }
    }

    private func settledRow(
        of number: IntentNumber, _ uncommitted: WriteBatch
    ) throws(FoldbackError) -> SettlementRow {
        if let row = uncommitted.settlement(of: number) { return row }
        guard let bytes = try verdict(of: number) else {
            throw .damaged(
                path: path, sequence: nil, reason: "intent \(number) has no row in table verdicts")
        }
        do throws(FormatError) {
            return try SettlementRow(decoding: bytes, for: number)
        } catch {
            throw FoldbackError(
                error, at: "\(path), table verdicts, intent \(number)", sequence: nil)
        }
    }
}
