import Foldback
import FoldbackHistory
import TestSupport
import Testing

/// Question: what happens to an event that the authority delivers as bytes?
///
/// An event of a newer client once stalled every older client, because the downlink took decoded events
/// only.
@Suite struct DeliveredEventTests {
    private let directory = TemporaryDirectory()
    private let unknown = RecordedEvent(
        format: EventFormat(codec: 240, version: 9), bytes: [0, 255, 7])

    private func open<P: EventFold>(
        _ fold: P.Type, _ kind: LogKind = .downlink
    ) async throws -> Store<P> {
        try await Store.open(
            at: directory.log, fold, confirmedBy: kind, durability: .relaxed,
            checkpoints: .manual, replica: .exactly(ReplicaID("me")!), sources: .counting())
    }

    private func own(_ number: IntentNumber) -> IntentID {
        IntentID(replica: ReplicaID("me")!, number: number)
    }

    // MARK: Bytes

    @Test func `E4: a page with an unknown event is recorded, and the event is a fault`()
        async throws
    {
        let store = try await open(EditionBoard<FirstEdition>.self)
        let result = try await store.confirm([
            ConfirmedEvent(position: 1, recorded: try Move.set("a", 1).recorded),
            ConfirmedEvent(position: 2, recorded: unknown),
            ConfirmedEvent(position: 3, event: .set("b", 2)),
        ])
        #expect(result == .confirmed(1, through: 3))
        #expect(store.view.board.cells == ["a": 1, "b": 2])
        #expect(store.faults.map(\.origin) == [.position(2)])
        #expect(store.faults.map(\.isUnreadable) == [true])
        await store.close()
    }

    @Test func `E4: the log keeps delivered bytes and formats, and also an exported history`()
        async throws
    {
        let store = try await open(EditionBoard<LastEdition>.self)
        let events = [
            try Move.set("a", 1).reformatted, unknown, try Move.set("b", 1).backwards,
            try Move.set("c", 1).recorded,
        ]
        try await store.confirm(
            events.enumerated().map {
                ConfirmedEvent(position: Position(UInt64($0.offset + 1)), recorded: $0.element)
            })
        #expect(store.view.board.cells == ["a": 1, "b": 1, "c": 1])
        func logged<E>(_ entries: [LogEntry<E>]) -> [RecordedEvent] {
            entries.flatMap(\.events).map { RecordedEvent(format: $0.format, bytes: $0.bytes) }
        }
        #expect(logged(try store.entries(from: 1, countMax: 1)) == events)
        let history = try store.history()
        await store.close()
        let reopened = try await open(EditionBoard<LastEdition>.self)
        #expect(logged(try reopened.entries(from: 1, countMax: 1)) == events)
        #expect(reopened.view.board.cells == ["a": 1, "b": 1, "c": 1])
        await reopened.close()
        let imported = try RecordedHistory(ndjson: history.ndjson)
        #expect(logged(imported.entries) == events)
        let other = TemporaryDirectory()
        try await imported.importLog(into: other.log)
        let reader = try LogReader(at: other.log)
        #expect(logged(try reader.entries(from: 1, countMax: 1)) == events)
        reader.close()
    }

    @Test func `an entry's JSON states the format of events that are not JSON`() async throws {
        let store = try await open(EditionBoard<LastEdition>.self)
        try await store.confirm([
            ConfirmedEvent(position: 1, recorded: unknown),
            ConfirmedEvent(
                position: 2, recorded: RecordedEvent(format: .json, bytes: Array("{}".utf8))),
        ])
        let entry = try #require(try store.entries(from: 1, countMax: 1).first).json
        let events = try #require(entry["events"]?.arrayValue)
        #expect(events.map { $0["codec"] } == [240, nil])
        #expect(events.map { $0["version"] } == [9, nil])
        await store.close()
    }

    @Test func `E4: a replacement that cannot be read makes the intent conflicted`() async throws {
        let store = try await open(EditionBoard<FirstEdition>.self)
        _ = try await store.record(.set("a", 1))
        _ = try await store.record(.set("b", 2))
        try await store.acknowledge(contentsOf: [
            Acknowledgement(1, position: 4, delivered: .recorded(try Move.claim("a").recorded))
        ])
        #expect(store.snapshot.conflicted == [1] && store.snapshot.accepted == [1])
        #expect(store.view.board.cells == ["b": 2])
        await store.close()
        let newer = try await open(EditionBoard<SecondEdition>.self)
        #expect(newer.snapshot.conflicted.isEmpty)
        #expect(newer.view.board.cells.keys.sorted() == ["a", "b"])
        await newer.close()
    }

    @Test(arguments: BoardKeeper.allCases)
    func `E4: an event that was unknown is folded once the code knows it`(
        keeper: BoardKeeper
    ) async throws {
        for kind in LogKind.allCases {
            let directory = TemporaryDirectory()
            let older = try await Engine.lmdb.store(
                EditionBoard<FirstEdition>.self, kind, in: directory,
                also: [AdditionalProjection(EditionRows<FirstEdition>.self)])
            _ = try await older.record(.set("a", 1))
            let words = try Move.replaceAll(["z": 3]).recorded
            switch kind {
            case .downlink:
                try await older.confirm([
                    ConfirmedEvent(position: 1, recorded: words, origin: own(1))
                ])
            case .acknowledgement:
                try await older.acknowledge(contentsOf: [
                    Acknowledgement(1, delivered: .recorded(words))
                ])
            }
            #expect(older.view.board.cells.isEmpty && older.faults.count == 1)
            await older.close()
            let newer = try await Engine.lmdb.store(
                EditionBoard<LastEdition>.self, kind, in: directory,
                also: [AdditionalProjection(EditionRows<LastEdition>.self)])
            #expect(newer.view.board.cells == ["z": 3] && newer.faults.isEmpty)
            let rows = try newer.projected(EditionRows<LastEdition>.self).read {
                try $0.page(of: RowBoard.cells, limit: 9).map(\.key)
            }
            #expect(rows == ["z"])
            #expect(try await newer.verify().findings.isEmpty)
            await newer.close()
        }
    }

    // MARK: Cost

    private func cost(
        in store: any BoardStore, of body: () async throws -> Void
    ) async throws -> FoldCounts {
        let before = store.counts
        try await body()
        return FoldCounts(
            overlay: store.counts.overlay - before.overlay,
            confirmed: store.counts.confirmed - before.confirmed)
    }

    /// A store of replica "me" with 100 intents.
    private func filled<P: BoardFold>(_: P.Type, _ kind: LogKind) async throws -> Store<P> {
        let store = Store.inMemory(
            P.self, confirmedBy: kind, replica: ReplicaID("me")!, sources: .counting())
        for number in 1...100 { _ = try await store.record(.set("k\(number % 7)", number)) }
        return store
    }

    @Test(arguments: BoardKeeper.allCases)
    func `a batch whose events have other bytes than the overlay's head folds nothing again`(
        keeper: BoardKeeper
    ) async throws {
        func check<P: BoardFold>(_ fold: P.Type) async throws {
            let store = try await filled(fold, .downlink)
            let events = try (1...3 as ClosedRange<UInt64>).map { number in
                ConfirmedEvent<Move>(
                    position: Position(number),
                    recorded: try Move.set("k\(number % 7)", Int(number)).reformatted,
                    origin: own(IntentNumber(number)))
            }
            let head = try await cost(in: store) { try await store.confirm(events) }
            #expect(head == FoldCounts(overlay: 0, confirmed: 3))
            let different = try await cost(in: store) {
                try await store.confirm([
                    ConfirmedEvent(
                        position: 4, recorded: try Move.set("k4", 5).reformatted, origin: own(4))
                ])
            }
            #expect(different.confirmed == 1 && (different.overlay > 0 || fold == RowBoard.self))
            #expect(try store.seen().confirmed.cells == ["k1": 1, "k2": 2, "k3": 3, "k4": 5])
        }
        try await check(keeper.type)
    }

    @Test(arguments: BoardKeeper.allCases)
    func `a replacement that equals the intent's event folds nothing again`(
        keeper: BoardKeeper
    ) async throws {
        func check<P: BoardFold>(_ fold: P.Type) async throws {
            for kind in LogKind.allCases {
                let store = try await filled(fold, kind)
                let accepted = try await cost(in: store) {
                    try await store.acknowledge(contentsOf: [
                        Acknowledgement(
                            1, delivered: .recorded(try Move.set("k1", 1).reformatted))
                    ])
                }
                #expect(
                    accepted == FoldCounts(overlay: 0, confirmed: kind == .downlink ? 0 : 1))
                try await store.acknowledge(2, replacement: .set("k2", 9))
                let cells = try store.seen().view.cells
                let twin = try await filled(fold, kind)
                try await twin.acknowledge(1)
                try await twin.acknowledge(2, replacement: .set("k2", 9))
                #expect(try twin.seen().view.cells == cells)
            }
        }
        try await check(keeper.type)
    }

    @Test func `a server that reorders JSON keys and adds white space causes no refold`()
        async throws
    {
        let store = Store.inMemory(
            Memos.self, confirmedBy: .downlink, replica: ReplicaID("me")!, sources: .counting())
        for number in 1...50 { _ = try await store.record(MemoEvent(key: "k", text: "\(number)")) }
        func counts() -> FoldCounts? {
            (store.core.published.views.first as? FoldedState<Memos>)?.counts
        }
        let before = try #require(counts())
        let bytes = Array("{ \"text\" : \"1\",\n \"key\" : \"k\", \"more\": [] }".utf8)
        try await store.confirm([
            ConfirmedEvent(
                position: 1, recorded: RecordedEvent(format: .json, bytes: bytes), origin: own(1))
        ])
        #expect(counts()?.overlay == before.overlay)
        #expect(store.confirmed.texts == ["k": "1"])
        #expect(store.snapshot.pending.first == 2)
    }
}

private struct MemoEvent: Codable, Sendable {
    let key: String
    let text: String
}

private struct Memos: Projection, Codable {
    var texts: [String: String] = [:]
    mutating func apply(_ event: MemoEvent, _ context: EventContext) {
        texts[event.key] = event.text
    }
}
