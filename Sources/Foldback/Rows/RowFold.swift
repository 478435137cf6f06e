import FoldbackCollections

/// One stored projection's rows, updated by the fold plans of ``LogState``. The counterpart of
/// ``Fold`` for state on disk.
///
/// ```
/// plan ─▶ confirm: applied to `confirmed` at once; marks readers dirty
///      ─▶ removed, replaced intents: change `overlay`; mark readers dirty
///                 FoldGroup.rebase ─▶ assess, take: lowest number first ─▶ nothing is dirty
/// ```
///
/// ``FoldGroup`` decides which intents are assessed, and which of them the view shows. It does so
/// once for all entries of a commit. ``RowOverlay`` says when an intent becomes dirty, and why this
/// work ends.
///
/// Invariants:
/// - `confirmed` has the confirmed events of all entries up to `sequence`, each once. An entry at
///   or below `sequence` changes the overlay alone: the log has its rows already (L4).
/// - The log has the rows up to `writtenSequence`. The changes after it are in `confirmed.changed`,
///   and are written in the transaction of their entries (L4).
/// - Until the first rebase, no intent is applied. So opening a log applies only the intents that
///   are still in the overlay at its end.
/// - After a rebase, nothing is dirty. Each evaluation is equal to the result of applying its
///   intent now, so rows are a function of the log alone (F1).
/// - A row that cannot be read sets `failure`. Then the invariants above no longer hold, and the
///   fold applies nothing more. The writer drops it, with the transaction (L6).
package struct RowFold: Sendable {
    package let identity: ProjectionIdentity
    /// See ``EventFold/identitiesAtBase``: those of ``RowsInMemory``, which has the rows at a base.
    let identitiesAtBase: [ProjectionIdentity]
    private let rowsAtBase: RowsAtBase
    package private(set) var schema: StoredSchema
    /// The format of the codec that reads the events.
    private var format = EventFormat.none
    private var notesMembers = false
    private let apply: RowApply
    private let inverter: RowInverter?
    /// The confirmed rows as the transaction being prepared leaves them.
    package private(set) var confirmed = ConfirmedRows()
    /// The reads and writes of the overlay's intents.
    package private(set) var overlay = RowOverlay()
    /// The confirmed events that could not be applied, oldest first (F9).
    package private(set) var faults: [Fault] = []
    /// The last entry that confirmed rows cover. It and the entries before it are not applied
    /// again.
    package private(set) var sequence: LogSequence = 0
    /// The last entry that the rows in the log cover.
    private var writtenSequence: LogSequence = 0
    /// The number of confirmed events that were applied.
    package private(set) var confirmedCount = 0
    /// The reason why a row could not be read. If set, the changes since the last commit are
    /// invalid.
    package private(set) var failure: LogError?
    /// The faults since the last commit, the end of `faults`.
    private var newFaults: [Fault] = []
    /// What the rows in the log say of members; nil if the rows are in memory only.
    private var notes: RowNotes?
    /// The result of the last ``assess(_:)``, which ``take(_:isRefused:)`` uses.
    private var assessed: RowEvaluation?
    /// For each row that changes in this transaction, the row that readers saw before it; nil if
    /// no reader watches, or if such a row cannot be read.
    private var seen: [KeyBytes: VisibleRow]?

    /// Creates the fold before the first entry, with its own rows in memory.
    package init<P: StoredProjection>(_: P.Type) {
        self.init(
            P.identity, RowsInMemory<P>.identitiesAtBase, P.rowsAtBase,
            StoredSchema(P.schema, number: 0), P.inverter
        ) { folded, rows in
            switch folded.payload.content {
            case .event(let event):
                guard let event = event as? P.Event else {
                    preconditionFailure("an event is \(type(of: event)), not \(P.Event.self)")
                }
                do { try P.apply(event, folded.context, to: &rows) } catch { return error }
                return nil
            case .unreadable(let why): return UnreadableEvent(reason: why)
            }
        }
    }

    private init(
        _ identity: ProjectionIdentity, _ identitiesAtBase: [ProjectionIdentity],
        _ rowsAtBase: @escaping RowsAtBase, _ schema: StoredSchema, _ inverter: RowInverter?,
        _ apply: @escaping RowApply
    ) {
        self.identitiesAtBase = identitiesAtBase
        self.rowsAtBase = rowsAtBase
        self.inverter = inverter
        self.identity = identity
        self.schema = schema
        self.apply = apply
    }

    /// Uses the rows that the log has for this projection.
    ///
    /// - Parameters:
    ///   - number: the projection's number in the log.
    ///   - sequence: the last entry that these rows cover.
    package mutating func attach(
        to storage: any LogStorage, number: UInt32, format: EventFormat, sequence: LogSequence,
        faults: [Fault], notes: RowNotes? = nil, notesMembers: Bool = false
    ) {
        self.format = format
        self.notesMembers = notesMembers
        schema = StoredSchema(schema.schema, number: number)
        confirmed = ConfirmedRows(of: storage)
        self.sequence = sequence  // mutant: rows-opened
        writtenSequence = sequence
        self.faults = faults
        self.notes = notes ?? RowNotes(schema.schema)
    }

    /// Takes the rows that a base has, instead of folding the entries before it.
    ///
    /// If the rows are in a log, they are changes that it lacks.
    ///
    /// - Throws: an error if the rows cannot be read, or are of another version that the projection
    ///   neither adopts nor migrates (C6).
    mutating func restore(_ section: ProjectionSection, at sequence: LogSequence) throws {
        let prefix = StoredRow.prefix(of: schema.number)
        for (key, value) in try rowsAtBase(section) {
            let key = KeyBytes(prefix + key)
            confirmed.set(.row(value), at: key)
            notes?.add(.row(value), at: key)
        }
        faults = section.faults
        newFaults = section.faults
        self.sequence = sequence
    }

    /// The number of rows that changed since the last commit.
    package var changedCount: Int { confirmed.changed.count }
    /// The approximate bytes of these rows.
    package var changedBytes: Int { confirmed.changedBytes }
    /// Whether the log lacks the rows of entries that this fold has applied.
    package var hasUnwrittenRows: Bool { writtenSequence < sequence }

    /// Gives rows in memory another projection number, so that they can be compared with the rows
    /// in a log.
    package mutating func renumber(as number: UInt32) {
        schema = StoredSchema(schema.schema, number: number)
    }

    // MARK: Following the log

    /// Applies an entry's confirmed events, and marks the intents dirty that read the changed rows.
    /// An event that does not apply is a fault (F9).
    package mutating func confirm(_ events: [Folded], at sequence: LogSequence) {
        guard failure == nil, sequence > self.sequence else { return }
        self.sequence = sequence
        for folded in events { confirm(folded, at: sequence) }
    }

    private mutating func confirm(_ folded: Folded, at sequence: LogSequence) {
        confirmedCount += 1
        notes?.add(folded.payload, at: sequence)
        for (key, value) in writes(of: folded, at: sequence) {
            note(key, overlay)
            confirmed.set(value, at: key)
            notes?.add(value, at: key)
            overlay.confirmedChanged(key)
        }
    }

    /// Applies a confirmed event to the confirmed rows.
    ///
    /// - Returns: what it writes. The rows that it touched have a reference to the confirmed rows,
    ///   and with two references, each change would copy some of them. So they are not returned.
    private mutating func writes(
        of folded: Folded, at sequence: LogSequence
    ) -> [(key: KeyBytes, value: RowValue)] {
        var rows = TouchedRows(schema, over: confirmed)
        let error = apply(folded, &rows)
        if let failure = rows.failure {
            self.failure = self.failure ?? failure
            return []
        }
        guard let error else { return rows.writes }
        let fault = Fault(sequence: sequence, origin: folded.context.origin, error: error)
        faults.append(fault)
        newFaults.append(fault)
        return []
    }

    // MARK: The view

    /// The dirty intent with the lowest number; nil if nothing is dirty.
    package var firstDirty: IntentNumber? { overlay.firstDirty }

    /// Marks an intent dirty whose own event changed, or that is in the overlay again.
    package mutating func markDirty(_ number: IntentNumber) { overlay.markDirty(number) }

    /// Forgets that the intent is dirty, because it is not folded.
    package mutating func forgetDirty(_ number: IntentNumber) { overlay.forgetDirty(number) }

    /// Applies an intent to the rows below it if it was not applied yet or is dirty. The view shows
    /// the result after ``take(_:isRefused:)``.
    ///
    /// - Returns: the error that makes the intent conflicted; nil if it applies (F9).
    /// - Complexity: one check if the intent is dirty, and one `apply` if it needs it.
    package mutating func assess(_ intent: UnsettledIntent) -> (any Error)? {
        guard failure == nil else { return nil }
        do throws(LogError) {
            assessed = try overlay.assess(intent, by: apply, schema, over: confirmed)
        } catch {
            failure = error
            return nil
        }
        return assessed.map(\.error) ?? overlay.error(of: intent.recorded.number)
    }

    /// Shows the result of the last ``assess(_:)``.
    ///
    /// - Parameter isRefused: whether a projection of the group refuses the intent. Then the view
    ///   shows nothing of it.
    package mutating func take(_ number: IntentNumber, isRefused: Bool) {
        guard failure == nil else { return }
        var overlay = overlay
        self.overlay = RowOverlay()
        overlay.take(number, assessed, isRefused: isRefused, isNoted: seen != nil) { note($0, $1) }
        self.overlay = overlay
        assessed = nil
    }

    /// Forgets all evaluations, because the group changes.
    package mutating func forgetOverlay() { overlay = RowOverlay() }

    /// Removes an intent from the view.
    package mutating func remove(_ number: IntentNumber) {
        guard failure == nil else { return }
        var overlay = overlay
        self.overlay = RowOverlay()
        overlay.remove(number, isNoted: seen != nil) { note($0, $1) }
        self.overlay = overlay
    }

    // MARK: Undo, and what intents touch

    /// Whether the projection is ``UndoableRows``.
    package var isUndoable: Bool { inverter != nil }

    /// Returns the inverse of an intent on the rows before it, if it is in the view or is the next to
    /// come (F21). The view is up to date.
    package mutating func inverse(of payload: Payload, _ id: IntentID) -> Payload? {
        guard failure == nil, let inverter else { return nil }
        var rows = TouchedRows(schema, over: overlay.rows(before: id.number, over: confirmed))
        let inverse = inverter(payload, EventContext(.intent(id)), &rows)
        if let failure = rows.failure {
            self.failure = failure
            return nil
        }
        return inverse
    }

    /// Returns what an intent reads and writes on the rows that readers see before a number; nil if a
    /// row cannot be read.
    ///
    /// - Parameters:
    ///   - folded: the rows as they are published.
    ///   - storage: the log with the confirmed rows.
    package func touches(
        _ intent: UnsettledIntent, before number: IntentNumber, in folded: FoldedRows,
        over storage: any LogStorage
    ) -> RowEvaluation? {
        let confirmed = folded.own.map { ConfirmedRows(inMemory: $0) } ?? ConfirmedRows(of: storage)
        var rows = TouchedRows(
            folded.schema,
            over: RowsBelowIntent(number: number, chains: folded.chains, confirmed: confirmed))
        let context = EventContext(.intent(intent.recorded.id))
        let error = apply(Folded(payload: intent.payload, context: context), &rows)
        return rows.failure == nil ? RowEvaluation(rows, error: error) : nil
    }

    // MARK: Changes

    /// Keeps the row that readers see, before the row's first change in this transaction.
    private mutating func note(_ key: KeyBytes, _ overlay: RowOverlay) {
        guard seen != nil, seen?[key] == nil else { return }
        guard let now = visible(key, overlay) else {
            // Watchers then get an incomplete batch. Being watched must not make a commit fail.
            seen = nil
            return
        }
        seen?[key] = now
    }

    /// Returns the row that readers see; nil if it cannot be read.
    private func visible(_ key: KeyBytes, _ overlay: RowOverlay) -> VisibleRow? {
        if let value = overlay.chains[key]?.visible {
            return VisibleRow(value: value, isPending: true)
        }
        do throws(LogError) {
            return VisibleRow(value: try confirmed.value(at: key), isPending: false)
        } catch {
            return nil
        }
    }

    /// Returns the rows that readers see differently after the transaction being prepared.
    ///
    /// Call it once the view is up to date.
    ///
    /// - Returns: nil if no reader watches, or if one of the rows cannot be read.
    package func changes() -> [RowChangeBytes]? {
        guard let seen else { return nil }
        var changes: [RowChangeBytes] = []
        for (key, old) in seen {
            guard let new = visible(key, overlay) else { return nil }
            guard new != old, new.value != .absent || old.value != .absent else { continue }
            changes.append(RowChangeBytes(key: key, old: old, new: new))
        }
        return changes
    }

    // MARK: A transaction

    /// Begins the next transaction: forgets the changes, because they are committed or dropped.
    ///
    /// - Parameter isWatched: whether ``changes()`` will be needed.
    package mutating func beginTransaction(isWatched: Bool) {
        confirmed.committed()
        writtenSequence = sequence
        newFaults = []
        notes?.committed()
        seen = isWatched ? [:] : nil
    }

    /// Returns the rows, faults, notes and header that the transaction being prepared writes.
    ///
    /// - Parameter conflictsFrom: the first entry after which the log has the conflicts; nil if it
    ///   has none.
    package func batch(conflictsFrom: LogSequence? = nil) -> RowBatch {
        RowBatch(
            rows: confirmed.changed.map { ($0.key, $0.value) },  // mutant: row-batch
            faults: newFaults, firstFault: faults.count - newFaults.count,
            notes: notes?.unwritten ?? [], firstNote: notes?.writtenCount ?? 0,
            header: StoredRowsHeader(
                number: schema.number, identity: identity, schema: schema.schema.summary,
                format: format, sequence: sequence, hasNotes: notesMembers,
                conflictsFrom: conflictsFrom))
    }

    /// Returns the rows to share with readers.
    ///
    /// - Parameters:
    ///   - conflicts: the conflicts of the projection's group.
    ///   - hasReads: whether readers also get what each intent reads and writes. The next change of
    ///     the overlay then copies a part of that.
    package func foldedRows(_ conflicts: Conflicts, hasReads: Bool) -> FoldedRows {
        FoldedRows(
            identity: identity, schema: schema, chains: overlay.chains,
            overlay: hasReads ? overlay : nil,
            conflicted: conflicts, faults: faults,
            counts: FoldCounts(overlay: overlay.count, confirmed: confirmedCount),
            own: confirmed.isStored ? nil : confirmed.rows)
    }
}

/// A row that readers see differently after a commit, as bytes.
package struct RowChangeBytes: Sendable {
    package let key: KeyBytes
    package let old: VisibleRow
    package let new: VisibleRow
}

/// A row as readers see it.
package struct VisibleRow: Equatable, Sendable {
    package let value: RowValue
    /// Whether an intent of the overlay wrote it.
    package let isPending: Bool

    package init(value: RowValue, isPending: Bool) {
        self.value = value
        self.isPending = isPending
    }
}

/// One stored projection as readers get it: the overlay's rows, to be read over the confirmed rows
/// that the log has at the same sequence.
package struct FoldedRows: Sendable {
    package let identity: ProjectionIdentity
    package let schema: StoredSchema
    package let chains: SortedMap<KeyBytes, RowChain>
    /// What each intent reads and writes; nil unless there are drafts, whose keys others wait for.
    package let overlay: RowOverlay?
    package let conflicted: Conflicts
    package let faults: [Fault]
    package let counts: FoldCounts
    /// The confirmed rows if they are in memory; nil if they are in the log.
    package let own: SortedMap<KeyBytes, [UInt8]>?

    /// Returns the section of a base with the confirmed rows, as ``RowsInMemory`` has it.
    ///
    /// - Precondition: the rows are in memory.
    func sectionAtBase() -> ProjectionSection {
        guard let own else { preconditionFailure("the rows of \(identity) are in the log") }
        let rows = own.lazy.map {
            (key: Array($0.key.bytes.dropFirst(StoredRow.prefixBytes)), value: $0.value)
        }
        return ProjectionSection(
            identity: identity.inMemory, faults: faults, sample: [],
            state: StoredRow.section(schema.schema.summary, rows))
    }
}

extension ProjectionIdentity {
    /// The identity of the stored projection's ``RowsInMemory``.
    fileprivate var inMemory: ProjectionIdentity {
        ProjectionIdentity(
            name: ExactString(StoredRow.nameInMemory(of: name.string)), version: version)
    }
}
