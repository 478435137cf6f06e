import Foldback
import FoldbackHistory
import FoldbackLMDB
import Foundation
import Synchronization
import TestSupport
import Testing

/// Question: what may a checkpoint change? Only the time that opening takes.
@Suite struct CheckpointTests {
    private let directory = TemporaryDirectory()

    private func open<P: Projection>(
        _ projection: P.Type = Board.self, _ policy: CheckpointPolicy = .manual
    ) async throws(LogError) -> Store<P> {
        try await Store.open(
            at: directory.log, projection, confirmedBy: .downlink, durability: .relaxed,
            checkpoints: policy, replica: .exactly(ReplicaID("me")!))
    }

    private func open(
        _ keeper: BoardKeeper, _ policy: CheckpointPolicy = .manual
    ) async throws(LogError) -> any BoardStore {
        try await keeper.open(at: directory.log, checkpoints: policy, replica: "me")
    }

    private func change(
        _ key: CheckpointKey, to bytes: [UInt8]?
    ) throws {
        let environment = try Environment.open(directory.log.path)
        defer { environment.close() }
        try environment.write { transaction throws(LMDBError) in
            let table: Table<LogKey> = try transaction.table("checkpoints")
            let key = LogKey.bytes(KeyBytes(key.bytes))
            guard let bytes else {
                _ = try transaction.delete(key, from: table)
                return
            }
            try transaction.put(bytes, at: key, in: table)
        }
    }

    private func deleteEntry(_ sequence: UInt64) throws {
        let environment = try Environment.open(directory.log.path)
        defer { environment.close() }
        try environment.write { transaction throws(LMDBError) in
            let entries: Table<UInt64> = try transaction.table("entries")
            _ = try transaction.delete(sequence, from: entries)
        }
    }

    private func rows() throws -> [(CheckpointKey, [UInt8])] {
        let log = try LMDBLog.openReadOnly(directory.log.path)
        defer { log.close() }
        var rows: [(CheckpointKey, [UInt8])] = []
        try log.scanCheckpoints(from: CheckpointKey(manifestAt: 0)) { key, bytes in
            rows.append((key, bytes.withUnsafeBytes { Array($0) }))
            return true
        }
        return rows
    }

    @Test(arguments: BoardKeeper.allCases)
    func `opening starts from the newest checkpoint and shows the same state`(
        keeper: BoardKeeper
    ) async throws {
        var store = try await open(keeper)
        try await store.fillNineEntries()
        try await store.checkpoint()
        #expect(store.status.checkpoint == 9)
        _ = try await store.record(.set("f", 2))
        let (seen, infos) = (try store.seen(), store.overlay.map(\.info))
        await store.close()
        store = try await open(keeper)
        #expect(store.replayStart == ReplayStart(checkpoint: 9, entriesFolded: 1, refused: []))
        #expect(store.counts.confirmed == 0)
        #expect(try store.seen() == seen)
        #expect(
            seen.accepted == [2] && seen.conflicted == [6] && seen.faults.map(\.sequence) == [9])
        #expect(store.rejections == [3])
        let rejection = try store.intent(3).rejection
        #expect(rejection?.code == "no" && rejection?.message == "not yours")
        #expect(try store.intent(2).answer?.sequence == 6)
        #expect(try await store.record(.set("d", 3), once: "d").isJoined)
        #expect(store.overlay.map(\.info) == infos)
        #expect(try await store.verify().isSound)
        // The accepted intent and the rejected intent continue as before the checkpoint.
        try await store.confirm([], through: 5)
        #expect(try store.intent(2).state == .confirmed)
        try await store.acknowledge(3)
        #expect(try store.intent(3).state == .accepted)
        await store.close()
    }

    @Test func `F11: a past view starts from the nearest checkpoint before it`() async throws {
        let policy = CheckpointPolicy(entriesMax: .max, bytesMax: .max, spacing: 10)
        let store = try await open(Board.self, policy)
        for position in 1...40 as ClosedRange<UInt64> {
            let event = ConfirmedEvent(
                position: Position(position), event: Move.set("k", Int(position)))
            try await store.confirm([event])
            if position % 10 == 0 { try await store.checkpoint() }
        }
        for (sequence, start) in [(0, 0), (9, 0), (10, 10), (19, 10), (35, 30), (40, 40)] {
            let sequence = LogSequence(UInt64(sequence))
            let (fold, found) = try LogFold.folded(
                store.core.storage, ProjectionSet(Board.self), codec: store.core.codec,
                upTo: sequence)
            #expect(found.checkpoint.value == UInt64(start))
            #expect(fold.state.sequence == sequence)
            let view = try await store.snapshot(at: sequence).view
            #expect(view.cells["k"] ?? 0 == Int(sequence.value))
        }
        await store.close()
    }

    @Test(arguments: BoardKeeper.allCases)
    func `a checkpoint with any damaged byte is skipped for the checkpoint before it`(
        keeper: BoardKeeper
    ) async throws {
        var store = try await open(keeper)
        try await store.fillNineEntries()
        try await store.checkpoint()
        _ = try await store.record(.set("f", 2))
        try await store.checkpoint()
        let seen = try store.seen()
        await store.close()
        for (key, bytes) in try rows() where key.sequence == 10 {
            for place in bytes.indices {
                var flipped = bytes
                flipped[place] ^= 1 << (place % 8)
                try change(key, to: flipped)
                store = try await open(keeper)
                #expect(store.replayStart.checkpoint == 9, "\(key), byte \(place)")
                #expect(store.replayStart.warnings.count == 1)
                #expect(try store.seen() == seen)
                await store.close()
            }
            try change(key, to: bytes)
        }
        store = try await open(keeper)
        #expect(store.replayStart == ReplayStart(checkpoint: 10, entriesFolded: 0, refused: []))
        await store.close()
    }

    @Test func `a manifest whose sections are not those of a checkpoint is refused`() {
        typealias Content = CheckpointManifest.Section.Content
        let board = Content.projection(Board.identity)
        func isAccepted(_ contents: [Content], firstUnread: LogSequence?) -> Bool {
            let manifest = CheckpointManifest(
                sequence: 9, format: .json,
                sections: contents.map { .init($0, bytes: 3, checksum: 7) },
                firstUnread: firstUnread)
            return (try? CheckpointManifest(decoding: manifest.encoded(), at: 9)) == manifest
        }
        for contents in [[.log], [.log, board]] as [[Content]] {
            #expect(isAccepted(contents, firstUnread: nil))
            #expect(isAccepted(contents + [.unread], firstUnread: 4))
            for firstUnread in [nil, 4] as [LogSequence?] {
                #expect(!isAccepted(contents + [.log], firstUnread: firstUnread))
                #expect(!isAccepted(contents + [.log, .unread], firstUnread: firstUnread))
                #expect(!isAccepted([board] + contents, firstUnread: firstUnread))
                #expect(!isAccepted(contents + [.unread, board], firstUnread: firstUnread))
                #expect(!isAccepted(contents + [.unread, .unread], firstUnread: firstUnread))
            }
            #expect(!isAccepted(contents + [.unread], firstUnread: nil))
            #expect(!isAccepted(contents, firstUnread: 4))
        }
        #expect(!isAccepted([], firstUnread: nil))
        #expect(!isAccepted([.unread], firstUnread: 4))
    }

    @Test
    func `a checkpoint without a piece is refused, and without its manifest it does not count`()
        async throws
    {
        var store = try await open()
        try await store.fillNineEntries()
        try await store.checkpoint()
        await store.close()
        let piece = CheckpointKey(sequence: 9, section: 2, piece: 0)
        try change(piece, to: nil)
        store = try await open()
        #expect(store.replayStart.checkpoint == 0)
        #expect(
            store.replayStart.warnings.first?.description
                == "the checkpoint at 9 is damaged and was not used: piece 0 of section 1 is missing"
        )
        #expect(try await store.verify().findings.map(\.place) == [.checkpoint(9)])
        await store.close()
        try change(CheckpointKey(manifestAt: 9), to: nil)
        store = try await open()
        #expect(store.replayStart == ReplayStart(checkpoint: 0, entriesFolded: 9, refused: []))
        // The next checkpoint removes the rest of this checkpoint.
        _ = try await store.record(.set("f", 2))
        try await store.checkpoint()
        await store.close()
        #expect(Set(try rows().map(\.0.sequence)) == [10])
    }

    @Test func `an intact checkpoint from another log is not used`() async throws {
        var store = try await open()
        try await store.fillNineEntries()
        try await store.checkpoint()
        await store.close()
        let theirs = try rows()
        try FileManager.default.removeItem(at: directory.log)
        store = try await open()
        for number in 1...9 { _ = try await store.record(.set("mine", number)) }
        await store.close()
        for (key, bytes) in theirs { try change(key, to: bytes) }
        store = try await open()
        #expect(store.replayStart.checkpoint == 0)
        #expect(store.replayStart.warnings.count == 1)
        #expect(store.view.cells == ["mine": 9])
        await store.close()
    }

    @Test(arguments: BoardKeeper.allCases)
    func `missing entries that a checkpoint covers are damage of the log`(
        keeper: BoardKeeper
    ) async throws {
        let store = try await open(keeper)
        try await store.fillNineEntries()
        try await store.checkpoint()
        await store.close()
        try deleteEntry(9)
        let damaged = await error { () throws(LogError) in try await open(keeper) }
        guard case .damaged(_, sequence: 9, _) = damaged else {
            Issue.record("\(String(describing: damaged))")
            return
        }
    }

    @Test
    func `a log that lost its end is damage, even if its checkpoint has another version`()
        async throws
    {
        let store = try await open()
        try await store.fillNineEntries()
        try await store.checkpoint()
        await store.close()
        try deleteEntry(9)
        let damaged = await error { () throws(LogError) in try await open(NegativeBoard.self) }
        guard case .damaged(_, sequence: 9, _) = damaged else {
            Issue.record("\(String(describing: damaged))")
            return
        }
    }

    @Test func `a private projection has the same name at each launch`() {
        #expect(NegativeBoard.name == Board.name)
        #expect(SlowBoard.name == "FoldbackTests.SlowBoard")
        #expect(Board.name == "TestSupport.Board")
    }

    @Test func `a large unusable checkpoint does not keep the next checkpoint from being due`()
        async throws
    {
        let policy = CheckpointPolicy(entriesMax: 5, bytesMax: .max, spacing: 50)
        let first = try await open(Board.self, policy)
        let big = Dictionary(uniqueKeysWithValues: (0..<2_000).map { ("key \($0)", $0) })
        try await first.confirm([ConfirmedEvent(position: 1, event: .replaceAll(big))])
        try await first.confirm([ConfirmedEvent(position: 2, event: .set("a", 1))])
        try await first.checkpoint()
        await first.close()
        let second = try await open(NegativeBoard.self, policy)
        for position in 3...9 as ClosedRange<UInt64> {
            let event = ConfirmedEvent(position: Position(position), event: Move.remove("a"))
            try await second.confirm([event])
        }
        while second.status.checkpoint == 0 { await Task.yield() }
        await second.close()
        #expect(try await open(NegativeBoard.self, policy).replayStart.checkpoint.value >= 3)
    }

    @Test func `a projection with another version folds the log again`() async throws {
        let first = try await open()
        try await first.fillNineEntries()
        try await first.checkpoint()
        await first.close()
        let second = try await open(NegativeBoard.self)
        #expect(second.replayStart.checkpoint == 0)
        #expect(second.replayStart.warnings == [])
        #expect(second.replayStart.refused.count == 1)
        #expect(second.confirmed.board.cells == ["a": -10])
        try await second.checkpoint()
        await second.close()
        let third = try await open(NegativeBoard.self)
        #expect(third.replayStart.checkpoint == 9)
        await third.close()
    }

    @Test func `a store writes checkpoints by itself and thins out old checkpoints`() async throws {
        let policy = CheckpointPolicy(entriesMax: 10, bytesMax: .max, spacing: 50)
        let store = try await open(Board.self, policy)
        func confirm(_ positions: ClosedRange<UInt64>) async throws {
            for position in positions {
                let event = ConfirmedEvent(
                    position: Position(position), event: Move.set("k", Int(position)))
                try await store.confirm([event])
                if position % 10 == 0 { try await store.checkpoint() }
            }
        }
        try await confirm(1...400)
        let sizes = try store.core.storage.storedCheckpoints().map(\.sequence.value)
        #expect(sizes == [50, 100, 150, 200, 250, 300, 350, 390, 400])
        // The test does not ask for the next checkpoint.
        try await confirm(401...409)
        try await store.confirm([ConfirmedEvent(position: 410, event: .set("k", 0))])
        while store.status.checkpoint == 400 { await Task.yield() }
        #expect(store.status.checkpoint == 410)
        await store.close()
    }

    @Test func `a policy keeps the two newest checkpoints and older checkpoints far enough apart`()
    {
        let policy = CheckpointPolicy(entriesMax: 10, bytesMax: 1_000, spacing: 100)
        #expect(!policy.isDue(entries: 9, bytes: 999, lastBytes: 0))
        #expect(policy.isDue(entries: 10, bytes: 1, lastBytes: 0))
        #expect(policy.isDue(entries: 1, bytes: 1_000, lastBytes: 500))
        #expect(!policy.isDue(entries: 500, bytes: 1_000, lastBytes: 501))
        func superseded(_ stored: [(UInt64, Int)]) -> [UInt64] {
            policy.superseded(
                among: stored.map { StoredCheckpoint(sequence: LogSequence($0.0), bytes: $0.1) }
            ).map(\.value)
        }
        #expect(superseded([(10, 1), (20, 1)]) == [])
        #expect(superseded([(10, 1), (20, 1), (30, 1)]) == [10])
        #expect(superseded([(100, 1), (199, 1), (200, 1), (210, 1), (220, 1)]) == [199])
        // A checkpoint of 3,200 bytes must be at least 200 entries after the kept checkpoint before
        // it.
        #expect(superseded([(100, 3_200), (200, 3_200), (210, 1), (220, 1)]) == [100])
    }

    @Test func `L4: recording continues while a checkpoint is being written`() async throws {
        let store = try await open(SlowBoard.self)
        _ = try await store.record(.set("a", 1))
        SlowBoard.gate.withLock { $0 = .shut }
        async let checkpoint: Void = store.checkpoint()
        while SlowBoard.gate.withLock({ $0 != .reached }) { await Task.yield() }
        for number in 1...20 { _ = try await store.record(.set("b", number)) }
        #expect(store.status.checkpoint == 0)
        SlowBoard.gate.withLock { $0 = .open }
        SlowBoard.gate.wakeAll()
        try await checkpoint
        #expect(store.status.checkpoint == 1)
        await store.close()
        let reopened = try await open(SlowBoard.self)
        #expect(reopened.replayStart == ReplayStart(checkpoint: 1, entriesFolded: 20, refused: []))
        #expect(reopened.view.board.cells == ["a": 1, "b": 20])
        await reopened.close()
    }

    @Test func `a large state is written in pieces and reads back`() async throws {
        let store = try await Store.open(
            at: directory.log, Documents.self, confirmedBy: .acknowledgement,
            durability: .relaxed, checkpoints: .manual)
        for number in 1...30 {
            let text = JSON.string(String(repeating: "x\(number)", count: 3_000))
            try await store.acknowledge(
                try await store.record(.set("\(number)", text)).number)
        }
        try await store.checkpoint()
        let documents = store.view
        await store.close()
        #expect(try rows().count > 4)
        let reopened = try await Store.open(
            at: directory.log, Documents.self, confirmedBy: .acknowledgement,
            durability: .relaxed, checkpoints: .manual)
        #expect(reopened.replayStart.entriesFolded == 0)
        #expect(reopened.view == documents)
        await reopened.close()
    }
}

extension BoardStore {
    /// Writes entries 1 to 9: a pending, an accepted, a confirmed, a rejected, and a conflicted
    /// intent, and a fault.
    func fillNineEntries() async throws {
        for key in ["a", "b", "c", "d", "e"] {
            _ = try await record(.set(key, 1), once: key, info: ["screen": key])
        }
        try await acknowledge(2, position: 5, replacement: .set("b", 20))
        try await reject(3, code: "no", message: "not yours")
        _ = try await record(.add("nothing", 1), force: true)
        try await confirm(
            [
                ConfirmedEvent(position: 1, event: .add("faulty", 1)),
                ConfirmedEvent(
                    position: 2, event: .set("a", 10),
                    origin: IntentID(replica: ReplicaID("me")!, number: 1)),
            ])
    }
}

/// A board that folds the same events differently, under the same name and another version.
private struct NegativeBoard: Projection, Codable {
    var board = Board()
    static var name: String { Board.name }
    static var version: UInt32 { 2 }
    static var codec: any EventCodec<Move> { MoveCodec() }

    mutating func apply(_ move: Move, _ context: EventContext) throws {
        if case .set(let key, let value) = move {
            try board.apply(.set(key, -value), context)
        } else {
            try board.apply(move, context)
        }
    }
}

/// A board whose state is encoded only while the gate is open.
private struct SlowBoard: Projection {
    enum Gate { case open, shut, reached }
    static let gate = Monitor(Gate.open)
    var board = Board()
    static var codec: any EventCodec<Move> { MoveCodec() }
    static var stateCodec: (any StateCodec<SlowBoard>)? { SlowCodec() }

    struct SlowCodec: StateCodec {
        func encode(_ state: SlowBoard) throws -> [UInt8] {
            gate.withLock { if $0 == .shut { $0 = .reached } }
            _ = gate.wait { $0 == .open ? () : nil }
            return try JSONStateCodec().encode(state.board)
        }
        func decode(_ bytes: RawSpan) throws -> SlowBoard {
            SlowBoard(board: try JSONStateCodec().decode(bytes))
        }
    }

    init() {}
    init(board: Board) { self.board = board }

    mutating func apply(_ move: Move, _ context: EventContext) throws {
        try board.apply(move, context)
    }
}
