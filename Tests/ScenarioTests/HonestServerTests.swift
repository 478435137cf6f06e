import Foldback
import FoldbackTesting
import Foundation
import TestSupport
import Testing

/// In another library a lost answer led to a second request, which was applied twice (firebase-ios-sdk#16475).
///
/// Property: over a link that loses, delays, repeats and reorders messages, confirmed state and view are the
/// server's own fold once everything is delivered, and nothing is pending. The seed decides whether state is in
/// memory or in rows.
@Suite struct HonestServerTests {
    enum Message {
        case verdict(IntentID, HonestServer.Verdict)
        case batch([ConfirmedEvent<Move>], through: Int)
    }

    @Test(arguments: HonestServer.Downlink.allCases, Engine.allCases)
    func `confirmed state is the server's fold once everything is delivered`(
        downlink: HonestServer.Downlink, engine: Engine
    ) async throws {
        let first = testSeed("honest server, \(downlink), \(engine)", variable: "SERVER_SEED")
        for seed in first..<first + TestEffort.value(quick: 14, full: 40) {
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
                // Sent in any order, and repeated: a client cannot tell a lost request from a lost answer.
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
        // The link heals: everything is sent, answered and fetched again.
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

    /// A claim uses the id in its context. Without origins the context has the position instead, so claims
    /// would differ from the server's state.
    private static func move(
        for downlink: HonestServer.Downlink, using random: inout SeededGenerator
    ) throws -> Move {
        let move = try Generator.moves.value(seed: random.next())
        guard downlink == .unnamed, case .claim(let key) = move else { return move }
        return .set(key, 1)
    }
}
