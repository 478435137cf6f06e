import FoldbackCollections

/// The rows that the overlay reads and writes, updated at the cost of the connected intents alone.
///
/// Each intent of the overlay that is not confirm-only is applied to the rows below it: the
/// confirmed rows, changed by the writes of all intents with lower numbers. Its evaluation keeps
/// the rows that it read, with the values that it saw, and the rows that it writes. A row's chain
/// has the intents that read or write this row:
///
/// ```
/// confirmed ─▶ 3 reads ─▶ 5 writes A ─▶ 6 reads A ─▶ 9 writes B ─▶ the view has B
/// ```
///
/// An intent sees the value of the last writer before it in the chain, or the confirmed row if
/// there is none. Two intents are connected if one reads a row that the other writes, also through
/// intents between them. A change to the log costs only the intents that are connected with it.
///
/// ## When an intent becomes dirty
///
/// 1. The value of a row changes at a place of its chain: a confirmed event changes the row, or a
///    writer writes another value, begins or stops writing the row, or leaves. Then each reader
///    after this place becomes dirty, up to and including the next writer. Later readers see the
///    value of that writer, so they stay clean.
/// 2. The intent read a range of keys, and a row in it changes at a lower place.
/// 3. The event of the intent is replaced, or the intent is in the overlay again
///    (``markDirty(_:)``).
///
/// In case 1, the intent is applied again only if a row that it read has another value now. In
/// cases 2 and 3, the intent is always applied again: values in a range are not kept, and equal
/// reads say nothing about another event.
///
/// ## Why the work ends
///
/// ``FoldGroup`` takes the lowest dirty number first. Applying or withholding an intent changes
/// only what intents with higher numbers see, so it makes only higher numbers dirty. While nothing
/// else changes, the number therefore rises with each step: each intent is checked at most once and
/// applied at most once, and the work ends after the last intent of the overlay.
///
/// ## Invariants
///
/// Always, after each call:
/// - A row's chain has exactly the intents whose evaluation read the row (except in a range) or
///   writes it and is not withheld, each writer with its value. No chain is empty.
/// - `withheld` and `ranges` name only intents that have an evaluation. An intent that does not
///   apply writes nothing. A withheld intent applies here, but its writes are in no chain, because
///   another projection of the group refuses it. The reads of both are kept, so a change to them
///   makes them dirty (F9).
///
/// Once all intents have been applied and nothing is dirty:
/// - `evaluations` has exactly the intents of the overlay that are not confirm-only. Each
///   evaluation is equal to the result of applying the intent now. The proof is by induction on the
///   number: `apply` depends only on the event, its context and the rows that it reads (F12). None
///   of these has changed since the intent was applied, because a change makes the intent dirty.
/// - The view of a row is ``RowChain/visible``, or the confirmed row if that is nil (F1).
package struct RowOverlay: Sendable {
    /// The chains of all rows that an intent of the overlay read or writes.
    package private(set) var chains = SortedMap<KeyBytes, RowChain>()
    private var evaluations = NumberMap<IntentNumber, RowEvaluation>()
    /// The intents that apply here, and that another projection of the group refuses.
    private var withheld = NumberMap<IntentNumber, Void>()
    /// The ranges of keys that intents have read. Few intents read any.
    private var ranges = NumberMap<IntentNumber, [KeySpan]>()
    /// Dirty intents. True if the intent must be applied again even if the rows that it read are
    /// the same, because its event changed or because it read a range.
    private var dirty = NumberMap<IntentNumber, Bool>()
    /// The number of calls of `apply`.
    package private(set) var count = 0

    package init() {}

    /// The dirty intent with the lowest number; nil if nothing is dirty.
    package var firstDirty: IntentNumber? { dirty.first?.key }

    /// Forgets that the intent is dirty, because it is not folded.
    package mutating func forgetDirty(_ number: IntentNumber) { dirty[number] = nil }

    /// Marks an intent dirty whose own event changed, or that is in the overlay again.
    package mutating func markDirty(_ number: IntentNumber) { dirty[number] = true }

    /// Marks the readers of a confirmed row dirty, because its value changed or may have changed.
    package mutating func confirmedChanged(_ key: KeyBytes) { markReadersDirty(key, after: 0) }

    /// Marks the intents dirty that see the row's value after `number`; 0 stands for the confirmed
    /// row.
    private mutating func markReadersDirty(_ key: KeyBytes, after number: IntentNumber) {
        markDirty(
            chains[key]?.readers(after: number) ?? [], andReadersOfRangesWith: key, after: number)
    }

    private mutating func markDirty(
        _ readers: [IntentNumber], andReadersOfRangesWith key: KeyBytes, after number: IntentNumber
    ) {
        if !ranges.isEmpty {
            for (reader, spans) in ranges.from(number.next)
            where spans.contains(where: { $0.contains(key) }) {  // mutant: range-readers
                dirty[reader] = true
            }
        }
        for reader in readers where dirty[reader] == nil { dirty[reader] = false }
    }

    /// Applies the intent to the rows below it if it was not applied yet or is dirty. It is not
    /// dirty after that.
    ///
    /// - Returns: the new evaluation, for ``take(_:_:isRefused:isNoted:noting:)``; nil if the
    ///   present evaluation is still right.
    /// - Throws: `.damaged` or `.storage` if a row below cannot be read.
    package mutating func assess(
        _ intent: UnsettledIntent, by apply: RowApply, _ schema: StoredSchema,
        over confirmed: ConfirmedRows
    ) throws(LogError) -> RowEvaluation? {
        let number = intent.recorded.number
        if evaluations[number] != nil {
            guard let isReplaced = dirty[number] else { return nil }
            dirty[number] = nil
            if !isReplaced, try readsUnchanged(number, over: confirmed) { return nil }
        } else {
            dirty[number] = nil
        }
        count += 1
        return try applied(intent, by: apply, schema, over: confirmed)
    }

    /// Returns whether all rows that the intent read by key have the values that it saw.
    ///
    /// - Throws: `.damaged` or `.storage` if a confirmed row cannot be read.
    /// - Complexity: one lookup for each row that the intent read.
    private func readsUnchanged(
        _ number: IntentNumber, over confirmed: ConfirmedRows
    ) throws(LogError) -> Bool {
        guard let evaluation = evaluations[number] else { return false }
        let below = RowsBelowIntent(number: number, chains: chains, confirmed: confirmed)
        for (key, value) in evaluation.reads where try below.value(at: key) != value {
            return false  // mutant: reads-compared
        }
        return true
    }

    /// Applies the intent to the rows below it.
    ///
    /// A function of its own, because the rows below have a copy of the chains. While it lives,
    /// each change of the chains copies some of them.
    @inline(never)
    private func applied(
        _ intent: UnsettledIntent, by apply: RowApply, _ schema: StoredSchema,
        over confirmed: ConfirmedRows
    ) throws(LogError) -> RowEvaluation {
        var rows = TouchedRows(
            schema,
            over: RowsBelowIntent(
                number: intent.recorded.number, chains: chains, confirmed: confirmed))
        let context = EventContext(.intent(intent.recorded.id))
        let error = apply(Folded(payload: intent.payload, context: context), &rows)
        if let failure = rows.failure { throw failure }
        return RowEvaluation(rows, error: error)
    }

    /// The rows that an intent with this number sees.
    func rows(before number: IntentNumber, over confirmed: ConfirmedRows) -> RowsBelowIntent {
        RowsBelowIntent(number: number, chains: chains, confirmed: confirmed)
    }

    /// Returns what an intent reads and writes; nil if it does not apply.
    func applied(_ number: IntentNumber) -> RowEvaluation? {
        evaluations[number].flatMap { $0.error == nil ? $0 : nil }
    }

    /// The error that the intent's `apply` threw when it was taken; nil if it applies.
    package func error(of number: IntentNumber) -> (any Error)? { evaluations[number]?.error }

    /// Replaces the evaluation of an intent, and shows or withholds its writes.
    ///
    /// The readers after it of each row that it now writes differently become dirty.
    ///
    /// - Parameters:
    ///   - assessed: the result of ``assess(_:by:_:over:)``.
    ///   - isRefused: whether a projection of the group refuses the intent. Then nothing of it is
    ///     shown here.
    ///   - isNoted: whether `note` is called.
    ///   - note: called with each row whose value in the chain is about to change, and the overlay
    ///     before that change.
    package mutating func take(
        _ number: IntentNumber, _ assessed: RowEvaluation?, isRefused: Bool, isNoted: Bool,
        noting note: (KeyBytes, RowOverlay) -> Void
    ) {
        guard let evaluation = assessed ?? evaluations[number] else { return }
        let isWithheld = isRefused && evaluation.error == nil  // mutant: shared-rows
        guard assessed != nil || isWithheld != (withheld[number] != nil) else { return }
        let writesBefore = shownWrites(of: number)
        if let assessed {
            let old = evaluations[number]
            evaluations[number] = assessed
            ranges[number] = assessed.spans.isEmpty ? nil : assessed.spans
            replaceReads(of: number, old?.reads ?? [], by: assessed.reads)
        }
        withheld[number] = isWithheld ? () : nil
        replaceWrites(
            of: number, writesBefore, by: isWithheld ? [] : evaluation.writes, isNoted: isNoted,
            noting: note)
    }

    /// Removes the intent; the intents that saw its rows become dirty.
    ///
    /// `isNoted` and `note` are those of ``take(_:_:isRefused:isNoted:noting:)``.
    package mutating func remove(
        _ number: IntentNumber, isNoted: Bool, noting note: (KeyBytes, RowOverlay) -> Void
    ) {
        dirty[number] = nil
        guard let evaluation = evaluations[number] else { return }
        let writesBefore = shownWrites(of: number)
        evaluations[number] = nil
        ranges[number] = nil
        withheld[number] = nil
        replaceReads(of: number, evaluation.reads, by: [])
        replaceWrites(of: number, writesBefore, by: [], isNoted: isNoted, noting: note)
    }

    /// The writes of the intent that are in the chains.
    private func shownWrites(of number: IntentNumber) -> [(key: KeyBytes, value: RowValue)] {
        withheld[number] == nil ? evaluations[number]?.writes ?? [] : []
    }

    /// Replaces an intent's writes in the chains, and marks the affected readers dirty.
    private mutating func replaceWrites(
        of number: IntentNumber, _ writesBefore: [(key: KeyBytes, value: RowValue)],
        by writes: [(key: KeyBytes, value: RowValue)],
        isNoted: Bool, noting note: (KeyBytes, RowOverlay) -> Void
    ) {
        // Most intents are applied for the first time, or leave. Then there is nothing to compare.
        var before: [KeyBytes: RowValue] = [:]
        if !writes.isEmpty {
            for (key, value) in writesBefore { before[key] = value }
        }
        for (key, value) in writes where before.removeValue(forKey: key) != value {
            if isNoted { note(key, self) }
            let readers = change(key) { chain in
                chain.writers[number] = value
                return chain.readers(after: number)
            }
            markDirty(readers, andReadersOfRangesWith: key, after: number)
        }
        // The intent no longer writes the rows that are left.
        for (key, _) in writesBefore where writes.isEmpty || before[key] != nil {
            if isNoted { note(key, self) }  // mutant: row-change-noted
            change(key) { $0.writers[number] = nil }  // mutant: row-unwritten
            markReadersDirty(key, after: number)
        }
    }

    private mutating func replaceReads(
        of number: IntentNumber, _ old: [(key: KeyBytes, value: RowValue)],
        by new: [(key: KeyBytes, value: RowValue)]
    ) {
        guard !old.isEmpty, !new.isEmpty else {
            for (key, _) in old { change(key) { $0.readers[number] = nil } }
            for (key, _) in new { change(key) { $0.readers[number] = () } }
            return
        }
        let (keys, keysBefore) = (Set(new.map(\.key)), Set(old.map(\.key)))
        for key in keysBefore.subtracting(keys) { change(key) { $0.readers[number] = nil } }
        for key in keys.subtracting(keysBefore) { change(key) { $0.readers[number] = () } }
    }

    private mutating func change<R>(_ key: KeyBytes, _ body: (inout RowChain) -> R) -> R {
        chains.change(key, or: RowChain(), removedIf: { $0.isEmpty }, body)
    }
}

/// A projection's `apply` without its types. Returns the error that `apply` threw; nil if the event
/// applies.
package typealias RowApply = @Sendable (Folded, inout TouchedRows) -> (any Error)?

/// The rows that an intent of the overlay sees: confirmed rows, changed by the intents before it.
struct RowsBelowIntent: RowsBelow {
    let number: IntentNumber
    let chains: SortedMap<KeyBytes, RowChain>
    let confirmed: ConfirmedRows

    func value(at key: KeyBytes) throws(LogError) -> RowValue {
        if let written = chains[key]?.writers.last(before: number)?.value { return written }
        return try confirmed.value(at: key)
    }

    func keys(in span: KeySpan) throws(LogError) -> [KeyBytes] {
        var changes: [KeyBytes: Bool] = [:]
        chains.scan(span, backwards: false) { key, chain in
            changes[key] = chain.writers.last(before: number).map { $0.value != .absent }
            return true
        }
        return try confirmed.keys(in: span).merged(with: changes)
    }
}

extension [KeyBytes] {
    /// Returns these keys with newer changes, ascending. True adds a key, false removes it.
    fileprivate func merged(with changes: [KeyBytes: Bool]) -> [KeyBytes] {
        guard !changes.isEmpty else { return self }
        let unchanged = filter { changes[$0] == nil }
        return (unchanged + changes.filter(\.value).keys).sorted()
    }
}

/// Confirmed rows as the transaction being prepared leaves them: in memory, or in a log.
package struct ConfirmedRows: RowsBelow, Sendable {
    private enum Home: Sendable {
        case memory(SortedMap<KeyBytes, [UInt8]>)
        case log(any LogStorage)
    }

    private var home: Home
    /// Rows that changed since the last commit. Always empty for rows in memory.
    package private(set) var changed = SortedMap<KeyBytes, RowValue>()
    /// The approximate bytes of `changed`, keys included; a row that changed twice counts twice.
    package private(set) var changedBytes = 0

    /// Creates an empty set of rows in memory.
    package init() { home = .memory(SortedMap()) }

    /// Uses these rows in memory.
    package init(inMemory rows: SortedMap<KeyBytes, [UInt8]>) { home = .memory(rows) }

    /// Uses the rows of a log, as its last commit has them.
    package init(of storage: any LogStorage) { home = .log(storage) }

    /// Whether the rows are in a log.
    package var isStored: Bool {
        switch home {
        case .memory: false
        case .log: true
        }
    }

    package func value(at key: KeyBytes) throws(LogError) -> RowValue {
        if let value = changed[key] { return value }  // mutant: own-rows
        switch home {
        case .memory(let rows): return RowValue(rows[key])
        case .log(let storage): return RowValue(try storage.rowForWriting(at: key))
        }
    }

    package func keys(in span: KeySpan) throws(LogError) -> [KeyBytes] {
        switch home {
        case .memory(let rows):
            var keys: [KeyBytes] = []
            rows.scan(span, backwards: false) { key, _ in
                keys.append(key)
                return true
            }
            return keys
        case .log(let storage):
            var changes: [KeyBytes: Bool] = [:]
            changed.scan(span, backwards: false) { key, value in
                changes[key] = value != .absent
                return true
            }
            return try storage.rowKeysForWriting(in: span).merged(with: changes)
        }
    }

    /// Changes a row in memory, or adds it to the changes for the log.
    package mutating func set(_ value: RowValue, at key: KeyBytes) {
        switch home {
        case .memory(var rows):
            // Releases the reference in the enum. With two references, the change would copy the
            // map.
            home = .memory(SortedMap())
            rows[key] = value.bytes
            home = .memory(rows)
        case .log:
            changed[key] = value
            changedBytes += key.bytes.count + (value.bytes?.count ?? 0)
        }
    }

    /// Forgets the changes, because they are committed to the log.
    package mutating func committed() {
        changed = SortedMap()
        changedBytes = 0
    }

    /// The rows in memory; empty for rows in a log.
    package var rows: SortedMap<KeyBytes, [UInt8]> {
        switch home {
        case .memory(let rows): rows
        case .log: SortedMap()
        }
    }
}
