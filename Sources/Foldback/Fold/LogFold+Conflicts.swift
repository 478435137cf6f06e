/// Notes of the conflicts of values that share them with rows, so that a past view of such a value
/// needs no fold from the first entry (F11).
extension LogFold {
    /// Begins to note the conflicts, or continues the notes that the log has. Updates the views.
    ///
    /// Does nothing if no value shares its conflicts with rows. Also if there are events that this
    /// code does not read, or reads in part: code that reads more may decide otherwise, and such notes
    /// would not say so.
    ///
    /// - Throws: the errors of ``LogStorage/notedConflicts(after:by:)``.
    mutating func beginConflictNotes(
        in storage: any LogStorage, codec: any PayloadCodec
    ) throws(LogError) {
        guard let deciders = conflictDeciders(codec), readsAll else { return }
        rebaseViews()
        guard failure == nil, let decided = decidedConflicts else { return }
        // The words of an error may be in another language now.
        if let (start, noted) = try storage.notedConflicts(after: state.sequence, by: deciders),
            noted.conflicts.isSame(as: decided)
        {
            conflictNotes = ConflictNotes(continuing: noted, from: start, by: deciders)
        } else {
            conflictNotes = ConflictNotes(at: state.sequence, decided, by: deciders)
        }
    }

    /// Who decides on the conflicts to note; nil if there are none to note.
    func conflictDeciders(_ codec: any PayloadCodec) -> ConflictDeciders? {
        groups.first(where: \.needsNotes).map {
            ConflictDeciders(identities: $0.identities, format: codec.format ?? .none)
        }
    }

    /// The conflicts to note; nil if they are not decided yet.
    var decidedConflicts: NumberMap<IntentNumber, Conflict>? {
        groups.first(where: \.needsNotes)?.decided
    }

    /// Whether this code reads all events that the states and views have.
    ///
    /// - Complexity: O(n) in the overlay.
    var readsAll: Bool {
        unread.isEmpty && partlyRead.isEmpty
            && state.overlay.from(0).allSatisfy { $0.value.payload.isReadWhole }
    }

    /// Whether this code reads all events that the states and views have, if it did before a change.
    ///
    /// A change of an intent of the overlay leaves the views undecided, and ``readsAll`` answers when
    /// they are decided.
    private func readsAll(after change: ViewChange) -> Bool {
        guard unread.isEmpty, partlyRead.isEmpty else { return false }
        guard case .apply(let intent) = change else { return true }
        return intent.payload.isReadWhole
    }

    /// Notes the conflicts after the entry that was appended last.
    ///
    /// - Parameter change: what the entry changed in the views.
    mutating func noteConflicts(after change: ViewChange = .unchanged) {
        guard conflictNotes != nil else { return }
        guard readsAll(after: change) else { return conflictNotes = nil }
        let decided = decidedConflicts
        conflictNotes?.take(decided, after: state.sequence)
    }

    /// Decides on what the last entries have changed, before another intent is tried.
    mutating func decideForNotes() {
        guard conflictNotes?.isUndecided == true else { return }
        rebaseViews()
        guard readsAll else { return conflictNotes = nil }
        noteConflicts()
    }

    /// Returns the notes of the entries since the last call, and where all notes begin; nil if there
    /// are no notes. The views are up to date.
    mutating func takeConflictNotes() -> (
        start: LogSequence, notes: [(sequence: LogSequence, note: ConflictNote)]
    )? {
        if conflictNotes?.isUndecided == true, !readsAll { conflictNotes = nil }
        noteConflicts()
        guard let start = conflictNotes?.start else { return nil }
        return (start, conflictNotes?.takeUnwritten() ?? [])
    }

    /// Returns the fold of a value alone at a past entry, from its notes; nil if they do not say what
    /// was conflicted there.
    ///
    /// - Parameters:
    ///   - all: the value, and the projections that share their conflicts with it there.
    ///   - last: the entry.
    package static func pastByNotes(
        _ storage: any LogStorage, _ all: ProjectionSet, codec: any PayloadCodec,
        _ shared: SharedConflicts, upTo last: LogSequence
    ) throws(LogError) -> LogFold? {
        guard let value = all.members.first, !value.isStored,
            all.members.contains(where: \.isStored)
        else { return nil }
        var fold = LogFold(of: storage, all, sharing: shared)
        fold.share(asAt: last)
        guard let deciders = fold.conflictDeciders(codec),
            let place = deciders.identities.firstIndex(of: value.identity),
            let (_, noted) = try storage.notedConflicts(after: last, by: deciders)
        else { return nil }
        fold = try folded(
            storage, ProjectionSet(members: [value]), codec: codec, upTo: last, sharing: shared
        ).fold
        fold.groups = [
            FoldGroup(of: 0, as: place, of: deciders.identities, knowing: noted.conflicts)
        ]
        fold.rebaseViews()
        return fold.groups[0].agreesWithKnown && fold.readsAll ? fold : nil
    }
}
