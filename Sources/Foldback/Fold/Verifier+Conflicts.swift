extension Verifier {
    /// Compares the noted conflicts with those of the fold, if a note is new or `isAlways`.
    ///
    /// - Complexity: updates the views.
    mutating func compareConflicts(
        _ fold: inout LogFold, _ notes: inout ConflictNoteReader, isAlways: Bool
    ) {
        let sequence = fold.state.sequence
        let (isChanged, flaw) = notes.advance(to: sequence)
        if let flaw { find(.file, "the conflicts after entry \(sequence): \(flaw)") }
        guard isChanged || isAlways, isSharingKnown, let deciders = fold.conflictDeciders(codec),
            let noted = notes.conflicts(after: sequence, by: deciders)
        else { return }
        fold.rebaseViews()
        // Code that reads more events may have made the notes.
        guard fold.readsAll, let decided = fold.decidedConflicts else { return }
        guard !noted.isSame(as: decided) else { return }  // mutant: conflicts-verified
        find(
            .file,
            "the conflicts after entry \(sequence) differ from the fold of the entries; if apply was "
                + "changed, give the projection another version")
    }
}
