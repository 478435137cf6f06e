extension ByteWriter {
    mutating func write(_ note: PartlyReadEvents.Note) {
        fixed(note.format.codec)
        fixed(note.format.version)
        fixed(UInt8(note.part.isNewer ? 1 : 0))
        variable(UInt64(note.part.members.count))
        for member in note.part.members.sorted() { sized(member.string) }
        variable(note.first)
        variable(UInt64(note.count))
        sized(note.sample)
    }
}

extension ByteReader {
    mutating func partlyReadNote() throws(FormatError) -> PartlyReadEvents.Note {
        let format = EventFormat(codec: try fixed(), version: try fixed())
        let isNewer = try fixed(UInt8.self) != 0
        var members: Set<ExactString> = []
        for _ in 0..<(try variable()) { members.insert(ExactString(try sizedString())) }
        let first: LogSequence = try number()
        guard let count = Int(exactly: try variable()), count > 0,
            isNewer || !members.isEmpty
        else { throw .damaged("a note of partly read events says nothing") }
        return PartlyReadEvents.Note(
            format: format, part: UnreadPart(isNewer: isNewer, members: members),
            sample: try sized(), first: first, count: count)
    }
}
