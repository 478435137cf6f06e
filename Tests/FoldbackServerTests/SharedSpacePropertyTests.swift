import Foldback
import FoldbackSync
import FoldbackTesting
import Synchronization
import TestSupport
import Testing

@testable import FoldbackServer

/// Property: whatever several servers over one table do at once, and however the table fails, the decisions
/// are those of one serial order, no intent is decided twice, every answer stays true, and each server's log
/// equals the table.
///
/// The model refolds the table with the rules, one row after another.
@Suite struct SharedSpacePropertyTests {
    private static let name = SpaceName("board")!

    @Test func `N1, N2, N4: servers over one table decide as one`() async throws {
        let first = testSeed("SharedSpacePropertyTests", variable: "SHARED_SEED")
        let runs = TestEffort.value(quick: 6, full: 380)
        var (calls, answers) = (0, 0)
        var faults: [String: Int] = [:]
        for number in 0..<runs {
            let run = SharedRun(seed: first + UInt64(number), servers: 2 + number % 2)
            do { try await run.play() } catch {
                Issue.record("seed \(first + UInt64(number)): \(error)")
                return
            }
            calls += run.table.callCount + run.requestCount
            answers += run.answerCount
            faults.merge(run.table.faults, uniquingKeysWith: +)
        }
        print("\(calls) operations in \(runs) runs, \(answers) answers; \(faults)")
    }

    /// One run: servers, devices and faults in virtual time.
    private final class SharedRun: Sendable {
        private let seed: UInt64
        private let time: VirtualTime
        let table: FaultyTable
        private let servers: Mutex<[Space<BoardRules>?]>
        /// The first answer to each intent.
        private let answers = Mutex<[IntentID: (move: Move, verdict: Verdict<Move>)]>([:])
        private let requests = Mutex(0)
        /// What each device got, up to which position.
        private let delivered = Mutex<[(account: Account, through: Position, effects: [IntentID])]>(
            [])

        init(seed: UInt64, servers count: Int) {
            self.seed = seed
            time = VirtualTime(seed: seed, order: seed | 1)
            table = FaultyTable(of: name, seed: seed, time)
            servers = Mutex(Array(repeating: nil, count: count))
        }

        var requestCount: Int { requests.withLock { $0 } }
        var answerCount: Int { answers.withLock { $0.count } }

        func play() async throws {
            try await time.run { [self] in
                // It keeps its log: after a promotion, somebody must vouch for the table.
                while (try? await server(0)) == nil {}
                try await withThrowingTaskGroup(of: Void.self) { group in
                    let count = servers.withLock { $0.count }
                    for device in 0..<4 { group.addTask { try await self.use(device) } }
                    group.addTask { await self.fault() }
                    for server in 0..<count {
                        group.addTask { await self.restart(server) }
                    }
                    try await group.waitForAll()
                }
                table.heal()
                for server in 0..<servers.withLock({ $0.count }) { try await check(server) }
                try checkOrder()
            }
        }

        // MARK: What happens

        private func pause(_ milliseconds: Int) async {
            let fraction = time.sources.jitter()
            await time.sources.sleep(.milliseconds(Int64(Double(milliseconds) * fraction)))
        }

        /// Returns a server, which is started if it is not running.
        private func server(_ place: Int) async throws -> Space<BoardRules> {
            if let running = servers.withLock({ $0[place] }), !running.mustReopen { return running }
            let log = LogSources(
                now: time.sources.now, freshReplica: LogSources.system.freshReplica)
            let space = try await Space.inMemory(
                named: name, rules: BoardRules(), over: table, sources: time.sources, log: log)
            servers.withLock { $0[place] = space }
            Task(executorPreference: time) { [table] in
                for await _ in table.hints(past: { [:] }) { await space.followHint() }
            }
            return space
        }

        private func restart(_ place: Int) async {
            for _ in 0..<3 {
                await pause(400)
                if place > 0 { servers.withLock { $0[place] = nil } }
            }
        }

        private func fault() async {
            for _ in 0..<4 {
                await pause(300)
                table.setStandby(away: true)
                await pause(100)
                if time.sources.jitter() < 0.5 { table.promote() }
                table.setStandby(away: false)
            }
        }

        /// Sends requests, some of them again, to servers that it chooses at random.
        private func use(_ device: Int) async throws {
            var random = SeededGenerator(seed: seed &* 31 &+ UInt64(device))
            let account = device % 2 == 0 ? Account.ann : .ben
            let cells = ["a", "b", "no", "double", "nothing", "mine"]
            var number: UInt64 = 1
            var intents: [Submission<Move>] = []
            var known = SyncPoint(lineage: nil, through: 0)
            var effects: [IntentID] = []
            defer { delivered.withLock { $0.append((account, known.through, effects)) } }
            for _ in 0..<40 {
                if intents.isEmpty || random.oneIn(8) {
                    intents = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                        defer { number += 1 }
                        let cell = cells.randomElement(using: &random)!
                        let value = Int.random(in: 0..<9, using: &random)
                        let move: Move = random.oneIn(3) ? .add(cell, value) : .set(cell, value)
                        return sent(number, move, of: "d\(device)")
                    }
                }
                let place = Int.random(in: 0..<servers.withLock { $0.count }, using: &random)
                requests.withLock { $0 += 1 }
                await pause(20)
                guard let server = try? await server(place) else { continue }
                let authority = server.authority(for: account)
                do throws(AuthorityFailure) {
                    let changes = try await authority.changes(after: known)
                    effects += changes.events.compactMap(\.origin)
                    known = SyncPoint(lineage: changes.lineage, through: changes.through)
                } catch { if case .superseded = error { throw Failed("\(known) is superseded") } }
                let verdicts: Verdicts<Move>
                do throws(AuthorityFailure) {
                    verdicts = try await authority.submit(intents, from: known)
                } catch {
                    if case .superseded = error { throw Failed("\(known) is superseded") }
                    continue
                }
                try note(verdicts, intents)
                if !random.oneIn(4) { intents = [] }
            }
        }

        private func note(_ verdicts: Verdicts<Move>, _ intents: [Submission<Move>]) throws {
            for intent in intents {
                guard let verdict = verdicts.byIntent[intent.id] else { continue }
                try answers.withLock { answers in
                    if let first = answers[intent.id], first.verdict != verdict {
                        throw Failed("\(intent.id): first \(first.verdict), then \(verdict)")
                    }
                    answers[intent.id] = (intent.event, verdict)
                }
            }
        }

        // MARK: What must hold

        /// The server's log has the table's groups, and its state is the fold of them.
        private func check(_ place: Int) async throws {
            let server = try await server(place)
            try await server.follow()
            let groups = table.groups
            guard server.fault == nil, Int(server.head.value) == groups.count else {
                throw Failed(
                    "server \(place) is at \(server.head) of \(groups.count): \(server.fault ?? "")"
                )
            }
            for group in groups {
                let codec = DecisionCodec(inner: UndecodedEvents())
                let own = TableGroup(
                    position: group.position,
                    try server.store.decisions(at: group.position, by: codec))
                guard own == group else { throw Failed("\(own) is not \(group)") }
            }
            guard server.store.view.state == NaiveFold(groups).board else {
                throw Failed("the state of server \(place) is not the fold")
            }
        }

        private func checkOrder() throws {
            let fold = NaiveFold(table.groups)
            if let failure = fold.failure { throw Failed(failure) }
            for device in delivered.withLock({ $0 }) {
                guard device.effects == fold.effects(through: device.through)
                else { throw Failed("a device of \(device.account) got other effects") }
            }
            try answers.withLock { answers in
                for (id, answer) in answers {
                    guard fold.verdicts[id] == answer.verdict else {
                        throw Failed(
                            "\(id) was answered \(answer.verdict), and the table has "
                                + "\(fold.verdicts[id].map { "\($0)" } ?? "nothing")")
                    }
                    guard fold.outcome(of: id, answer.move) else {
                        throw Failed("\(id) was decided against the rules")
                    }
                }
            }
        }
    }

    private struct Failed: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    /// The table, folded row by row.
    private struct NaiveFold {
        var board = Board()
        var verdicts: [IntentID: Verdict<Move>] = [:]
        /// The board before each decision.
        private var before: [IntentID: Board] = [:]
        private var rows: [IntentID: DecidedRow] = [:]
        var failure: String?
        private let groups: [TableGroup]

        init(_ groups: [TableGroup]) {
            self.groups = groups
            for (place, group) in groups.enumerated() {
                if group.position.value != UInt64(place + 1) { failure = "a gap at \(place)" }
                for case .decided(let id, let row) in group.rows {
                    if rows[id] != nil { failure = "\(id) is decided twice" }
                    (rows[id], before[id]) = (row, board)
                    switch row.outcome {
                    case .accepted(let event):
                        verdicts[id] = .accepted(position: group.position, replacement: nil)
                        apply(event, id)
                    case .reworded(let event):
                        verdicts[id] = .accepted(
                            position: group.position, replacement: event.map { .recorded($0) })
                        if let event { apply(event, id) }
                    case .rejected(let rejection): verdicts[id] = .rejected(rejection)
                    }
                }
            }
        }

        private mutating func apply(_ event: RecordedEvent, _ id: IntentID) {
            do {
                let move = try Board.codec.decode(event.bytes.span.bytes, format: event.format)
                try board.apply(move, EventContext(.intent(id)))
            } catch { failure = "\(id) does not apply: \(error)" }
        }

        /// The intents with effects, in order. The rules show all of these.
        func effects(through: Position) -> [IntentID] {
            groups.filter { $0.position <= through }.flatMap(\.rows).compactMap { row in
                guard case .decided(let id, let decision) = row else { return nil }
                switch decision.outcome {
                case .accepted, .reworded(.some): return id
                default: return nil
                }
            }
        }

        /// Returns whether the decision is the one that the rules make on the board before it.
        func outcome(of id: IntentID, _ move: Move) -> Bool {
            guard let row = rows[id], var board = before[id] else { return false }
            let intent = Submission(id: id, event: move)
            let ruling = BoardRules().decide(
                intent, by: row.account, on: board, at: Timestamp(millisecondsSince1970: 0))
            switch (ruling, row.outcome) {
            case (.reject(let wanted), .rejected(let found)): return wanted == found
            case (.reword(nil), .reworded(nil)): return true
            case (.reword(let event?), .reworded(let found?)):
                return (try? Board.codec.encode(event)) == found.bytes
            case (.accept, .accepted): return true
            case (.accept, .rejected(let rejection)):
                return rejection.code == "inapplicable"
                    && (try? board.apply(move, EventContext(.intent(id)))) == nil
            default: return false
            }
        }
    }
}
