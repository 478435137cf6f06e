import Foldback
import FoldbackHistory
import TestSupport
import Testing

/// Which entries make a history, and which sources a history can be read from.
@Suite struct RecordedHistoryTests {
    private static let move = Move.set("a", 1)

    private static func intent(
        _ number: IntentNumber, once: String? = nil, retries: IntentNumber? = nil
    ) throws -> LogEntry<Move>.Content {
        .intent(
            LoggedIntent(
                number, try LoggedEvent(move, writtenBy: MoveCodec()), once: once, retries: retries)
        )
    }

    private static func batch(
        _ positions: Position..., through: Position
    ) throws -> LogEntry<Move>.Content {
        let event = try LoggedEvent(move, writtenBy: MoveCodec())
        return .confirmed(
            positions.map { BatchEvent(position: $0, event: event) }, through: through)
    }

    private static func history(
        _ kind: LogKind = .downlink, _ entries: [(LogSequence, LogEntry<Move>.Content)]
    ) throws -> RecordedHistory<Move> {
        let replica = ReplicaID("me")!
        return try RecordedHistory(
            kind: kind, replica: replica,
            entries: entries.map { sequence, content in
                LogEntry(
                    sequence: sequence, time: Timestamp(millisecondsSince1970: 0),
                    replica: replica, info: [:], content: content)
            }, codec: MoveCodec())
    }

    @Test func `entries with gaps are a history`() throws {
        let history = try Self.history(
            .downlink,
            [
                (3, Self.intent(2)), (7, .changed(2, .rejected(Rejection(message: "no")))),
                (9, Self.intent(5, retries: 2)), (12, Self.batch(4, through: 6)),
            ])
        #expect(history.sequences == [3, 7, 9, 12])
        #expect(try history.snapshot(of: Board.self, at: 2).sequence == 0)
        #expect(try history.snapshot(of: Board.self, at: 8).rejections == [2])
        let end = try history.snapshot(of: Board.self)
        #expect(end.pending == [5] && end.rejections.isEmpty && end.through == 6)
        #expect(throws: LogError.self) { try history.snapshot(of: Board.self, at: 13) }
    }

    @Test func `a cause in a history with gaps names the events of its own batch`() throws {
        func batch(_ moves: [Move], from first: UInt64) throws -> LogEntry<Move>.Content {
            let events = try moves.enumerated().map { index, move in
                BatchEvent(
                    position: Position(first + UInt64(index)),
                    event: try LoggedEvent(move, writtenBy: MoveCodec()))
            }
            return .confirmed(events, through: events.last?.position ?? 0)
        }
        let history = try Self.history(
            .downlink,
            [
                (4, try batch([.set("a", 1), .set("b", 1)], from: 1)),
                (9, try batch([.set("b", 2), .set("a", 2)], from: 3)),
                (12, try batch([.set("a", 3)], from: 5)),
                (20, try batch([.set("a", 4), .set("a", 4), .set("a", 5)], from: 6)),
            ])
        let causes = try LogReader(history).causes(of: JSONPointer(["cells", "a"]), in: Board.self)
        #expect(causes.map(\.entry.sequence) == [4, 9, 12, 20])
        #expect(causes.map(\.events) == [[0], [1], [0], [0, 2]])
    }

    @Test func `entries that do not follow from each other do not make a history`() throws {
        let rejected = LogEntry<Move>.Content.changed(1, .rejected(Rejection(message: "no")))
        let acknowledged = LogEntry<Move>.Content.acknowledged(1, position: nil, replacement: nil)
        let cases: [(LogKind, LogSequence, [(LogSequence, LogEntry<Move>.Content)])] = [
            (.downlink, 0, [(0, try Self.intent(1))]),
            (.downlink, 4, [(4, try Self.intent(1)), (4, try Self.intent(2))]),
            (.downlink, 5, [(4, try Self.intent(1)), (5, try Self.intent(1))]),
            (.downlink, 1, [(1, try Self.intent(0))]),
            (.downlink, 1, [(1, try Self.intent(IntentNumber(.max)))]),
            (
                .downlink, 2,
                [(1, try Self.intent(1, once: "x")), (2, try Self.intent(2, once: "x"))]
            ),
            (.downlink, 2, [(1, try Self.intent(1)), (2, try Self.intent(2, retries: 1))]),
            (.downlink, 1, [(1, rejected)]),
            (.downlink, 2, [(1, try Self.intent(2)), (2, rejected)]),
            (.downlink, 3, [(1, try Self.intent(1)), (2, rejected), (3, rejected)]),
            (.downlink, 2, [(1, try Self.intent(2)), (2, acknowledged)]),
            (.downlink, 3, [(1, try Self.intent(1)), (2, acknowledged), (3, acknowledged)]),
            (.downlink, 2, [(1, try Self.intent(2)), (2, .changed(1, .withdrawn))]),
            (.downlink, 2, [(1, try Self.intent(1)), (2, .changed(1, .dismissed))]),
            (.downlink, 2, [(1, try Self.intent(2)), (2, .changed(1, .dismissed))]),
            (.downlink, 1, [(1, try Self.batch(0, through: 1))]),
            (.downlink, 1, [(1, try Self.batch(2, through: 1))]),
            (
                .downlink, 2,
                [(1, try Self.batch(1, through: 1)), (2, try Self.batch(1, through: 1))]
            ),
            (.acknowledgement, 1, [(1, try Self.batch(1, through: 1))]),
            (
                .acknowledgement, 2,
                [
                    (1, try Self.intent(1)), (2, .acknowledged(1, position: 1, replacement: nil)),
                ]
            ),
        ]
        for (kind, offender, entries) in cases {
            do {
                _ = try Self.history(kind, entries)
                Issue.record("\(entries) make a history")
            } catch HistoryError.doesNotFollow(let sequence, _) {
                #expect(sequence == offender, "\(entries)")
            }
        }
    }

    @Test func `a batch may name an intent that is not in the history`() throws {
        let event = try LoggedEvent(Self.move, writtenBy: MoveCodec())
        let named = BatchEvent(
            position: 1, event: event, origin: IntentID(replica: ReplicaID("me")!, number: 1))
        let history = try Self.history(
            .downlink, [(1, Self.intent(2)), (2, .confirmed([named], through: 1))])
        #expect(try history.snapshot(of: Board.self).confirmed.cells["a"] == 1)
        #expect(try history.snapshot(of: Board.self).pending == [2])
    }

    @Test func `a store and a reader return the same history of a log`() async throws {
        let directory = TemporaryDirectory()
        let store = try await Engine.lmdb.store(Board.self, .downlink, in: directory)
        for value in 1...700 { _ = try await store.record(.set("a", value)) }
        try await store.acknowledge(3, position: nil, replacement: nil)
        let history = try store.history()
        _ = try await store.record(.set("b", 1))
        #expect(history.count == 701, "the history does not change")
        let view = try history.snapshot(of: Board.self).view
        await store.close()
        let reader = try LogReader(at: directory.log)
        defer { reader.close() }
        let read = try reader.history()
        #expect(read.count == 702 && read.kind == .downlink && read.replica == store.status.replica)
        #expect(try read.read(by: MoveCodec()).snapshot(of: Board.self, at: 701).view == view)
    }

    @Test func `an unreadable event is a fault, as in the log`() throws {
        let unknown = LoggedEvent(
            bytes: Array("?".utf8), format: EventFormat(codec: 200, version: 3))
        let entry = LogEntry<[UInt8]>(
            sequence: 1, time: Timestamp(millisecondsSince1970: 0), replica: ReplicaID("me")!,
            info: [:],
            content: .confirmed([BatchEvent(position: 1, event: unknown)], through: 1))
        let raw = try RecordedHistory(
            kind: .downlink, replica: ReplicaID("me")!, entries: [entry])
        let snapshot = try raw.read(by: MoveCodec()).snapshot(of: Board.self)
        #expect(snapshot.faults.map(\.sequence) == [1])
    }
}
