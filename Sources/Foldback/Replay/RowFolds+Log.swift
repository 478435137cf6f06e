/// Stored projections and the rows that a log has of them.
extension LogStorage {
    /// The projections over their rows in this log; those that it does not have yet begin before the
    /// first entry.
    ///
    /// - Parameter codec: the store's. Rows that lack an event which it can read, and the one before it could
    ///   not, are made again (L5).
    /// - Returns: also the numbers of rows that nobody will want any more: those of other versions of
    ///   these projections, and those that are made again.
    /// - Throws: `.damaged`, `.newerFormat`, `.storage`.
    package func attached(
        _ folds: [RowFold], codec: any PayloadCodec
    ) throws(FoldbackError) -> (folds: [RowFold], outdated: [UInt32]) {
        guard !folds.isEmpty else { return ([], []) }
        var headers: [StoredRowsHeader] = []
        for (number, bytes) in try projectionHeaders() {
            do throws(FormatError) {
                headers.append(try StoredRowsHeader(decoding: bytes, of: number))
            } catch {
                throw FoldbackError(
                    error, at: "\(path), stored projection \(number)", sequence: nil)
            }
        }
        let count = LogSequence(UInt64(try recordCount()))
        var next = (headers.map(\.number).max() ?? 0) + 1
        var attached = folds
        for index in attached.indices {
            let fold = attached[index]
            let header = headers.first {
                $0.identity == fold.identity && $0.schema == fold.schema.schema.summary
            }
            var faults: [Fault] = []
            if let header {
                guard header.sequence <= count else {
                    throw .damaged(
                        path: path, sequence: count.next,
                        reason: "the record is missing, and the rows of \(fold.identity) have it")
                }
                faults = try self.faults(of: header.number)
            }
            if let header, try !canRead(anyOf: faults, codec) {
                attached[index].attach(
                    to: self, number: header.number, sequence: header.sequence, faults: faults)
            } else {
                attached[index].attach(to: self, number: next, sequence: 0, faults: [])
                next += 1
            }
        }
        let numbers = Set(attached.map(\.schema.number))
        let names = Set(attached.map(\.identity.name))
        let outdated = headers.filter {
            names.contains($0.identity.name) && !numbers.contains($0.number)
        }
        return (attached, outdated.map(\.number))
    }

    private func faults(of number: UInt32) throws(FoldbackError) -> [Fault] {
        var faults: [Fault] = []
        do {
            try readRows { rows in
                let span = KeySpan(prefix: StoredRow.faultPrefix(number))
                try rows.scan(span, backwards: false) { _, bytes in
                    faults.append(try Fault(decoding: [UInt8](copying: bytes)))
                    return true
                }
            }
        } catch let error as FormatError {
            throw FoldbackError(
                error, at: "\(path), faults of stored projection \(number)", sequence: nil)
        } catch {
            throw FoldbackError(reading: error, at: path)
        }
        return faults
    }

    /// Whether an event can be read now that was a fault because it could not.
    ///
    /// - Complexity: reads the entries of such faults; nothing where there are none.
    private func canRead(
        anyOf faults: [Fault], _ codec: any PayloadCodec
    ) throws(FoldbackError) -> Bool {
        for fault in faults where UnreadableEvent.isReason(of: fault) {
            for confirmed in try confirmed(by: fault.sequence, codec)
            where confirmed.context.origin == fault.origin && !confirmed.payload.isUnreadable {
                return true
            }
        }
        return false
    }

    /// The events that an entry confirmed, or brought again.
    private func confirmed(
        by sequence: LogSequence, _ codec: any PayloadCodec
    ) throws(FoldbackError) -> [Folded] {
        guard let bytes = try record(at: sequence) else {
            throw .damaged(path: path, sequence: sequence, reason: "the record is missing")
        }
        let entry: Entry
        do throws(FormatError) {
            entry = try Record.decoded(
                bytes, at: sequence, predecessor: nil, replicas: header.replicas, codec: codec
            ).record.entry
        } catch {
            throw FoldbackError(error, at: path, sequence: sequence)
        }
        switch entry {
        case .confirmed(let batch):
            return batch.events.map { Folded(payload: $0.payload, context: $0.context) }
        case .acknowledged(let answer):
            let recorded = try recall(answer.number, codec: codec).recorded
            return [
                Folded(
                    payload: answer.replacement ?? recorded.payload,
                    context: EventContext(.intent(recorded.id)))
            ]
        case .intent, .rejected, .withdrawn, .dismissed: return []
        }
    }

    /// Removes rows of other versions, in bounded pieces; what is left when that is cut off is removed the
    /// next time.
    package func dropRows(of numbers: [UInt32]) throws(FoldbackError) {
        for number in numbers {
            let span = KeySpan(prefix: StoredRow.prefix(of: number))
            while true {
                let keys = try rowKeys(in: span, countMax: Limits.rowDropCountMax)
                var batch = WriteBatch()
                for key in keys { batch.append(key, nil) }
                if keys.count < Limits.rowDropCountMax { batch.dropProjection(number) }
                do throws(StorageFailure) { try write(batch) } catch { throw .storage(error) }
                if keys.count < Limits.rowDropCountMax { break }
            }
        }
    }
}

extension FoldbackError {
    /// What reading rows threw, which is ours unless it came from a closure.
    package init(reading error: any Error, at path: String) {
        self =
            error as? FoldbackError
            ?? .damaged(path: path, sequence: nil, reason: "its rows cannot be read: \(error)")
    }
}

/// How far a stored projection that is new to a log, or of another version, has come with its entries.
public struct CatchingUp: Hashable, Sendable {
    /// Entries that were folded.
    public let sequence: LogSequence
    /// The log's last entry.
    public let last: LogSequence
}

/// Writes rows while a log is opened, in pieces: a projection that is behind gets up with the log.
struct CatchUp {
    private let storage: any LogStorage
    private let last: LogSequence
    private let progress: (@Sendable (CatchingUp) -> Void)?
    private var bytes = 0

    init(
        _ storage: any LogStorage, _ progress: (@Sendable (CatchingUp) -> Void)?
    ) throws(FoldbackError) {
        self.storage = storage
        self.progress = progress
        last = LogSequence(UInt64(try storage.recordCount()))
    }

    /// Called behind each entry.
    mutating func took(_ fold: inout LogFold) throws(FoldbackError) {
        guard fold.rows.contains(where: { $0.changedCount >= Limits.rowCatchUpCountMax }) else {
            return
        }
        try write(&fold)
    }

    /// Writes what has changed; nothing where nobody was behind.
    func write(_ fold: inout LogFold) throws(FoldbackError) {
        guard fold.rows.contains(where: \.isBehindLog) else { return }
        var batch = WriteBatch()
        for rows in fold.rows where rows.isBehindLog { batch.append(rows.batch()) }
        storage.endReadingForWriting()
        do throws(StorageFailure) { try storage.write(batch) } catch { throw .storage(error) }
        for index in fold.rows.indices { fold.rows[index].begin(isWatched: false) }
        progress?(CatchingUp(sequence: fold.state.sequence, last: last))
    }
}
