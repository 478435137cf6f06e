/// One stored projection's rows, kept up to date by the fold plans of ``LogState``: the counterpart of
/// ``Fold`` for state on disk.
package struct RowFold: Sendable {
    package let identity: ProjectionIdentity
    package private(set) var schema: StoredSchema
    /// Of the codec that reads the events.
    private var format = EventFormat.none
    private let apply: RowApply
    package private(set) var confirmed = ConfirmedRows()
    package private(set) var overlay = RowOverlay()
    package private(set) var faults: [Fault] = []
    /// The entry up to which confirmed rows stand: those before it are not applied again.
    package private(set) var sequence: LogSequence = 0
    /// The one up to which the log has them.
    private var writtenSequence: LogSequence = 0
    package private(set) var confirmedCount = 0
    /// Of a row that could not be read. What the transaction being prepared has changed is worthless then.
    package private(set) var failure: FoldbackError?
    private var newFaults: [Fault] = []
    /// Intents of the overlay are applied when the view is asked for first.
    private var isUnevaluated = true
    /// What readers saw of the rows that change in this transaction; nil where nobody wants to know.
    private var seen: [KeyBytes: VisibleRow]?

    /// Rows of their own, in memory.
    package init<P: StoredProjection>(_: P.Type) {
        self.init(P.identity, StoredSchema(P.schema, number: 0)) { folded, rows in
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
        _ identity: ProjectionIdentity, _ schema: StoredSchema, _ apply: @escaping RowApply
    ) {
        self.identity = identity
        self.schema = schema
        self.apply = apply
    }

    /// Over the rows that the log has.
    package mutating func attach(
        to storage: any LogStorage, number: UInt32, format: EventFormat, sequence: LogSequence,
        faults: [Fault]
    ) {
        self.format = format
        schema = StoredSchema(schema.schema, number: number)
        confirmed = ConfirmedRows(of: storage)
        self.sequence = sequence  // mutant: rows-opened
        writtenSequence = sequence
        self.faults = faults
    }

    /// Rows that were changed since the last commit, and their bytes.
    package var changedCount: Int { confirmed.changed.count }
    package var changedBytes: Int { confirmed.changedBytes }
    package var isBehindLog: Bool { writtenSequence < sequence }

    /// The same rows in memory, under the number that the log has for them; to be compared with these.
    package mutating func renumber(as number: UInt32) {
        schema = StoredSchema(schema.schema, number: number)
    }

    /// The same projection before the first entry, over rows of its own in memory.
    package var fresh: RowFold { RowFold(identity, schema, apply) }

    // MARK: Following the log

    /// Applies the newest intent; what `apply` throws makes it conflicted (F9).
    package mutating func applyNewest(_ intent: UnsettledIntent) -> (any Error)? {
        guard !isUnevaluated, failure == nil else { return nil }
        return evaluate(intent)
    }

    /// Takes the intent appended last out again: it is not recorded after all (F9).
    package mutating func rollBackLast(_ number: IntentNumber) { remove(number) }

    package mutating func perform(_ plan: FoldPlan, at sequence: LogSequence) {
        guard failure == nil else { return }
        if sequence > self.sequence {
            self.sequence = sequence
            for folded in plan.confirm { confirm(folded, at: sequence) }
        }
        guard !isUnevaluated else { return }
        for number in plan.removed { remove(number) }
        switch plan.view {
        // A confirmed row that came out otherwise has been noted by its key.
        case .unchanged, .rebase: break
        case .apply(let intent): _ = applyNewest(intent)
        case .rollBack(let number): overlay.markDirty(number)
        }
    }

    private mutating func confirm(_ folded: Folded, at sequence: LogSequence) {
        confirmedCount += 1
        var rows = TouchedRows(schema, over: confirmed)
        let error = apply(folded, &rows)
        if let failure = rows.failure {
            self.failure = self.failure ?? failure
            return
        }
        if let error {
            let fault = Fault(
                sequence: sequence, origin: folded.context.origin, reason: "\(error)")
            faults.append(fault)
            newFaults.append(fault)
            return
        }
        for (key, value) in rows.writes {
            note(key, overlay)
            confirmed.set(value, at: key)
            overlay.confirmedChanged(key)
        }
    }

    /// Brings the view up to date. Several entries of one commit are looked at together.
    package mutating func rebaseView(over intents: Overlay) {
        guard failure == nil else { return }
        if isUnevaluated {
            isUnevaluated = false
            for (_, intent) in intents where intent.isOptimistic { _ = evaluate(intent) }
            return
        }
        while failure == nil, let (number, isReplaced) = overlay.nextDirty() {
            guard let intent = intents[number], intent.isOptimistic else { continue }
            do throws(FoldbackError) {
                if !isReplaced, try overlay.readsUnchanged(number, over: confirmed) { continue }
            } catch {
                failure = error
                return
            }
            _ = evaluate(intent)
        }
    }

    private mutating func evaluate(_ intent: UnsettledIntent) -> (any Error)? {
        var overlay = overlay
        self.overlay = RowOverlay()
        defer { self.overlay = overlay }
        do throws(FoldbackError) {
            return try overlay.evaluate(intent, by: apply, schema, over: confirmed) {
                note($0, $1)
            }
        } catch {
            failure = failure ?? error
            return nil
        }
    }

    private mutating func remove(_ number: IntentNumber) {
        var overlay = overlay
        self.overlay = RowOverlay()
        overlay.remove(number) { note($0, $1) }
        self.overlay = overlay
    }

    // MARK: Changes

    /// Notes what readers see of a row, before it changes for the first time.
    private mutating func note(_ key: KeyBytes, _ overlay: RowOverlay) {
        guard seen != nil, seen?[key] == nil else { return }
        guard let now = visible(key, overlay) else {
            // Whoever watches is told that there is more; a commit does not fail by being watched.
            seen = nil
            return
        }
        seen?[key] = now
    }

    /// Nil where the row cannot be read.
    private func visible(_ key: KeyBytes, _ overlay: RowOverlay) -> VisibleRow? {
        if let value = overlay.chains[key]?.visible {
            return VisibleRow(value: value, isPending: true)
        }
        do throws(FoldbackError) {
            return VisibleRow(value: try confirmed.value(at: key), isPending: false)
        } catch {
            return nil
        }
    }

    /// Of rows that are seen otherwise than before the transaction, once it is published; nil where nobody asked, or that cannot
    /// be said.
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

    /// - Parameter isWatched: whether somebody wants to know which rows change.
    package mutating func beginTransaction(isWatched: Bool) {
        confirmed.committed()
        writtenSequence = sequence
        newFaults = []
        seen = isWatched ? [:] : nil
    }

    /// What the transaction being prepared writes.
    package func batch() -> RowBatch {
        RowBatch(
            rows: confirmed.changed.map { ($0.key, $0.value) },  // mutant: row-batch
            faults: newFaults, firstFault: faults.count - newFaults.count,
            header: StoredRowsHeader(
                number: schema.number, identity: identity, schema: schema.schema.summary,
                format: format, sequence: sequence))
    }

    /// Brings everything up to date; the rows, to be shared with readers.
    package mutating func makeFoldedRows(over intents: Overlay) -> FoldedRows {
        rebaseView(over: intents)
        return FoldedRows(
            identity: identity, schema: schema, chains: overlay.chains,
            conflicted: overlay.conflicted, faults: faults,
            counts: FoldCounts(overlay: overlay.count, confirmed: confirmedCount),
            own: confirmed.isStored ? nil : confirmed.rows)
    }
}

/// A row that readers see otherwise than before.
package struct RowChangeBytes: Sendable {
    package let key: KeyBytes
    package let old: VisibleRow
    package let new: VisibleRow
}

/// A row as readers have it.
package struct VisibleRow: Equatable, Sendable {
    package let value: RowValue
    /// An intent of the overlay makes it what it is.
    package let isPending: Bool

    package init(value: RowValue, isPending: Bool) {
        self.value = value
        self.isPending = isPending
    }
}

/// One stored projection as readers get it: what the overlay makes of rows, to be seen above those that the
/// log has at the same sequence.
package struct FoldedRows: Sendable {
    package let identity: ProjectionIdentity
    package let schema: StoredSchema
    package let chains: SortedMap<KeyBytes, RowChain>
    package let conflicted: NumberMap<IntentNumber, String>
    package let faults: [Fault]
    package let counts: FoldCounts
    /// Confirmed rows, where they are not the log's.
    package let own: SortedMap<KeyBytes, [UInt8]>?
}
