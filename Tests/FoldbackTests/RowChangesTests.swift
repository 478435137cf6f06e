import Foldback
import TestSupport
import Testing

/// Failure: a screen misses a change, or shows a change that did not happen.
@Suite struct RowChangesTests {
    private let directory = TemporaryDirectory()

    @Test(arguments: Engine.allCases)
    func `changes arrive commit by commit, each with the old and the new row`(engine: Engine)
        async throws
    {
        let store = try await engine.store(RowBoard.self, .acknowledgement, in: directory)
        var changes = try store.changes(of: RowBoard.cells).makeAsyncIterator()
        var others = try store.changes(of: RowBoard.cells, in: .key("b")).makeAsyncIterator()
        typealias Change = RowChange<String, Int>
        _ = try await store.record(.set("a", 1))
        #expect(
            try await changes.next()?.changes
                == [Change(key: "a", old: nil, new: 1, isPending: true)])
        try await store.acknowledge(1)
        #expect(
            try await changes.next()?.changes
                == [Change(key: "a", old: 1, new: 1, isPending: false)])
        // A slow consumer gets three commits as one batch.
        _ = try await store.record(.set("c", 5))
        _ = try await store.record(.set("b", 2))
        try await store.reject(2, message: "no")
        let batch = try #require(try await changes.next())
        #expect(
            batch.changes == [
                Change(key: "b", old: nil, new: 2, isPending: true),
                Change(key: "c", old: nil, new: nil, isPending: false),
            ])
        #expect(batch.sequence == 5 && batch.isComplete)
        #expect(try await others.next()?.changes.map(\.key) == ["b"])
        await store.close()
        #expect(try await changes.next() == nil)
        #expect(try await others.next() == nil)
    }

    @Test(arguments: Engine.allCases)
    func `a row that changed and changed back is reported, because it may have been read`(
        engine: Engine
    ) async throws {
        let store = try await engine.store(RowBoard.self, .acknowledgement, in: directory)
        var changes = try store.changes(of: RowBoard.cells).makeAsyncIterator()
        _ = try await store.record(.set("ghost", 1))
        var read: [String: Int] = [:]
        for cell in try store.read({ try $0.page(of: RowBoard.cells, limit: 9) }) {
            read[cell.key] = cell.row
        }
        #expect(read == ["ghost": 1])
        try await store.reject(1, message: "no")
        _ = try await store.record(.set("other", 2))
        for change in try #require(try await changes.next()).changes {
            read[change.key] = change.new
        }
        #expect(read == ["other": 2])
        await store.close()
    }

    @Test func `a slow consumer costs bounded memory and gets an incomplete batch`() async throws {
        let store = Store.inMemory(RowBoard.self, confirmedBy: .downlink)
        var changes = try store.changes(of: RowBoard.cells).makeAsyncIterator()
        let all = (0...Limits.rowChangesMax).map { ("k\($0)", $0) }
        _ = try await store.record(.replaceAll(Dictionary(uniqueKeysWithValues: all)))
        let batch = try #require(try await changes.next())
        #expect(!batch.isComplete && batch.changes.isEmpty)
        _ = try await store.record(.set("a", 1))
        #expect(try await changes.next()?.changes.map(\.key) == ["a"])
        await store.close()
    }

    @Test(arguments: Engine.allCases)
    func `an additional projection reports changes of its own rows`(engine: Engine) async throws {
        let store = try await engine.store(
            RowBoard.self, .acknowledgement, in: directory,
            also: [AdditionalProjection(Users.self)])
        var users = try store.projected(Users.self).changes(of: Users.users).makeAsyncIterator()
        var cells = try store.changes(of: RowBoard.cells).makeAsyncIterator()
        _ = try await store.record(.set("ada", 7))
        await store.close()
        #expect(
            try await users.next()?.changes
                == [RowChange(key: 7, old: nil, new: "ada", isPending: true)])
        #expect(
            try await cells.next()?.changes
                == [RowChange(key: "ada", old: nil, new: 7, isPending: true)])
        #expect(try await users.next() == nil)
    }

    @Test func `a watcher that starts during a commit gets an incomplete batch`()
        async throws
    {
        let storage = TestStorage()
        let store = try await storage.store(RowBoard.self)
        storage.holdWrites()
        let recording = try await store.enqueue(.set("a", 1))
        await storage.waitUntilHeld()
        var changes = try store.changes(of: RowBoard.cells).makeAsyncIterator()
        storage.releaseWrites()
        _ = try await recording.receipt()
        _ = try await store.record(.set("b", 2))
        await store.close()
        let batch = try #require(try await changes.next())
        #expect(!batch.isComplete && batch.sequence == 2)
    }

    @Test(arguments: Engine.allCases)
    func `a swept range is reported row by row`(engine: Engine) async throws {
        let store = try await engine.store(RowBoard.self, .downlink, in: directory)
        let events: [Move] = [.set("a", 1), .set("aa", 2), .set("b", 3), .set("c", 4)]
        try await store.confirm(
            events.enumerated().map {
                ConfirmedEvent(position: Position(UInt64($0.offset + 1)), event: $0.element)
            })
        var changes = try store.changes(of: RowBoard.cells).makeAsyncIterator()
        _ = try await store.record(.sweep("a", "b"))
        // The pending sweep also removes a row that is confirmed after it was recorded.
        try await store.confirm([ConfirmedEvent(position: 5, event: .set("ab", 3))])
        await store.close()
        typealias Change = RowChange<String, Int>
        let batch = try #require(try await changes.next())
        #expect(
            batch.changes.filter { $0.old != $0.new } == [
                Change(key: "a", old: 1, new: 3, isPending: true),
                Change(key: "aa", old: 2, new: nil, isPending: true),
                Change(key: "b", old: 3, new: nil, isPending: true),
            ])
        #expect(try await changes.next() == nil)
    }

    @Test(arguments: Engine.allCases)
    func `a range of an index reports rows that change in it, enter it and leave it`(
        engine: Engine
    ) async throws {
        let store = try await engine.store(RowBoard.self, .acknowledgement, in: directory)
        _ = try await store.record(.set("a", 1))
        _ = try await store.record(.set("b", 7))
        var low = try store.changes(of: RowBoard.byValue, in: .keys(from: 0, upTo: 5))
            .makeAsyncIterator()
        typealias Change = RowChange<String, Int>
        _ = try await store.record(.set("c", 8))
        _ = try await store.record(.set("a", 2))
        #expect(
            try await low.next()?.changes == [Change(key: "a", old: 1, new: 2, isPending: true)])
        _ = try await store.record(.set("b", 3))
        #expect(
            try await low.next()?.changes == [Change(key: "b", old: nil, new: 3, isPending: true)])
        _ = try await store.record(.set("a", 9))
        #expect(
            try await low.next()?.changes == [Change(key: "a", old: 2, new: nil, isPending: true)])
        // A row that was in the range only between two batches may have been read there.
        _ = try await store.record(.set("c", 4))
        _ = try await store.record(.set("c", 8))
        #expect(
            try await low.next()?.changes
                == [Change(key: "c", old: nil, new: nil, isPending: true)])
        await store.close()
        #expect(try await low.next() == nil)
    }

    @Test(arguments: Engine.allCases)
    func `an index with several entries for a row reports the row once`(
        engine: Engine
    ) async throws {
        let store = try await engine.store(RowBoard.self, .acknowledgement, in: directory)
        var odd = try store.changes(of: RowBoard.odd).makeAsyncIterator()
        _ = try await store.record(.set("a", 2))
        _ = try await store.record(.set("b", 3))
        let batch = try #require(try await odd.next())
        #expect(batch.changes == [RowChange(key: "b", old: nil, new: 3, isPending: true)])
        await store.close()
    }

    @Test(arguments: Engine.allCases)
    func `a range of a unique index reports both rows that used a key`(
        engine: Engine
    ) async throws {
        let store = try await engine.store(
            RowBoard.self, .acknowledgement, in: directory,
            also: [AdditionalProjection(Users.self)])
        let users = store.projected(Users.self)
        var ada = try users.changes(of: Users.byName, in: .key("ada")).makeAsyncIterator()
        _ = try await store.record(.set("bob", 1))
        _ = try await store.record(.set("ada", 2))
        await store.close()
        #expect(
            try await ada.next()?.changes
                == [RowChange(key: 2, old: nil, new: "ada", isPending: true)])
        #expect(try await ada.next() == nil)
    }
}
