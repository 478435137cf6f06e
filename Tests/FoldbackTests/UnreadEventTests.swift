import Foldback
import FoldbackHistory
import Foundation
import TestSupport
import Testing

/// Question: what do events that this code cannot read cost, and what do they change for code that can?
///
/// Such an event once stopped all checkpoints, so an old app beside a newer server opened more slowly
/// each week.
@Suite struct UnreadEventTests {
    private let directory = TemporaryDirectory()

    private func open<P: EventFold>(
        _ fold: P.Type, _ kind: LogKind = .downlink, _ policy: CheckpointPolicy = .manual,
        onCatchUp progress: (@Sendable (CatchUpProgress) -> Void)? = nil
    ) async throws(LogError) -> Store<P> {
        try await Store.open(
            at: directory.log, fold, confirmedBy: kind, durability: .relaxed, checkpoints: policy,
            replica: .exactly(ReplicaID("me")!), sources: .counting(), onCatchUp: progress)
    }

    /// Confirms one event of another replica for each move, in one batch.
    private func confirm<P: EventFold>(
        _ moves: [Move], in store: Store<P>
    ) async throws where P.Event == Move {
        var position = store.status.through
        let events = try moves.map { move in
            position = position.next
            return ConfirmedEvent<Move>(position: position, recorded: try move.recorded)
        }
        try await store.confirm(events)
    }

    private func manifest(
        at sequence: LogSequence
    ) throws -> (format: UInt8, firstUnread: LogSequence?) {
        let log = try LMDBLog.openReadOnly(directory.log.path)
        defer { log.close() }
        var format: UInt8 = 0
        try log.scanCheckpoints(from: CheckpointKey(manifestAt: sequence)) { _, bytes in
            format = bytes.withUnsafeBytes { $0[0] }
            return false
        }
        return (format, log.storedCheckpoint(at: sequence)?.firstUnread)
    }

    // MARK: E6

    @Test func `E6: code that still cannot read an event opens from a checkpoint after it`()
        async throws
    {
        var store = try await open(EditionBoard<FirstEdition>.self)
        try await confirm([.set("a", 1)], in: store)
        try await store.checkpoint()
        try await confirm([.set("b", 2), .claim("c"), .set("d", 3), .remove("a")], in: store)
        try await store.checkpoint()
        #expect(store.status.checkpoint == 2)
        try await confirm([.sweep("a", "b")], in: store)
        try await store.checkpoint()
        let faults = store.faults
        #expect(faults.map(\.sequence) == [2, 2, 3])
        await store.close()
        #expect(try manifest(at: 1) == (3, nil))
        #expect(try manifest(at: 3) == (3, 2))
        store = try await open(EditionBoard<FirstEdition>.self)
        #expect(store.replayStart == ReplayStart(checkpoint: 3, entriesFolded: 0, refused: []))
        #expect(store.view.board.cells == ["a": 1, "b": 2, "d": 3] && store.faults == faults)
        #expect(try await store.verify().findings.isEmpty)
        // The list of unread events continues after it was read from a checkpoint.
        try await confirm([.claim("e")], in: store)
        try await store.checkpoint()
        let unread = store.core.published.unread
        #expect(unread.entries.map(\.key) == [2, 3, 4])
        #expect(unread.entries.map(\.value) == [[1, 3], [0], [0]])
        await store.close()
        #expect(try manifest(at: 4) == (3, 2))
    }

    @Test func `E6: code that has learned one of the events folds from the anchor, once`()
        async throws
    {
        let older = try await open(EditionBoard<FirstEdition>.self)
        try await confirm([.set("a", 1)], in: older)
        try await older.checkpoint()
        try await confirm([.set("b", 2), .claim("c"), .replaceAll(["a": 1])], in: older)
        try await confirm([.set("d", 4)], in: older)
        try await older.checkpoint()
        await older.close()

        // This edition reads one of the two events.
        let newer = try await open(EditionBoard<SecondEdition>.self)
        #expect(newer.replayStart.checkpoint == 1 && newer.replayStart.entriesFolded == 2)
        #expect(newer.replayStart.refused.map(\.reason) == [.lacksEvent(2)])
        #expect(newer.replayStart.warnings.isEmpty)
        #expect(newer.view.board.cells.keys.sorted() == ["a", "b", "c", "d"])
        #expect(newer.faults.map(\.origin) == [.position(4)])
        #expect(try await newer.verify().findings.isEmpty)
        try await newer.checkpoint()
        await newer.close()
        #expect(try manifest(at: 3) == (3, 2))

        let again = try await open(EditionBoard<SecondEdition>.self)
        #expect(again.replayStart == ReplayStart(checkpoint: 3, entriesFolded: 0, refused: []))
        await again.close()
        let last = try await open(EditionBoard<LastEdition>.self)
        #expect(last.replayStart.checkpoint == 1)
        #expect(last.faults.isEmpty)
        try await last.checkpoint()
        await last.close()
        #expect(try manifest(at: 3) == (3, nil))
    }

    @Test
    func `E6: in an acknowledgement log, the unread event is the intent's or the replacement`()
        async throws
    {
        let newest = try await open(EditionBoard<LastEdition>.self, .acknowledgement)
        _ = try await newest.record(.set("a", 1))
        _ = try await newest.record(.claim("b"))
        _ = try await newest.record(.set("c", 3))
        await newest.close()
        let older = try await open(EditionBoard<FirstEdition>.self, .acknowledgement)
        try await older.acknowledge(2)
        try await older.acknowledge(contentsOf: [
            Acknowledgement(3, delivered: .recorded(try Move.set("c", 4).backwards))
        ])
        try await older.acknowledge(1)
        try await older.checkpoint()
        #expect(older.faults.map(\.sequence) == [4, 5])
        await older.close()
        let again = try await open(EditionBoard<FirstEdition>.self, .acknowledgement)
        #expect(again.replayStart.checkpoint == 6)
        await again.close()
        let second = try await open(EditionBoard<SecondEdition>.self, .acknowledgement)
        #expect(second.replayStart.refused.map(\.reason) == [.lacksEvent(4)])
        #expect(second.faults.map(\.sequence) == [5])
        try await second.checkpoint()
        await second.close()
        let last = try await open(EditionBoard<LastEdition>.self, .acknowledgement)
        #expect(last.replayStart.refused.map(\.reason) == [.lacksEvent(5)])
        #expect(last.faults.isEmpty && last.view.board.cells["c"] == 4)
        await last.close()
    }

    @Test func `E6: the anchor of a checkpoint that lacks an event is kept`() {
        let policy = CheckpointPolicy(entriesMax: 10, bytesMax: 1_000, spacing: 100)
        func superseded(_ stored: [(UInt64, UInt64?)]) -> [UInt64] {
            policy.superseded(
                among: stored.map {
                    StoredCheckpoint(
                        sequence: LogSequence($0.0), bytes: 1,
                        firstUnread: $0.1.map { LogSequence($0) })
                }
            ).map(\.value)
        }
        #expect(superseded([(10, nil), (20, nil), (40, 25), (50, 25), (60, 25)]) == [10, 40])
        #expect(superseded([(10, 5), (20, 5), (40, 5)]) == [10])
        // A checkpoint that lacks an event itself is not an anchor for code that reads everything.
        #expect(superseded([(4, nil), (10, 5), (40, 12), (50, 12)]) == [10])
    }

    @Test func `E6: an old app beside a newer server opens from a recent checkpoint`() async throws
    {
        let policy = CheckpointPolicy(entriesMax: 10, bytesMax: .max, spacing: 20)
        let older = try await open(EditionBoard<FirstEdition>.self, .downlink, policy)
        for number in 1...400 {
            try await confirm([number % 3 == 0 ? .claim("x") : .set("a", number)], in: older)
            if number % 10 == 0 { try await older.checkpoint() }
        }
        await older.close()
        let again = try await open(EditionBoard<FirstEdition>.self)
        #expect(again.replayStart.checkpoint == 400)
        #expect(again.faults.count == 133)
        await again.close()
    }

    @Test func `E6: rows are made again from the first entry when an event can be read`()
        async throws
    {
        let older = try await open(EditionRows<FirstEdition>.self)
        try await confirm([.set("a", 1), .set("b", 2), .claim("c")], in: older)
        try await older.checkpoint()
        try await confirm([.set("d", 1)], in: older)
        await older.close()
        let again = try await open(EditionRows<FirstEdition>.self) { _ in
            Issue.record("rows were made again")
        }
        #expect(again.replayStart.checkpoint == 1 && again.replayStart.refused.isEmpty)
        try await again.checkpoint()
        await again.close()
        let newer = try await open(EditionRows<SecondEdition>.self)
        #expect(newer.replayStart.checkpoint == 0 && newer.faults.isEmpty)
        #expect(try await newer.verify().findings.isEmpty)
        await newer.close()
    }

    @Test func `E6: an event delivered again does not hide one that can be read now`()
        async throws
    {
        let origin = IntentID(replica: ReplicaID("you")!, number: 1)
        let older = try await open(EditionRows<FirstEdition>.self)
        try await older.confirm([ConfirmedEvent(position: 5, event: .set("a", 1))])
        try await older.confirm([
            ConfirmedEvent(
                position: 4, recorded: try Move.sweep("a", "b").recorded, origin: origin),
            ConfirmedEvent(position: 6, recorded: try Move.claim("c").recorded, origin: origin),
        ])
        #expect(older.faults.count == 1)
        await older.close()
        let newer = try await open(EditionRows<SecondEdition>.self)
        #expect(newer.faults.isEmpty)
        #expect(try newer.read { try $0.page(of: RowBoard.cells, limit: .max).count } == 2)
        await newer.close()
        let again = try await open(EditionRows<SecondEdition>.self) { _ in
            Issue.record("rows were made again")
        }
        await again.close()
    }

    @Test func `E6: verify does not compare rows and states that newer code made`() async throws {
        func open<E: Edition>(_: E.Type) async throws -> Store<EditionBoard<E>> {
            try await Store.open(
                at: directory.log, EditionBoard<E>.self,
                also: [AdditionalProjection(EditionRows<E>.self)], confirmedBy: .downlink,
                durability: .relaxed, checkpoints: .manual,
                replica: .exactly(ReplicaID("me")!), sources: .counting())
        }
        for hasCheckpoint in [false, true] {
            let newer = try await open(SecondEdition.self)
            try await confirm([.set("a", 1), .claim("c")], in: newer)
            _ = try await newer.record(.add("c", 1), force: true)
            if hasCheckpoint { try await newer.checkpoint() }
            #expect(try await newer.verify().notCompared == [])
            await newer.close()
            let older = try await open(FirstEdition.self)
            let found = try await older.verify()
            #expect(found.findings == [], "checkpoint: \(hasCheckpoint)")
            #expect(found.notCompared.contains("EditionRows"))
            #expect(found.notCompared.contains("EditionBoard") || !hasCheckpoint)
            await older.close()
            let reader = try LogReader(at: directory.log)
            let seen = try reader.verify(
                EditionBoard<FirstEdition>.self,
                also: [AdditionalProjection(EditionRows<FirstEdition>.self)])
            #expect(seen.findings == [])
            #expect(seen.notCompared.contains("EditionBoard") == hasCheckpoint)
            reader.close()
        }
    }

    @Test func `E6: verify does not compare rows and states that older code made`() async throws {
        let origin = IntentID(replica: ReplicaID("you")!, number: 1)
        // Two events of one origin, in one entry. This edition learns one of them.
        let older = try await open(EditionRows<FirstEdition>.self)
        try await older.confirm([
            ConfirmedEvent(position: 1, recorded: try Move.claim("c").recorded, origin: origin),
            ConfirmedEvent(
                position: 2, recorded: try Move.sweep("a", "b").recorded, origin: origin),
        ])
        #expect(older.faults.count == 2)
        #expect(try await older.verify().notCompared == [])
        await older.close()
        let reader = try LogReader(at: directory.log)
        for found in [
            try reader.verify(EditionRows<SecondEdition>.self),
            try reader.verify(EditionRows<LastEdition>.self),
        ] {
            #expect(found.findings == [])
            #expect(found.notCompared == ["EditionRows"])
        }
        let same = try reader.verify(EditionRows<FirstEdition>.self)
        #expect(same.findings == [] && same.notCompared == [])
        reader.close()
    }

    @Test func `E6: rows that were made again leave the list of unread events`() async throws {
        let older = try await open(EditionRows<FirstEdition>.self)
        try await confirm([.claim("c"), .set("a", 1), .sweep("a", "b")], in: older)
        try await older.checkpoint()
        await older.close()
        // This edition reads one of the two events.
        try await open(EditionRows<SecondEdition>.self).close()
        let second = try await open(EditionRows<SecondEdition>.self) { _ in
            Issue.record("rows were made again")
        }
        #expect(second.replayStart.checkpoint == 1)
        let unread = second.core.published.unread
        #expect(unread.entries.map(\.key) == [1] && unread.entries.map(\.value) == [[2]])
        #expect(try await second.verify().notCompared == [])
        await second.close()
        try await open(EditionRows<LastEdition>.self).close()
        let last = try await open(EditionRows<LastEdition>.self)
        #expect(last.replayStart.checkpoint == 1)
        #expect(last.core.published.unread.isEmpty)
        #expect(try await last.verify().notCompared == [])
        try await confirm([.set("d", 4)], in: last)
        try await last.checkpoint()
        await last.close()
        #expect(try manifest(at: 2) == (3, nil))
    }

    @Test func `E4: an app's error with the words for unreadable events is another fault`()
        async throws
    {
        let store = try await open(MisleadingRows.self)
        try await confirm([.set("a", 1)], in: store)
        #expect(store.faults.map(\.isUnreadable) == [false])
        #expect(store.faults[0].reason.hasSuffix("the event cannot be read: no"))
        await store.close()
        let again = try await open(MisleadingRows.self) { _ in
            Issue.record("rows were made again")
        }
        await again.close()
        let value = Store.inMemory(MisleadingValue.self, confirmedBy: .downlink)
        try await confirm([.set("a", 1)], in: value)
        #expect(value.faults.map(\.isUnreadable) == [false])
    }

    private struct Misleading: Error, CustomStringConvertible {
        var description: String { "the event cannot be read: no" }
    }

    /// Refuses every event in the words that a log uses for unreadable events.
    private struct MisleadingRows: StoredProjection {
        static var schema: RowSchema { RowBoard.schema }
        static var codec: any EventCodec<Move> { MoveCodec() }

        static func apply(
            _ move: Move, _ context: EventContext, to rows: inout TouchedRows
        ) throws { throw Misleading() }
    }

    private struct MisleadingValue: Projection, Codable {
        static var codec: any EventCodec<Move> { MoveCodec() }

        mutating func apply(_ move: Move, _ context: EventContext) throws { throw Misleading() }
    }

    // MARK: Any history

    /// Everything that a store or a history shows of its log.
    private struct Shown: Equatable {
        let view: [String: Int]
        let confirmed: [String: Int]
        let conflicted: [IntentNumber]
        let faults: [LogSequence]

        init<E: Edition>(_ snapshot: Snapshot<EditionBoard<E>>) {
            view = snapshot.view.board.cells
            confirmed = snapshot.confirmed.board.cells
            conflicted = snapshot.conflicted
            faults = snapshot.faults.map(\.sequence)
        }

        /// The rows of a store.
        init<E: Edition>(rowsOf store: Store<EditionBoard<E>>) throws {
            func cells(_ entries: [RowEntry<String, Int>]) -> [String: Int] {
                Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0.row) })
            }
            (view, confirmed, conflicted, faults) = try store.projected(EditionRows<E>.self).read {
                (
                    cells(try $0.page(of: RowBoard.cells, limit: .max)),
                    cells(
                        try $0.confirmed { try $0.page(of: RowBoard.cells, limit: .max) }),
                    $0.conflicted, $0.faults.map(\.sequence)
                )
            }
        }
    }

    /// One command, carried out the same way on a log and on its twin.
    private enum Step {
        case record(Move)
        case confirm([ConfirmedEvent<Move>])
        case acknowledge(Acknowledgement<Move>)
        case reject(IntentNumber)

        func perform<E: Edition>(on store: Store<EditionBoard<E>>) async throws {
            switch self {
            case .record(let move): _ = try await store.record(move, force: true)
            case .confirm(let events): try await store.confirm(events)
            case .acknowledge(let words): try await store.acknowledge(contentsOf: [words])
            case .reject(let number): try await store.reject(number, message: "no")
            }
        }
    }

    private func step(
        _ level: Int, _ status: StoreStatus, _ overlay: [IntentNumber],
        _ random: inout SeededGenerator
    ) throws -> Step {
        func delivered() throws -> DeliveredEvent<Move> {
            let move = Move.random(using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0 where move.level <= level: return .event(move)
            case 1: return .recorded(try move.backwards)
            case 2: return .recorded(try move.reformatted)
            default: return .recorded(try move.recorded)
            }
        }
        let some = overlay.randomElement(using: &random)
        switch (Int.random(in: 0..<8, using: &random), some, status.kind) {
        case (0, let number?, _): return .reject(number)
        case (1, let number?, .downlink):
            return .acknowledge(
                Acknowledgement(
                    number, position: status.through.next,
                    delivered: random.oneIn(2) ? nil : try delivered()))
        case (1...5, let number?, .acknowledgement):
            return .acknowledge(
                Acknowledgement(number, delivered: random.oneIn(2) ? nil : try delivered()))
        case (2...5, _, .downlink):
            var position = status.through
            // An earlier event may come again, and an intent may have several events.
            if position > 0, random.oneIn(3) { position = Position(position.value - 1) }
            let isOneOrigin = random.oneIn(2)
            return .confirm(
                try (0..<Int.random(in: 1...3, using: &random)).map { index in
                    position = position.next
                    let origin = (index == 0 || isOneOrigin) && random.oneIn(2) ? some : nil
                    return ConfirmedEvent(
                        position: position, delivered: try delivered(),
                        origin: origin.map { IntentID(replica: ReplicaID("me")!, number: $0) })
                })
        default:
            var move = Move.random(using: &random)
            while move.level > level { move = .random(using: &random) }
            return .record(move)
        }
    }

    /// One run of an app's edition on the log. The twin is a log in memory that the last edition alone
    /// has.
    private func session<E: Edition>(
        _: E.Type, _ twin: Store<EditionBoard<LastEdition>>, isComparable: Bool,
        in directory: URL, _ random: inout SeededGenerator
    ) async throws {
        let store = try await Store.open(
            at: directory, EditionBoard<E>.self,
            also: [AdditionalProjection(EditionRows<E>.self)], confirmedBy: twin.status.kind,
            durability: .relaxed,
            checkpoints: CheckpointPolicy(entriesMax: 3, bytesMax: .max, spacing: 7),
            replica: .exactly(ReplicaID("me")!), unreadable: .opened, sources: .counting())
        #expect(store.replayStart.warnings.isEmpty)
        if isComparable { try expectSame(store, twin) }
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            let overlay = store.overlay.filter { $0.state == .pending }.map(\.id.number)
            let step = try step(E.level, store.status, overlay, &random)
            try await step.perform(on: store)
            try await step.perform(on: twin)
            if random.oneIn(5) { try await store.checkpoint() }
        }
        if isComparable {
            try expectSame(store, twin)
            #expect(try await store.verify().findings.isEmpty)
        }
        await store.close()
    }

    /// Compares the store with a fold of all entries without checkpoints, by the same edition.
    private func expectSame<E: Edition>(
        _ store: Store<EditionBoard<E>>, _ twin: Store<EditionBoard<LastEdition>>
    ) throws {
        let shown = Shown(store.snapshot)
        let history = try RecordedHistory(ndjson: try store.history().ndjson)
        let folded = try history.read(by: EditionCodec<E>()).snapshot(
            of: EditionBoard<E>.self, also: [AdditionalProjection(EditionRows<E>.self)])
        #expect(shown == Shown(folded), "edition \(E.level)")
        #expect(try Shown(rowsOf: store) == shown, "edition \(E.level)")
        if E.level == LastEdition.level { #expect(shown == Shown(twin.snapshot)) }
    }

    /// An older edition may use a checkpoint of a newer edition, and then shows more than it could
    /// read. So an edition is compared only if no newer edition was on the log.
    @Test func `E5, E6: editions that take turns on a log show what each alone would show`()
        async throws
    {
        let seed = testSeed("editions", variable: "EDITION_SEED")
        for round in 0..<TestEffort.value(quick: 40, full: 300) as Range<UInt64> {
            var random = SeededGenerator(seed: seed &+ round)
            let directory = TemporaryDirectory()
            let twin = Store.inMemory(
                EditionBoard<LastEdition>.self,
                confirmedBy: LogKind.allCases.randomElement(using: &random)!,
                replica: ReplicaID("me")!, sources: .counting())
            var newest = 0
            func session<E: Edition>(
                _ edition: E.Type, _ random: inout SeededGenerator
            ) async throws {
                newest = max(newest, E.level)
                try await self.session(
                    edition, twin, isComparable: E.level == newest, in: directory.log, &random)
            }
            for _ in 0..<Int.random(in: 2...6, using: &random) {
                switch Int.random(in: 0...2, using: &random) {
                case 0: try await session(FirstEdition.self, &random)
                case 1: try await session(SecondEdition.self, &random)
                default: try await session(LastEdition.self, &random)
                }
            }
            try await session(LastEdition.self, &random)
        }
    }
}

extension Move {
    fileprivate static func random(using random: inout SeededGenerator) -> Move {
        let key = ["a", "b", "c"].randomElement(using: &random)!
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1, 2: return .set(key, Int.random(in: 0...9, using: &random))
        case 3, 4: return .add(key, Int.random(in: 1...9, using: &random))
        case 5: return .claim(key)
        case 6: return .remove(key)
        default: return .sweep("a", key)
        }
    }
}
