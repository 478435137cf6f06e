// Table `checkpoints`: the bytes of the manifest and of the sections.

/// The list of a checkpoint's sections.
///
/// Format 3 is written. Formats 1 and 2 are of code that did not note the members that it did not
/// read (E11); format 2 lacks events (E6). Older code refuses a newer format, and folds from an older
/// checkpoint.
package struct CheckpointManifest: Sendable, Equatable {
    package struct Section: Sendable, Equatable {
        package enum Content: Sendable, Equatable {
            case log
            case projection(ProjectionIdentity)
            /// The events that the checkpoint lacks.
            case unread
            /// The events that the checkpoint has only in part.
            case partlyRead
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
    /// The first entry with an event that the checkpoint lacks, or has only in part; nil if there
    /// is none.
    package let firstUnread: LogSequence?
    /// Whether the code that wrote the checkpoint noted the members that it did not read.
    package let hasNotes: Bool

    package init(
        sequence: LogSequence, format: EventFormat, sections: [Section],
        firstUnread: LogSequence? = nil, hasNotes: Bool = true
    ) {
        self.hasNotes = hasNotes
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

    private static let versions: ClosedRange<UInt8> = 1...3
    private static let versionWithNotes: UInt8 = 3

    package func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.fixed(Self.versionWithNotes)
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
            case .partlyRead: writer.fixed(UInt8(3))
            }
        }
        writer.variable(firstUnread ?? 0)
        writer.fixed(UInt8(hasNotes ? 1 : 0))
        _ = writer.seal(seed: CheckpointKey(manifestAt: sequence).seed)
        return writer.bytes
    }

    package init(decoding bytes: [UInt8], at sequence: LogSequence) throws(FormatError) {
        var reader = try ByteReader(
            sealed: bytes, seed: CheckpointKey(manifestAt: sequence).seed)
        let version = try reader.fixed(UInt8.self)
        guard Self.versions.contains(version) else {
            throw .newer("checkpoint format \(version)")
        }
        let format = EventFormat(codec: try reader.fixed(), version: try reader.fixed())
        var sections: [Section] = []
        for _ in 0..<(try reader.variable()) { sections.append(try Self.section(&reader)) }
        var firstUnread: LogSequence?
        if version > 1 {
            let first: LogSequence = try reader.number()
            firstUnread = first == 0 ? nil : first
        }
        if version == 2 {
            // Names of unread events, which no code has ever written.
            for _ in 0..<(try reader.variable()) {
                _ = try reader.sizedString()
                _ = try reader.variable()
            }
        }
        let isNewest = version >= Self.versionWithNotes
        let hasNotes = isNewest ? try reader.fixed(UInt8.self) != 0 : false
        guard reader.isAtEnd,
            Self.isInOrder(sections, lacksEvents: firstUnread != nil, isNewest: isNewest)
        else { throw .damaged("its sections are not those of a checkpoint") }
        self.init(
            sequence: sequence, format: format, sections: sections, firstUnread: firstUnread,
            hasNotes: hasNotes)
    }

    /// Returns whether the sections are the log, the projections, and then the lists of events.
    private static func isInOrder(
        _ sections: [Section], lacksEvents: Bool, isNewest: Bool
    ) -> Bool {
        guard sections.first?.content == .log else { return false }
        var projections = sections.dropFirst()
        if isNewest, projections.last?.content == .partlyRead { projections.removeLast() }
        if projections.last?.content == .unread { projections.removeLast() }
        let listCount = sections.count - 1 - projections.count
        return projections.allSatisfy { $0.projection != nil } && (listCount > 0) == lacksEvents
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
        case 3: return Section(.partlyRead, bytes: bytes, checksum: checksum)
        case let kind: throw .damaged("a section has kind \(kind)")
        }
    }
}

extension LogSection {
    /// Format 2 also has undo links and released drafts. It is written only if there are some, so that
    /// older code reads the others.
    private static let versions: ClosedRange<UInt8> = 1...2

    /// Returns the section's bytes.
    ///
    /// - Parameter replicas: the log's table of replicas.
    /// - Complexity: O(n) in the overlay.
    package func encoded(replicas: ReplicaTable) -> [UInt8] {
        var writer = ByteWriter()
        let isPlain = undoneBy.isEmpty && released.isEmpty
        writer.fixed(isPlain ? Self.versions.lowerBound : Self.versions.upperBound)
        writer.variable(through)
        writer.variable(nextNumber)
        writer.fixed(chain)
        writer.variable(UInt64(rejections.count))
        for (number, sequence) in rejections {
            writer.variable(number)
            writer.variable(sequence)
        }
        writer.variable(UInt64(overlay.count))
        for intent in overlay { Self.write(intent, to: &writer, replicas) }
        guard !isPlain else { return writer.bytes }
        writer.variable(UInt64(undoneBy.count))
        for (number, undo) in undoneBy {
            writer.variable(number)
            writer.variable(undo)
        }
        writer.variable(UInt64(released.count))
        for (number, draft) in released {
            guard case .released(let sequence) = draft else { continue }
            writer.variable(number)
            writer.variable(sequence)
        }
        return writer.bytes
    }

    /// Writes an intent and its acceptance as records, so that the code that reads records reads
    /// them too.
    ///
    /// The records have no chain. The acceptance's record has the time of the intent.
    private static func write(
        _ intent: UnsettledIntent, to writer: inout ByteWriter, _ replicas: ReplicaTable
    ) {
        func write(_ entry: Entry, _ sequence: LogSequence, _ time: Timestamp, _ replica: ReplicaID)
        {
            let record = Record(
                stamp: Stamp(sequence: sequence, time: time), replica: replica,
                info: intent.recorded.info, entry: entry)
            writer.variable(sequence)
            writer.sized(record.encoded(predecessor: 0, replicas: replicas).bytes)
        }
        let recorded = intent.recorded
        write(.intent(recorded), recorded.sequence, recorded.time, recorded.id.replica)
        writer.fixed(UInt8(intent.acceptance == nil ? 0 : 1))
        guard let acceptance = intent.acceptance else { return }
        let answer = Acknowledged(
            number: recorded.number, position: acceptance.position,
            replacement: acceptance.replacement, settles: false)  // mutant: checkpoint-replacement
        write(
            .acknowledged(answer), acceptance.sequence, recorded.time, recorded.id.replica)
    }

    package init(
        decoding bytes: [UInt8], at sequence: LogSequence, replicas: ReplicaTable,
        codec: any PayloadCodec
    ) throws(FormatError) {
        var reader = ByteReader(unsealed: bytes)
        let version = try reader.fixed(UInt8.self)
        guard Self.versions.contains(version) else {
            throw .newer("checkpointed log format \(version)")
        }
        let through: Position = try reader.number()
        let nextNumber: IntentNumber = try reader.number()
        let chain = try reader.fixed(UInt64.self)
        var rejections = NumberMap<IntentNumber, LogSequence>()
        for _ in 0..<(try reader.variable()) {
            let number: IntentNumber = try reader.number()
            rejections[number] = try reader.number()
        }
        var overlay: [UnsettledIntent] = []
        for _ in 0..<(try reader.variable()) {
            overlay.append(try Self.intent(&reader, replicas, codec))
        }
        var undoneBy = UndoLinks()
        var released = Drafts()
        if version > 1 {
            for _ in 0..<(try reader.variable()) {
                let number: IntentNumber = try reader.number()
                undoneBy[number] = try reader.number()
            }
            for _ in 0..<(try reader.variable()) {
                let number: IntentNumber = try reader.number()
                released[number] = .released(try reader.number())
            }
        }
        guard reader.isAtEnd else { throw .damaged("it has bytes after its last field") }
        let numbers = overlay.map(\.recorded.number)
        guard zip(numbers, numbers.dropFirst()).allSatisfy({ $0 < $1 }),
            numbers.last.map({ $0 < nextNumber }) ?? true
        else { throw .damaged("its overlay is out of order") }
        self.init(
            sequence: sequence, through: through, nextNumber: nextNumber, chain: chain,
            overlay: overlay, rejections: rejections, undoneBy: undoneBy, released: released)
    }

    private static func intent(
        _ reader: inout ByteReader, _ replicas: ReplicaTable, _ codec: any PayloadCodec
    ) throws(FormatError) -> UnsettledIntent {
        let (_, entry) = try record(&reader, replicas, codec)
        guard case .intent(let recorded) = entry else {
            throw .damaged("an entry of its overlay is not an intent")
        }
        guard try reader.fixed(UInt8.self) != 0 else { return UnsettledIntent(recorded) }
        let (sequence, answer) = try record(&reader, replicas, codec)
        guard case .acknowledged(let answer) = answer, answer.number == recorded.number else {
            throw .damaged("intent \(recorded.number) in it has no acknowledgement of its own")
        }
        let acceptance = Acceptance(
            position: answer.position, replacement: answer.replacement, sequence: sequence)
        return UnsettledIntent(recorded, acceptance: acceptance)
    }

    private static func record(
        _ reader: inout ByteReader, _ replicas: ReplicaTable, _ codec: any PayloadCodec
    ) throws(FormatError) -> (LogSequence, Entry) {
        let sequence: LogSequence = try reader.number()
        let record = try Record.decoded(
            try reader.sized(), at: sequence, predecessor: nil, replicas: replicas, codec: codec
        ).record
        return (sequence, record.entry)
    }
}

extension ProjectionSection {
    /// Format 1 has no sample.
    private static let versions: ClosedRange<UInt8> = 1...2

    /// Returns the section's bytes.
    ///
    /// - Complexity: O(n) in the state, with one copy of it.
    package func encoded() -> [UInt8] {
        var writer = ByteWriter(capacity: state.count + sample.count + 16 + faults.count * 64)
        writer.fixed(Self.versions.upperBound)
        writer.variable(UInt64(faults.count))
        for fault in faults { writer.write(fault) }
        writer.sized(sample)
        writer.raw(state)
        return writer.bytes
    }

    package init(decoding bytes: [UInt8], of identity: ProjectionIdentity) throws(FormatError) {
        var reader = ByteReader(unsealed: bytes)
        let version = try reader.fixed(UInt8.self)
        guard Self.versions.contains(version) else {
            throw .newer("checkpointed state format \(version)")
        }
        var faults: [Fault] = []
        for _ in 0..<(try reader.variable()) { faults.append(try reader.fault()) }
        let sample = version > 1 ? try reader.sized() : []
        self.init(identity: identity, faults: faults, sample: sample, state: reader.rest())
    }
}

extension UnreadEvents {
    private static let version: UInt8 = 1

    /// Returns the bytes of the section.
    ///
    /// - Complexity: O(n) in the events.
    package func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.fixed(Self.version)
        writer.variable(UInt64(entryCount))
        var last: UInt64 = 0
        for (sequence, places) in entries {
            writer.variable(sequence.value - last)
            last = sequence.value
            writer.variable(UInt64(places.count))
            var lastPlace = 0
            for place in places {
                writer.variable(UInt64(place - lastPlace))
                lastPlace = place
            }
        }
        return writer.bytes
    }

    /// Reads the section of a checkpoint at `sequence`.
    package init(decoding bytes: [UInt8], at sequence: LogSequence) throws(FormatError) {
        self.init()
        var reader = ByteReader(unsealed: bytes)
        let version = try reader.fixed(UInt8.self)
        guard version == Self.version else { throw .newer("unread events format \(version)") }
        var last: UInt64 = 0
        for _ in 0..<(try reader.variable()) {
            let (next, overflow) = last.addingReportingOverflow(try reader.variable())
            guard !overflow, next > last, next <= sequence.value else {
                throw .damaged("its unread events are out of order")
            }
            last = next
            append(try Self.places(&reader), at: LogSequence(next))
        }
        guard reader.isAtEnd, !isEmpty else { throw .damaged("it has no list of unread events") }
    }

    private static func places(_ reader: inout ByteReader) throws(FormatError) -> [Int] {
        var places: [Int] = []
        var last: UInt64 = 0
        for index in 0..<(try reader.variable()) {
            let (place, overflow) = last.addingReportingOverflow(try reader.variable())
            guard !overflow, place > last || index == 0, let place = Int(exactly: place) else {
                throw .damaged("the places of its unread events are out of order")
            }
            last = UInt64(place)
            places.append(place)
        }
        guard !places.isEmpty else { throw .damaged("an entry of its unread events has none") }
        return places
    }
}

extension PartlyReadEvents {
    private static let version: UInt8 = 1

    /// Returns the bytes of the section.
    package func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.fixed(Self.version)
        writer.variable(UInt64(notes.count))
        for note in notes { writer.write(note) }
        return writer.bytes
    }

    /// Reads the section of a checkpoint at `sequence`.
    package init(decoding bytes: [UInt8], at sequence: LogSequence) throws(FormatError) {
        self.init()
        var reader = ByteReader(unsealed: bytes)
        let version = try reader.fixed(UInt8.self)
        guard version == Self.version else { throw .newer("partly read events format \(version)") }
        for _ in 0..<(try reader.variable()) {
            let note = try reader.partlyReadNote()
            guard note.first <= sequence else {
                throw .damaged("a note of its events is of a later entry")
            }
            append(note)
        }
        guard reader.isAtEnd, !isEmpty else {
            throw .damaged("it has no list of partly read events")
        }
    }
}
