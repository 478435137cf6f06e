/// Access to the tables of entries, settlements, attempts, checkpoints, and headers of projections.
extension LogStorage {
    /// Returns a bounded piece of the records from `start` on, in order; empty after the last entry
    /// (L8). Does not verify them.
    package func records(
        from start: LogSequence, countMax: Int
    ) throws(FoldbackError) -> [(LogSequence, [UInt8])] {
        try piece(of: .entries, from: start, countMax: countMax)
    }

    /// Returns the number of records, without reading them. In a log with gaps, returns the last
    /// entry's sequence instead.
    package func recordCount() throws(FoldbackError) -> Int {
        try reading { snapshot throws(FoldbackError) in
            guard hasGaps else { return try snapshot.count(of: .entries) }
            return Int(clamping: try snapshot.lastSequence().value)
        }.get()
    }

    /// Returns the number of entries, without reading them.
    package func entryCount() throws(FoldbackError) -> Int {
        try reading { snapshot throws(FoldbackError) in try snapshot.count(of: .entries) }.get()
    }

    /// Returns a record's bytes, not verified; nil if the log lacks it.
    package func record(at sequence: LogSequence) throws(FoldbackError) -> [UInt8]? {
        try value(at: LogKey(sequence), in: .entries)
    }

    /// Calls `body` with each row of table `checkpoints` from `start` on, until it returns false.
    /// `body` must not keep the bytes, and must be short (L8).
    package func scanCheckpoints(
        from start: CheckpointKey, _ body: (CheckpointKey, RawSpan) -> Bool
    ) throws(FoldbackError) {
        try reading(.checkpoints) { table throws(FoldbackError) in
            try table.scan(.forwards(from: LogKey(start))) { key, value in
                value.withSpan { body(CheckpointKey(key), $0) }
            }
        }
    }

    /// Returns the rows of table `projections`, not verified.
    package func projectionHeaders()
        throws(FoldbackError) -> [(number: UInt32, bytes: [UInt8])]
    { try all(of: .projections) }

    /// Returns the rows of table `registered`, not verified.
    package func registeredRows()
        throws(FoldbackError) -> [(number: UInt32, bytes: [UInt8])]
    { try all(of: .registered) }

    // MARK: Decoding

    /// Returns a bounded piece of the records from `start` on, decoded and checked, in order (L5,
    /// L8). Does not check the chain.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, naming the sequence; `.closed`, `.storage`.
    package func decodedRecords(
        from start: LogSequence, countMax: Int, codec: any PayloadCodec
    ) throws(FoldbackError) -> [Record] {
        var decoded: [Record] = []
        var expected = max(start, 1)
        for (sequence, bytes) in try records(from: start, countMax: countMax) {
            guard sequence == expected || hasGaps else { throw missing(expected) }
            expected = sequence.next
            do throws(FormatError) {
                decoded.append(
                    try Record.decoded(
                        bytes, at: sequence, predecessor: nil, replicas: header.replicas,
                        codec: codec
                    ).record)
            } catch {
                throw FoldbackError(error, at: path, sequence: sequence)
            }
        }
        return decoded
    }

    /// Returns the error for a missing record.
    package func missing(_ sequence: LogSequence) -> FoldbackError {
        .damaged(path: path, sequence: sequence, reason: "the record is missing")
    }
}

extension StorageSnapshot {
    /// Returns the last entry's sequence; 0 if the log is empty.
    func lastSequence() throws(FoldbackError) -> LogSequence {
        LogSequence(try open(.entries).lastKey()?.number ?? 0)
    }
}

extension LogKey {
    init(_ key: CheckpointKey) { self = .bytes(KeyBytes(key.bytes)) }
}

extension CheckpointKey {
    /// Decodes a key whose length the storage has checked.
    fileprivate init(_ key: LogKey) {
        guard let decoded = key.bytes.bytes.withUnsafeBytes({ CheckpointKey(bytes: $0) }) else {
            preconditionFailure("a checkpoint's key has \(key.byteCount) bytes")
        }
        self = decoded
    }
}
