/// Projections that share their conflicts: an intent of the overlay is in the view of all of them,
/// or of none (F9). A projection that shares with no other is a group by itself.
///
/// The group decides on the overlay's intents in number order. An intent is conflicted if it does
/// not apply to the rows of a stored projection of the group, or else to the view of a value:
///
/// ```
///  intent ─▶ rows: assess each (nothing changes yet) ─▶ values: apply to each view ─▶ accepted
///                    │ one throws                         │ one throws: undo the others
///                    └───────────────▶ conflicted ◀───────┘
///         ─▶ rows: show the writes if accepted, withhold them if conflicted
/// ```
///
/// ## What is decided again
///
/// - Values: every intent from the first that changed. Their views go back to a savepoint before
///   it, and one pass goes to the end of the overlay.
/// - Rows: the dirty intents (``RowOverlay``).
/// - An intent that is dirty while the values are up to date is checked in the rows alone. Only if
///   another row projection refuses it than before, or none any more, the pass of the values begins
///   there.
///
/// A decision changes only what intents with higher numbers see. So the lowest number comes first,
/// and each intent is decided at most once after the savepoint at which the pass begins.
///
/// ## Cost
///
/// Without conflicts, a group costs what its projections cost one by one. An intent that a value
/// refuses costs an undo in each value that applied it first: the next event copies the storage
/// that it changes. The value that refused the conflicted intent before is asked first, so a run of
/// intents that one projection refuses costs the others nothing.
///
/// If an entry confirms a conflicted intent, a group of several projections decides on the whole
/// overlay again: those that did not refuse the event have it in confirmed state now. Intents that
/// are conflicted and confirmed one by one therefore cost the square of their count. Entries of one
/// commit are decided together, so delivering many of them at once costs one pass.
///
/// ## Invariants
///
/// After ``rebase(_:_:over:undoers:)``, if no row failed:
/// - `conflicted` has exactly the optimistic intents of the overlay that a projection of the group
///   refuses on what its view has of the intents before. It is a function of the log alone (F1).
/// - The view of each value is confirmed state with the other intents applied in order. The rows
///   show the writes of exactly these intents.
package struct FoldGroup: Sendable {
    /// The places of the values in ``LogFold/folds``.
    private let values: [Int]
    /// The places of the stored projections in ``LogFold/rows``.
    private let rows: [Int]
    /// The stored projections, then the values.
    let identities: [ProjectionIdentity]
    private let names: [ExactString]
    /// The place of the first value among the names.
    private let firstValue: Int
    /// The conflicts of the overlay, if they are known; see ``init(of:as:of:knowing:)``.
    private let known: NumberMap<IntentNumber, Conflict>?
    private var conflicted = NumberMap<IntentNumber, Conflict>()
    /// The first intent that the values must decide again, with all after it; nil if they are up to
    /// date.
    ///
    /// It starts at 0, so that replaying a long history folds the view only once, at the end.
    private var decideFrom: IntentNumber? = 0
    /// Whether the intents of the overlay were ever decided.
    private var isBegun = false

    /// Forms a group. The first rebase decides on the whole overlay.
    ///
    /// - Parameters:
    ///   - values: places in `folds`.
    ///   - rows: places in `stored`.
    package init(
        values: [Int], rows: [Int], in folds: [any AnyFold], _ stored: [RowFold]
    ) {
        self.values = values
        self.rows = rows
        identities = rows.map { stored[$0].identity } + values.map { folds[$0].identity }
        names = identities.map(\.name)
        firstValue = rows.count
        known = nil
    }

    /// Forms the group of a value whose conflicts are known, without the projections that it shares
    /// them with.
    ///
    /// - Parameters:
    ///   - value: its place in the folds.
    ///   - place: its place among `identities`.
    init(
        of value: Int, as place: Int, of identities: [ProjectionIdentity],
        knowing known: NumberMap<IntentNumber, Conflict>
    ) {
        values = [value]
        rows = []
        self.identities = identities
        names = identities.map(\.name)
        firstValue = place
        self.known = known
    }

    /// Returns the conflicts as the value at a place of ``LogFold/folds`` shows them; nil if it is
    /// in another group.
    package func conflicts(seenByValue place: Int) -> Conflicts? {
        values.firstIndex(of: place).map {
            Conflicts(conflicted, among: names, seenBy: firstValue + $0)
        }
    }

    /// Returns the conflicts as the stored projection at a place of ``LogFold/rows`` shows them;
    /// nil if it is in another group.
    package func conflicts(seenByRows place: Int) -> Conflicts? {
        rows.firstIndex(of: place).map { Conflicts(conflicted, among: names, seenBy: $0) }
    }

    /// Whether an intent of the overlay is conflicted.
    package var hasConflicts: Bool { !conflicted.isEmpty }

    /// Whether values share their conflicts with stored projections. The rows that these had at an
    /// earlier entry are not known.
    var needsNotes: Bool { !values.isEmpty && !rows.isEmpty }

    /// The conflicts after the entry that was performed last; nil if they are not decided yet.
    ///
    /// A row that is dirty after an entry that leaves the views unchanged changes no decision.
    var decided: NumberMap<IntentNumber, Conflict>? { decideFrom == nil ? conflicted : nil }

    /// Whether the value refuses exactly what is known to be conflicted. The view must be up to date.
    var agreesWithKnown: Bool { known.map { $0.keys == conflicted.keys } ?? true }

    /// Whether an intent is conflicted here. The views must be up to date.
    package func isConflicted(_ number: IntentNumber) -> Bool { conflicted[number] != nil }

    /// Whether the projection that knows inverses is in the group.
    func has(_ undoable: LogFold.UndoablePlace) -> Bool {
        switch undoable {
        case .value(let place): values.contains(place)
        case .rows(let place): rows.contains(place)
        }
    }

    /// The name of the projection that refuses an intent.
    package func name(ofRefuser conflict: Conflict) -> ExactString { names[conflict.refuser] }

    // MARK: Following the log

    /// Takes an entry's change of the overlay. Confirmed states have it already.
    package mutating func perform(
        _ plan: FoldPlan, _ folds: inout [any AnyFold], _ stored: inout [RowFold],
        undoers: Undoers
    ) {
        var hasLostConflict = false
        for number in plan.removed {
            if conflicted[number] != nil {
                hasLostConflict = true
                conflicted[number] = nil
                for undo in undoers[number] ?? [] { changed(undo, &stored) }  // mutant: undo-folded
            }
            for place in rows { stored[place].remove(number) }
        }
        switch plan.view {
        case .unchanged:
            guard !plan.confirm.isEmpty, let border = plan.removed.last else { break }
            // The projections that did not refuse the intent have its effect in confirmed state
            // now, and their views lacked it.
            if hasLostConflict, names.count > 1 {  // mutant: shared-fast-forward
                decideAgain(from: 0)
            } else {
                for place in values { folds[place].fastForward(through: border) }
            }
        case .apply(let intent):
            if isCurrent(stored) {
                decide(intent, &folds, &stored, undoers)
            } else {
                changed(intent.recorded.number, &stored)
            }
        case .rollBack(let number): changed(number, &stored)  // mutant: roll-back
        case .replace(let number, let intent):
            changed(number, &stored)
            changed(intent.recorded.number, &stored)
        case .rebase: decideAgain(from: 0)  // mutant: rebase
        }
    }

    /// Notes that an intent has another event, left, or is new.
    private mutating func changed(_ number: IntentNumber, _ stored: inout [RowFold]) {
        decideAgain(from: number)
        // Before the first rebase, every intent will be applied.
        guard isBegun else { return }
        for place in rows { stored[place].markDirty(number) }
    }

    private mutating func decideAgain(from number: IntentNumber) {
        guard !values.isEmpty else { return }
        decideFrom = min(number, decideFrom ?? number)
    }

    private func isCurrent(_ stored: [RowFold]) -> Bool {
        decideFrom == nil && rows.allSatisfy { stored[$0].firstDirty == nil }
    }

    // MARK: Recording

    /// Decides on an intent that is not in the overlay yet (F9).
    ///
    /// - Returns: why it is conflicted; nil if it applies.
    package mutating func tryNewest(
        _ intent: UnsettledIntent, _ folds: inout [any AnyFold], _ stored: inout [RowFold],
        over overlay: Overlay, undoers: Undoers
    ) -> Conflict? {
        rebase(&folds, &stored, over: overlay, undoers: undoers)
        return decide(intent, &folds, &stored, undoers)
    }

    /// Takes back the last ``tryNewest(_:_:_:over:undoers:)``, because the intent is not recorded.
    package mutating func takeBack(
        _ number: IntentNumber, _ folds: inout [any AnyFold], _ stored: inout [RowFold]
    ) {
        if conflicted[number] == nil {
            for place in values { folds[place].undoLast() }
        }
        conflicted[number] = nil
        for place in rows { stored[place].remove(number) }
    }

    // MARK: Deciding

    /// Brings the views up to date: rolls them back to a savepoint before the first intent that
    /// left or changed, and decides on the rest of the overlay again (F10). Several entries of one
    /// commit are rolled back together.
    ///
    /// - Complexity: for values, one `apply` for each intent after the newest valid savepoint. For
    ///   rows, one check for each dirty intent, and one `apply` for each that needs it.
    package mutating func rebase(
        _ folds: inout [any AnyFold], _ stored: inout [RowFold], over overlay: Overlay,
        undoers: Undoers
    ) {
        while rows.allSatisfy({ stored[$0].failure == nil }) {
            let dirty = rows.compactMap { stored[$0].firstDirty }.min()
            if let changed = decideFrom, dirty.map({ changed <= $0 }) ?? true {
                decideFrom = nil
                isBegun = true
                let start = rollBack(before: changed, &folds)
                decideAll(from: start, over: overlay, &folds, &stored, undoers)
            } else if let dirty {
                decideDirty(dirty, over: overlay, &folds, &stored, undoers)
            } else {
                return
            }
        }
    }

    /// Rolls the values back to the newest savepoint before the intent.
    ///
    /// - Returns: the first number of the overlay that must be decided again.
    private mutating func rollBack(
        before number: IntentNumber, _ folds: inout [any AnyFold]
    ) -> IntentNumber {
        var start: IntentNumber?
        for place in values {
            let next = folds[place].rollBack(before: number)
            precondition(
                start == nil || start == next,
                "the values of a group have savepoints before \(next) and \(start ?? 0)")
            start = next
        }
        return start ?? number
    }

    private mutating func decideAll(
        from start: IntentNumber, over overlay: Overlay, _ folds: inout [any AnyFold],
        _ stored: inout [RowFold], _ undoers: Undoers
    ) {
        let rest = overlay.from(start)
        var left = values.isEmpty ? 0 : rest.reduce(0) { count, _ in count + 1 }
        for (number, intent) in rest {
            if intent.isOptimistic { decide(intent, &folds, &stored, undoers) }
            left -= 1
            // Keep savepoints 1, 2, 4, … intents before the end. So the next rollback is short.
            if left > 0, left.nonzeroBitCount == 1 {
                for place in values { folds[place].keepSavepoint(after: number) }
            }
        }
    }

    /// Decides on one intent, on views that have the intents before it.
    @discardableResult
    private mutating func decide(
        _ intent: UnsettledIntent, _ folds: inout [any AnyFold], _ stored: inout [RowFold],
        _ undoers: Undoers
    ) -> Conflict? {
        let number = intent.recorded.number
        let byOthers = known.map { $0[number] } ?? refusalByRows(intent, &stored)
        let conflict = refusalByUndone(intent) ?? byOthers ?? refusalByValues(intent, &folds)
        show(number, conflict, &stored, undoers)
        return conflict
    }

    /// Notes the decision on an intent, and shows or withholds its rows. What undoes the intent is
    /// decided again if the decision has changed.
    private mutating func show(
        _ number: IntentNumber, _ conflict: Conflict?, _ stored: inout [RowFold],
        _ undoers: Undoers
    ) {
        let refuser = conflicted[number]?.refuser
        conflicted[number] = conflict  // mutant: conflict-noted
        for place in rows { stored[place].take(number, isRefused: conflict != nil) }
        guard !undoers.isEmpty, refuser != conflict?.refuser, let undoing = undoers[number] else {
            return
        }
        for undo in undoing {
            for place in rows { stored[place].markDirty(undo) }  // mutant: undo-dirty
        }
    }

    /// An intent that undoes another is in the view only while that one is (F21). If the other is not
    /// in the overlay, it is in confirmed state.
    private func refusalByUndone(_ intent: UnsettledIntent) -> Conflict? {
        guard let undone = intent.recorded.terms.undoes, let conflict = conflicted[undone] else {
            return nil
        }
        return Conflict(  // mutant: undo-of-conflicted
            refuser: conflict.refuser, error: UndoneIntentIsConflicted(number: undone),
            isByUndone: true)
    }

    /// Decides on a dirty intent while the values are up to date up to it.
    ///
    /// The values must decide again only if the refusing stored projection changes. Then the
    /// decision is provisional, and the pass of the values begins here.
    private mutating func decideDirty(
        _ number: IntentNumber, over overlay: Overlay, _ folds: inout [any AnyFold],
        _ stored: inout [RowFold], _ undoers: Undoers
    ) {
        guard let intent = overlay[number], intent.isOptimistic else {
            for place in rows { stored[place].forgetDirty(number) }
            return
        }
        let old = conflicted[number]
        let oldBeforeValues = old.flatMap { isByValue($0) ? nil : $0 }
        let byRows = refusalByRows(intent, &stored)
        let beforeValues = refusalByUndone(intent) ?? byRows
        let isSettled =
            values.isEmpty || beforeValues?.refuser == oldBeforeValues?.refuser
        let conflict = beforeValues ?? (isSettled && oldBeforeValues == nil ? old : nil)
        show(number, conflict, &stored, undoers)
        if !isSettled { decideAgain(from: number) }
    }

    private func isByValue(_ conflict: Conflict) -> Bool {
        !conflict.isByUndone && conflict.refuser >= firstValue
    }

    /// Assesses the intent in all stored projections, so that their reads are known.
    ///
    /// - Returns: the refusal of the first that refuses it.
    private func refusalByRows(
        _ intent: UnsettledIntent, _ stored: inout [RowFold]
    ) -> Conflict? {
        var conflict: Conflict?
        for (index, place) in rows.enumerated() {
            guard let error = stored[place].assess(intent), conflict == nil else { continue }
            conflict = Conflict(refuser: index, error: error)
        }
        return conflict
    }

    /// Applies the intent to the values' views, until one refuses it. Then it is in none of them.
    ///
    /// The value that refused the conflicted intent before is asked first. This depends on the
    /// overlay alone, so the refuser is a function of the log (F1).
    private func refusalByValues(
        _ intent: UnsettledIntent, _ folds: inout [any AnyFold]
    ) -> Conflict? {
        var first = 0
        if values.count > 1, !conflicted.isEmpty,
            let last = conflicted.last(before: intent.recorded.number)?.value, isByValue(last)
        {
            first = last.refuser - firstValue
        }
        /// The value at each step: `first`, then the others in their order.
        func value(at step: Int) -> Int { step == 0 ? first : step <= first ? step - 1 : step }
        for step in values.indices {
            let asked = value(at: step)
            guard let error = folds[values[asked]].applyToView(intent) else { continue }
            for earlier in 0..<step {
                folds[values[value(at: earlier)]].undoLast()  // mutant: shared-undo
            }
            return Conflict(refuser: firstValue + asked, error: error)
        }
        return nil
    }
}
