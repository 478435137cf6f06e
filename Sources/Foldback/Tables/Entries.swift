// Table `entries`: the key is the entry's sequence, the value is its record (`Record`).

// MARK: Read

extension LogStorage {
    /// Returns a bounded piece of the records from `start` on, in order; empty after the last entry
    /// (L8). Does not verify them.
    ///
    /// - Throws: `.compacted` if the entry at `start` was removed; the storage's errors.
    package func records(
        from start: LogSequence, countMax: Int
    ) throws(LogError) -> [(LogSequence, [UInt8])] {
        try requireEntries(from: start)
        return try piece(of: .entries, from: start, countMax: countMax)
    }

    /// Returns the number of records that the log ever had, without reading them. In a log with gaps,
    /// returns the last entry's sequence instead.
    package func recordCount() throws(LogError) -> Int {
        try reading { snapshot throws(LogError) in
            guard hasGaps else {
                return Int(clamping: baseSequence.value) + (try snapshot.count(of: .entries))
            }
            return Int(clamping: try snapshot.lastSequence(after: baseSequence).value)
        }.get()
    }

    /// Returns the number of entries, without reading them.
    package func entryCount() throws(LogError) -> Int {
        try reading { snapshot throws(LogError) in try snapshot.count(of: .entries) }.get()
    }

    /// Returns a record's bytes, not verified; nil if the log lacks it.
    ///
    /// - Throws: `.compacted` if it was removed and is not kept; the storage's errors.
    package func record(at sequence: LogSequence) throws(LogError) -> [UInt8]? {
        guard let base, 1 <= sequence, sequence <= base.sequence else {
            return try value(at: LogKey(sequence), in: .entries)
        }
        if let kept = try value(at: LogKey(sequence), in: .kept) { return kept }
        throw .compacted(path: path, through: base.sequence)
    }

    /// Returns a bounded piece of the records from `start` on, decoded and checked, in order (L5,
    /// L8). Does not check the chain.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, naming the sequence; `.closed`, `.storage`.
    package func decodedRecords(
        from start: LogSequence, countMax: Int, codec: any PayloadCodec
    ) throws(LogError) -> [Record] {
        var decoded: [Record] = []
        var expected = max(start, 1)
        for (sequence, bytes) in try records(from: expected, countMax: countMax) {
            guard sequence == expected || hasGaps else { throw missing(expected) }
            expected = sequence.next
            do throws(FormatError) {
                decoded.append(
                    try Record.decoded(
                        bytes, at: sequence, predecessor: nil, replicas: header.replicas,
                        codec: codec
                    ).record)
            } catch {
                throw LogError(error, at: path, sequence: sequence)
            }
        }
        return decoded
    }

    /// Returns the checksum of a record, checked.
    ///
    /// - Throws: `.damaged` also if the log lacks the record; `.compacted`; the storage's errors.
    func checksum(at sequence: LogSequence) throws(LogError) -> UInt64 {
        guard let bytes = try record(at: sequence) else { throw missing(sequence) }
        do throws(FormatError) {
            return try ByteReader(sealed: bytes, seed: sequence.value).checksum
        } catch {
            throw LogError(error, at: path, sequence: sequence)
        }
    }

    /// Returns the error for a missing record.
    package func missing(_ sequence: LogSequence) -> LogError {
        .damaged(path: path, sequence: sequence, reason: "the record is missing")
    }

    /// Returns the entry that a record has. Does not check the chain.
    func entry(
        _ bytes: [UInt8], at sequence: LogSequence, codec: any PayloadCodec
    ) throws(LogError) -> Entry {
        do throws(FormatError) {
            return try Record.decoded(
                bytes, at: sequence, predecessor: nil, replicas: header.replicas, codec: codec
            ).record.entry
        } catch {
            throw LogError(error, at: path, sequence: sequence)
        }
    }

    /// Returns the rejection of an intent, which the entry at `sequence` has.
    func rejection(
        of number: IntentNumber, at sequence: LogSequence, codec: any PayloadCodec
    ) throws(LogError) -> Rejection {
        guard let bytes = try record(at: sequence) else { throw missing(sequence) }
        guard
            case .changed(number, .rejected(let rejection)) = try entry(
                bytes, at: sequence, codec: codec)
        else {
            throw .damaged(
                path: path, sequence: sequence,
                reason: "the entry should be the rejection of intent \(number)")
        }
        return rejection
    }

    /// Returns the events that an entry confirmed or delivered again, in the entry's order.
    ///
    /// - Parameter through: events of a batch at or below this position are left out.
    func confirmed(
        by sequence: LogSequence, after through: Position = 0, codec: any PayloadCodec
    ) throws(LogError) -> [Folded] {
        guard let bytes = try record(at: sequence) else {
            throw .damaged(path: path, sequence: sequence, reason: "the record is missing")
        }
        switch try entry(bytes, at: sequence, codec: codec) {
        case .confirmed(let batch):
            return batch.events.filter { $0.position > through }
                .map { Folded(payload: $0.payload, context: $0.context) }
        case .acknowledged(let answer):
            let recorded = try settledIntent(answer.number, codec: codec).recorded
            return [
                Folded(
                    payload: answer.replacement ?? recorded.payload,
                    context: EventContext(.intent(recorded.id)))
            ]
        case .intent, .changed: return []
        }
    }
}

extension StorageSnapshot {
    /// Returns the last entry's sequence; that of the base if there is none after it.
    func lastSequence(after base: LogSequence) throws(LogError) -> LogSequence {
        try open(.entries).lastKey().map { LogSequence($0.number) } ?? base
    }
}

/// Reads the records of a log in order, in bounded pieces (L8).
///
/// After ``next()`` returned nil, it can return more records later if the log has grown.
package struct RecordReader: Sendable {
    private let storage: any LogStorage
    private let last: LogSequence?
    /// The sequence of the record that was returned last.
    package private(set) var sequence: LogSequence
    private var piece: ArraySlice<(LogSequence, [UInt8])> = []

    /// Reads the records after `sequence`, up to and including `last`, or to the end if it is nil.
    package init(
        _ storage: any LogStorage, after sequence: LogSequence, upTo last: LogSequence? = nil
    ) {
        self.storage = storage
        self.sequence = sequence
        self.last = last
    }

    /// Returns the next record; nil at the end.
    ///
    /// - Throws: `.damaged` if a record is missing; the storage's errors.
    package mutating func next() throws(LogError) -> (LogSequence, [UInt8])? {
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

    private mutating func readOn() throws(LogError) {
        let left = last.map { Int(clamping: $0.value - min(sequence.value, $0.value)) } ?? .max
        guard left > 0 else { return }
        // Counts the records before it reads them, because another process may append records in
        // between.
        let count = try storage.recordCount()
        piece = try storage.records(from: sequence.next, countMax: left)[...]
        // With gaps, `left` records can end after `last`.
        if storage.hasGaps, let last { piece = piece.prefix { $0.0 <= last } }
        guard piece.isEmpty, sequence.value < UInt64(count), !storage.hasGaps else { return }
        throw .damaged(
            path: storage.path, sequence: sequence.next,
            reason: "the record is missing, and the log counts \(count) records")
    }
}

// MARK: Write

extension WriteBatch {
    /// Adds a record; see ``RecordBuffer/append(_:predecessor:replicas:)``.
    package mutating func writeRecord(
        _ record: Record, predecessor: UInt64, replicas: ReplicaTable
    ) -> (checksum: UInt64, bytes: Int) {
        records.append(record, predecessor: predecessor, replicas: replicas)
    }

    /// Returns the record of an entry that is not committed yet; nil if the batch does not contain
    /// it.
    package func record(at sequence: LogSequence) -> [UInt8]? { records.record(at: sequence) }
}
