/// What the overlay makes of rows, kept so that a change costs what is connected with it.
///
/// Each intent is applied once to the rows below it, and what it found and made is kept. When a row comes
/// out otherwise, those who asked for it above that place, up to the next who changes it, are looked at
/// again, in order of number: whoever finds all as it was is left alone, whoever does not is applied again,
/// and so on where its own rows come out otherwise. Rejecting, confirming, rewording, a foreign event: all
/// are rows that come out otherwise at some place.
///
/// Invariants, once nothing is due:
/// - `evaluations` has exactly the folded intents of the overlay, each as applying it now would give;
/// - a row's chain has exactly the intents that found or made it.
package struct RowOverlay: Sendable {
    package private(set) var chains = SortedMap<KeyBytes, RowChain>()
    private var evaluations = NumberMap<IntentNumber, RowEvaluation>()
    package private(set) var conflicted = NumberMap<IntentNumber, String>()
    /// Intents that have asked for ranges, of which there are few.
    private var ranges = NumberMap<IntentNumber, [KeySpan]>()
    /// Intents to be looked at again; true: whatever they find, for they are another than they were.
    private var dirty = NumberMap<IntentNumber, Bool>()
    /// How often `apply` was called.
    package private(set) var count = 0

    package init() {}

    /// The next that is due, and whether something is different about the intent itself.
    package mutating func nextDirty() -> (number: IntentNumber, isReplaced: Bool)? {
        guard let (number, isReplaced) = dirty.first else { return nil }
        dirty[number] = nil
        return (number, isReplaced)
    }

    package mutating func markDirty(_ number: IntentNumber) { dirty[number] = true }

    /// The confirmed row came out otherwise, or may have.
    package mutating func confirmedChanged(_ key: KeyBytes) { markReadersDirty(key, behind: 0) }

    private mutating func markReadersDirty(_ key: KeyBytes, behind number: IntentNumber) {
        for (reader, spans) in ranges.from(number.next)
        where spans.contains(where: { $0.contains(key) }) {  // mutant: range-readers
            dirty[reader] = true
        }
        guard let chain = chains[key] else { return }
        for reader in chain.readers(behind: number) where dirty[reader] == nil {
            dirty[reader] = false
        }
    }

    /// Whether the intent would find what it found when it was applied.
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

    /// Applies the intent to the rows below it, and keeps what comes of it.
    ///
    /// - Returns: what `apply` threw.
    /// - Throws: where a row below cannot be read; nothing has changed then.
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

    /// Takes the intent out: those who saw what it made look again.
    package mutating func remove(
        _ number: IntentNumber, noting note: (KeyBytes, RowOverlay) -> Void
    ) {
        dirty[number] = nil
        conflicted[number] = nil
        ranges[number] = nil
        replace(number, by: nil, noting: note)
    }

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
            markReadersDirty(key, behind: number)
        }
        // What is left, it does not make any more.
        for key in before.keys {
            note(key, self)  // mutant: row-change-noted
            change(key) { $0.writers[number] = nil }  // mutant: row-unwritten
            markReadersDirty(key, behind: number)
        }
    }

    private mutating func change(_ key: KeyBytes, _ body: (inout RowChain) -> Void) {
        var chain = chains[key] ?? RowChain()
        body(&chain)
        chains[key] = chain.isEmpty ? nil : chain
    }
}

/// A projection's `apply`, without its types: what it threw, nil if the event applies.
package typealias RowApply = @Sendable (Folded, inout TouchedRows) -> (any Error)?

/// The rows as an intent of the overlay finds them.
struct RowsBelowIntent: RowsBelow {
    let number: IntentNumber
    let chains: SortedMap<KeyBytes, RowChain>
    let confirmed: ConfirmedRows

    func value(at key: KeyBytes) throws(FoldbackError) -> RowValue {
        if let made = chains[key]?.writers.last(before: number)?.value { return made }
        return try confirmed.value(at: key)
    }

    func keys(in span: KeySpan) throws(FoldbackError) -> [KeyBytes] {
        var made: [KeyBytes: Bool] = [:]
        chains.scan(span, backwards: false) { key, chain in
            made[key] = chain.writers.last(before: number).map { $0.value != .absent }
            return true
        }
        return try confirmed.keys(in: span).merged(made)
    }
}

extension [KeyBytes] {
    /// These keys, ascending, with what has been made of some rows since: true, it is there.
    fileprivate func merged(_ made: [KeyBytes: Bool]) -> [KeyBytes] {
        guard !made.isEmpty else { return self }
        let left = filter { made[$0] == nil }
        return (left + made.filter(\.value).keys).sorted()
    }
}

/// Confirmed rows as the transaction being prepared leaves them.
package struct ConfirmedRows: RowsBelow, Sendable {
    private enum Home: Sendable {
        case memory(SortedMap<KeyBytes, [UInt8]>)
        case log(any LogStorage)
    }

    private var home: Home
    /// Changed since the last commit.
    package private(set) var changed = SortedMap<KeyBytes, RowValue>()
    /// Bytes of these, roughly.
    package private(set) var changedBytes = 0

    /// Rows of their own, in memory.
    package init() { home = .memory(SortedMap()) }

    package init(of storage: any LogStorage) { home = .log(storage) }

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
            var made: [KeyBytes: Bool] = [:]
            changed.scan(span, backwards: false) { key, value in
                made[key] = value != .absent
                return true
            }
            return try storage.rowKeysForWriting(in: span).merged(made)
        }
    }

    package mutating func set(_ value: RowValue, at key: KeyBytes) {
        switch home {
        case .memory(var rows):
            // Without the case's own reference, so that the map is not copied.
            home = .memory(SortedMap())
            rows[key] = value.bytes
            home = .memory(rows)
        case .log:
            changed[key] = value
            changedBytes += key.bytes.count + (value.bytes?.count ?? 0)
        }
    }

    /// What was changed is in the log now.
    package mutating func committed() {
        changed = SortedMap()
        changedBytes = 0
    }

    /// Those in memory.
    package var rows: SortedMap<KeyBytes, [UInt8]> {
        switch home {
        case .memory(let rows): rows
        case .log: SortedMap()
        }
    }
}
