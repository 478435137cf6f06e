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
    private let deciders: ConflictDeciders
    /// The notes since the last one with all conflicts.
    private var countSinceAll: Int
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
        self.deciders = deciders
        noted = conflicts
        countSinceAll = 0
        unwritten = [(sequence, ConflictNote(all: conflicts, by: deciders))]
    }

    /// Continues the notes that the log has since an entry.
    init(
        continuing noted: NotedConflicts, from start: LogSequence, by deciders: ConflictDeciders
    ) {
        self.start = start
        self.deciders = deciders
        self.noted = noted.conflicts
        countSinceAll = noted.countSinceAll
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
        countSinceAll += 1
        // A reader goes back to a note with all conflicts. Such notes take at most as many bytes as
        // the others.
        if countSinceAll > max(Self.countSinceAllMax, conflicts.count) {
            countSinceAll = 0
            unwritten.append((sequence, ConflictNote(all: conflicts, by: deciders)))
        } else {
            unwritten.append((sequence, ConflictNote(changes: changes)))
        }
    }

    private static let countSinceAllMax = 16

    /// Returns the notes to write, and forgets them.
    mutating func takeUnwritten() -> [(sequence: LogSequence, note: ConflictNote)] {
        defer { unwritten = [] }
        return unwritten
    }
}

extension Conflict {
    fileprivate func isSame(as other: Conflict) -> Bool {
        isDecidedSame(as: other) && error.words == other.error.words
    }

    /// Whether the same projection refuses the intent for the same cause, in whatever words.
    fileprivate func isDecidedSame(as other: Conflict) -> Bool {
        refuser == other.refuser && isByUndone == other.isByUndone
    }
}

extension NumberMap<IntentNumber, Conflict> {
    /// Whether the same intents are conflicted, by the same projections.
    func isSame(as other: Self) -> Bool {
        keys == other.keys && zip(values, other.values).allSatisfy { $0.isDecidedSame(as: $1) }
    }
}
