/// A settled intent that a command names, with its row.
package struct SettledIntentRow: Sendable {
    let row: SettlementRow
    let intent: SettledIntent
}

extension WorkingLog {
    /// Returns the named intents that are recorded and not in the overlay, with their rows. Reads
    /// rows of this transaction before rows of the last commit.
    ///
    /// - Throws: `.damaged` if a row says that its intent is in the overlay; errors of reading the
    ///   row.
    package func lookUpSettled(
        _ named: [IntentNumber], in storage: any LogStorage, _ codec: any PayloadCodec
    ) throws(LogError) -> [IntentNumber: SettledIntentRow] {
        var subjects: [IntentNumber: SettledIntentRow] = [:]
        for number in named {
            guard fold.state.wasRecorded(number), fold.state.overlay[number] == nil,
                subjects[number] == nil
            else { continue }
            let (row, recorded) = try storage.settledIntent(
                number, codec: codec, uncommitted: batch)
            guard let settlement = row.settlement else {
                throw .damaged(
                    path: storage.path, sequence: nil,
                    reason: "intent \(number) should be in the overlay and is not")
            }
            subjects[number] = SettledIntentRow(
                row: row, intent: SettledIntent(recorded: recorded, settlement: settlement))
        }
        return subjects
    }
}
