/// How a settled intent stands, and the entries that say so.
///
/// The row stays when the server's word brings the intent back into the overlay, because it says where the
/// intent's own entry is, which replaying needs.
package struct SettlementRow: Equatable, Sendable {
    /// Nil: it is back in the overlay (F7).
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

/// The settlements of intents, kept by the effects of entries.
///
/// The writer has those that its command names, the verifier and a history's fold have all of a log.
package struct SettlementBook: Sendable {
    private var rows: [IntentNumber: SettlementRow]

    package init(_ rows: [IntentNumber: SettlementRow] = [:]) { self.rows = rows }

    package subscript(number: IntentNumber) -> SettlementRow? { rows[number] }

    package var numbers: some Collection<IntentNumber> { rows.keys }

    /// Takes in what an entry does to settlements.
    ///
    /// An intent is left out where the entry changes an old settlement that the book does not have, as in a history
    /// whose entries were taken out.
    /// - Parameter sequence: of the entry.
    /// - Returns: the settlement of each intent that has another one now.
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
