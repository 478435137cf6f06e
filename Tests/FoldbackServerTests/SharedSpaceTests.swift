import Foldback
import FoldbackHistory
import FoldbackTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FoldbackServer
@testable import FoldbackSync

/// Question: do servers over one table serve a space as one server would, and stop when the table has lost
/// what they know?
@Suite struct SharedSpaceTests {
    private let directory = TemporaryDirectory()
    private let table = TableInMemory(pageMax: 2)
    private let name = SpaceName("board")!

    private func folder(_ server: String) -> URL {
        directory.url.appending(path: server, directoryHint: .isDirectory)
    }

    private func open(_ server: String) async throws -> Space<BoardRules> {
        try await open(server, BoardRules())
    }

    private func open<R: Rules>(_ server: String, _ rules: R) async throws -> Space<R> {
        try await Space.open(at: folder(server), named: name, rules: rules, over: table)
    }

    /// Returns why a call failed; nil if it did not.
    private func failure(
        _ body: () async throws -> some Any
    ) async -> AuthorityFailure? {
        do { _ = try await body() } catch { return error as? AuthorityFailure }
        return nil
    }

    private func decide(
        _ number: UInt64, _ move: Move, of replica: String = "a", on space: Space<BoardRules>
    ) async throws -> Verdict<Move>? {
        try await space.authority(for: .ann).submit([sent(number, move, of: replica)])
            .byIntent[id(number, of: replica)]
    }

    // MARK: Deciding

    @Test func `N1: a server decides on what another one has decided`() async throws {
        let (a, b) = (try await open("a"), try await open("b"))
        #expect(a.lineage == b.lineage)
        #expect(try await decide(1, .set("mine", 1), on: a)?.isAccepted == true)
        let late = try await decide(1, .set("mine", 2), of: "b", on: b)
        #expect(late == .rejected(Rejection(message: "ann comes too late")))
        #expect(
            try await decide(1, .set("mine", 1), on: b) == .accepted(position: 2, replacement: nil))
        #expect(b.head == 3 && a.head == 2)
        try await a.follow()
        #expect(a.head == 3 && a.store.view.state == b.store.view.state)
    }

    @Test func `a log that is gone is made again, and one that lags catches up`() async throws {
        let a = try await open("a")
        for number in 1...9 { _ = try await decide(UInt64(number), .set("a", number), on: a) }
        let lagging = try await open("b")
        await lagging.close()
        for number in 10...12 { _ = try await decide(UInt64(number), .set("a", number), on: a) }
        for server in ["b", "new"] {
            let space = try await open(server)
            #expect(space.head == a.head && space.store.view.state == a.store.view.state)
            #expect(try await space.store.verify().isSound)
            #expect(
                try await decide(3, .set("a", 3), on: space)
                    == .accepted(position: 4, replacement: nil))
        }
    }

    @Test func `N6: a server that lags answers a device that knows more`() async throws {
        let (a, b) = (try await open("a"), try await open("b"))
        _ = try await decide(1, .set("a", 1), on: a)
        let known = SyncPoint(lineage: a.lineage, through: a.head)
        let page = try await b.authority(for: .ann).changes(after: known)
        #expect(page.events.isEmpty && page.head == 2)
        _ = try await decide(2, .set("a", 2), on: a)
        let later = SyncPoint(lineage: a.lineage, through: a.head)
        let answer = try await b.authority(for: .ann).submit([sent(3, .set("a", 3))], from: later)
        #expect(answer.byIntent[id(3)] == .accepted(position: 4, replacement: nil))
        let beyond = SyncPoint(lineage: a.lineage, through: 9)
        #expect(
            await failure { try await b.authority(for: .ann).changes(after: beyond) }
                == .superseded(shared: 4))
    }

    @Test func `a long poll on one server ends with a decision of another`() async throws {
        let servers = ["a", "b"].map { Spaces(in: folder($0), rules: BoardRules(), over: table) }
        let reader = servers[1].authority(for: .ben, in: name)
        let page = try await reader.changes(after: SyncPoint(lineage: nil, through: 0))
        let poll = Task {
            try await reader.changes(
                after: SyncPoint(lineage: page.lineage, through: page.through),
                waiting: .seconds(50))
        }
        try await Task.sleep(for: .milliseconds(20))
        _ = try await servers[0].authority(for: .ann, in: name).submit([sent(1, .set("a", 1))])
        #expect(try await poll.value.events.map(\.origin) == [id(1)])
        for server in servers { await server.close() }
    }

    @Test func `N9: older code stops when newer code has decided`() async throws {
        let newer = try await open("a", OpenRules<EditionBoard<LastEdition>>())
        let older = try await open("b", OpenRules<EditionBoard<FirstEdition>>())
        _ = try await newer.authority(for: .ann).submit([sent(1, .replaceAll(["b": 2]))])
        let refusal = await failure {
            try await older.authority(for: .ben).submit([sent(1, .set("a", 1), of: "b")])
        }
        #expect(older.fault?.contains("has no effect") == true)
        #expect(refusal == .unavailable(after: nil, reason: older.fault ?? ""))
        #expect(table.groups(from: 1, in: name).groups.count == 2)
    }

    @Test func `N2: what was read before a standby took over does not count`() async throws {
        let (a, b) = (try await open("a"), try await open("b"))
        _ = try await decide(1, .set("a", 1), on: a)
        await b.close()
        // The standby never had the decision that the server is about to read.
        let promoting = PromotingTable(table) { [table, name] in
            table.restore([name: 1], timeline: 2)
        }
        let late = try await Space.open(
            at: folder("b"), named: name, rules: BoardRules(), over: promoting)
        #expect(late.store.view.state.cells.isEmpty && late.store.view.founding?.timeline == 2)
    }

    // MARK: Loss

    @Test func `N6: decisions that the table lost stop every server until a new lineage`()
        async throws
    {
        let (a, b) = (try await open("a"), try await open("b"))
        let lineage = a.lineage
        for number in 1...4 { _ = try await decide(UInt64(number), .set("a", number), on: a) }
        // Server b has nothing that is lost.
        table.restore([name: 3], timeline: 1)
        let refused = await failure { try await decide(5, .set("a", 5), on: a) }
        guard case .unavailable(_, let reason)? = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        #expect(reason.contains("lost decisions"))
        #expect(a.fault == reason)
        #expect(await failure { try await a.authority(for: .ann).changes(after: 0) } != nil)
        #expect(await failure { try await decide(1, .set("b", 1), of: "b", on: b) } != nil)
        #expect(await failure { try await open("new") } != nil)

        let next = try await table.beginNewLineage(of: name)
        #expect(next != lineage)
        for space in [a, b] {
            _ = await failure { try await space.follow() }
            #expect(space.mustReopen)
            await space.close()
        }
        for server in ["a", "b", "new"] {
            let space = try await open(server)
            #expect(space.lineage == next && space.store.view.state.cells == ["a": 2])
            #expect(
                await failure {
                    try await space.authority(for: .ann).changes(
                        after: SyncPoint(lineage: lineage, through: 3))
                } == .superseded(shared: 0))
            await space.close()
        }
        // The same backup is put back a second time. The table's lineage is the first one again.
        let again = try await open("a")
        _ = try await decide(9, .set("b", 9), on: again)
        table.restore([name: 3], timeline: 1)
        #expect(await failure { try await decide(10, .set("b", 10), on: again) } != nil)
        #expect(again.fault?.contains("lost decisions") == true)
        #expect(await failure { try await open("new") } != nil)
        let third = try await table.beginNewLineage(of: name)
        _ = await failure { try await again.follow() }
        await again.close()
        let healed = try await open("a")
        #expect(healed.lineage == third && healed.store.view.state.cells == ["a": 2])
        await healed.close()

        // The log with the lost decisions is there to be read.
        let kept = try LogReader(at: directory.url.appending(path: "a~1"))
        #expect(try kept.entries(from: 1, countMax: 9).count == 5)
        #expect(!FileManager.default.fileExists(atPath: folder("b").path + "~1"))
    }

    @Test func `N6: a server with a log vouches for a new timeline, and one without does not`()
        async throws
    {
        let a = try await open("a")
        _ = try await decide(1, .set("a", 1), on: a)
        table.restore([:], timeline: 2)
        guard case .unavailable(_, let reason)? = await failure({ try await open("new") }) else {
            Issue.record("a server without a log serves a new timeline")
            return
        }
        #expect(reason.contains("timeline 2 and the space on 1"))
        try await a.follow()
        let new = try await open("new")
        #expect(new.store.view.founding?.timeline == 2 && new.lineage == a.lineage)
        #expect(
            try await decide(2, .set("a", 2), on: new) == .accepted(position: 4, replacement: nil))
    }

    @Test func `N6: a loss below a newest group that came again is found`() async throws {
        let a = try await open("a")
        _ = try await decide(1, .set("a", 1), on: a)
        _ = try await decide(2, .set("a", 2), on: a)
        await a.close()
        // Another server vouches, and the device sends its last intent again.
        table.restore([name: 1], timeline: 2)
        let founding = try #require(table.all(of: name)[0].founding)
        let vouched = Founding(
            lineage: founding.lineage, replica: founding.replica, timeline: 2)
        let group = TableGroup(position: 2, rows: [.founded(vouched)])
        _ = table.append(group, after: table.all(of: name).last, in: name)
        let b = try await open("b")
        _ = try await decide(2, .set("a", 2), on: b)
        #expect(b.head == 3)
        guard case .unavailable(_, let reason)? = await failure({ try await open("a") }) else {
            Issue.record("the lost decision was not missed")
            return
        }
        #expect(reason.contains("at position 2, and the table has others there"))
    }

    @Test func `a table with a gap is refused, and so is a new lineage of an unknown space`()
        async throws
    {
        let a = try await open("a")
        for number in 1...4 { _ = try await decide(UInt64(number), .set("a", number), on: a) }
        table.remove(3, of: name)
        guard case .unavailable(_, let reason)? = await failure({ try await open("b") }) else {
            Issue.record("a space with a gap is served")
            return
        }
        #expect(reason.contains("lacks the group after position 2"))
        await #expect(throws: TableFailure.self) {
            try await table.beginNewLineage(of: SpaceName("typo")!)
        }
        #expect(table.all(of: SpaceName("typo")!).isEmpty)
    }

    @Test func `a copied folder serves, so a new server need not copy the table`() async throws {
        let a = try await open("a")
        _ = try await decide(1, .set("a", 1), on: a)
        await a.close()
        try FileManager.default.copyItem(at: folder("a"), to: folder("b"))
        let (first, second) = (try await open("a"), try await open("b"))
        #expect(
            try await decide(2, .set("a", 2), on: second)
                == .accepted(position: 3, replacement: nil))
        try await first.follow()
        #expect(first.head == 3 && first.lineage == second.lineage)
    }

    @Test func `a name that a table cannot keep is not an account`() {
        #expect(Account("a\0b") == nil && Account("ab") != nil)
    }

    // MARK: Moving

    @Test func `a moved space has the same lineage, positions and verdicts`() async throws {
        let own = try await Space.open(at: folder("a"), named: name, rules: BoardRules())
        let moves: [Move] = [.set("a", 1), .set("no", 1), .set("double", 2), .set("nothing", 1)]
        var verdicts: [Verdict<Move>?] = []
        for (number, move) in moves.enumerated() {
            verdicts.append(try await decide(UInt64(number + 1), move, on: own))
        }
        let page = try await own.authority(for: .ann).changes(after: 0)
        let known = SyncPoint(lineage: page.lineage, through: page.through, digest: page.digest)
        #expect(known.digest != nil)
        await own.close()

        #expect(await failure { try await open("a") } != nil)
        for allowed in 0..<6 {
            let broken = BreakingTable(table, appends: allowed % 3, isReadable: false)
            _ = try? await Space<BoardRules>.move(from: folder("a"), named: name, to: broken)
            // Nobody serves a space that is moved in part.
            let founding = table.groups(from: 1, in: name).founding
            if founding != nil, founding?.timeline == nil {
                #expect(await failure { try await open("new") } != nil)
            }
        }
        try await Space<BoardRules>.move(from: folder("a"), named: name, to: table)
        #expect(try await Space<BoardRules>.move(from: folder("a"), named: name, to: table) == 0)
        await #expect(throws: TableFailure.self) {
            try await Space<BoardRules>.move(from: folder("typo"), named: name, to: table)
        }
        #expect(!FileManager.default.fileExists(atPath: folder("typo").path))
        for server in ["a", "other"] {
            let space = try await open(server)
            #expect(space.lineage == page.lineage)
            for (number, move) in moves.enumerated() {
                #expect(try await decide(UInt64(number + 1), move, on: space) == verdicts[number])
            }
            let next = try await space.authority(for: .ann).changes(after: known)
            #expect(next.events.isEmpty)
            await space.close()
        }
        let refused = await error { () async throws(LogError) in
            try await Space.open(at: folder("a"), named: name, rules: BoardRules())
        }
        guard case .copyOfTable? = refused else {
            Issue.record("served without the table: \(String(describing: refused))")
            return
        }
    }

    /// A database without room, or without the right to insert, can still be read.
    @Test(arguments: [false, true])
    func `a table that takes no group stops decisions, and not readers`(isReadable: Bool)
        async throws
    {
        let broken = BreakingTable(table, appends: 1, isReadable: isReadable)
        let spaces = Spaces(in: directory.url, rules: BoardRules(), over: broken)
        let authority = spaces.authority(for: .ann, in: name)
        #expect(try await authority.changes(after: 0).through == 1)
        let request = try [sent(1, Move.set("a", 1), of: "a")]
        guard case .unavailable? = await failure({ try await authority.submit(request) }) else {
            Issue.record("decided without the table")
            return
        }
        #expect(await spaces.status().faults[name]?.contains("broken") == true)
        #expect(try await authority.changes(after: 0).through == 1)
        broken.repair()
        #expect(
            try await authority.submit(request).byIntent
                == [id(1, of: "a"): .accepted(position: 2, replacement: nil)])
        #expect(await spaces.status().faults.isEmpty)
        await spaces.close()
    }

    @Test func `a table that has grown takes groups again`() async throws {
        let broken = BreakingTable(table, appends: 0, isReadable: true)
        let other = try await open("a")
        let spaces = Spaces(in: directory.url, rules: BoardRules(), over: broken)
        let authority = spaces.authority(for: .ann, in: name)
        let request = try [sent(1, Move.set("a", 1), of: "a")]
        _ = await failure { try await authority.submit(request) }
        #expect(await spaces.status().faults.count == 1)
        _ = try await decide(2, .set("b", 1), of: "b", on: other)
        while await !spaces.status().faults.isEmpty { await Task.yield() }
        await spaces.close()
    }
}

extension Verdict {
    fileprivate var isAccepted: Bool { if case .accepted = self { true } else { false } }
}

/// A table that breaks after some appends.
private final class BreakingTable: DecisionTable {
    private let table: TableInMemory
    private let left: Mutex<Int>
    private let isReadable: Bool

    /// - Parameter isReadable: whether only appends break.
    init(_ table: TableInMemory, appends: Int, isReadable: Bool) {
        self.table = table
        left = Mutex(appends)
        self.isReadable = isReadable
    }

    func repair() { left.withLock { $0 = .max } }

    func append(
        _ group: TableGroup, after head: TableGroup?, in space: SpaceName
    ) async throws(TableFailure) -> TableGroup? {
        let isBroken = left.withLock { left in
            guard left > 0 else { return true }
            left -= 1
            return false
        }
        if isBroken { throw TableFailure("broken") }
        return table.append(group, after: head, in: space)
    }

    func groups(
        from position: Position, in space: SpaceName
    ) async throws(TableFailure) -> TablePage { table.groups(from: position, in: space) }

    func barrier() async throws(TableFailure) -> UInt32 {
        if !isReadable, left.withLock({ $0 == 0 }) { throw TableFailure("broken") }
        return table.barrier()
    }

    func hints(
        past heads: @escaping @Sendable () async -> [SpaceName: Position]
    ) -> AsyncStream<SpaceName?> { table.hints(past: heads) }
}

/// A table whose standby takes over between a read and the barrier after it.
private final class PromotingTable: DecisionTable {
    private let table: TableInMemory
    private let promote: Mutex<(@Sendable () -> Void)?>

    init(_ table: TableInMemory, _ promote: @escaping @Sendable () -> Void) {
        self.table = table
        self.promote = Mutex(promote)
    }

    func append(
        _ group: TableGroup, after head: TableGroup?, in space: SpaceName
    ) async throws(TableFailure) -> TableGroup? { table.append(group, after: head, in: space) }

    func groups(
        from position: Position, in space: SpaceName
    ) async throws(TableFailure) -> TablePage { table.groups(from: position, in: space) }

    func barrier() async throws(TableFailure) -> UInt32 {
        promote.withLock { $0.take() }?()
        return table.barrier()
    }

    func hints(
        past heads: @escaping @Sendable () async -> [SpaceName: Position]
    ) -> AsyncStream<SpaceName?> { table.hints(past: heads) }
}
