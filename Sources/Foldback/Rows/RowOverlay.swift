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
    package private(set) var chains = OrderedMap<KeyBytes, RowChain>()
    private var evaluations = NumberMap<IntentNumber, RowEvaluation>()
    package private(set) var conflicted = NumberMap<IntentNumber, String>()
    /// Intents that have asked for ranges, of which there are few.
    private var ranges = NumberMap<IntentNumber, [KeySpan]>()
    /// Intents to be looked at again; true: whatever they find, for they are another than they were.
    private var due = NumberMap<IntentNumber, Bool>()
    /// How often `apply` was called.
    package private(set) var count = 0

    package init() {}

    /// The next that is due, and whether something is different about the intent itself.
    package mutating func nextDue() -> (number: IntentNumber, isOther: Bool)? {
        guard let (number, isOther) = due.first else { return nil }
        due[number] = nil
        return (number, isOther)
    }

    package mutating func becomeDue(_ number: IntentNumber) { due[number] = true }

    /// The confirmed row came out otherwise, or may have.
    package mutating func confirmedChanged(_ key: KeyBytes) { lookAgain(key, behind: 0) }

    private mutating func lookAgain(_ key: KeyBytes, behind number: IntentNumber) {
        for (reader, spans) in ranges.from(number.next)
        where spans.contains(where: { $0.contains(key) }) { due[reader] = true }
        guard let chain = chains[key] else { return }
        for reader in chain.readers(behind: number) where due[reader] == nil {
            due[reader] = false
        }
    }

    /// Whether the intent would find what it found when it was applied.
    package func findsTheSame(
        _ number: IntentNumber, over confirmed: ConfirmedRows
    ) throws(FoldbackError) -> Bool {
        guard let evaluation = evaluations[number] else { return false }
        let below = RowsBelowIntent(number: number, chains: chains, confirmed: confirmed)
        for (key, value) in evaluation.found where try below.value(at: key) != value {
            return false
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
        let made = error == nil ? rows.made : []
        ranges[number] = rows.spans.isEmpty ? nil : rows.spans
        replace(number, by: RowEvaluation(found: rows.found, made: made), noting: note)
        conflicted[number] = error.map { "\($0)" }
        return error
    }

    /// Takes the intent out: those who saw what it made look again.
    package mutating func leave(
        _ number: IntentNumber, noting note: (KeyBytes, RowOverlay) -> Void
    ) {
        due[number] = nil
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
        let found = Set((new?.found ?? []).map(\.key))
        let foundBefore = Set((old?.found ?? []).map(\.key))
        for key in foundBefore.subtracting(found) { change(key) { $0.readers[number] = nil } }
        for key in found.subtracting(foundBefore) { change(key) { $0.readers[number] = () } }
        var before: [KeyBytes: RowValue] = [:]
        for (key, value) in old?.made ?? [] { before[key] = value }
        for (key, value) in new?.made ?? [] where before.removeValue(forKey: key) != value {
            note(key, self)
            change(key) { $0.makers[number] = value }
            lookAgain(key, behind: number)
        }
        // What is left, it does not make any more.
        for key in before.keys {
            note(key, self)
            change(key) { $0.makers[number] = nil }
            lookAgain(key, behind: number)
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
    let chains: OrderedMap<KeyBytes, RowChain>
    let confirmed: ConfirmedRows

    func value(at key: KeyBytes) throws(FoldbackError) -> RowValue {
        if let made = chains[key]?.makers.last(before: number)?.value { return made }
        return try confirmed.value(at: key)
    }

    func keys(in span: KeySpan) throws(FoldbackError) -> [KeyBytes] {
        var made: [KeyBytes: Bool] = [:]
        chains.scan(span, backwards: false) { key, chain in
            made[key] = chain.makers.last(before: number).map { $0.value != .absent }
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
        case memory(OrderedMap<KeyBytes, [UInt8]>)
        case log(any LogStorage)
    }

    private var home: Home
    /// Changed since the last commit.
    package private(set) var changed = OrderedMap<KeyBytes, RowValue>()
    /// Bytes of these, roughly.
    package private(set) var changedBytes = 0

    /// Rows of their own, in memory.
    package init() { home = .memory(OrderedMap()) }

    package init(of storage: any LogStorage) { home = .log(storage) }

    package var isStored: Bool {
        switch home {
        case .memory: false
        case .log: true
        }
    }

    package func value(at key: KeyBytes) throws(FoldbackError) -> RowValue {
        if let value = changed[key] { return value }
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
            home = .memory(OrderedMap())
            rows[key] = value.bytes
            home = .memory(rows)
        case .log:
            changed[key] = value
            changedBytes += key.bytes.count + (value.bytes?.count ?? 0)
        }
    }

    /// What was changed is in the log now.
    package mutating func committed() {
        changed = OrderedMap()
        changedBytes = 0
    }

    /// Those in memory.
    package var rows: OrderedMap<KeyBytes, [UInt8]> {
        switch home {
        case .memory(let rows): rows
        case .log: OrderedMap()
        }
    }
}
