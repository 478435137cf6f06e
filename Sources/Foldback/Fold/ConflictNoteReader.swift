/// The notes of the conflicts after each entry, read beside the entries.
///
/// The log may be in use. So it reads up to where the notes were complete at some time, and again when
/// the entries have come further.
struct ConflictNoteReader {
    private var noted = NotedConflicts()
    private var piece: ArraySlice<(LogSequence, [UInt8])> = []
    /// The first sequence that was not read; nil before the first read.
    private var next: LogSequence?
    /// The entry up to which `piece` and what came before it have all notes.
    private var covered: LogSequence = 0
    /// Whether no notes of later entries can be expected.
    private var isOver = false
    /// Whether all notes since the last one with all conflicts could be read.
    private var isReadable = true

    /// Takes the notes up to an entry.
    ///
    /// - Returns: whether there was one, and the reason if one cannot be read.
    /// - Complexity: one read for each piece, and one when the entries have come further than the notes
    ///   did at the last read.
    mutating func advance(
        _ storage: any LogStorage, to sequence: LogSequence
    ) throws(LogError) -> (isChanged: Bool, flaw: FormatError?) {
        var isChanged = false
        while true {
            guard let (place, bytes) = piece.first else {
                guard covered < sequence, !isOver else { return (isChanged, nil) }
                try read(storage)
                continue
            }
            guard place <= sequence else { return (isChanged, nil) }
            piece.removeFirst()
            isChanged = true
            do throws(FormatError) {
                let note = try ConflictNote(decoding: bytes, at: place)
                if note.deciders != nil { isReadable = true }
                noted.take(note, at: place)
            } catch {
                isReadable = false
                // Newer code made it.
                if case .newer = error { continue }
                return (true, error)
            }
        }
    }

    /// Reads the next piece.
    private mutating func read(_ storage: any LogStorage) throws(LogError) {
        isOver = true
        // Before the notes, which then are complete up to these entries.
        let headers: [StoredRowsHeader]
        do throws(LogError) { headers = try storage.storedRows() } catch {
            switch error {
            case .damaged, .newerFormat: return  // The check of rows says it.
            default: throw error
            }
        }
        let header = headers.filter { $0.conflictsFrom != nil }
            .max { $0.sequence < $1.sequence }
        guard let header, let start = header.conflictsFrom else { return }
        let from = max(next ?? start, start)
        piece = try storage.piece(
            of: .conflicts, from: from, countMax: Limits.readCountMax)[...]
        next = piece.last?.0.next ?? from
        let reached = piece.last?.0 ?? header.sequence
        isOver = piece.isEmpty && reached <= covered
        covered = max(covered, reached)
    }

    /// Returns the conflicts after an entry to which it has come, as `deciders` decide; nil if they are
    /// not known.
    func conflicts(
        after sequence: LogSequence, by deciders: ConflictDeciders
    ) -> NumberMap<IntentNumber, Conflict>? {
        guard isReadable, sequence <= covered, noted.isDecided, noted.deciders == deciders else {
            return nil
        }
        return noted.conflicts
    }
}
