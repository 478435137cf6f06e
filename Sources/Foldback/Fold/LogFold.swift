/// A log folded up to some entry: the log's own state, and the states and rows of its projections.
///
/// An open store continues from the fold of the whole log. A past view is a fold that stops early
/// (F11).
package struct LogFold: Sendable {
    /// The log's own state: intents, answers and positions.
    package var state: LogState
    /// The folds of the projections whose state is a value.
    package var folds: [any AnyFold]
    /// The folds of the stored projections.
    package var rows: [RowFold]
    /// Which projections share their conflicts at which entries.
    package private(set) var shared: SharedConflicts
    /// Each projection is in one of them.
    var groups: [FoldGroup] = []
    /// Notes of the conflicts for past views of values; nil if this fold makes none.
    var conflictNotes: ConflictNotes?
    /// The projection that knows inverses; nil if none does (F21).
    private(set) var undoable: UndoablePlace?
    /// The period of `shared` for which `groups` are formed.
    private var period: SharedConflicts.Period?
    /// The checksum of the last record. The next record contains it (L5).
    package private(set) var chain: UInt64 = 0
    /// The bytes of the records that were applied since this fold began, at the first entry or at a
    /// checkpoint.
    package private(set) var recordBytes = 0
    /// The events that the states lack, because this code cannot read them. A checkpoint lists
    /// them, so that newer code does not use it (E6).
    package private(set) var unread = UnreadEvents()
    /// The events that this code read only in part (E11).
    package private(set) var partlyRead = PartlyReadEvents()

    /// Creates the fold of a log before its first entry.
    ///
    /// - Parameter shared: which projections share their conflicts. Those that are not among the
    ///   projections are left out, so the caller requires them if it looks at views.
    package init(
        of storage: any LogStorage, _ projections: ProjectionSet = ProjectionSet(),
        sharing shared: SharedConflicts = SharedConflicts()
    ) {
        let header = storage.header
        self.init(
            kind: header.kind, replica: header.replicas.current, projections, sharing: shared)
    }

    /// Creates the fold of a log before its first entry.
    package init(
        kind: LogKind, replica: ReplicaID, _ projections: ProjectionSet = ProjectionSet(),
        sharing shared: SharedConflicts = SharedConflicts()
    ) {
        state = LogState(kind: kind, replica: replica)
        folds = projections.folds
        rows = projections.rows
        self.shared = shared
        formGroups()
    }

    /// Creates the fold at a checkpoint of the log. The caller still restores the projections'
    /// states.
    init(
        of storage: any LogStorage, folds: [any AnyFold], rows: [RowFold],
        sharing shared: SharedConflicts, at log: LogSection, without unread: UnreadEvents,
        partly partlyRead: PartlyReadEvents
    ) {
        let header = storage.header
        state = LogState(
            kind: header.kind, replica: header.replicas.current, sequence: log.sequence,
            nextNumber: log.nextNumber, through: log.through, overlay: log.overlay,
            rejections: log.rejections, undoneBy: log.undoneBy, released: log.released)
        chain = log.chain
        self.folds = folds
        self.rows = rows
        self.unread = unread
        self.partlyRead = partlyRead
        self.shared = shared
        formGroups()
    }

    /// The error of a stored row that could not be read. If set, the changes since the last commit
    /// are invalid.
    package var failure: LogError? { rows.lazy.compactMap(\.failure).first }

    // MARK: Appending

    /// Appends the log's next entry: to the log's own state, and to all states and views.
    ///
    /// - Parameters:
    ///   - settledIntent: the intent that ``LogState/settledIntentNeeded(by:)`` names.
    ///   - isInViews: whether the views have the entry's intent already; see ``offer(_:)``.
    package mutating func append(
        _ entry: Entry, at sequence: LogSequence, settledIntent: RecordedIntent? = nil,
        isInViews: Bool = false
    ) -> Effects {
        let effects = state.apply(entry, at: sequence, settledIntent: settledIntent)
        perform(effects.fold, isInViews: isInViews)
        return effects
    }

    /// Appends the log's next entry: the lean path of ``append(_:at:settledIntent:isInViews:)``.
    package mutating func append(_ plain: PlainEntry, isInViews: Bool) {
        perform(state.apply(plain), isInViews: isInViews)
    }

    /// Notes the record of the entry that was appended last. The next record contains its checksum
    /// (L5).
    package mutating func extendChain(by record: (checksum: UInt64, bytes: Int)) {
        chain = record.checksum
        recordBytes += record.bytes
    }

    /// Folds the plan of the entry that was applied last into all projections, and into their views
    /// unless these have the entry's intent already.
    private mutating func perform(_ plan: FoldPlan, isInViews: Bool) {
        let sequence = state.sequence
        unread.append(plan.unread, at: sequence)  // mutant: unread-events
        if !plan.confirm.isEmpty {
            for folded in plan.confirm {
                partlyRead.append(folded.payload, at: sequence)  // mutant: partly-read
            }
            for index in folds.indices { folds[index].confirm(plan.confirm, at: sequence) }
        }
        // The rows in the log say which entries they cover, so they get every entry.
        for index in rows.indices { rows[index].confirm(plan.confirm, at: sequence) }
        if !isInViews { performInViews(plan) }
        share(asAt: sequence)
        noteConflicts(after: plan.view)
    }

    mutating func performInViews(_ plan: FoldPlan) {
        for index in groups.indices {
            groups[index].perform(plan, &folds, &rows, undoers: state.undoers)
        }
    }

    // MARK: The views

    /// Changes which projections share their conflicts. The views are folded again.
    package mutating func share(_ shared: SharedConflicts) {
        self.shared = shared
        formGroups()
    }

    /// Lets the projections share their conflicts as they do at a sequence.
    package mutating func share(asAt sequence: LogSequence) {
        if period?.start != shared.period(at: sequence)?.start { formGroups(at: sequence) }
    }

    /// Makes one group of the projections that share their conflicts at this entry, and one of each
    /// other projection. The next rebase decides on the whole overlay.
    private mutating func formGroups(at sequence: LogSequence? = nil) {
        undoable =
            folds.firstIndex { $0.isUndoable }.map { .value($0) }
            ?? rows.firstIndex { $0.isUndoable }.map { .rows($0) }
        period = shared.period(at: sequence ?? state.sequence)
        conflictNotes = nil
        for index in rows.indices { rows[index].forgetOverlay() }
        let members = period?.members.map(\.name) ?? []
        /// The places of the members, in the order in which the log names them.
        func places(_ names: [ExactString]) -> [Int] {
            members.flatMap { member in names.indices.filter { names[$0] == member } }
        }
        let values = places(folds.map(\.memberName))
        let stored = places(rows.map(\.identity.name))
        groups = []
        if !(values + stored).isEmpty {
            groups.append(FoldGroup(values: values, rows: stored, in: folds, rows))
        }
        for index in folds.indices where !values.contains(index) {
            groups.append(FoldGroup(values: [index], rows: [], in: folds, rows))
        }
        for index in rows.indices where !stored.contains(index) {
            groups.append(FoldGroup(values: [], rows: [index], in: folds, rows))
        }
    }

    /// Brings all views up to date.
    package mutating func rebaseViews() {
        for index in groups.indices {
            groups[index].rebase(&folds, &rows, over: state.overlay, undoers: state.undoers)
        }
    }

    /// Applies a new intent to all views, before it is appended. If a projection refuses it, takes it
    /// out of all views again (F9).
    ///
    /// A confirm-only intent is not applied, because it is not folded before it is confirmed (F13).
    ///
    /// - Returns: whether the views have the intent now.
    /// - Throws: `.inapplicable` with the first refusal; nothing has changed.
    package mutating func offer(_ intent: UnsettledIntent) throws(CommandError) -> Bool {
        guard intent.isOptimistic else { return false }
        decideForNotes()
        var refusal: Inapplicable?
        for index in groups.indices {
            let conflict = groups[index].tryNewest(
                intent, &folds, &rows, over: state.overlay, undoers: state.undoers)
            // What undoes a conflicted intent is recorded, and is in the view once that one is (F21).
            guard let conflict, !conflict.isByUndone, refusal == nil else { continue }
            refusal = Inapplicable(
                projection: groups[index].name(ofRefuser: conflict).string, error: conflict.error)
        }
        guard let refusal else { return true }
        for index in groups.indices {
            groups[index].takeBack(intent.recorded.number, &folds, &rows)
        }
        throw .inapplicable(refusal)
    }

    /// Whether an intent is conflicted in the view of any projection. The views must be up to date.
    package var hasConflicts: Bool { groups.contains { $0.hasConflicts } }

    /// Returns the conflicts as a value shows them.
    ///
    /// - Parameter place: the place of the value in `folds`.
    func conflicts(seenByValue place: Int) -> Conflicts {
        for group in groups {
            if let conflicts = group.conflicts(seenByValue: place) { return conflicts }
        }
        preconditionFailure("value \(place) is in no group")
    }

    /// Returns the conflicts as a stored projection shows them.
    ///
    /// - Parameter place: the place of the stored projection in `rows`.
    func conflicts(seenByRows place: Int) -> Conflicts {
        for group in groups {
            if let conflicts = group.conflicts(seenByRows: place) { return conflicts }
        }
        preconditionFailure("stored projection \(place) is in no group")
    }

    // MARK: Replaying

    /// Applies the records after the fold's sequence, up to `last` or to the end.
    ///
    /// - Parameter applied: called after each record.
    /// - Throws: `.damaged` or `.newerFormat` with the sequence; no record after it was applied.
    ///   `.storage` if the log cannot be read; the errors of `applied`.
    /// - Complexity: one `apply` for each confirmed event and projection.
    package mutating func replay(
        _ storage: any LogStorage, codec: any PayloadCodec, upTo last: LogSequence? = nil,
        _ applied: (inout LogFold, Record, Effects) throws(LogError) -> Void = { _, _, _ in }
    ) throws(LogError) {
        var records = RecordReader(storage, after: state.sequence, upTo: last)
        while let (sequence, bytes) = try records.next() {
            let (record, effects) = try applyRecord(bytes, at: sequence, storage, codec)
            try applied(&self, record, effects)
        }
    }

    /// Applies the record of the next entry.
    ///
    /// - Throws: as ``replay(_:codec:upTo:_:)``.
    package mutating func applyRecord(
        _ bytes: [UInt8], at sequence: LogSequence, _ storage: any LogStorage,
        _ codec: any PayloadCodec
    ) throws(LogError) -> (record: Record, effects: Effects) {
        let record: Record
        let checksum: UInt64
        do throws(FormatError) {
            (record, checksum) = try Record.decoded(
                bytes, at: sequence, predecessor: chain, replicas: storage.header.replicas,
                codec: codec, overlay: state.overlay)
        } catch {
            throw LogError(error, at: storage.path, sequence: sequence)
        }
        // A history with gaps lacks entries on purpose, so its numbers have gaps too. When it was
        // made, each of its entries was decided on again without the missing entries.
        if !storage.hasGaps, let reason = state.contradiction(in: record.entry) {
            throw .damaged(path: storage.path, sequence: sequence, reason: reason)
        }
        var settledIntent: RecordedIntent?
        if let number = state.settledIntentNeeded(by: record.entry) {
            settledIntent = try storage.settledIntent(number, codec: codec).recorded
        }
        let effects = append(record.entry, at: sequence, settledIntent: settledIntent)
        extendChain(by: (checksum, bytes.count))
        if let failure { throw failure }
        return (record, effects)
    }
}
