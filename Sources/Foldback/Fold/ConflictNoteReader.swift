/// The notes of the conflicts after each entry, read beside the entries.
///
/// The log may be in use. Notes that come after the reader was made are not read.
struct ConflictNoteReader {
    private var noted = NotedConflicts()
    private var left: ArraySlice<(LogSequence, [UInt8])> = []
    /// The entry up to which the log had all notes.
    private var covered: LogSequence = 0
    /// Whether all notes since the last one with all conflicts could be read.
    private var isReadable = true

    /// Creates a reader of no notes.
    init() {}

    /// Reads the notes. Damage of their pages and of the values that say where they begin is found by
    /// other checks, so there are no notes then.
    ///
    /// - Throws: `.closed`, `.storage`.
    /// - Complexity: O(n) in notes, in time and memory.
    init(_ storage: any LogStorage) throws(LogError) {
        do throws(LogError) {
            // Before the notes, which then are complete up to its entry.
            let header = try storage.storedRows().filter { $0.conflictsFrom != nil }
                .max { $0.sequence < $1.sequence }
            guard let header, let start = header.conflictsFrom else { return }
            left = try storage.conflictNotes(from: start, through: header.sequence)[...]
            covered = header.sequence
        } catch {
            switch error {
            case .damaged, .newerFormat: return
            default: throw error
            }
        }
    }

    /// Takes the notes up to an entry.
    ///
    /// - Returns: whether there was one, and the reason if one cannot be read.
    mutating func advance(to sequence: LogSequence) -> (isChanged: Bool, flaw: FormatError?) {
        var isChanged = false
        while let (place, bytes) = left.first, place <= sequence {
            left.removeFirst()
            isChanged = true
            do throws(FormatError) {
                let note = try ConflictNote(decoding: bytes, at: place)
                if note.deciders != nil { isReadable = true }
                noted.take(note)
            } catch {
                isReadable = false
                // Newer code made it.
                if case .newer = error { continue }
                return (true, error)
            }
        }
        return (isChanged, nil)
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
