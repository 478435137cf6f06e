// Table `checkpoints`: the key is a sequence, a section and a piece, the value is the piece.

/// A checkpoint as rows of the table `checkpoints`: its sections, cut into pieces, and a manifest.
///
/// ```
/// (sequence, section, piece)
/// (sequence, 0, 0)        manifest: the sections and their sizes
/// (sequence, 1, 0 …)      the log
/// (sequence, 2 …, 0 …)    one section for each projection
/// (sequence, next, 0 …)   the unread events, if there are any
/// (sequence, last, 0 …)   the partly read events, if there are any
/// ```
///
/// The manifest is written last and removed first. So if the manifest is there, all pieces are.
package struct CheckpointRows: Sendable {
    package let manifest: CheckpointManifest
    private let sections: [[UInt8]]

    /// Encodes a checkpoint.
    ///
    /// - Parameters:
    ///   - format: the format of the codec that read the events.
    ///   - hasNotes: whether that codec notes the members that it does not read.
    /// - Complexity: O(n) in the checkpoint's bytes, with one copy of them.
    package init(
        _ checkpoint: Checkpoint, format: EventFormat, hasNotes: Bool, replicas: ReplicaTable
    ) {
        var sections = [checkpoint.log.encoded(replicas: replicas)]
        var contents = [CheckpointManifest.Section(.log, of: sections[0])]
        for projection in checkpoint.projections {
            let bytes = projection.encoded()
            sections.append(bytes)
            contents.append(
                CheckpointManifest.Section(.projection(projection.identity), of: bytes))
        }
        if !checkpoint.unread.isEmpty {
            let bytes = checkpoint.unread.encoded()
            sections.append(bytes)
            contents.append(CheckpointManifest.Section(.unread, of: bytes))
        }
        if !checkpoint.partlyRead.isEmpty {
            let bytes = checkpoint.partlyRead.encoded()
            sections.append(bytes)
            contents.append(CheckpointManifest.Section(.partlyRead, of: bytes))
        }
        self.sections = sections
        manifest = CheckpointManifest(
            sequence: checkpoint.log.sequence, format: format, sections: contents,
            firstUnread: [checkpoint.unread.first, checkpoint.partlyRead.first]
                .compactMap(\.self).min(), hasNotes: hasNotes)
    }

    /// The rows in the order to write them: bounded pieces, then the manifest.
    package var rows: some Sequence<CheckpointRow> {
        let pieces = manifest.pieceKeys.lazy.map { key in
            CheckpointRow(key: key, bytes: piece(at: key))
        }
        let last = CollectionOfOne(
            CheckpointRow(
                key: CheckpointKey(manifestAt: manifest.sequence), bytes: manifest.encoded()))
        return [AnySequence(pieces), AnySequence(last)].joined()
    }

    private func piece(at key: CheckpointKey) -> [UInt8] {
        let bytes = sections[Int(key.section) - 1]
        let start = Int(key.piece) * Limits.checkpointPieceBytes
        let end = min(start + Limits.checkpointPieceBytes, bytes.count)
        var writer = ByteWriter(capacity: end - start + 8)
        writer.raw(bytes[start..<end])
        _ = writer.seal(seed: key.seed)
        return writer.bytes
    }
}

package struct CheckpointRow: Sendable {
    package let key: CheckpointKey
    package let bytes: [UInt8]
}

/// The key of a checkpoint's row. Keys are in order of sequence, with the manifest before the
/// sections.
package struct CheckpointKey: Hashable, Comparable, Sendable {
    package let sequence: LogSequence
    /// The section's number; 0 for the manifest, 1 for the log, from 2 up for projections.
    package let section: UInt16
    package let piece: UInt32

    package init(sequence: LogSequence, section: UInt16, piece: UInt32) {
        self.sequence = sequence
        self.section = section
        self.piece = piece
    }

    package init(manifestAt sequence: LogSequence) {
        self.init(sequence: sequence, section: 0, piece: 0)
    }

    package static func < (a: Self, b: Self) -> Bool {
        (a.sequence, a.section, a.piece) < (b.sequence, b.section, b.piece)
    }

    /// The key as 14 bytes, big-endian.
    package var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 14)
        writer.fixed(sequence.value.bigEndian)
        writer.fixed(section.bigEndian)
        writer.fixed(piece.bigEndian)
        return writer.bytes
    }

    /// Makes the key with these bytes, or returns nil if they are not 14.
    package init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 14 else { return nil }
        func number(_ range: Range<Int>) -> UInt64 {
            range.reduce(0) { $0 << 8 | UInt64(bytes[$1]) }
        }
        self.init(
            sequence: LogSequence(number(0..<8)), section: UInt16(number(8..<10)),
            piece: UInt32(number(10..<14)))
    }

    /// The seed of the row's checksum, so that the row's bytes fail under another key.
    var seed: UInt64 {
        Checksum.of(bytes.span.bytes, seed: 0)
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

// MARK: Read

/// The reason why a checkpoint is not used. The entries that it covers are folded instead.
struct CheckpointRefusal: Error {
    let reason: RefusedCheckpoint.Reason
    /// The error of reading, if it says nothing about the stored bytes: for example that the file was
    /// replaced. Nil if the checkpoint itself is the reason.
    private(set) var failure: LogError?

    init(because reason: RefusedCheckpoint.Reason) { self.reason = reason }

    init(_ error: FormatError) {
        switch error {
        case .damaged(let what): reason = .damaged(what)
        case .newer(let found): reason = .newerFormat(found)
        }
    }

    /// Calls the checkpoint damaged only if the error is damage. Any other read error does not show
    /// that the stored bytes are wrong.
    init(_ error: LogError) {
        if case .damaged = error {
            reason = .damaged("\(error)")
        } else {
            reason = .unreadable("\(error)")
            failure = error
        }
    }
}

/// The log is complete without checkpoints, so an unreadable checkpoint is not an error of the log.
extension LogStorage {
    /// Calls `body` with each row of table `checkpoints` from `start` on, until it returns false.
    /// `body` must not keep the bytes, and must be short (L8).
    package func scanCheckpoints(
        from start: CheckpointKey, _ body: (CheckpointKey, RawSpan) -> Bool
    ) throws(LogError) {
        try reading(.checkpoints) { table throws(LogError) in
            try table.scan(.forwards(from: LogKey(start))) { key, value in
                value.withSpan { body(CheckpointKey(key), $0) }
            }
        }
    }

    /// Returns the sequences up to `last` that have rows, ascending. Their checkpoints may be
    /// incomplete.
    package func checkpointSequences(
        upTo last: LogSequence? = nil
    ) throws(LogError) -> [LogSequence] {
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
    ) throws(LogError) -> [CheckpointKey] {
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
    package func storedCheckpoints() throws(LogError) -> [StoredCheckpoint] {
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
            guard let first = manifest.firstUnread, let own = unread.first, first <= own else {
                throw .damaged("its unread events begin at another entry")
            }
            return unread
        } catch {
            throw CheckpointRefusal(error)
        }
    }

    /// Returns the events that a checkpoint has only in part.
    func checkpointedPart(
        of manifest: CheckpointManifest
    ) throws(CheckpointRefusal) -> PartlyReadEvents {
        guard let section = manifest.sections.lastIndex(where: { $0.content == .partlyRead }) else {
            return PartlyReadEvents()
        }
        let bytes = try checkpointSection(section, of: manifest)
        do throws(FormatError) {
            return try PartlyReadEvents(decoding: bytes, at: manifest.sequence)
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
        do throws(LogError) {
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

    /// Checks that each section of a checkpoint can be read.
    func requireReadableSections(at sequence: LogSequence) throws(CheckpointRefusal) {
        guard let manifest = try checkpointManifest(at: sequence) else {
            throw CheckpointRefusal(because: .damaged("its manifest is missing"))
        }
        for index in manifest.sections.indices { _ = try checkpointSection(index, of: manifest) }
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
        do throws(LogError) {
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

// MARK: Write

extension WriteBatch {
    package mutating func writeCheckpointRow(_ row: CheckpointRow) {
        checkpoints.append(TableWrite(.checkpoints, LogKey(row.key), row.bytes))
    }

    package mutating func removeCheckpointRow(at key: CheckpointKey) {
        checkpoints.append(TableWrite(.checkpoints, LogKey(key), nil))
    }
}
