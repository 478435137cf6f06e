import Foldback
import FoldbackTesting
import Foundation
import TestSupport
import Testing

/// Born from lost answers that were sent again and applied twice elsewhere (firebase-ios-sdk#16475).
///
/// Property: over a link that loses, delays, repeats and reorders, once everything is delivered, an
/// honest server's own fold is confirmed state and view, and nothing is pending. By turns of the seed, state
/// is kept in memory and as rows.
@Suite struct HonestServerTests {
    enum Message {
        case verdict(IntentID, HonestServer.Verdict)
        case batch([ConfirmedEvent<Move>], through: Int)
    }

    @Test(arguments: HonestServer.Downlink.allCases, Engine.allCases)
    func `once everything is delivered, confirmed state is the server's fold`(
        downlink: HonestServer.Downlink, engine: Engine
    ) async throws {
        let environment = ProcessInfo.processInfo.environment["SERVER_SEED"]
        let first = environment.flatMap(UInt64.init) ?? UInt64.random(in: 0...UInt64.max / 2)
        print("honest server: \(downlink), \(engine), seed \(first) (again: SERVER_SEED=\(first))")
        for seed in first..<first + 40 {
            let keeper = BoardKeeper.allCases[Int(seed % 2)]
            try await Self.run(keeper.type, downlink, engine, seed)
        }
    }

    private static func run<P: BoardFold>(
        _ board: P.Type, _ downlink: HonestServer.Downlink, _ engine: Engine, _ seed: UInt64
    ) async throws {
        var random = SeededGenerator(seed: seed)
        var server = HonestServer()
        var inFlight: [Message] = []
        let directory = TemporaryDirectory()
        var store = try await engine.store(board, .downlink, in: directory)
        for _ in 0..<120 {
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<4: _ = try? await store.record(try move(for: downlink, using: &random))
            case 4..<6:
                // Sent in any order, and again: nothing tells a lost request from a lost answer.
                for intent in store.overlay where intent.state == .pending && random.oneIn(2) {
                    guard let event = intent.event else { continue }
                    let verdict = server.submit(intent.id, event, using: &random)
                    inFlight.append(.verdict(intent.id, verdict))
                }
            case 6: server.foreign(try move(for: downlink, using: &random), using: &random)
            case 7..<9:
                let through = Int(store.status.through.value)
                let positions = server.events.map(\.position).filter { $0 > through }
                let end = positions.randomElement(using: &random) ?? server.head
                let changes = server.changes(after: through, downlink, upTo: max(through, end))
                inFlight.append(.batch(changes.events, through: changes.through))
            case 9 where engine == .lmdb:
                await store.close()
                store = try await engine.store(board, .downlink, in: directory)
            default:
                guard let index = inFlight.indices.randomElement(using: &random) else { continue }
                let message = random.oneIn(5) ? inFlight[index] : inFlight.remove(at: index)
                if !random.oneIn(4) { try await deliver(message, to: store) }
            }
        }
        // The link heals: everything is sent, answered and fetched once more.
        for message in inFlight { try await deliver(message, to: store) }
        for intent in store.overlay where intent.state == .pending {
            let event = try #require(intent.event)
            let verdict = server.submit(intent.id, event, using: &random)
            try await deliver(.verdict(intent.id, verdict), to: store)
        }
        let rest = server.changes(
            after: Int(store.status.through.value), downlink, upTo: server.head)
        try await deliver(.batch(rest.events, through: rest.through), to: store)
        let seen = try store.seen()
        try #require(seen.confirmed == server.state, "seed \(seed), \(board)")
        try #require(seen.view == seen.confirmed, "seed \(seed), \(board)")
        try #require(store.overlay.isEmpty, "seed \(seed): \(seen.pending)")
        for (id, verdict) in server.verdicts {
            let state = try store.intent(id.number).state
            let expected: IntentState =
                if case .rejected = verdict { .rejected } else { .confirmed }
            try #require(state == expected, "seed \(seed), intent \(id)")
        }
        await store.close()
    }

    private static func deliver<P: BoardFold>(
        _ message: Message, to store: Store<P>
    ) async throws {
        switch message {
        case .verdict(let id, .accepted(let position, let replacement)):
            try await store.acknowledge(
                id.number, position: Position(UInt64(position)), replacement: replacement)
        case .verdict(let id, .rejected(let why)):
            try await store.reject(id.number, message: why)
        case .batch(let events, let through):
            try await store.confirm(events, through: Position(UInt64(through)))
        }
    }

    /// Without origins a claim's context differs from the server's, so no claims there: what they make
    /// would be named after the position.
    private static func move(
        for downlink: HonestServer.Downlink, using random: inout SeededGenerator
    ) throws -> Move {
        let move = try Generator.moves.value(seed: random.next())
        guard downlink == .unnamed, case .claim(let key) = move else { return move }
        return .set(key, 1)
    }
}
