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

    /// Returns the checkpoints whose manifest can be read, ascending.
    package func storedCheckpoints() throws(FoldbackError) -> [StoredCheckpoint] {
        try checkpointSequences().compactMap { storedCheckpoint(at: $0) }
    }

    /// Returns the checkpoint at a sequence; nil if there is none, or if its manifest cannot be
    /// read.
    package func storedCheckpoint(at sequence: LogSequence) -> StoredCheckpoint? {
        do throws(CheckpointRefusal) {
            return try checkpointManifest(at: sequence).map {
                StoredCheckpoint(
                    sequence: sequence, bytes: $0.bytes, firstUnread: $0.firstUnread)
            }
        } catch {
            return nil
        }
    }

    /// Returns the events that a checkpoint lacks.
    func checkpointedUnread(
        of manifest: CheckpointManifest
    ) throws(CheckpointRefusal) -> UnreadEvents {
        guard let section = manifest.sections.lastIndex(where: { $0.content == .unread }) else {
            return UnreadEvents()
        }
        let bytes = try checkpointSection(section, of: manifest)
        do throws(FormatError) {
            let unread = try UnreadEvents(decoding: bytes, at: manifest.sequence)
            guard unread.first == manifest.firstUnread else {
                throw .damaged("its unread events begin at another entry")
            }
            return unread
        } catch {
            throw CheckpointRefusal(error)
        }
    }

    /// Checks that this code still cannot read any of these events (E6).
    ///
    /// - Throws: a refusal with the first entry that has an event that `codec` reads.
    /// - Complexity: reads the entries and tries to decode each of the events.
    func requireUnread(
        _ unread: UnreadEvents, by codec: any PayloadCodec
    ) throws(CheckpointRefusal) {
        for (sequence, places) in unread.entries {
            guard try self.unread(places, of: sequence, by: codec) == places else {
                throw CheckpointRefusal(because: .lacksEvent(sequence))
            }
        }
    }

    /// Returns those of these events that this code still cannot read.
    ///
    /// - Complexity: as ``requireUnread(_:by:)``.
    func stillUnread(
        _ unread: UnreadEvents, by codec: any PayloadCodec
    ) throws(CheckpointRefusal) -> UnreadEvents {
        var still = UnreadEvents()
        for (sequence, places) in unread.entries {
            still.append(try self.unread(places, of: sequence, by: codec), at: sequence)
        }
        return still
    }

    /// Returns the places of an entry's events that `codec` cannot read.
    private func unread(
        _ places: [Int], of sequence: LogSequence, by codec: any PayloadCodec
    ) throws(CheckpointRefusal) -> [Int] {
        let events: [Folded]
        do throws(FoldbackError) {
            events = try confirmed(by: sequence, codec: RawCodec())
        } catch {
            throw CheckpointRefusal(error)
        }
        if let last = places.last, last >= events.count {
            throw CheckpointRefusal(
                because: .damaged("entry \(sequence) has no event at place \(last)"))
        }
        return places.filter {
            !codec.canRead(events[$0].payload.bytes, format: events[$0].payload.format)
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
        guard manifest.sections[index] == .init(manifest.sections[index].content, of: bytes) else {
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
