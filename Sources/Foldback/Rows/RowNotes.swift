/// What a stored projection's rows say of members: the events that they have only in part (E11), and
/// samples of the rows (E12).
///
/// They are rows themselves, written in the transaction of the rows that they are about.
package struct RowNotes: Sendable {
    private var partlyRead = PartlyReadEvents()
    /// For each place in the schema, the samples of the table's rows; nil if their bytes name no
    /// members.
    private var samples: [MemberSamples?]
    /// The notes since the last commit.
    package private(set) var unwritten: [RowNote] = []
    /// The number of notes in the log.
    package private(set) var writtenCount: Int

    /// - Parameter notes: the notes that the log has.
    package init(_ schema: RowSchema, _ notes: [RowNote] = []) {
        var rows: [Int: [[UInt8]]] = [:]
        for note in notes {
            switch note {
            case .event(let event): partlyRead.append(event)
            case .row(let bytes, let place): rows[place, default: []].append(bytes)
            }
        }
        samples = schema.memberNames.enumerated().map { place, names in
            names.map { MemberSamples($0, samples: rows[place] ?? []) }
        }
        writtenCount = notes.count
    }

    /// Notes an event of an entry if it was read only in part, and no such event was noted.
    mutating func add(_ event: Payload, at sequence: LogSequence) {
        guard event.unreadPart != nil else { return }
        let count = partlyRead.notes.count
        partlyRead.append(event, at: sequence)
        unwritten += partlyRead.notes[count...].map { .event($0) }  // mutant: row-note
    }

    /// Notes a row that is written if it has a new member.
    mutating func add(_ row: RowValue, at key: KeyBytes) {
        let place =
            Int(key.bytes[StoredRow.prefixBytes]) << 8
            | Int(key.bytes[StoredRow.prefixBytes + 1])
        guard let bytes = row.bytes, samples[place]?.add(bytes) == true else { return }
        unwritten.append(.row(bytes, place: place))
    }

    /// Forgets which notes are new, because they are committed.
    mutating func committed() {
        writtenCount += unwritten.count
        unwritten = []
    }

    /// The places of tables whose rows name members, and that have no sample.
    package var placesWithoutSamples: [Int] {
        samples.indices.filter { samples[$0]?.samples.isEmpty == true }
    }

    /// Returns whether this code reads exactly what the rows have: it reads no more of their events,
    /// and all members of the rows.
    package func fit(_ codec: any PayloadCodec) -> Bool {
        guard partlyRead.read(by: codec).more == nil else { return false }  // mutant: row-event
        return samples.allSatisfy { samples in
            // Rows that cannot be decoded were written by other code.
            guard let left = try? samples?.membersLeft() ?? [] else { return false }
            return left.isEmpty  // mutant: row-members
        }
    }
}
