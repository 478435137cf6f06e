// Table `conflicts`: the key is a sequence, the value says which intents are conflicted from this
// entry on.

/// The projections that decide together which intents are conflicted, and the codec that reads the
/// events for them. Others may decide otherwise on the same entries.
package struct ConflictDeciders: Hashable, Sendable {
    /// The stored projections, then the values; ``Conflict/refuser`` is a place among them.
    package let identities: [ProjectionIdentity]
    package let format: EventFormat

    package init(identities: [ProjectionIdentity], format: EventFormat) {
        self.identities = identities
        self.format = format
    }
}

/// A note of the conflicts that began or ended with an entry.
///
/// A value that shares its conflicts with rows depends on them at every entry, and the log has the
/// rows of its last entry alone. So the store notes the conflicts when it decides on them. The notes
/// are derived from the entries, and `verify` compares them.
package struct ConflictNote: Sendable {
    /// Who decides from here on, if the note has all conflicts; nil if it has the changes.
    package let deciders: ConflictDeciders?
    /// Whether the conflicts after this entry are known. They are not between entries of one
    /// transaction that are decided together.
    package let isDecided: Bool
    /// The conflicts that changed; nil for an intent that is not conflicted any more.
    package let changes: [(number: IntentNumber, conflict: Conflict?)]

    package init(
        deciders: ConflictDeciders? = nil, isDecided: Bool = true,
        changes: [(number: IntentNumber, conflict: Conflict?)] = []
    ) {
        self.deciders = deciders
        self.isDecided = isDecided
        self.changes = changes
    }
}

extension ConflictNote {
    /// The note of all conflicts after an entry.
    init(all conflicts: NumberMap<IntentNumber, Conflict>, by deciders: ConflictDeciders) {
        self.init(
            deciders: deciders,
            changes: conflicts.map { (number: $0.key, conflict: Optional($0.value)) })
    }
}

/// The reason of a conflict, as a note has it.
struct NotedReason: Error, CustomStringConvertible {
    let description: String
}

extension ConflictNote {
    private static let version: UInt8 = 1
    private static let hasDeciders: UInt8 = 1
    private static let isUndecided: UInt8 = 2
    private static let isConflicted: UInt8 = 1
    private static let isByUndone: UInt8 = 2

    package func encoded(at sequence: LogSequence) -> [UInt8] {
        var writer = ByteWriter()
        writer.fixed(Self.version)
        writer.fixed((deciders == nil ? 0 : Self.hasDeciders) | (isDecided ? 0 : Self.isUndecided))
        if let deciders {
            writer.fixed(deciders.format.codec)
            writer.fixed(deciders.format.version)
            writer.variable(UInt64(deciders.identities.count))
            for identity in deciders.identities {
                writer.fixed(identity.version)
                writer.sized(identity.name.string)
            }
        }
        writer.variable(UInt64(changes.count))
        for (number, conflict) in changes {
            writer.variable(number)
            guard let conflict else {
                writer.fixed(UInt8(0))
                continue
            }
            writer.fixed(Self.isConflicted | (conflict.isByUndone ? Self.isByUndone : 0))
            writer.variable(UInt64(conflict.refuser))
            writer.sized(conflict.error.words)
        }
        _ = writer.seal(seed: sequence.value)
        return writer.bytes
    }

    package init(decoding bytes: [UInt8], at sequence: LogSequence) throws(FormatError) {
        var reader = try ByteReader(sealed: bytes, seed: sequence.value)
        let version = try reader.fixed(UInt8.self)
        guard version == Self.version else { throw .newer("conflicts of format \(version)") }
        let flags = try reader.fixed(UInt8.self)
        var deciders: ConflictDeciders?
        if flags & Self.hasDeciders != 0 {
            let format = EventFormat(codec: try reader.fixed(), version: try reader.fixed())
            var identities: [ProjectionIdentity] = []
            for _ in 0..<(try reader.variable()) {
                let version = try reader.fixed(UInt32.self)
                identities.append(
                    ProjectionIdentity(
                        name: ExactString(try reader.sizedString()), version: version))
            }
            deciders = ConflictDeciders(identities: identities, format: format)
        }
        var changes: [(number: IntentNumber, conflict: Conflict?)] = []
        for _ in 0..<(try reader.variable()) {
            let number: IntentNumber = try reader.number()
            changes.append((number, try Self.conflict(&reader)))
        }
        guard reader.isAtEnd else { throw .damaged("it has bytes after its last field") }
        self.init(
            deciders: deciders, isDecided: flags & Self.isUndecided == 0, changes: changes)
    }

    private static func conflict(_ reader: inout ByteReader) throws(FormatError) -> Conflict? {
        let kind = try reader.fixed(UInt8.self)
        guard kind != 0 else { return nil }
        guard let refuser = Int(exactly: try reader.variable()) else {
            throw .damaged("it has no usable projection")
        }
        return Conflict(
            refuser: refuser, error: NotedReason(description: try reader.sizedString()),
            isByUndone: kind & isByUndone != 0)
    }
}

/// The conflicts after an entry, from the notes up to it.
package struct NotedConflicts: Sendable {
    package private(set) var deciders: ConflictDeciders?
    /// The notes with decisions since the last one that had all conflicts.
    package private(set) var countSinceAll = 0
    package private(set) var isDecided = false
    package private(set) var conflicts = NumberMap<IntentNumber, Conflict>()

    package init() {}

    /// Takes the next note. Notes before the first with deciders say nothing.
    package mutating func take(_ note: ConflictNote) {
        if let deciders = note.deciders {
            self.deciders = deciders
            conflicts = NumberMap()
            countSinceAll = 0
        } else if note.isDecided {
            countSinceAll += 1
        }
        isDecided = note.isDecided
        for (number, conflict) in note.changes { conflicts[number] = conflict }
    }
}

// MARK: Read

extension LogStorage {
    /// Returns the conflicts after an entry as these projections decide, and the entry from which on
    /// the log has notes; nil if the log does not have them. The log is complete without notes, so
    /// damaged notes are not an error.
    ///
    /// - Throws: `.closed`, `.storage`.
    /// - Complexity: O(n) in the notes between the last one with all conflicts and the entry: 16, or as
    ///   many as there are conflicts.
    func notedConflicts(
        after sequence: LogSequence, by deciders: ConflictDeciders
    ) throws(LogError) -> (start: LogSequence, noted: NotedConflicts)? {
        // Code that knows no notes writes the header without the start, so a start says that each
        // entry since then has its notes.
        let headers: [StoredRowsHeader]
        do throws(LogError) { headers = try storedRows() } catch {
            switch error {
            case .damaged, .newerFormat: return nil
            default: throw error
            }
        }
        guard
            let header = headers.last(where: {
                deciders.identities.contains($0.identity) && $0.conflictsFrom != nil
            }), let start = header.conflictsFrom, start <= sequence, sequence <= header.sequence
        else { return nil }
        let notes: [ConflictNote]
        do throws(LogError) {
            guard let read = try conflictNotes(backFrom: sequence, to: start) else { return nil }
            notes = read
        } catch {
            if case .damaged = error { return nil }
            throw error
        }
        var noted = NotedConflicts()
        for note in notes.reversed() { noted.take(note) }
        guard noted.deciders == deciders, noted.isDecided else { return nil }
        return (start, noted)
    }

    /// Returns the bytes of the notes of some entries, in order.
    func conflictNotes(
        from start: LogSequence, through last: LogSequence
    ) throws(LogError) -> [(LogSequence, [UInt8])] {
        try reading(.conflicts) { table throws(LogError) in
            var notes: [(LogSequence, [UInt8])] = []
            try table.scan(.forwards(from: LogKey(start))) { key, value in
                let sequence = LogSequence(key.number)
                guard sequence <= last else { return false }
                notes.append((sequence, value.array))
                return true
            }
            return notes
        }
    }

    /// Returns the notes up to an entry, the last one first, back to one with all conflicts; nil if
    /// one cannot be read.
    private func conflictNotes(
        backFrom last: LogSequence, to start: LogSequence
    ) throws(LogError) -> [ConflictNote]? {
        try reading(.conflicts) { table throws(LogError) in
            var notes: [ConflictNote]? = []
            try table.scan(.backwards(before: LogKey(last.next))) { key, value in
                let sequence = LogSequence(key.number)
                guard sequence >= start else { return false }
                guard let note = try? ConflictNote(decoding: value.array, at: sequence) else {
                    notes = nil
                    return false
                }
                notes?.append(note)
                return note.deciders == nil
            }
            return notes
        }
    }
}

// MARK: Write

extension WriteBatch {
    mutating func writeConflictNote(_ note: ConflictNote, at sequence: LogSequence) {
        conflicts.append(TableWrite(.conflicts, LogKey(sequence), note.encoded(at: sequence)))
    }
}
