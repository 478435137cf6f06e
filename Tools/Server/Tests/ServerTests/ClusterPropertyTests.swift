import Foldback
import FoldbackPostgres
import FoldbackSync
import FoldbackTesting
import Foundation
import Synchronization
import Testing

@testable import FoldbackServer

/// Property: whatever several spaces over one PostgreSQL do at once, and whichever calls are lost, the table
/// is one serial order of decisions. Each space's state is the fold of it, no intent is decided twice, and
/// every answer stays true.
///
/// The database is real, so a seed does not repeat a run.
extension ClusterTests {
    private static let requestCount =
        ProcessInfo.processInfo.environment["FOLDBACK_TEST_EFFORT"] == "full" ? 1_000 : 60

    @Test func `N1, N2, N4: spaces over PostgreSQL decide as one when calls are lost`()
        async throws
    {
        let seed = UInt64.random(in: 0..<1_000_000)
        let cluster = try await Cluster()
        // Each space has its own connections, as in a process of its own.
        let tables = try (0..<3).map { place in
            LossyTable(try PostgresTable(cluster.conninfo), seed: seed &* 7 &+ UInt64(place))
        }
        let run = PropertyRun(tables, try Folder(), seed: seed)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for device in 0..<6 {
                group.addTask { try await run.use(device, Self.requestCount) }
            }
            group.addTask { await run.restartSpaces(Self.requestCount / 4) }
            try await group.waitForAll()
        }
        for table in tables { table.heal() }
        try await run.check()
        print("seed \(seed): \(run.answerCount) answers; lost calls: \(tables.map(\.faults))")
        await run.close()
    }
}

/// Accepts most events, and uses each kind of ruling.
private struct KeyRules: Rules {
    func decide(
        _ intent: Submission<DocumentEvent>, by account: Account, on documents: Documents,
        at time: Timestamp
    ) -> Ruling<DocumentEvent> {
        guard case .change(let key, _, _) = intent.event else { return .accept }
        return switch key {
        case "refused": .reject(Rejection(code: "no", message: "\(account) may not"))
        case "nothing": .reword(nil)
        case "other": .reword(.increment("a", field: "count", by: .integer(7)))
        default: .accept
        }
    }

    func access(of account: Account, to space: SpaceName) async -> Bool { true }
}

/// A table that loses calls before and after they are carried out, and hints.
private final class LossyTable: DecisionTable {
    private let table: PostgresTable
    private let state: Mutex<(random: SplitMix64, isFaulty: Bool, faults: [String: Int])>

    init(_ table: PostgresTable, seed: UInt64) {
        self.table = table
        state = Mutex((SplitMix64(seed: seed), true, [:]))
    }

    var faults: [String: Int] { state.withLock { $0.faults } }

    func heal() { state.withLock { $0.isFaulty = false } }

    private func loses(_ call: String, oneIn count: Int) -> Bool {
        state.withLock { state in
            guard state.isFaulty, Int.random(in: 0..<count, using: &state.random) == 0 else {
                return false
            }
            state.faults[call, default: 0] += 1
            return true
        }
    }

    func append(
        _ group: TableGroup, after head: TableGroup?, in space: SpaceName
    ) async throws(TableFailure) -> TableGroup? {
        if loses("append, before", oneIn: 20) { throw TableFailure("lost before") }
        if loses("append, late", oneIn: 20) {
            Task { [table] in
                try? await Task.sleep(for: .milliseconds(3))
                _ = try? await table.append(group, after: head, in: space)
            }
            throw TableFailure("lost, and comes later")
        }
        let stamped = try await table.append(group, after: head, in: space)
        if loses("append, after", oneIn: 20) { throw TableFailure("lost after") }
        return stamped
    }

    func groups(
        from position: Position, in space: SpaceName
    ) async throws(TableFailure) -> TablePage {
        if loses("groups", oneIn: 30) { throw TableFailure("lost") }
        return try await table.groups(from: position, in: space)
    }

    func barrier() async throws(TableFailure) -> UInt32 {
        if loses("barrier", oneIn: 30) { throw TableFailure("lost") }
        return try await table.barrier()
    }

    func hints(
        past heads: @escaping @Sendable () async -> [SpaceName: Position]
    ) -> AsyncStream<SpaceName?> {
        AsyncStream { hints in
            let task = Task {
                for await hint in table.hints(past: heads) where !loses("hint", oneIn: 3) {
                    hints.yield(hint)
                }
            }
            hints.onTermination = { _ in task.cancel() }
        }
    }
}

private final class PropertyRun: Sendable {
    private typealias Served = Space<KeyRules>

    private let name = SpaceName("main")!
    private let tables: [LossyTable]
    private let folder: Folder
    private let seed: UInt64
    private let spaces = Mutex<[(space: Served, following: Task<Void, Never>)?]>([nil, nil, nil])
    private let ledger = AnswerLedger()

    init(_ tables: [LossyTable], _ folder: Folder, seed: UInt64) {
        self.tables = tables
        self.folder = folder
        self.seed = seed
    }

    var answerCount: Int { ledger.count }

    // MARK: What happens

    /// Sends requests to spaces at random. Some come again, also after an answer.
    func use(_ device: Int, _ count: Int) async throws {
        var random = SplitMix64(seed: seed &* 31 &+ UInt64(device))
        let account = Account(device.isMultiple(of: 2) ? "ann" : "ben")!
        var number: UInt64 = 1
        var intents: [Submission<DocumentEvent>] = []
        // At most so many calls, because one may fail many times.
        var left = count
        for _ in 0..<20 * count where left > 0 {
            if intents.isEmpty {
                intents = try (0..<Int.random(in: 1...5, using: &random)).map { _ in
                    defer { number += 1 }
                    let keys = ["a", "b", "c", "refused", "nothing", "other"]
                    let key = ExactString(keys.randomElement(using: &random) ?? "a")
                    let isIncrement = Bool.random(using: &random)
                    return try Submission(
                        number, of: "device-\(device)",
                        isIncrement
                            ? .increment(key, field: "count", by: .integer(1), require: .present)
                            : .set(key, ["count": 0]))
                }
            }
            let place = Int.random(in: 0..<3, using: &random)
            let request = intents
            guard
                let verdicts = try? await space(place)?.authority(for: account)
                    .submit(request, from: .beginning)
            else {
                try await Task.sleep(for: .milliseconds(Int.random(in: 1...10, using: &random)))
                continue
            }
            left -= 1
            ledger.note(verdicts, intents)
            if Int.random(in: 0..<4, using: &random) > 0 { intents = [] }
        }
    }

    func restartSpaces(_ count: Int) async {
        for round in 0..<count {
            try? await Task.sleep(for: .milliseconds(40))
            let place = round % 3
            await closeSpace(place)
            // Every other time it begins with nothing.
            if round.isMultiple(of: 2) { try? FileManager.default.removeItem(at: directory(place)) }
        }
    }

    private func directory(_ place: Int) -> URL {
        folder.url.appending(path: "space-\(place)", directoryHint: .isDirectory)
    }

    /// Returns a space; nil if it cannot be opened now.
    private func space(_ place: Int) async -> Served? {
        if let open = spaces.withLock({ $0[place]?.space }) { return open }
        let opened: Served
        do throws(AuthorityFailure) {
            opened = try await Space.open(
                at: directory(place), named: name, rules: KeyRules(), over: tables[place])
        } catch { return nil }
        let following = Task { [name, table = tables[place]] in
            let heads: @Sendable () async -> [SpaceName: Position] = { [name: opened.head] }
            for await _ in table.hints(past: heads) { await opened.followHint() }
        }
        let isFirst = spaces.withLock { spaces in
            guard spaces[place] == nil else { return false }
            spaces[place] = (opened, following)
            return true
        }
        if isFirst { return opened }
        following.cancel()
        await opened.close()
        return spaces.withLock { $0[place]?.space }
    }

    private func closeSpace(_ place: Int) async {
        let open = spaces.withLock { spaces in
            defer { spaces[place] = nil }
            return spaces[place]
        }
        open?.following.cancel()
        await open?.space.close()
    }

    func close() async { for place in 0..<3 { await closeSpace(place) } }

    // MARK: What must hold

    func check() async throws {
        // Late appends have arrived by then.
        try await Task.sleep(for: .milliseconds(100))
        var groups: [TableGroup] = []
        while true {
            let page = try await tables[0].groups(
                from: Position(UInt64(groups.count + 1)), in: name)
            groups += page.groups
            if groups.count >= Int(page.head.value) { break }
        }
        #expect(groups.map(\.position.value) == Array(1...UInt64(groups.count)))
        var documents = Documents()
        var verdicts: [IntentID: Verdict<DocumentEvent>] = [:]
        for group in groups {
            for case .decided(let id, let row) in group.rows {
                #expect(verdicts[id] == nil, "\(id) is decided twice")
                switch row.outcome {
                case .accepted(let event):
                    verdicts[id] = .accepted(position: group.position, replacement: nil)
                    try documents.take(event, id)
                case .reworded(let event):
                    verdicts[id] = .accepted(
                        position: group.position, replacement: event.map { .recorded($0) })
                    if let event { try documents.take(event, id) }
                case .rejected(let rejection): verdicts[id] = .rejected(rejection)
                }
            }
        }
        let wrong = ledger.contradictions + ledger.differences(from: verdicts)
        #expect(wrong.isEmpty, "seed \(seed): \(wrong.prefix(5))")
        for place in 0..<3 {
            let space = try #require(await space(place))
            try await space.follow()
            #expect(space.fault == nil && space.head.value == UInt64(groups.count))
            #expect(space.store.view.state.json == documents.json, "seed \(seed)")
            for group in groups {
                let own = try space.store.tableGroup(at: group.position)
                #expect(own == group, "seed \(seed)")
            }
        }
    }
}

extension Documents {
    fileprivate mutating func take(_ event: RecordedEvent, _ intent: IntentID) throws {
        let event = try Documents.codec.decode(event.bytes.span.bytes, format: event.format)
        try apply(event, EventContext(.intent(intent)))
    }
}
