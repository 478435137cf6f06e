/// Notes after which entries which intents are conflicted, while a store appends entries.
///
/// ```
///  entries     7        8        9  10  11        12
///  decided     yes      yes      ────no────┐      yes
///  notes       start    changes  undecided └▶ changes
/// ```
///
/// The views are decided once for all entries of a transaction. If an entry made that necessary, the
/// conflicts between it and the next decision are not known, and a note says so.
package struct ConflictNotes: Sendable {
    /// The first entry after which the conflicts are known.
    package let start: LogSequence
    private var noted: NumberMap<IntentNumber, Conflict>
    /// The first entry since the last decision after which the conflicts are not known; nil if they
    /// are known.
    private var undecidedFrom: LogSequence?
    /// Ascending.
    private var unwritten: [(sequence: LogSequence, note: ConflictNote)] = []

    /// Begins with all conflicts after an entry.
    init(
        at sequence: LogSequence, _ conflicts: NumberMap<IntentNumber, Conflict>,
        by deciders: ConflictDeciders
    ) {
        start = sequence
        noted = conflicts
        let changes = conflicts.map { (number: $0.key, conflict: Optional($0.value)) }
        unwritten = [(sequence, ConflictNote(deciders: deciders, changes: changes))]
    }

    /// Continues the notes that the log has.
    init(continuing noted: NotedConflicts) {
        start = noted.start
        self.noted = noted.conflicts
    }

    var isUndecided: Bool { undecidedFrom != nil }

    /// Takes the conflicts after an entry.
    ///
    /// - Parameter conflicts: nil if they are not decided yet.
    mutating func take(
        _ conflicts: NumberMap<IntentNumber, Conflict>?, after sequence: LogSequence
    ) {
        guard let conflicts else {
            undecidedFrom = undecidedFrom ?? sequence  // mutant: conflict-undecided
            return
        }
        var changes: [(number: IntentNumber, conflict: Conflict?)] = []
        conflicts.forEachChange(since: noted, areSame: { $0.isSame(as: $1) }) { number, _, new in
            changes.append((number, new))
        }
        noted = conflicts
        let wasUndecided = undecidedFrom.flatMap { $0 < sequence ? $0 : nil }
        undecidedFrom = nil
        if let wasUndecided { unwritten.append((wasUndecided, ConflictNote(isDecided: false))) }
        guard !changes.isEmpty || wasUndecided != nil else { return }
        unwritten.append((sequence, ConflictNote(changes: changes)))
    }

    /// Returns the notes to write, and forgets them.
    mutating func takeUnwritten() -> [(sequence: LogSequence, note: ConflictNote)] {
        defer { unwritten = [] }
        return unwritten
    }
}

extension Conflict {
    fileprivate func isSame(as other: Conflict) -> Bool {
        refuser == other.refuser && isByUndone == other.isByUndone
            && error.words == other.error.words
    }
}
