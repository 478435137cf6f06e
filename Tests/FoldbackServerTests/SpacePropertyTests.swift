import Foldback
import FoldbackServer
import FoldbackSync
import FoldbackTesting
import Foundation
import TestSupport
import Testing

/// Property: over random requests (new, repeated, with other contents, of several accounts and replicas),
/// pages and restarts, a space answers as a naive model that keeps a dictionary of verdicts and a list of
/// effects, and its log folds to the model's state.
@Suite struct SpacePropertyTests {
    /// A server in thirty lines. It knows nothing of groups, indexes and logs.
    private struct NaiveServer {
        let rules = BoardRules()
        var board = Board()
        var verdicts: [IntentID: (move: Move, verdict: Verdict<Move>)] = [:]
        var owners: [ReplicaID: Account] = [:]
        var effects: [(position: Position, id: IntentID, move: Move, account: Account)] = []
        var head: Position = 1

        mutating func submit(
            _ intents: [Submission<Move>], by account: Account
        ) -> [IntentID: Verdict<Move>]? {
            guard intents.allSatisfy({ owners[$0.id.replica] ?? account == account }) else {
                return nil
            }
            let position = Position(head.value + 1)
            var answer: [IntentID: Verdict<Move>] = [:]
            for intent in intents {
                if let known = verdicts[intent.id] {
                    let reused = Rejection(
                        code: "id-reused",
                        message: "intent \(intent.id) arrived earlier with a different event")
                    answer[intent.id] =
                        known.move == intent.event ? known.verdict : .rejected(reused)
                    continue
                }
                let time = Timestamp(millisecondsSince1970: 0)
                var move: Move? = intent.event
                var replacement: DeliveredEvent<Move>?
                var verdict: Verdict<Move>?
                switch rules.decide(intent, by: account, on: board, at: time) {
                case .accept: break
                case .reword(let other):
                    move = other
                    replacement = other.flatMap { other in
                        (try? Board.codec.encode(other)).map {
                            .recorded(RecordedEvent(format: Board.codec.format, bytes: $0))
                        }
                    }
                case .reject(let rejection): verdict = .rejected(rejection)
                case .later(let after, let reason):
                    answer[intent.id] = .later(after: after, reason: reason)
                    return answer
                }
                if verdict == nil, let move {
                    do { try board.apply(move, EventContext(.intent(intent.id))) } catch {
                        verdict = .rejected(Rejection(code: "inapplicable", message: "\(error)"))
                    }
                    if verdict == nil { effects.append((position, intent.id, move, account)) }
                }
                let final = verdict ?? .accepted(position: position, replacement: replacement)
                (verdicts[intent.id], answer[intent.id]) = ((intent.event, final), final)
                owners[intent.id.replica] = account
                head = position
            }
            return answer
        }
    }

    @Test func `N1 to N10: a space answers as a naive server does`() async throws {
        let first = testSeed("SpacePropertyTests", variable: "SPACE_SEED")
        for seed in first..<first + TestEffort.value(quick: 10, full: 300) {
            try await play(seed)
        }
    }

    private func play(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let directory = TemporaryDirectory()
        var space = try await Space.open(at: directory.url, rules: BoardRules())
        var naive = NaiveServer()
        let cells = ["a", "b", "later", "no", "double", "nothing", "mine", "secret"]
        var highest: [String: UInt64] = [:]
        for step in 0..<60 {
            if random.oneIn(12) {
                await space.close()
                space = try await Space.open(at: directory.url, rules: BoardRules())
            }
            let account = random.oneIn(3) ? Account.ben : .ann
            // A replica of the other account now and then.
            let replica =
                (random.oneIn(9) ? "x" : "\(account)") + "\(Int.random(in: 0..<2, using: &random))"
            var number = UInt64.random(in: 1...(highest[replica] ?? 0) + 2, using: &random)
            let intents = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                defer { number += UInt64.random(in: 1...2, using: &random) }
                let cell = cells.randomElement(using: &random)!
                let value = Int.random(in: 0..<3, using: &random)
                let move: Move =
                    random.oneIn(4)
                    ? .add(cell, value) : random.oneIn(6) ? .remove(cell) : .set(cell, value)
                return sent(number, move, of: replica)
            }
            highest[replica] = max(highest[replica] ?? 0, number)
            let wanted = naive.submit(intents, by: account)
            let found = try? await space.authority(for: account).submit(intents)
            guard found?.byIntent == wanted, space.head == naive.head else {
                Issue.record(
                    "seed \(seed), step \(step): \(intents)\n\(found as Any)\n\(wanted as Any)")
                break
            }
            #expect(space.store.view.state == naive.board)
            let start = UInt64.random(in: 0...space.head.value, using: &random)
            try await expectPages(
                of: space, like: naive, after: Position(start), for: account, seed)
        }
        #expect(try await space.store.verify().isSound)
        await space.close()
    }

    private func expectPages(
        of space: Space<BoardRules>, like naive: NaiveServer, after start: Position,
        for account: Account, _ seed: UInt64
    ) async throws {
        var found: [IntentID?] = []
        var through = start
        while true {
            let page = try await space.authority(for: account).changes(after: through)
            found += page.events.map(\.origin)
            through = page.through
            if !page.hasMore { break }
        }
        let wanted = naive.effects.filter {
            $0.position > start
                && ($0.account == account || naive.rules.shows($0.move, to: account))
        }
        #expect(found == wanted.map(\.id) && through == naive.head, "seed \(seed)")
    }
}
