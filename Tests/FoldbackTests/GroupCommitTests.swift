import Foldback
import TestSupport
import Testing

/// Question: how do commands in one transaction affect each other (L3, L6)?
///
/// A command can read rows that an earlier command changed and that are not written yet. A command
/// can fail while the other commands stay.
@Suite struct GroupCommitTests {
    /// Queues the commands while `move` is being written, so that the next transaction has all of
    /// them.
    private static func together(
        _ commands: [Command], after move: Move, in store: any BoardStore, _ storage: TestStorage
    ) async throws -> [Request] {
        storage.holdWrites()
        let first = try await store.enqueue(move)
        await storage.waitUntilHeld()
        var requests: [Request] = []
        for command in commands { requests.append(try await store.enqueue(command)) }
        storage.releaseWrites()
        _ = try await first.receipt()
        return requests
    }

    private static func outcomes(of requests: [Request]) async -> [CommandError?] {
        var errors: [CommandError?] = []
        for request in requests {
            errors.append(await error { () throws(CommandError) in try await request.outcome() })
        }
        return errors
    }

    private static func record(_ move: Move) throws -> Command {
        .record(
            Proposal(
                payload: try MoveCodec().payload(of: move), isConfirmOnly: false, once: nil,
                info: [:]))
    }

    @Test(arguments: BoardKeeper.allCases)
    func `commands on one row have the same result in one commit as in many`(
        keeper: BoardKeeper
    ) async throws {
        let commands: [Command] = [
            try Self.record(.add("a", 1)), .acknowledge(1, position: nil, replacement: nil),
            try Self.record(.add("a", 2)), .reject(3, Rejection(message: "no")),
            try Self.record(.sweep("a", "b")), try Self.record(.add("a", 3)),
            .acknowledge(2, position: nil, replacement: nil), .change(6, .withdraw),
            try Self.record(.add("a", 4)), .acknowledge(5, position: nil, replacement: nil),
        ]
        var seen: [SeenBoard] = []
        for isTogether in [true, false] {
            let storage = TestStorage()
            let store = try await keeper.store(over: storage)
            for move in [Move.set("a", 1), .set("aa", 7), .set("ab", 1)] {
                _ = try await store.record(move)
            }
            if isTogether {
                let requests = try await Self.together(
                    commands, after: .set("z", 0), in: store, storage)
                for request in requests { _ = try await request.outcome() }
                #expect(storage.writeSizes.last == commands.count)
            } else {
                _ = try await store.record(.set("z", 0))
                for command in commands { _ = try await store.enqueue(command).outcome() }
            }
            seen.append(try store.seen())
            #expect(try await store.verify().findings == [])
            await store.close()
        }
        #expect(seen[0].view == seen[1].view && seen[0].confirmed == seen[1].confirmed)
        #expect(seen[0].pending == [4, 7, 8, 9] && seen[1].pending == [4, 7, 8, 9])
        #expect(seen[0].view.cells == ["a": 9, "z": 0])
    }

    @Test func `L6: a watcher of rows sees no change from an undone transaction`() async throws {
        let storage = TestStorage()
        let store = try await storage.store(RowBoard.self)
        var changes = try store.changes(of: RowBoard.cells).makeAsyncIterator()
        // The last command fails, and so does the transaction that has it.
        storage.refuse(IntentNumber(3))
        let requests = try await Self.together(
            [.reject(1, Rejection(message: "no"))]
                + ["b", "c"].map { try Self.record(.set($0, 2)) },
            after: .set("a", 1), in: store, storage)
        let errors = await Self.outcomes(of: requests)
        #expect(errors.map { $0 == nil } == [true, true, false])
        storage.refuse(nil)
        _ = try await store.record(.set("d", 4))
        #expect(try store.cells == ["b": 2, "d": 4])
        await store.close()
        let batch = try #require(try await changes.next())
        #expect(
            batch.changes == [
                // One commit recorded it and the next rejected it. A reader may have seen it in
                // between.
                RowChange(key: "a", old: nil, new: nil, isPending: false),
                RowChange(key: "b", old: nil, new: 2, isPending: true),
                RowChange(key: "d", old: nil, new: 4, isPending: true),
            ])
        #expect(batch.isComplete && batch.sequence == 4)
    }

    @Test func `L6: a damaged row fails only its own request in a transaction`() async throws {
        let storage = TestStorage()
        let store = try await storage.store(RowBoard.self)
        _ = try await store.record(.set("a", 1))
        try await store.acknowledge(1)
        try storage.damage("a")
        let requests = try await Self.together(
            ["b", "a", "c"].map { try Self.record(.set($0, 2)) }, after: .set("z", 1), in: store,
            storage)
        let errors = await Self.outcomes(of: requests)
        guard case .log(.damaged) = errors[1] else {
            Issue.record("\(errors)")
            return
        }
        #expect(errors[0] == nil && errors[2] == nil)
        #expect(store.overlay.map(\.event) == [.set("z", 1), .set("b", 2), .set("c", 2)])
        #expect(try store.read { try $0.get("c", in: RowBoard.cells) } == 2)
        await store.close()
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L6: a failed commit that reached the disk is not shown`(
        keeper: BoardKeeper
    ) async throws {
        let storage = TestStorage()
        let store = try await keeper.store(over: storage)
        _ = try await store.record(.set("a", 1))
        storage.failWrites(leavingOutcomeUnknown: true, writingAnyway: true)
        let failure = await error { () throws(CommandError) in try await store.acknowledge(1) }
        guard case .log(.outcomeUnknown) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        switch keeper {
        case .memory: #expect(try store.seen().pending == [1])
        case .rows:
            // The rows on disk are no longer the published rows.
            let unread = #expect(throws: LogError.self) { try store.seen() }
            guard case .latched = unread else {
                Issue.record("\(String(describing: unread))")
                return
            }
        }
        await store.close()
        let reopened = try Store.inMemory(
            RowBoard.self, reopening: storage.log.rows, sources: .counting())
        #expect(try reopened.seen().confirmed.cells == ["a": 1])
    }
}
