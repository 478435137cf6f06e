/// The notes of the conflicts after each entry, read beside the entries.
struct ConflictNoteReader {
    /// The first entry after which the log has the conflicts; nil if it has none.
    private let start: LogSequence?
    private var next: LogSequence
    private var piece: ArraySlice<(LogSequence, [UInt8])> = []
    private(set) var noted = NotedConflicts()
    /// Whether all notes so far could be read.
    private var isReadable = true

    init(start: LogSequence?) {
        self.start = start
        next = start ?? 0
    }

    /// Takes the notes up to an entry.
    ///
    /// - Returns: whether there was one, and the reason if the last cannot be read.
    mutating func advance(
        _ storage: any LogStorage, to sequence: LogSequence
    ) throws(LogError) -> (isChanged: Bool, flaw: FormatError?) {
        guard let start, start <= sequence else { return (false, nil) }
        var isChanged = false
        while true {
            if piece.isEmpty, next <= sequence {
                piece = try storage.piece(
                    of: .conflicts, from: next, countMax: Limits.readCountMax)[...]
                next = piece.last?.0.next ?? sequence.next
            }
            guard let (noted, bytes) = piece.first, noted <= sequence else {
                return (isChanged, nil)
            }
            piece.removeFirst()
            isChanged = true
            do throws(FormatError) {
                self.noted.take(try ConflictNote(decoding: bytes, at: noted), at: noted)
            } catch {
                isReadable = false
                return (true, error)
            }
        }
    }

    /// Returns the conflicts that are known now as `deciders` decide; nil if none are.
    func conflicts(by deciders: ConflictDeciders) -> NumberMap<IntentNumber, Conflict>? {
        isReadable && noted.isDecided && noted.deciders == deciders ? noted.conflicts : nil
    }
}

extension Verifier {
    /// Returns a reader of the notes that the log has.
    mutating func conflictNotes() throws(LogError) -> ConflictNoteReader {
        var start: LogSequence?
        try noting { verifier throws(LogError) in
            start = try verifier.storage.storedRows().compactMap(\.conflictsFrom).max()
        }
        return ConflictNoteReader(start: start)
    }

    /// Compares the noted conflicts with those of the fold, if a note is new or `isAlways`.
    ///
    /// - Complexity: updates the views.
    mutating func compareConflicts(
        _ fold: inout LogFold, _ notes: inout ConflictNoteReader, isAlways: Bool
    ) throws(LogError) {
        let sequence = fold.state.sequence
        let (isChanged, flaw) = try notes.advance(storage, to: sequence)
        if let flaw { find(.file, "the conflicts after entry \(sequence): \(flaw)") }
        guard isChanged || isAlways, isSharingKnown, let deciders = fold.conflictDeciders(codec),
            let noted = notes.conflicts(by: deciders)
        else { return }
        fold.rebaseViews()
        // Code that reads more events may have made the notes.
        guard fold.readsAll, let decided = fold.decidedConflicts else { return }
        let isSame =
            noted.keys == decided.keys
            && zip(noted.values, decided.values).allSatisfy { $0.refuser == $1.refuser }
        guard !isSame else { return }  // mutant: conflicts-verified
        find(
            .file,
            "the conflicts after entry \(sequence) differ from the fold of the entries; if apply was "
                + "changed, give the projection another version")
    }
}
