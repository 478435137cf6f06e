import Foldback
import TestSupport
import Testing

/// Failures while rows are made: a process ends before the rows have caught up, or later code reads
/// events that older code skipped.
///
/// The rows must be the fold of the entries in the end, and must not be made more often than
/// necessary.
@Suite struct RowCatchUpTests: MemoryLogSuite {
    @Test func `catching up continues after the last piece that was committed`() async throws {
        let log = Self.downlink()
        let values = try Self.store(Board.self, over: log)
        for position in 1...12 as ClosedRange<UInt64> {
            let move = Move.set("k\(position % 5)", 1 << 20)
            _ = try await values.confirm(Self.confirmed([move], from: position))
        }
        await values.close()
        let cut = FailingLog(log.rows, writes: 2)
        let first = CatchUpSteps()
        #expect(throws: LogError.self) {
            try Self.store(Notes<OldCode>.self, over: cut, first)
        }
        #expect(first.sequences == [4, 8])
        let rest = CatchUpSteps()
        let store = try Self.store(Notes<OldCode>.self, over: MemoryLog(cut.log.rows), rest)
        #expect(rest.sequences == [12])
        #expect(try store.read { try $0.count(of: Notes<OldCode>.notes) } == 5)
        #expect(try await store.verify().findings == [])
        await store.close()
    }

    @Test func `rows are rebuilt only once when more of an entry becomes readable`()
        async throws
    {
        let log = Self.downlink()
        let new = try Self.store(Notes<NewCode>.self, over: log)
        // Old code reads one of these two events of one origin.
        let intent = IntentID(replica: ReplicaID("you")!, number: 1)
        let events = [Move.set("a", 1), .claim("b")].enumerated().map { index, move in
            ConfirmedEvent(position: Position(UInt64(index + 1)), event: move, origin: intent)
        }
        _ = try await new.confirm(events)
        await new.close()
        // This log has the same entries, but no rows.
        let fresh = Self.downlink()
        try fresh.write(Self.writes(ofEntries: log.rows))
        var rows = fresh.rows
        func open<Code>(_ code: Code.Type, catchesUp: Bool) async throws -> [Fault] {
            let (storage, steps) = (MemoryLog(rows), CatchUpSteps())
            let store = try Self.store(Notes<Code>.self, over: storage, steps)
            #expect(steps.sequences == (catchesUp ? [1] : []))
            rows = storage.rows
            await store.close()
            return store.faults
        }
        #expect(try await open(OldCode.self, catchesUp: true).count == 1)
        #expect(try await open(OldCode.self, catchesUp: false).count == 1)
        #expect(try await open(NewCode.self, catchesUp: true) == [])
        #expect(try await open(NewCode.self, catchesUp: false) == [])
    }

    @Test func `rebuilding rows continues where it was cut off and leaves no other rows`()
        async throws
    {
        let log = Self.downlink()
        let old = try Self.store(Notes<OldCode>.self, over: log)
        for position in 1...12 as ClosedRange<UInt64> {
            let move = Move.set("k\(position % 5)", 1 << 20)
            _ = try await old.confirm(Self.confirmed([move], from: position))
        }
        let new = try Self.store(Notes<NewCode>.self, over: MemoryLog(log.rows))
        _ = try await new.confirm(Self.confirmed([.claim("c")], from: 13))
        let entries = try #require(new.core.storage as? MemoryLog).rows
        await new.close()
        await old.close()
        let batch = try Self.writes(ofEntries: entries)
        let bare = Self.downlink()
        try bare.write(batch)
        let withFault = try Self.store(Notes<OldCode>.self, over: bare)
        #expect(withFault.faults.count == 1)
        let cut = FailingLog(bare.rows, writes: 2)
        #expect(throws: LogError.self) { try Self.store(Notes<NewCode>.self, over: cut) }
        let rest = CatchUpSteps()
        let store = try Self.store(Notes<NewCode>.self, over: MemoryLog(cut.log.rows), rest)
        #expect(rest.sequences == [12, 13] || rest.sequences == [13])
        #expect(try store.core.storage.projectionHeaders().count == 1)
        #expect(try await store.verify().findings == [])
        await store.close()
        await withFault.close()
    }

    @Test func `rows belong to the format of the codec that folded them`()
        async throws
    {
        let log = Self.downlink()
        let later = try Self.store(Notes<LaterCode>.self, over: log)
        _ = try await later.confirm(Self.confirmed([.set("a", 1)]))
        await later.close()
        var rows = log.rows
        func open<Code>(_: Code.Type) async throws -> (faults: Int, notes: [String]) {
            let storage = MemoryLog(rows)
            let store = try Self.store(Notes<Code>.self, over: storage)
            let notes = try store.read { try $0.page(of: Notes<Code>.notes, limit: 9).map(\.key) }
            #expect(try await store.verify().findings == [])
            #expect(try await store.verify().notCompared == [])
            await store.close()
            rows = storage.rows
            return (store.faults.count, notes)
        }
        #expect(try await open(NewCode.self) == (1, []))
        #expect(try await open(LaterCode.self) == (0, ["a"]))
    }

    private static func writes(ofEntries rows: MemoryRows) throws -> [TableWrite] {
        try MemoryLog(rows).records(from: 1, countMax: 100).map { sequence, bytes in
            TableWrite(.entries, LogKey(sequence), bytes)
        }
    }
}
