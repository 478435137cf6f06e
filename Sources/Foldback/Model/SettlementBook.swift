/// The settlement of an intent, and the sequences of the entries that recorded and settled it.
///
/// If the server's answer returns the intent to the overlay, the row stays, because replaying needs
/// the sequence of the intent's own entry.
package struct SettlementRow: Equatable, Sendable {
    /// The settlement; nil if the intent is back in the overlay (F7).
    package let settlement: Settlement?
    package let intentSequence: LogSequence
    package let settlementSequence: LogSequence

    package init(
        settlement: Settlement?, intentSequence: LogSequence, settlementSequence: LogSequence
    ) {
        self.settlement = settlement
        self.intentSequence = intentSequence
        self.settlementSequence = settlementSequence
    }
}

/// The settlements of intents, updated by the effects of entries.
///
/// The writer's book holds the intents that its command names. The books of the verifier and of a
/// history's fold hold all settled intents of a log.
package struct SettlementBook: Sendable {
    private var rows: [IntentNumber: SettlementRow]

    package init(_ rows: [IntentNumber: SettlementRow] = [:]) { self.rows = rows }

    package subscript(number: IntentNumber) -> SettlementRow? { rows[number] }

    package var numbers: some Collection<IntentNumber> { rows.keys }

    /// Adds a settlement that the book does not know from entries.
    package mutating func add(_ row: SettlementRow, of number: IntentNumber) { rows[number] = row }

    /// Forgets a settlement.
    package mutating func remove(_ number: IntentNumber) { rows[number] = nil }

    /// Applies the effects of an entry to the settlements.
    ///
    /// If the entry changes an earlier settlement that the book lacks, the intent is skipped. This
    /// happens in a history without some of its entries.
    ///
    /// - Parameter sequence: The entry's sequence.
    /// - Returns: The new row of each intent whose settlement changed.
    @discardableResult
    package mutating func apply(
        _ effects: Effects, at sequence: LogSequence
    ) -> [(number: IntentNumber, row: SettlementRow)] {
        var changed: [(number: IntentNumber, row: SettlementRow)] = []
        for change in effects.settlements {
            let old = rows[change.number]
            guard let intent = change.intentSequence ?? old?.intentSequence,
                let settlement = change.settlementSequence ?? old?.settlementSequence
            else { continue }
            let row = SettlementRow(
                settlement: change.settlement, intentSequence: intent,
                settlementSequence: settlement)
            rows[change.number] = row
            changed.append((change.number, row))
        }
        for number in effects.reopened {
            guard let old = rows[number] else { continue }
            let row = SettlementRow(
                settlement: nil, intentSequence: old.intentSequence, settlementSequence: sequence)
            rows[number] = row
            changed.append((number, row))
        }
        return changed
    }
}
