import Foldback
import FoldbackHistory
import FoldbackServer
import FoldbackSync
import FoldbackTesting
import TestSupport
import Testing

/// Property: over random requests of several accounts, `log --json` and the page say of each intent who
/// sent it, and whether it was accepted, reworded or rejected, as the devices were told. A file of the log
/// has its bytes instead, and is the same log again.
@Suite struct AttributionTests {
    /// What a device was told about an intent.
    private struct Told: Hashable {
        let account: String
        let outcome: String
    }

    @Test func `each decision has its account as actor, and its outcome`() async throws {
        let first = testSeed("AttributionTests", variable: "ATTRIBUTION_SEED")
        for seed in first..<first + TestEffort.value(quick: 20, full: 500) {
            try await play(seed)
        }
    }

    private func play(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let space = await Space.inMemory(rules: BoardRules())
        let cells = ["a", "b", "no", "double", "nothing", "mine"]
        var told: [JSON: Told] = [:]
        var next: [String: UInt64] = [:]
        for _ in 0..<12 {
            let name = ["ann", "ben", "cleo \u{202E}\"\\"].randomElement(using: &random)!
            let account = try #require(Account(name))
            let replica = "\(name.prefix(1))\(Int.random(in: 0..<2, using: &random))"
            let intents = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                next[replica, default: 0] += 1
                let cell = cells.randomElement(using: &random)!
                let move: Move = random.oneIn(3) ? .add(cell, 1) : .set(cell, 1)
                return sent(next[replica]!, move, of: replica)
            }
            let answer = try await space.authority(for: account).submit(intents)
            for intent in intents {
                let verdict = try #require(answer[intent.id])
                told[.of(intent.id)] = Told(
                    account: name, outcome: Self.outcome(of: verdict, for: intent.event))
            }
        }
        let history = try space.store.history()
        let events = history.entries.flatMap { $0.json["events"]?.arrayValue ?? [] }
        #expect(events.first?["event"]?["founded"] != nil && events.first?["actor"] == nil)
        for event in events.dropFirst() {
            let outcome = try #require(event["outcome"]?.stringValue, "\(event)")
            let actor = try #require(event["actor"]?.stringValue)
            let origin = try #require(event["origin"])
            #expect(
                told.removeValue(forKey: origin) == Told(account: actor, outcome: outcome),
                "seed \(seed): \(event)")
            // The page finds what was applied, or the reason, by the name of the outcome.
            let description = try #require(event["event"])
            #expect(description["account"] == event["actor"])
            #expect(description[ExactString(outcome)] != nil, "seed \(seed): \(event)")
        }
        #expect(told.isEmpty, "seed \(seed)")
        try expectFile(of: history, seed)
    }

    /// Returns the outcome by the verdict. Only the rules know that an intent was accepted without effect.
    private static func outcome(of verdict: Verdict<Move>, for move: Move) -> String {
        switch verdict {
        case .accepted(_, replacement: nil): move == .set("nothing", 1) ? "reworded" : "accepted"
        case .accepted: "reworded"
        case .rejected: "rejected"
        case .later: "later"
        }
    }

    private func expectFile(
        of history: RecordedHistory<DecisionEvent<Move>>, _ seed: UInt64
    ) throws {
        let text = history.ndjson
        let imported = try RecordedHistory(ndjson: text)
        #expect(imported.ndjson == text && !text.contains("actor"), "seed \(seed)")
        let again = imported.read(by: Decided<Board>.codec)
        #expect(again.entries.map(\.json) == history.entries.map(\.json), "seed \(seed)")
    }

    @Test func `decisions are bytes to code that does not know them`() async throws {
        let space = await Space.inMemory(rules: BoardRules())
        _ = try await space.authority(for: .ann).submit([sent(1, .set("no", 1))])
        let raw = try RecordedHistory(ndjson: space.store.history().ndjson)
        for entry in raw.entries {
            for event in entry.json["events"]?.arrayValue ?? [] {
                #expect(event["event"]?["bytes"] != nil && event["codec"] == 2)
                #expect(event["actor"] == nil && event["outcome"] == nil)
            }
        }
    }

    @Test func `the log of a device has no actors`() async throws {
        let store = Store.inMemory(Board.self, confirmedBy: .downlink)
        try await store.record(.set("a", 1))
        try await store.confirm([ConfirmedEvent(position: 1, event: .set("a", 2))])
        let entries = try store.history().entries.map(\.json)
        #expect(entries.count == 2)
        let events = entries.flatMap { $0["events"]?.arrayValue ?? [] }
        #expect(events.count == 1 && events[0]["actor"] == nil && events[0]["outcome"] == nil)
    }
}
