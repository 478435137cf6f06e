import Foldback
import FoldbackHistory
import FoldbackSync
import FoldbackTesting
import Foundation
import TestSupport
import Testing

/// Question: is a log that begins from a state of the authority as good as one that has fetched every
/// event?
@Suite struct BeginTests {
    private let directory = TemporaryDirectory()
    private let lineage = Lineage("server")!

    private func states(of board: Board, hasRows: Bool) throws -> [BaseState<Move>] {
        let rows = try BaseState.rows(of: RowBoard.self) { rows in
            try RowBoard.apply(
                .replaceAll(board.cells), EventContext(.position(1)), to: &rows)
        }
        return [.value(board)] + (hasRows ? [rows] : [])
    }

    private func open(
        _ url: URL, _ kind: LogKind = .downlink, hasRows: Bool = false
    ) async throws -> Store<Board> {
        try await Store.open(
            at: url, Board.self, also: hasRows ? [AdditionalProjection(RowBoard.self)] : [],
            confirmedBy: kind, durability: .relaxed, checkpoints: .eager,
            replica: .exactly(ReplicaID("me")!), sources: .counting())
    }

    // MARK: The twin

    /// The property: a log with any history that begins from the authority's state at X shows the same as
    /// its copy that fetches the events up to X: overlay, ids, settlements, rejections, and all that comes
    /// after.
    @Test func `a log that begins from a state goes on as if it had fetched the events`()
        async throws
    {
        let first = testSeed("beginning", variable: "BEGIN_SEED")
        for seed in first..<first + TestEffort.value(quick: 30, full: 1_000) {
            try await BeginTests().check(seed: seed, hasRows: seed % 2 == 0)
        }
    }

    private func check(seed: UInt64, hasRows: Bool) async throws {
        var random = SeededGenerator(seed: seed)
        var script = try RandomHistory.script(.downlink, steps: 50, using: &random)
        script.leaveOutUndo()
        let place = directory.url.appending(path: "twin", directoryHint: .isDirectory)
        let store = try await open(directory.log, hasRows: hasRows)
        let twin = try await open(place, hasRows: hasRows)
        var numbers = ScriptNumbers()
        for step in script.steps {
            guard let command = numbers.command(for: step) else {
                numbers.note(nil, of: step)
                continue
            }
            let result = await store.carryOut(command)
            #expect(await twin.carryOut(command) == result)
            numbers.note(result, of: step)
        }
        let last = store.status.sequence
        await store.close()
        if seed % 3 == 0 {
            _ = try await Store.compact(
                at: directory.log, Board.self,
                also: hasRows ? [AdditionalProjection(RowBoard.self)] : [], keeping: .entries(5),
                sources: .counting())
        }

        // What other devices did. The twin fetches the events, and this log begins from the state.
        let through = twin.syncPoint.through
        let events = (1...5).map { index in
            ConfirmedEvent(
                position: Position(through.value + UInt64(index)),
                event: Move.set("k\(index % 2)", index))
        }
        try await twin.confirm(events, through: events[4].position)
        try await Store<Board>.begin(
            at: directory.log, from: states(of: twin.confirmed, hasRows: hasRows),
            through: events[4].position, of: lineage, forgetting: ["TestSupport.SloppyBoard"],
            sources: .counting())
        let begun = try await open(directory.log, hasRows: hasRows)
        #expect(begun.status.base == last.next && begun.status.sequence == last.next)
        if hasRows {
            // The log has no entry after its base yet.
            let rows = try begun.projected(RowBoard.self).read { try SeenBoard($0) }
            let twins = try twin.projected(RowBoard.self).read { try SeenBoard($0) }
            #expect(rows.view == twins.view && rows.confirmed == twins.confirmed, "seed \(seed)")
        }
        #expect(begun.syncPoint == SyncPoint(lineage: lineage, through: events[4].position))
        try expectSame(begun, twin, "seed \(seed), at the base")
        #expect(try await begun.verify().findings == [])

        var rest: [LogCommand<Move>] = [
            .record(.set("new", 1), force: true, .init()),
            .record(.claim("k0"), force: true, .init()),
        ]
        for number in twin.overlay.map(\.number) {
            let position = Position(events[4].position.value + number.value)
            rest.append(
                number.value % 2 == 0
                    ? .acknowledge(number, position: position, replacement: nil)
                    : .reject(number, Rejection(code: nil, message: "no")))
        }
        for number in twin.rejections {
            rest.append(.acknowledge(number, position: events[4].position, replacement: nil))
        }
        for command in rest {
            let (a, b) = (await begun.carryOut(command), await twin.carryOut(command))
            #expect(a == b, "seed \(seed): \(command)")
        }
        try expectSame(begun, twin, "seed \(seed), later")
        #expect(try await begun.verify().findings == [])
        await begun.close()
        await twin.close()
    }

    private func expectSame(
        _ begun: Store<Board>, _ twin: Store<Board>, _ place: String
    ) throws {
        #expect(begun.view == twin.view && begun.confirmed == twin.confirmed, "\(place)")
        #expect(
            begun.overlay.map { "\($0.id) \($0.state)" }
                == twin.overlay.map { "\($0.id) \($0.state)" },
            "\(place)")
        #expect(begun.rejections == twin.rejections, "\(place)")
        #expect(begun.attempts.keys == twin.attempts.keys, "\(place)")
        #expect(begun.status.pendingCount == twin.status.pendingCount, "\(place)")
        var number: IntentNumber = 1
        while number < begun.core.published.nextNumber {
            #expect(
                try begun.core.status(of: number).state == twin.core.status(of: number).state,
                "\(place): \(number)")
            number = number.next
        }
        #expect(begun.core.published.nextNumber == twin.core.published.nextNumber, "\(place)")
    }

    // MARK: Examples

    @Test func `a new device begins from a state, and its downlink goes on from there`()
        async throws
    {
        let server = InProcessAuthority(Board.self, lineage: lineage)
        let first = try await open(directory.url.appending(path: "first"))
        for number in 1...20 { try await first.record(.set("k\(number % 3)", number)) }
        try await first.sync(with: server)
        let state = (first.confirmed, first.syncPoint.through)
        for number in 21...25 { try await first.record(.add("k\(number % 3)", number)) }
        try await first.sync(with: server)

        try await Store<Board>.begin(
            at: directory.log, from: [.value(state.0)], through: state.1, of: lineage)
        let second = try await Store.open(
            at: directory.log, Board.self, confirmedBy: .downlink, durability: .relaxed)
        #expect(second.view == state.0)
        try await second.record(.set("mine", 1))
        try await second.sync(with: server)
        #expect(second.confirmed.cells["mine"] == 1)
        try await first.sync(with: server)
        #expect(second.view == first.view && second.status.pendingCount == 0)
        #expect(try await second.verify().findings == [])
        await first.close()
        await second.close()
    }

    @Test func `a state that does not fit the log is refused, and the log stays`() async throws {
        let store = try await open(directory.log)
        try await store.confirm(
            [ConfirmedEvent(position: 7, event: .set("a", 1))], through: 7, from: lineage)
        await store.close()
        func refusal(
            _ through: Position, _ lineage: Lineage, kind: LogKind = .downlink
        ) async -> LogError? {
            await error { () throws(LogError) in
                try await Store<Board>.begin(
                    at: directory.log, from: [.value(Board())], through: through, of: lineage)
            }
        }
        guard case .unfitBase(directory.log.path, let reason) = await refusal(6, lineage) else {
            Issue.record("an older state was taken")
            return
        }
        #expect(
            reason == "the log has events through position 7, and the states end at 6")
        guard case .unfitBase = await refusal(8, Lineage("other")!) else {
            Issue.record("another lineage was taken")
            return
        }
        let other = await error { () throws(LogError) in
            try await Store<Board>.begin(at: directory.log, from: [.value(Board())])
        }
        guard case .kindDiffers = other else {
            Issue.record("\(String(describing: other))")
            return
        }
        let again = try await open(directory.log)
        #expect(again.status.base == 0 && again.view.cells == ["a": 1])
        await again.close()
    }

    @Test func `an acknowledgement log begins from what the app had, with an archive`() async throws
    {
        var board = Board()
        board.cells = ["a": 1]
        try await Store<Board>.begin(at: directory.log, from: [.value(board)])
        var store = try await open(directory.log, .acknowledgement)
        #expect(store.view == board && store.status.base == 1)
        try await store.record(.add("a", 1))
        try await store.record(.add("a", 5))
        try await store.acknowledge(1)
        await store.close()
        let needed = await error { () throws(LogError) in
            try await Store<Board>.begin(at: directory.log, from: [.value(board)])
        }
        guard case .needsArchive = needed else {
            Issue.record("\(String(describing: needed))")
            return
        }
        board.cells = ["a": 10]
        let archive = directory.url.appending(path: "old", directoryHint: .isDirectory)
        try await Store<Board>.begin(at: directory.log, from: [.value(board)], archive: archive)
        store = try await open(directory.log, .acknowledgement)
        #expect(store.view.cells == ["a": 15] && store.overlay.map(\.number) == [2])
        #expect(try store.core.status(of: 1).state == .confirmed)
        await store.close()
        let old = try LogReader(at: archive.appending(path: "log-2-5"))
        #expect(try old.status().sequence == 4)
        old.close()
    }

    @Test func `C7: a state that its codec does not keep is refused`() async throws {
        struct Leaky: Projection, Codable, Equatable {
            var shown = 0
            var hidden = 0
            private enum CodingKeys: String, CodingKey { case shown }
            static var codec: any EventCodec<Move> { MoveCodec() }
            mutating func apply(_ move: Move, _ context: EventContext) {}
        }
        var state = Leaky()
        state.hidden = 1
        let begun = state
        let refused = await error { () throws(LogError) in
            try await Store<Leaky>.begin(
                at: directory.log, from: [.value(begun)], through: 1, of: lineage)
        }
        guard case .notProven = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == [])
    }

    @Test func `a state that comes twice, or after an update, begins again`() async throws {
        for through: Position in [3, 3, 4] {
            try await Store<Board>.begin(
                at: directory.log, from: [.value(Board())], through: through, of: lineage)
        }
        let store = try await open(directory.log)
        #expect(store.status.base == 3 && store.syncPoint.through == 4)
        #expect(try await store.verify().findings == [])
        await store.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == ["log"])
    }

    @Test func `N6: a log whose kept log may be brought does not begin again`() async throws {
        let store = try await open(directory.log)
        await store.close()
        let kept = directory.url.appending(path: "log.kept-0123456789abcdef")
        try FileManager.default.copyItem(at: directory.log, to: kept)
        let refused = await error { () throws(LogError) in
            try await Store<Board>.begin(
                at: directory.log, from: [.value(Board())], through: 3, of: lineage)
        }
        guard case .unfitBase = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
    }

    @Test func `what an earlier call left beside the log is removed`() async throws {
        try await Store<Board>.begin(
            at: directory.log, from: [.value(Board())], through: 3, of: lineage)
        let left = directory.url.appending(path: "log.compacted", directoryHint: .isDirectory)
        try FileManager.default.moveItem(at: directory.log, to: left)
        try await Store<Board>.begin(
            at: directory.log, from: [.value(Board())], through: 4, of: lineage)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == ["log"])
        // A log whose own name is gone is somebody's work.
        let store = try await open(directory.log)
        try await store.record(.set("mine", 1))
        await store.close()
        try FileManager.default.moveItem(at: directory.log, to: left)
        let refused = await error { () throws(LogError) in
            try await Store<Board>.begin(
                at: directory.log, from: [.value(Board())], through: 5, of: lineage)
        }
        guard case .notALog(left.path, _) = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
    }
}
