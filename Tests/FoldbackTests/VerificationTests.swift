import Foldback
import FoldbackHistory
import FoldbackLMDB
import Foundation
import TestSupport
import Testing

/// Question: does verify find damage and a changed `apply`, and does it report nothing in a sound
/// store?
@Suite struct VerificationTests {
    private let directory = TemporaryDirectory()

    private func open<P: Projection>(
        _ projection: P.Type = Board.self
    ) async throws(LogError) -> Store<P> {
        try await Store.open(
            at: directory.log, projection, confirmedBy: .downlink, durability: .relaxed,
            checkpoints: .manual, replica: .exactly(ReplicaID("me")!))
    }

    @Test(arguments: BoardKeeper.allCases)
    func `verify finds no damage in a sound store that keeps writing`(
        keeper: BoardKeeper
    ) async throws {
        let store = try await keeper.open(
            at: directory.log, checkpoints: .eager, replica: "me")
        try await store.fillNineEntries()
        let writing = Task {
            // The loop is finite because verify cannot catch up with an endless writer of the same
            // speed.
            for number in 7...300 {
                let receipt = try await store.record(.set("w", number))
                try await store.reject(receipt.number)
                _ = try await store.enqueue(.change(receipt.number, .dismiss)).outcome()
            }
        }
        for _ in 1...5 {
            #expect(try await store.verify().findings == [])
        }
        try await writing.value
        let verification = try await store.verify()
        #expect(verification.findings == [] && verification.notCompared == [])
        await store.close()
    }

    @Test func `verify finds an apply that changed without a new version`() async throws {
        let first = try await open()
        try await first.fillNineEntries()
        try await first.checkpoint()
        #expect(try await first.verify().checkpointsCompared == 1)
        await first.close()
        let second = try await open(ForgetfulBoard.self)
        #expect(second.replayStart.checkpoint == 9)
        let places = try await second.verify().findings.map(\.place)
        #expect(places == [.checkpoint(9), .view(projection: ForgetfulBoard.name)])
        await second.close()
    }

    @Test func `verify finds damaged records and verdicts and names their places`() async throws {
        let store = try await open()
        try await store.fillNineEntries()
        await store.close()
        let environment = try Environment.open(directory.log.path)
        try environment.write { transaction throws(LMDBError) in
            let verdicts: Table<UInt64> = try transaction.table("verdicts")
            let row = SettlementRow(
                settlement: .withdrawn, intentSequence: 3, settlementSequence: 7)
            try transaction.put(row.encoded(for: 3), at: 3, in: verdicts)
            _ = try transaction.delete(1, from: verdicts)
        }
        environment.close()
        var reader = try LogReader(at: directory.log)
        let verdicts = try reader.verify(Board.self).findings
        #expect(verdicts.map(\.place) == [.settlement(1), .settlement(3)])
        reader.close()
        let reopened = try Environment.open(directory.log.path)
        try reopened.write { transaction throws(LMDBError) in
            let entries: Table<UInt64> = try transaction.table("entries")
            for sequence in [4, 8] as [UInt64] {
                try transaction.put([1, 2, 3, 4, 5, 6, 7, 8, 9], at: sequence, in: entries)
            }
        }
        reopened.close()
        reader = try LogReader(at: directory.log)
        #expect(
            try reader.verify(Board.self).findings.map(\.place) == [.entry(4), .entry(8)])
        reader.close()
    }

    @Test func `F9: verify finds damaged shared conflicts, and does not compare the views`()
        async throws
    {
        let store = try await Store.open(
            at: directory.log, Channels.self, also: [AdditionalProjection(MessageRows.self)],
            confirmedBy: .downlink, durability: .relaxed, checkpoints: .manual,
            replica: .exactly(ReplicaID("me")!))
        _ = try await store.record(.posted(channel: 7, message: 1), force: true)
        try await store.confirm([ConfirmedEvent(position: 1, event: .created(channel: 1))])
        #expect(
            try await store.verify()
                == Verification(
                    entriesFolded: 2, checkpointsCompared: 0, findings: []))
        try store.core.storage.forgeSharedConflicts([1, 2, 3])
        let found = try await store.verify()
        #expect(found.findings.map(\.place) == [.file])
        #expect(found.findings.first?.what.hasPrefix("shared conflicts: ") == true)
        #expect(found.notCompared == [Channels.name, MessageRows.name])
        await store.close()
        let reader = try LogReader(at: directory.log)
        // The log cannot say which projections its views need, so none is required.
        #expect(try reader.verify(Channels.self).findings == found.findings)
        reader.close()
    }

    @Test func `F9: verify refuses shared conflicts in a newer format`() async throws {
        let store = try await open()
        var newer = ByteWriter()
        newer.fixed(UInt8(2))
        _ = newer.seal(
            seed: SharedConflicts.key.bytes.withUnsafeBytes { Checksum.of($0, seed: 0) })
        try store.core.storage.forgeSharedConflicts(newer.bytes)
        let refused = await error { () throws(LogError) in try await store.verify() }
        guard case .newerFormat(_, sequence: nil, _) = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        await store.close()
    }
}

extension LogStorage {
    fileprivate func forgeSharedConflicts(_ bytes: [UInt8]) throws {
        try write([TableWrite(.log, .bytes(SharedConflicts.key), bytes)])
    }
}

/// A board that folds the same events differently, under the same name and version.
private struct ForgetfulBoard: Projection, Codable {
    var cells: [String: Int] = [:]
    static var name: String { Board.name }
    static var codec: any EventCodec<Move> { MoveCodec() }

    mutating func apply(_ move: Move, _ context: EventContext) throws {
        if case .set(let key, let value) = move { cells[key] = -value }
    }
}
