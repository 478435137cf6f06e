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
/// ``nextDirty()`` returns the lowest dirty number first. Applying an intent changes only what
/// intents with higher numbers see, so it makes only higher numbers dirty. While nothing else
/// changes, the number therefore rises with each step: each intent is checked at most once and
/// applied at most once, and the work ends after the last intent of the overlay.
///
/// ## Invariants
///
/// Always, after each call:
/// - A row's chain has exactly the intents whose evaluation read the row (except in a range) or
///   writes it, each writer with its value. No chain is empty.
/// - `conflicted` and `ranges` name only intents that have an evaluation. A conflicted intent
///   writes nothing. Its reads are kept, so a change to them makes it dirty (F9).
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
    /// The intents that do not apply to the rows below them, with the errors as text (F9).
    package private(set) var conflicted = NumberMap<IntentNumber, String>()
    /// The ranges of keys that intents have read. Few intents read any.
    private var ranges = NumberMap<IntentNumber, [KeySpan]>()
    /// Dirty intents. True if the intent must be applied again even if the rows that it read are
    /// the same, because its event changed or because it read a range.
    private var dirty = NumberMap<IntentNumber, Bool>()
    /// The number of calls of `apply`.
    package private(set) var count = 0

    package init() {}

    /// Removes and returns the dirty intent with the lowest number; nil if nothing is dirty.
    ///
    /// - Returns: `isReplaced` is true if the intent must be applied again without comparing its
    ///   reads.
    package mutating func nextDirty() -> (number: IntentNumber, isReplaced: Bool)? {
        guard let (number, isReplaced) = dirty.first else { return nil }
        dirty[number] = nil
        return (number, isReplaced)
    }

    /// Marks an intent dirty whose own event changed, or that is in the overlay again.
    package mutating func markDirty(_ number: IntentNumber) { dirty[number] = true }

    /// Marks the readers of a confirmed row dirty, because its value changed or may have changed.
    package mutating func confirmedChanged(_ key: KeyBytes) { markReadersDirty(key, after: 0) }

    /// Marks the intents dirty that see the row's value after `number`; 0 stands for the confirmed
    /// row.
    private mutating func markReadersDirty(_ key: KeyBytes, after number: IntentNumber) {
        for (reader, spans) in ranges.from(number.next)
        where spans.contains(where: { $0.contains(key) }) {  // mutant: range-readers
            dirty[reader] = true
        }
        guard let chain = chains[key] else { return }
        for reader in chain.readers(after: number) where dirty[reader] == nil {
            dirty[reader] = false
        }
    }

    /// Returns whether all rows that the intent read by key have the values that it saw.
    ///
    /// - Returns: false also for an intent that was not applied yet.
    /// - Throws: `.damaged` or `.storage` if a confirmed row cannot be read.
    /// - Complexity: one lookup for each row that the intent read.
    package func readsUnchanged(
        _ number: IntentNumber, over confirmed: ConfirmedRows
    ) throws(FoldbackError) -> Bool {
        guard let evaluation = evaluations[number] else { return false }
        let below = RowsBelowIntent(number: number, chains: chains, confirmed: confirmed)
        for (key, value) in evaluation.reads where try below.value(at: key) != value {
            return false  // mutant: reads-compared
        }
        return true
    }

    /// Applies the intent to the rows below it, and replaces its evaluation.
    ///
    /// The readers after it of each row that it now writes differently become dirty.
    ///
    /// - Parameter note: called with each row whose value in the chain is about to change, and the
    ///   overlay before that change.
    /// - Returns: the error that `apply` threw, which makes the intent conflicted (F9); nil if it
    ///   applies.
    /// - Throws: `.damaged` or `.storage` if a row below cannot be read. Chains and evaluations are
    ///   as before.
    package mutating func evaluate(
        _ intent: UnsettledIntent, by apply: RowApply, _ schema: StoredSchema,
        over confirmed: ConfirmedRows, noting note: (KeyBytes, RowOverlay) -> Void
    ) throws(FoldbackError) -> (any Error)? {
        let number = intent.recorded.number
        count += 1
        var rows = TouchedRows(
            schema, over: RowsBelowIntent(number: number, chains: chains, confirmed: confirmed))
        let context = EventContext(.intent(intent.recorded.id))
        let error = apply(Folded(payload: intent.payload, context: context), &rows)
        if let failure = rows.failure { throw failure }
        let writes = error == nil ? rows.writes : []
        ranges[number] = rows.spans.isEmpty ? nil : rows.spans
        replace(number, by: RowEvaluation(reads: rows.reads, writes: writes), noting: note)
        conflicted[number] = error.map { "\($0)" }
        return error
    }

    /// Removes the intent; the intents that saw its rows become dirty.
    ///
    /// - Parameter note: as in ``evaluate(_:by:_:over:noting:)``.
    package mutating func remove(
        _ number: IntentNumber, noting note: (KeyBytes, RowOverlay) -> Void
    ) {
        dirty[number] = nil
        conflicted[number] = nil
        ranges[number] = nil
        replace(number, by: nil, noting: note)
    }

    /// Replaces an intent's evaluation, updates the chains, and marks the affected readers dirty.
    private mutating func replace(
        _ number: IntentNumber, by new: RowEvaluation?,
        noting note: (KeyBytes, RowOverlay) -> Void
    ) {
        let old = evaluations[number]
        evaluations[number] = new
        let keys = Set((new?.reads ?? []).map(\.key))
        let keysBefore = Set((old?.reads ?? []).map(\.key))
        for key in keysBefore.subtracting(keys) { change(key) { $0.readers[number] = nil } }
        for key in keys.subtracting(keysBefore) { change(key) { $0.readers[number] = () } }
        var before: [KeyBytes: RowValue] = [:]
        for (key, value) in old?.writes ?? [] { before[key] = value }
        for (key, value) in new?.writes ?? [] where before.removeValue(forKey: key) != value {
            note(key, self)
            change(key) { $0.writers[number] = value }
            markReadersDirty(key, after: number)
        }
        // The intent no longer writes the rows that are left.
        for key in before.keys {
            note(key, self)  // mutant: row-change-noted
            change(key) { $0.writers[number] = nil }  // mutant: row-unwritten
            markReadersDirty(key, after: number)
        }
    }

    private mutating func change(_ key: KeyBytes, _ body: (inout RowChain) -> Void) {
        var chain = chains[key] ?? RowChain()
        body(&chain)
        chains[key] = chain.isEmpty ? nil : chain
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

    func value(at key: KeyBytes) throws(FoldbackError) -> RowValue {
        if let written = chains[key]?.writers.last(before: number)?.value { return written }
        return try confirmed.value(at: key)
    }

    func keys(in span: KeySpan) throws(FoldbackError) -> [KeyBytes] {
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

    /// Uses the rows of a log, as its last commit has them.
    package init(of storage: any LogStorage) { home = .log(storage) }

    /// Whether the rows are in a log.
    package var isStored: Bool {
        switch home {
        case .memory: false
        case .log: true
        }
    }

    package func value(at key: KeyBytes) throws(FoldbackError) -> RowValue {
        if let value = changed[key] { return value }  // mutant: own-rows
        switch home {
        case .memory(let rows): return RowValue(rows[key])
        case .log(let storage): return RowValue(try storage.rowForWriting(at: key))
        }
    }

    package func keys(in span: KeySpan) throws(FoldbackError) -> [KeyBytes] {
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
