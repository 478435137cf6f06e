/// A checkpoint as rows of the table `checkpoints`: its sections, cut into pieces, and a manifest.
///
/// ```
/// (sequence, section, piece)
/// (sequence, 0, 0)        manifest: the sections and their sizes
/// (sequence, 1, 0 …)      the log
/// (sequence, 2 …, 0 …)    one section for each projection
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
        var contents = [CheckpointManifest.Section(projection: nil, of: sections[0])]
        for projection in checkpoint.projections {
            let bytes = projection.encoded()
            sections.append(bytes)
            contents.append(CheckpointManifest.Section(projection: projection.identity, of: bytes))
        }
        self.sections = sections
        manifest = CheckpointManifest(
            sequence: checkpoint.log.sequence, format: format, sections: contents)
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

/// The list of a checkpoint's sections.
package struct CheckpointManifest: Sendable, Equatable {
    package struct Section: Sendable, Equatable {
        /// The section's projection; nil for the log's own section.
        package let projection: ProjectionIdentity?
        package let bytes: Int
        /// The checksum of all pieces together, which proves that they belong to this manifest.
        package let checksum: UInt64

        package init(projection: ProjectionIdentity?, bytes: Int, checksum: UInt64) {
            self.projection = projection
            self.bytes = bytes
            self.checksum = checksum
        }

        package init(projection: ProjectionIdentity?, of bytes: [UInt8]) {
            self.init(
                projection: projection, bytes: bytes.count,
                checksum: Checksum.of(bytes.span.bytes, seed: 0))
        }
    }

    package let sequence: LogSequence
    /// The format of the codec that read the events of the states.
    package let format: EventFormat
    package let sections: [Section]

    package init(sequence: LogSequence, format: EventFormat, sections: [Section]) {
        self.sequence = sequence
        self.format = format
        self.sections = sections
    }

    /// The bytes of all sections together.
    package var bytes: Int { sections.reduce(0) { $0 + $1.bytes } }

    package var pieceKeys: [CheckpointKey] {
        sections.indices.flatMap { pieceKeys(of: $0) }
    }

    package func pieceKeys(of section: Int) -> [CheckpointKey] {
        let size = Limits.checkpointPieceBytes
        return (0..<(sections[section].bytes + size - 1) / size).map { piece in
            CheckpointKey(
                sequence: sequence, section: UInt16(section + 1), piece: UInt32(piece))
        }
    }

    private static let version: UInt8 = 1

    package func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.fixed(Self.version)
        writer.fixed(format.codec)
        writer.fixed(format.version)
        writer.variable(UInt64(sections.count))
        for section in sections {
            writer.variable(UInt64(section.bytes))
            writer.fixed(section.checksum)
            writer.fixed(UInt8(section.projection == nil ? 0 : 1))
            guard let identity = section.projection else { continue }
            writer.sized(identity.name.string)
            writer.fixed(identity.version)
        }
        _ = writer.seal(seed: CheckpointKey(manifestAt: sequence).seed)
        return writer.bytes
    }

    package init(decoding bytes: [UInt8], at sequence: LogSequence) throws(FormatError) {
        var reader = try ByteReader(
            sealed: bytes, seed: CheckpointKey(manifestAt: sequence).seed)
        let version = try reader.fixed(UInt8.self)
        guard version == Self.version else { throw .newer("checkpoint format \(version)") }
        let format = EventFormat(codec: try reader.fixed(), version: try reader.fixed())
        var sections: [Section] = []
        for _ in 0..<(try reader.variable()) {
            guard let bytes = Int(exactly: try reader.variable()) else {
                throw .damaged("a section's size is out of range")
            }
            let checksum = try reader.fixed(UInt64.self)
            var identity: ProjectionIdentity?
            if try reader.fixed(UInt8.self) != 0 {
                identity = ProjectionIdentity(
                    name: ExactString(try reader.sizedString()), version: try reader.fixed())
            }
            sections.append(Section(projection: identity, bytes: bytes, checksum: checksum))
        }
        guard reader.isAtEnd, sections.first?.projection == nil, !sections.isEmpty else {
            throw .damaged("its sections are not those of a checkpoint")
        }
        self.init(sequence: sequence, format: format, sections: sections)
    }
}
