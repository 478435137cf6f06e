import Foldback
import FoldbackSync
import FoldbackTesting
import Foundation
import Synchronization

/// What clients were answered.
final class AnswerLedger: Sendable {
    private struct State {
        var answers: [IntentID: (verdict: Verdict<DocumentEvent>, event: [UInt8])] = [:]
        var contradictions: [String] = []
        var failures: [String: Int] = [:]
        var last = ContinuousClock.now
        var longest = Duration.zero
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.answers.count } }
    /// Answers to an intent that differ from its first one.
    var contradictions: [String] { state.withLock { $0.contradictions } }
    /// The failures that clients saw, by kind.
    var failures: [String: Int] { state.withLock { $0.failures } }

    func note(_ verdicts: Verdicts<DocumentEvent>, _ intents: [Submission<DocumentEvent>]) {
        state.withLock { state in
            for intent in intents {
                guard let verdict = verdicts[intent.id] else { continue }
                if let first = state.answers[intent.id], first.verdict != verdict {
                    state.contradictions.append(
                        "\(intent.id): first \(first.verdict), then \(verdict)")
                } else {
                    state.answers[intent.id] = (verdict, intent.recorded.bytes)
                }
            }
            let now = ContinuousClock.now
            state.longest = max(state.longest, now - state.last)
            state.last = now
        }
    }

    func note(_ failure: AuthorityFailure) {
        let kind = String("\(failure)".prefix { $0 != ":" })
        state.withLock { $0.failures[kind, default: 0] += 1 }
    }

    /// Returns the longest time without an answer since the last call, which may not be over yet.
    func takeLongestPause() -> Duration {
        state.withLock { state in
            defer { (state.longest, state.last) = (.zero, .now) }
            return max(state.longest, .now - state.last)
        }
    }

    /// Returns a line for each answer that is not the given verdict.
    func differences(from verdicts: [IntentID: Verdict<DocumentEvent>]) -> [String] {
        state.withLock { state in
            state.answers.compactMap { id, answer in
                let found = verdicts[id].map { "\($0)" } ?? "nothing"
                return verdicts[id] == answer.verdict
                    ? nil : "\(id) was \(answer.verdict), and the table has \(found)"
            }
        }
    }

    /// What is wrong with a table.
    struct Finding {
        var answered = 0
        /// Answered intents without a row.
        var lost = 0
        /// Rows beyond the first one of an intent.
        var twice = 0
        /// Answers that differ from the row, or from an earlier answer.
        var moved = 0
        /// Positions that are missing, or come after higher ones.
        var gaps = 0
        var examples: [String] = []

        var isClean: Bool { (lost, twice, moved, gaps) == (0, 0, 0, 0) }
    }

    /// Compares the answers with the rows of a space.
    func compare(with rows: [DecisionRow]) -> Finding {
        var finding = Finding()
        var byIntent: [IntentID: DecisionRow] = [:]
        var last: UInt64 = 0
        for row in rows {
            if row.position.value != last, row.position.value != last + 1 { finding.gaps += 1 }
            last = row.position.value
            guard let intent = row.intent else { continue }
            if byIntent.updateValue(row, forKey: intent) != nil { finding.twice += 1 }
        }
        state.withLock { state in
            finding.answered = state.answers.count
            finding.moved = state.contradictions.count
            for (id, answer) in state.answers {
                guard let row = byIntent[id] else {
                    finding.lost += 1
                    finding.examples.append("\(id) is lost: \(answer.verdict)")
                    continue
                }
                let isAccepted = if case .accepted = answer.verdict { true } else { false }
                guard
                    row.verdict != answer.verdict
                        || isAccepted && row.effect != String(decoding: answer.event, as: UTF8.self)
                else { continue }
                finding.moved += 1
                finding.examples.append("\(id) was \(answer.verdict), and the table has \(row)")
            }
        }
        finding.examples = Array((finding.examples + contradictions).prefix(5))
        return finding
    }
}

/// Clients that send intents to servers at random until they are told to stop.
final class ClusterLoad: Sendable {
    private let fleet: Fleet
    private let seed: UInt64
    private let isOver = Mutex(false)
    let ledger = AnswerLedger()

    init(_ fleet: Fleet, seed: UInt64) {
        self.fleet = fleet
        self.seed = seed
    }

    func stop() { isOver.withLock { $0 = true } }

    /// Runs the clients. They end after the answer to the request that each has sent.
    func run(clients: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<clients { group.addTask { try await self.use(client) } }
            try await group.waitForAll()
        }
    }

    private func use(_ number: Int) async throws {
        var random = SplitMix64(seed: seed &+ UInt64(number) &* 7_919)
        let account = number.isMultiple(of: 2) ? "ann" : "ben"
        var next: UInt64 = 1
        var answered: [Submission<DocumentEvent>] = []
        while !isOver.withLock({ $0 }) {
            let size = [1, 4, 16, Int.random(in: 1...64, using: &random)].randomElement(
                using: &random)
            let intents = try (0..<(size ?? 1)).map { _ in
                defer { next += 1 }
                return try Submission(next, of: "device-\(number)", Self.event(&random))
            }
            try await send(intents, account, &random)
            // An old request comes again, at any server.
            if !answered.isEmpty, Int.random(in: 0..<4, using: &random) == 0 {
                try await send(answered, account, &random)
            }
            if Bool.random(using: &random) { answered = intents }
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...60, using: &random)))
        }
    }

    /// About a quarter of them does not apply.
    private static func event(_ random: inout SplitMix64) -> DocumentEvent {
        let key = ExactString("key \(Int.random(in: 0..<20, using: &random))")
        return switch Int.random(in: 0..<4, using: &random) {
        case 0: .set(key, ["count": 0])
        case 1: .set(key, ["count": 1], require: .absent)
        case 2: .increment(key, field: "count", by: .integer(1), require: .present)
        default: .delete(key, require: .present)
        }
    }

    /// Sends intents until all have an answer.
    private func send(
        _ intents: [Submission<DocumentEvent>], _ account: String, _ random: inout SplitMix64
    ) async throws {
        var left = intents
        let end = ContinuousClock.now + .seconds(120)
        while !left.isEmpty {
            let server = Int.random(in: 0..<fleet.count, using: &random)
            do throws(AuthorityFailure) {
                let client: any Authority<DocumentEvent>
                do { client = try fleet.client(server, as: account) } catch {
                    throw .unreachable(reason: "\(error)")
                }
                let verdicts = try await client.submit(left, from: .beginning)
                ledger.note(verdicts, left)
                left.removeAll { verdicts[$0.id] != nil }
            } catch {
                ledger.note(error)
                guard ContinuousClock.now < end else {
                    throw TestError("no answer within two minutes: \(error)")
                }
                try await Task.sleep(for: .milliseconds(Int.random(in: 10...100, using: &random)))
            }
        }
    }
}
