import Foldback
import FoldbackHistory
import FoldbackTesting
import Foundation
import TestSupport
import Testing

/// An imported history must not be sent again under the ids of the replica that it came from.
@Suite struct ImportTests {
    private let directory = TemporaryDirectory()

    private func importing(_ history: RecordedHistory<[UInt8]>) async throws {
        try history.checkImport(into: directory.log)
        try await history.importLog(into: directory.log)
    }

    private func data() throws -> Data {
        try Data(contentsOf: directory.log.appending(path: "data.mdb"))
    }

    private static func raw<Event>(
        _ history: RecordedHistory<Event>
    ) throws -> RecordedHistory<[UInt8]> { try RecordedHistory(ndjson: history.ndjson) }

    @Test func `a pending intent of an import counts as sent, and cannot be withdrawn`()
        async throws
    {
        let store = Store.inMemory(Board.self, confirmedBy: .acknowledgement)
        for number in 0..<1_500 { _ = try await store.record(.set("a", number)) }
        try await store.acknowledge(1)
        try await importing(try Self.raw(store.history()))
        let log = try await Store.open(
            at: directory.log, Board.self, confirmedBy: .acknowledgement, durability: .relaxed)
        #expect(log.view == store.view && log.snapshot.pending == store.snapshot.pending)
        #expect(log.attempts.count == 1_499)
        let error = await #expect(throws: CommandError.self) { try await log.withdraw(2) }
        guard case .mayHaveLeft(2) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        await log.close()
    }

    /// A restored log continues as another replica, so its file has entries of both.
    @Test func `a history of several replicas keeps the replica of each entry`() async throws {
        let (me, you) = (try #require(ReplicaID("me")), try #require(ReplicaID("you")))
        func entry(
            _ sequence: LogSequence, _ replica: ReplicaID, _ content: LogEntry<Move>.Content
        ) -> LogEntry<Move> {
            LogEntry(
                sequence: sequence, time: Timestamp(millisecondsSince1970: 5), replica: replica,
                info: [:], content: content)
        }
        func intent(_ number: IntentNumber, _ move: Move) throws -> LogEntry<Move>.Content {
            .intent(LoggedIntent(number, try LoggedEvent(move, writtenBy: MoveCodec())))
        }
        let history = try RecordedHistory(
            kind: .downlink, replica: you,
            entries: [
                entry(1, me, try intent(1, .set("a", 1))),
                entry(2, you, try intent(2, .set("b", 2))),
                entry(
                    3, you,
                    .confirmed(
                        try [1, 2].map { number in
                            BatchEvent(
                                position: Position(number),
                                event: try LoggedEvent(
                                    Move.set("c", Int(number)), writtenBy: MoveCodec()),
                                origin: IntentID(replica: me, number: IntentNumber(number)))
                        }, through: 2)),
            ], codec: MoveCodec())
        try await importing(try Self.raw(history))
        let reader = try LogReader(at: directory.log)
        #expect(try reader.entries(from: 1, countMax: 9).map(\.replica) == [me, you, you])
        let snapshot = try reader.snapshot(of: Board.self, at: 3)
        // The second event is of another device that was "me": it confirms no intent of this log.
        #expect(snapshot.pending == [2] && snapshot.view.cells == ["c": 2, "b": 2])
        #expect(try reader.verify(Board.self).findings == [])
        #expect(try reader.status().replica != you && reader.status().nextIntent == 3)
        reader.close()
    }

    /// Property: a log that was copied several times has entries of several replicas. It shows the same after each
    /// entry as its file, and as a log imported from the file.
    @Test(arguments: LogKind.allCases)
    func `a log of several replicas shows the same from its file and imported`(
        kind: LogKind
    ) async throws {
        for seed in HistoryTests.seed..<HistoryTests.seed + TestEffort.value(quick: 2, full: 6) {
            let log = try await Self.copiedLog(kind, in: directory.url, seed: seed)
            let reader = try LogReader(at: log)
            let history = try reader.history()
            let imported = directory.url.appending(path: "imported-\(seed)")
            try await RecordedHistory(ndjson: history.ndjson).importLog(into: imported)
            let others = [try LogReader(history), try LogReader(at: imported)]
            var expected = try reader.replay(Board.self)
            var found = try others.map { try $0.replay(Board.self) }
            while let entry = try expected.next() {
                let (seen, entry) = (Self.seen(expected.snapshot), "\(entry)")
                for index in found.indices {
                    let what: Comment = "seed \(seed), \(entry), \(index)"
                    let next = try #require(try found[index].next())
                    try #require("\(next)" == entry, what)
                    for (new, old) in zip(Self.seen(found[index].snapshot), seen) {
                        try #require(new == old, what)
                    }
                }
            }
            #expect(try others[1].verify(Board.self).findings == [])
            var recorded: [IntentNumber: ReplicaID] = [:]
            for entry in try reader.entries(from: 1, countMax: 1_000) {
                guard case .intent(let intent) = entry.content else { continue }
                recorded[intent.number] = entry.replica
            }
            #expect(Set(recorded.values).count > 1)
            for index in found.indices { #expect(try found[index].next() == nil) }
            for cause in try reader.causes(of: JSONPointer([]), in: Board.self) {
                if case .confirmed = cause.entry.content { continue }
                #expect(!cause.intents.isEmpty)
                #expect(cause.intents.allSatisfy { recorded[$0.number] == $0.replica })
            }
            for reader in others + [reader] { reader.close() }
        }
    }

    private static func seen(_ snapshot: Snapshot<Board>) -> [String] {
        [
            "\(snapshot.view.cells.sorted { $0.key < $1.key })",
            "\(snapshot.confirmed.cells.sorted { $0.key < $1.key })",
            "\(snapshot.overlay.map { "\($0.id) \($0.state) \($0.retries?.value ?? 0)" })",
            "\(snapshot.rejections)", "\(snapshot.faults)", "\(snapshot.through)",
        ]
    }

    /// A log of a random script, copied four times in the middle of it.
    private static func copiedLog(
        _ kind: LogKind, in directory: URL, seed: UInt64
    ) async throws -> URL {
        var random = SeededGenerator(seed: seed)
        let script = try RandomHistory.script(kind, steps: 100, using: &random)
        var steps = script.steps[...]
        var numbers = ScriptNumbers()
        var log = directory.appending(path: "log-\(seed)-0")
        for copy in 1...4 {
            let store = try await Store.open(
                at: log, Board.self, confirmedBy: kind, durability: .relaxed)
            for step in steps.prefix(25) {
                let command = numbers.command(for: step)
                var result: CommandResult?
                if let command { result = await store.carryOut(command) }
                numbers.note(result, of: step)
            }
            steps = steps.dropFirst(25)
            await store.close()
            let next = directory.appending(path: "log-\(seed)-\(copy)")
            try FileManager.default.copyItem(at: log, to: next)
            log = next
        }
        return log
    }

    @Test func `a check before an import finds every error of the import, and changes nothing`()
        async throws
    {
        let store = Store.inMemory(Board.self, confirmedBy: .downlink)
        _ = try await store.record(.set("a", 1))
        let history = try Self.raw(store.history())
        func refuse(_ url: URL, _ isRight: (HistoryError) -> Bool) async {
            let early = #expect(throws: HistoryError.self) {
                try history.checkImport(into: url)
            }
            let late = await #expect(throws: HistoryError.self) {
                try await history.importLog(into: url)
            }
            #expect(
                early.map(isRight) == true && late.map(isRight) == true,
                "\(String(describing: early)), \(String(describing: late))")
        }
        let file = directory.url.appending(path: "file")
        try Data("a letter".utf8).write(to: file)
        await refuse(file.appending(path: "log")) {
            if case .log(.storage) = $0 { true } else { false }
        }
        // The temporary directory has the letter.
        await refuse(directory.url) { if case .log(.notALog) = $0 { true } else { false } }
        let other = try await Store.open(
            at: directory.log, Board.self, confirmedBy: .acknowledgement, durability: .relaxed)
        await refuse(directory.log) { if case .log(.locked) = $0 { true } else { false } }
        await other.close()
        let empty = try data()
        await refuse(directory.log) { if case .log(.kindDiffers) = $0 { true } else { false } }
        #expect(try data() == empty)
        let again = try await Store.open(
            at: directory.log, Board.self, confirmedBy: .acknowledgement, durability: .relaxed)
        _ = try await again.record(.set("b", 2))
        await again.close()
        await refuse(directory.log) { error in
            if case .log(.kindDiffers) = error { true } else { false }
        }
    }

    @Test func `a log with entries keeps its table of replicas`() async throws {
        let log = try await Store.open(
            at: directory.log, Board.self, confirmedBy: .downlink, durability: .relaxed)
        _ = try await log.record(.set("b", 2))
        let replica = log.status.replica
        await log.close()
        let store = Store.inMemory(
            Board.self, confirmedBy: .downlink, replica: ReplicaID("other"))
        _ = try await store.record(.set("a", 1))
        let history = try Self.raw(store.history())
        let error = await #expect(throws: HistoryError.self) {
            try await history.importLog(into: directory.log)
        }
        guard case .log(.notEmpty(_, 1)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        let reader = try LogReader(at: directory.log)
        #expect(try reader.entries(from: 1, countMax: 9).map(\.replica) == [replica])
        reader.close()
    }
}
