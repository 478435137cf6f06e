/// The list of a checkpoint's sections.
///
/// Format 2 is written only if the checkpoint lacks events (E6). Older code refuses it and folds
/// from an older checkpoint.
package struct CheckpointManifest: Sendable, Equatable {
    package struct Section: Sendable, Equatable {
        package enum Content: Sendable, Equatable {
            case log
            case projection(ProjectionIdentity)
            /// The events that the checkpoint lacks.
            case unread
        }

        package let content: Content
        package let bytes: Int
        /// The checksum of all pieces together, which proves that they belong to this manifest.
        package let checksum: UInt64

        package init(_ content: Content, bytes: Int, checksum: UInt64) {
            self.content = content
            self.bytes = bytes
            self.checksum = checksum
        }

        package init(_ content: Content, of bytes: [UInt8]) {
            self.init(
                content, bytes: bytes.count, checksum: Checksum.of(bytes.span.bytes, seed: 0))
        }

        /// The section's projection; nil for other sections.
        package var projection: ProjectionIdentity? {
            guard case .projection(let identity) = content else { return nil }
            return identity
        }
    }

    package let sequence: LogSequence
    /// The format of the codec that read the events of the states.
    package let format: EventFormat
    package let sections: [Section]
    /// The first entry with an event that the checkpoint lacks; nil if it lacks none.
    package let firstUnread: LogSequence?

    package init(
        sequence: LogSequence, format: EventFormat, sections: [Section],
        firstUnread: LogSequence? = nil
    ) {
        self.sequence = sequence
        self.format = format
        self.sections = sections
        self.firstUnread = firstUnread
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

    // MARK: Bytes

    private static let version: UInt8 = 1
    private static let versionWithUnread: UInt8 = 2

    package func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.fixed(firstUnread == nil ? Self.version : Self.versionWithUnread)
        writer.fixed(format.codec)
        writer.fixed(format.version)
        writer.variable(UInt64(sections.count))
        for section in sections {
            writer.variable(UInt64(section.bytes))
            writer.fixed(section.checksum)
            switch section.content {
            case .log: writer.fixed(UInt8(0))
            case .projection(let identity):
                writer.fixed(UInt8(1))
                writer.sized(identity.name.string)
                writer.fixed(identity.version)
            case .unread: writer.fixed(UInt8(2))
            }
        }
        if let firstUnread {
            writer.variable(firstUnread)
            // The names of unread events: none, because events have no names without a catalog.
            writer.variable(UInt64(0))
        }
        _ = writer.seal(seed: CheckpointKey(manifestAt: sequence).seed)
        return writer.bytes
    }

    package init(decoding bytes: [UInt8], at sequence: LogSequence) throws(FormatError) {
        var reader = try ByteReader(
            sealed: bytes, seed: CheckpointKey(manifestAt: sequence).seed)
        let version = try reader.fixed(UInt8.self)
        guard (Self.version...Self.versionWithUnread).contains(version) else {
            throw .newer("checkpoint format \(version)")
        }
        let format = EventFormat(codec: try reader.fixed(), version: try reader.fixed())
        var sections: [Section] = []
        for _ in 0..<(try reader.variable()) { sections.append(try Self.section(&reader)) }
        var firstUnread: LogSequence?
        if version == Self.versionWithUnread {
            let first: LogSequence = try reader.number()
            firstUnread = first == 0 ? nil : first
            for _ in 0..<(try reader.variable()) {
                _ = try reader.sizedString()
                _ = try reader.variable()
            }
        }
        var projections = sections.dropFirst()
        if firstUnread != nil, projections.last?.content == .unread { projections.removeLast() }
        guard reader.isAtEnd, sections.first?.content == .log,
            projections.allSatisfy({ $0.projection != nil }),
            (sections.last?.content == .unread) == (firstUnread != nil)
        else { throw .damaged("its sections are not those of a checkpoint") }
        self.init(
            sequence: sequence, format: format, sections: sections, firstUnread: firstUnread)
    }

    private static func section(_ reader: inout ByteReader) throws(FormatError) -> Section {
        guard let bytes = Int(exactly: try reader.variable()) else {
            throw .damaged("a section's size is out of range")
        }
        let checksum = try reader.fixed(UInt64.self)
        switch try reader.fixed(UInt8.self) {
        case 0: return Section(.log, bytes: bytes, checksum: checksum)
        case 1:
            let identity = ProjectionIdentity(
                name: ExactString(try reader.sizedString()), version: try reader.fixed())
            return Section(.projection(identity), bytes: bytes, checksum: checksum)
        case 2: return Section(.unread, bytes: bytes, checksum: checksum)
        case let kind: throw .damaged("a section has kind \(kind)")
        }
    }
}
