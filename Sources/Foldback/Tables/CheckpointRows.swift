/// A checkpoint as rows of the table `checkpoints`: its sections, cut into pieces, and a manifest.
///
/// ```
/// (sequence, section, piece)
/// (sequence, 0, 0)        manifest: the sections and their sizes
/// (sequence, 1, 0 …)      the log
/// (sequence, 2 …, 0 …)    one section for each projection
/// (sequence, last, 0 …)   the unread events, if there are any
/// ```
///
/// The manifest is written last and removed first. So if the manifest is there, all pieces are.
package struct CheckpointRows: Sendable {
    package let manifest: CheckpointManifest
    private let sections: [[UInt8]]

    /// Encodes a checkpoint.
    ///
    /// - Parameter format: the format of the codec that read the events.
    /// - Complexity: O(n) in the checkpoint's bytes, with one copy of them.
    package init(_ checkpoint: Checkpoint, format: EventFormat, replicas: ReplicaTable) {
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
        self.sections = sections
        manifest = CheckpointManifest(
            sequence: checkpoint.log.sequence, format: format, sections: contents,
            firstUnread: checkpoint.unread.first)
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
