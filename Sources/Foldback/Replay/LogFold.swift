/// A log folded up to some entry: the semantics and every projection's states.
///
/// The store goes on from it; a past view is one that stops early (F11).
package struct LogFold: Sendable {
    package var state: LogState
    package var folds: [any AnyFold]
    /// The checksum of the last record, which the next one carries (L5).
    package var chain: UInt64 = 0

    package init(of storage: any LogStorage, folds: [any AnyFold]) {
        let header = storage.header
        state = LogState(kind: header.kind, replica: header.replicas.current)
        self.folds = folds
    }

    /// Takes in the records behind the present sequence, up to `last` or to the end.
    ///
    /// - Complexity: one `apply` for each confirmed event, and one for each intent that is in the
    ///   overlay somewhere on the way.
    /// - Throws: `.damaged`, `.newerFormat`, naming the sequence; nothing behind it was taken in.
    package mutating func replay(
        _ storage: any LogStorage, codec: any PayloadCodec, upTo last: LogSequence? = nil
    ) throws(FoldbackError) {
        let count = try storage.recordCount()
        while last.map({ state.sequence < $0 }) ?? true {
            let left = last.map { Int(clamping: $0.value - state.sequence.value) } ?? .max
            let records = try storage.records(from: state.sequence.next, countMax: left)
            guard !records.isEmpty else {
                // Read before the end was reached: a live log may have grown since.
                guard state.sequence.value >= UInt64(count) else {
                    throw .damaged(
                        path: storage.path, sequence: state.sequence.next,
                        reason: "the log has \(count) records, and the rest cannot be found")
                }
                return
            }
            for (sequence, bytes) in records {
                guard sequence == state.sequence.next else {
                    throw .damaged(
                        path: storage.path, sequence: state.sequence.next,
                        reason: "the record is missing, and \(sequence) comes next")
                }
                try take(bytes, at: sequence, storage, codec)
            }
        }
    }

    private mutating func take(
        _ bytes: [UInt8], at sequence: LogSequence, _ storage: any LogStorage,
        _ codec: any PayloadCodec
    ) throws(FoldbackError) {
        let record: Record
        do throws(FormatError) {
            (record, chain) = try Record.decoded(
                bytes, at: sequence, predecessor: chain, replicas: storage.header.replicas,
                codec: codec)
        } catch {
            throw FoldbackError(error, at: storage.path, sequence: sequence)
        }
        if let reason = state.contradiction(in: record.entry) {
            throw .damaged(path: storage.path, sequence: sequence, reason: reason)
        }
        var recalled: RecordedIntent?
        if let number = state.recalled(by: record.entry) {
            recalled = try storage.recall(number, codec: codec).recorded
        }
        let effects = state.apply(record.entry, at: sequence, recalled: recalled)
        for index in folds.indices { folds[index].perform(effects.fold, at: sequence) }
    }
}

extension LogStorage {
    /// An intent that has been settled: its row, and its own entry.
    ///
    /// - Parameter uncommitted: what is to be written in the transaction being prepared.
    package func recall(
        _ number: IntentNumber, codec: any PayloadCodec, uncommitted: WriteBatch = WriteBatch()
    ) throws(FoldbackError) -> (row: VerdictRow, recorded: RecordedIntent) {
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
    ) throws(FoldbackError) -> VerdictRow {
        if let row = uncommitted.verdicts[number] { return row }
        guard let bytes = try verdict(of: number) else {
            throw .damaged(
                path: path, sequence: nil, reason: "intent \(number) has no row in table verdicts")
        }
        do throws(FormatError) {
            return try VerdictRow(decoding: bytes, for: number)
        } catch {
            throw FoldbackError(
                error, at: "\(path), table verdicts, intent \(number)", sequence: nil)
        }
    }
}
