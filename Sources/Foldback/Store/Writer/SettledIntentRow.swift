/// A settled intent that a command names, with its row.
package struct SettledIntentRow: Sendable {
    let row: SettlementRow
    let intent: SettledIntent
}

extension WorkingLog {
    /// What the log knows of those intents that the overlay does not have.
    package func lookUpSettled(
        _ named: [IntentNumber], in storage: any LogStorage, _ codec: any PayloadCodec
    ) throws(FoldbackError) -> [IntentNumber: SettledIntentRow] {
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
