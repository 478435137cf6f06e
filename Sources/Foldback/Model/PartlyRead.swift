/// What a codec left unread of an event that it decoded (E11).
package struct UnreadPart: Hashable, Sendable {
    /// Whether a newer version of the codec wrote the event.
    package let isNewer: Bool
    /// The places of the members that nobody asked for, as JSON pointers. The elements of arrays
    /// and the values of dictionaries are at `*`.
    package let members: Set<ExactString>

    package init(isNewer: Bool, members: Set<ExactString>) {
        self.isNewer = isNewer
        self.members = members
    }

    /// Whether it says nothing.
    var isEmpty: Bool { !isNewer && members.isEmpty }

    /// Returns whether code that leaves `other` of the same event reads something of this part.
    func isReadMore(leaving other: UnreadPart?) -> Bool {
        guard let other else { return true }
        return isNewer && !other.isNewer || !members.isSubset(of: other.members)
    }
}

/// The confirmed events that were read only in part, as notes: one for each format and part that no
/// earlier note covers (E11).
///
/// The states have what was read. So a checkpoint, and stored rows, keep these notes, and only code
/// that reads no more of the samples uses them (E6). Opening decodes the samples, not the events.
package struct PartlyReadEvents: Sendable, Equatable {
    package struct Note: Sendable {
        package let format: EventFormat
        package let part: UnreadPart
        /// The first of these events, as the log has it.
        package let sample: [UInt8]
        /// The entry that confirmed the first.
        package let first: LogSequence
        /// The number of these events.
        package fileprivate(set) var count: Int

        package init(
            format: EventFormat, part: UnreadPart, sample: [UInt8], first: LogSequence, count: Int
        ) {
            self.format = format
            self.part = part
            self.sample = sample
            self.first = first
            self.count = count
        }
    }

    /// In order of their first events.
    package private(set) var notes: [Note] = []
    /// The place of each format's last note. All notes of a format are newer, or none is.
    private var lastPlaces: [EventFormat: Int] = [:]
    /// The members that the notes of each format have.
    private var members: [EventFormat: Set<ExactString>] = [:]

    package init() {}

    package var isEmpty: Bool { notes.isEmpty }
    /// The number of events.
    package var count: Int { notes.reduce(0) { $0 + $1.count } }
    /// The entry that confirmed the first of them; nil if there is none.
    package var first: LogSequence? { notes.lazy.map(\.first).min() }

    /// Adds an event of an entry. Does nothing if it was read whole.
    package mutating func append(_ payload: Payload, at sequence: LogSequence) {
        guard let part = payload.unreadPart else { return }
        append(
            Note(
                format: payload.format, part: part, sample: payload.bytes, first: sequence,
                count: 1))
    }

    /// Adds the events of a note.
    package mutating func append(_ note: Note) {
        if let place = place(of: note) {
            notes[place].count += note.count
        } else {
            lastPlaces[note.format] = notes.count
            members[note.format, default: []].formUnion(note.part.members)
            notes.append(note)
        }
    }

    /// Returns the place of the format's last note if its notes have all of this part. Their samples
    /// then show everything that code may read more of. So there are no more notes than members.
    private func place(of note: Note) -> Int? {
        guard let place = lastPlaces[note.format],
            note.part.members.isSubset(of: members[note.format] ?? []),
            notes[place].part.isNewer || !note.part.isNewer
        else { return nil }
        return place
    }

    /// Returns the notes as this code makes them of the same events.
    ///
    /// - Returns: the notes, and the first present note whose sample this code reads further; nil if
    ///   there is none.
    package func read(by codec: any PayloadCodec) -> (notes: PartlyReadEvents, more: Note?) {
        var notes = PartlyReadEvents()
        var more: Note?
        for note in self.notes {
            let payload = codec.fresh.payload(reading: note.sample, format: note.format)
            // Code that cannot read the sample at all reads no more of it.
            let part = payload.isUnreadable ? note.part : payload.unreadPart
            let wanted = UnreadPart(
                isNewer: note.part.isNewer,
                members: note.part.members.subtracting(codec.ignoredMembers))
            if more == nil, !wanted.isEmpty, wanted.isReadMore(leaving: part) { more = note }
            guard let part else { continue }
            notes.append(
                Note(
                    format: note.format, part: part, sample: note.sample, first: note.first,
                    count: note.count))
        }
        return (notes, more)
    }

    /// Whether both lack the same of the same formats, and as many events have it.
    package static func == (a: PartlyReadEvents, b: PartlyReadEvents) -> Bool {
        a.count == b.count && a.first == b.first && a.members == b.members
    }
}
