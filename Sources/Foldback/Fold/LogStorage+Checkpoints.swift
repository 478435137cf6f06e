/// The reason why a checkpoint is not used. The entries that it covers are folded instead.
struct CheckpointRefusal: Error {
    let reason: RefusedCheckpoint.Reason

    init(because reason: RefusedCheckpoint.Reason) { self.reason = reason }

    init(_ error: FormatError) {
        switch error {
        case .damaged(let what): reason = .damaged(what)
        case .newer(let found): reason = .newerFormat(found)
        }
    }

    /// Calls the checkpoint damaged only if the error is damage. Any other read error does not show
    /// that the stored bytes are wrong.
    init(_ error: FoldbackError) {
        if case .damaged = error {
            reason = .damaged("\(error)")
        } else {
            reason = .unreadable("\(error)")
        }
    }
}

/// Reads of table `checkpoints`. The log is complete without checkpoints, so an unreadable
/// checkpoint is not an error of the log.
extension LogStorage {
    /// Returns the sequences up to `last` that have rows, ascending. Their checkpoints may be
    /// incomplete.
    package func checkpointSequences(
        upTo last: LogSequence? = nil
    ) throws(FoldbackError) -> [LogSequence] {
        var sequences: [LogSequence] = []
        var start = LogSequence(0)
        while true {
            var found: LogSequence?
            try scanCheckpoints(from: CheckpointKey(manifestAt: start)) { key, _ in
                found = key.sequence
                return false
            }
            guard let found, found <= last ?? found, found >= start else { return sequences }
            sequences.append(found)
            guard found.value < .max else { return sequences }
            start = found.next
        }
    }

    /// Returns the keys of a sequence's rows, at most `countMax`, with the manifest first.
    package func checkpointKeys(
        at sequence: LogSequence, countMax: Int
    ) throws(FoldbackError) -> [CheckpointKey] {
        var keys: [CheckpointKey] = []
        try scanCheckpoints(from: CheckpointKey(manifestAt: sequence)) { key, _ in
            guard key.sequence == sequence else { return false }
            keys.append(key)
            return keys.count < countMax
        }
        return keys
    }

    /// Returns a checkpoint's manifest; nil if writing the checkpoint was interrupted.
    func checkpointManifest(
        at sequence: LogSequence
    ) throws(CheckpointRefusal) -> CheckpointManifest? {
        guard let bytes = try checkpointRow(CheckpointKey(manifestAt: sequence)) else { return nil }
        do throws(FormatError) {
            return try CheckpointManifest(decoding: bytes, at: sequence)
        } catch {
            throw CheckpointRefusal(error)
        }
    }

    /// Returns the sequences and sizes of checkpoints whose manifest can be read, ascending.
    package func checkpointSizes()
        throws(FoldbackError) -> [(sequence: LogSequence, bytes: Int)]
    {
        try checkpointSequences().map { ($0, checkpointBytes(at: $0)) }.filter { $0.1 > 0 }
    }

    /// Returns the size of the checkpoint at a sequence, in bytes; 0 if its manifest cannot be
    /// read.
    package func checkpointBytes(at sequence: LogSequence) -> Int {
        do throws(CheckpointRefusal) {
            return try checkpointManifest(at: sequence)?.bytes ?? 0
        } catch {
            return 0
        }
    }

    /// Returns the log section of a checkpoint.
    func checkpointedLog(
        of manifest: CheckpointManifest, codec: any PayloadCodec
    ) throws(CheckpointRefusal) -> LogSection {
        let bytes = try checkpointSection(0, of: manifest)
        do throws(FormatError) {
            return try LogSection(
                decoding: bytes, at: manifest.sequence, replicas: header.replicas, codec: codec)
        } catch {
            throw CheckpointRefusal(error)
        }
    }

    /// Returns the section of one projection in a checkpoint.
    func checkpointedProjection(
        _ identity: ProjectionIdentity, of manifest: CheckpointManifest
    ) throws(CheckpointRefusal) -> ProjectionSection {
        guard
            let section = manifest.sections.firstIndex(where: { $0.projection == identity })
        else { throw CheckpointRefusal(because: .lacks(projection: "\(identity)")) }
        let bytes = try checkpointSection(section, of: manifest)
        do throws(FormatError) {
            return try ProjectionSection(decoding: bytes, of: identity)
        } catch {
            throw CheckpointRefusal(error)
        }
    }

    private func checkpointSection(
        _ index: Int, of manifest: CheckpointManifest
    ) throws(CheckpointRefusal) -> [UInt8] {
        var bytes: [UInt8] = []
        for key in manifest.pieceKeys(of: index) {
            guard let row = try checkpointRow(key) else {
                throw CheckpointRefusal(
                    because: .damaged("piece \(key.piece) of section \(index) is missing"))
            }
            do throws(FormatError) {
                var reader = try ByteReader(sealed: row, seed: key.seed)
                bytes += reader.rest()
            } catch {
                throw CheckpointRefusal(error)
            }
        }
        guard
            manifest.sections[index]
                == .init(
                    projection: manifest.sections[index].projection, of: bytes)
        else {
            throw CheckpointRefusal(because: .damaged("section \(index) differs from the manifest"))
        }
        return bytes
    }

    private func checkpointRow(_ key: CheckpointKey) throws(CheckpointRefusal) -> [UInt8]? {
        var row: [UInt8]?
        do throws(FoldbackError) {
            try scanCheckpoints(from: key) { found, bytes in
                if found == key { row = bytes.withUnsafeBytes { Array($0) } }
                return false
            }
        } catch {
            throw CheckpointRefusal(error)
        }
        return row
    }
}
