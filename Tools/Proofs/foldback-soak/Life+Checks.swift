import Foldback
import FoldbackHistory
import Foundation

/// What is compared with the model.
extension Life {
    /// Compares everything that the store shows with the model.
    mutating func compare(_ store: Store<Shelf>, _ when: String) throws {
        func require(_ what: String, _ shown: NaiveShelf, _ model: NaiveShelf) throws {
            guard let difference = shown.difference(from: model) else { return }
            throw Finding("day \(day), \(when): \(what) is wrong: \(difference)")
        }
        func require<Value: Equatable>(_ what: String, _ shown: Value, _ model: Value) throws {
            guard shown != model else { return }
            throw Finding("day \(day), \(when): \(what): \(shown), and in the model \(model)")
        }
        let snapshot = store.snapshot
        let view = expected.view
        try require("the view", NaiveShelf(snapshot.view.items), view)
        try require(
            "the confirmed state", NaiveShelf(snapshot.confirmed.items), expected.confirmed)
        try require("pending intents", snapshot.pending, expected.numbers(in: .pending))
        try require("accepted intents", snapshot.accepted, expected.numbers(in: .accepted))
        try require("rejections", snapshot.rejections, expected.rejections.keys.sorted())
        try require("faults", snapshot.faults.count, 0)
        try require("the next number", store.status.nextIntent.value, nextNumber)
        if isUpdated {
            let (rows, count) = try store.projected(ShelfRows.self).read { rows in
                (
                    try rows.page(of: ShelfRows.items, limit: .max),
                    try rows.count(of: ShelfRows.byCount)
                )
            }
            try require("the view of rows", NaiveShelf(rows.map { ($0.key, $0.row) }), view)
            try require("the rows of the index", count, view.counts.count)
        }
        tallies.comparisons += 1
    }

    private var nextNumber: UInt64 { UInt64(expected.states.count) + 1 }

    /// Compares the states of intents of all years, answers an old one again, and accepts one that was
    /// rejected (F7).
    mutating func askForOldIntents(_ store: Store<Shelf>) async throws {
        for _ in 0..<500 {
            let value = UInt64.random(in: 1..<nextNumber, using: &random)
            let state = try state(of: IntentNumber(value), in: store)
            guard state == expected.state(of: IntentNumber(value)) else {
                throw Finding(
                    "day \(day): intent \(value) is \(state), and in the model "
                        + "\(expected.state(of: IntentNumber(value)))")
            }
            tallies.statesRead += 1
        }
        if let first = expected.states.firstIndex(of: .confirmed) {
            let again = try await store.acknowledge(IntentNumber(UInt64(first) + 1))
            guard again == .ignored(.confirmed) else {
                throw Finding("day \(day): an old intent was acknowledged again: \(again)")
            }
        }
        guard let (number, rejection) = expected.rejections.min(by: { $0.key < $1.key }),
            case .accepted(let position) = server.decide(
                rejection.event, of: IntentID(replica: Self.replica, number: number),
                isRefused: false)
        else { return }
        try await store.acknowledge(number, position: position)
        expected.accept(number)
        tallies.overridden += 1
        try compare(store, "after a rejected intent was accepted")
    }

    private mutating func state(
        of number: IntentNumber, in store: Store<Shelf>
    ) throws -> IntentState {
        do throws(LogError) { return try store.intent(number).state } catch {
            guard case .compactedIntent(number, let state) = error else { throw error }
            tallies.statesOfRemoved += 1
            return state
        }
    }

    /// Checks that a projection that is new to a compacted log is refused, and changes nothing.
    func requireHistory() async throws {
        let opened: Store<Shelf>
        do {
            opened = try await Store.open(
                at: log, Shelf.self, also: also + [AdditionalProjection(LabelCount.self)],
                confirmedBy: .downlink, durability: .relaxed, sources: time.sources)
        } catch {
            guard case .needsHistory = error else { throw error }
            return
        }
        await opened.close()
        throw Finding("day \(day): a projection got a state without the removed entries")
    }

    /// Opens the last backup in place of the log, and compares what it shows.
    mutating func compareBackup() async throws {
        let store = try await open()
        try await backUp(store)
        await store.close()
        guard let last = try backupNames().last else { return }
        let restored = try await Store.open(
            at: backups.appending(path: last, directoryHint: .isDirectory), Shelf.self, also: also,
            confirmedBy: .downlink, durability: .relaxed, sources: time.sources)
        try compare(restored, "in a backup")
        await restored.close()
    }
}
