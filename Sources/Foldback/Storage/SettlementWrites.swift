/// The settlements that a transaction writes, in order of number.
///
/// Answers mostly come in the order of their intents, so a settlement is mostly the last.
struct SettlementWrites: Sendable {
    private var rows: [(number: IntentNumber, row: SettlementRow)] = []

    /// The settlement of an intent; nil if the transaction writes none.
    subscript(number: IntentNumber) -> SettlementRow? {
        let place = place(of: number)
        return isThere(number, at: place) ? rows[place].row : nil
    }

    /// Replaces or adds the settlement of an intent.
    ///
    /// - Complexity: O(1) to add the settlement of the highest number, else O(n).
    mutating func set(_ row: SettlementRow, of number: IntentNumber) {
        let place = place(of: number)
        if isThere(number, at: place) {
            rows[place].row = row
        } else {
            rows.insert((number, row), at: place)
        }
    }

    /// The settlements as writes.
    var writes: [TableWrite] {
        rows.map { TableWrite(.verdicts, LogKey($0.number), $0.row.encoded(for: $0.number)) }
    }

    private func isThere(_ number: IntentNumber, at place: Int) -> Bool {
        place < rows.count && rows[place].number == number
    }

    /// Returns the place of a number, or where it would be.
    private func place(of number: IntentNumber) -> Int {
        if let last = rows.last, last.number < number { return rows.count }
        return rows.partitioningIndex { $0.number >= number }
    }
}
