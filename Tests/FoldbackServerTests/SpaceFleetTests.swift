import Foldback
import FoldbackTesting
import Synchronization
import TestSupport
import Testing

@testable import FoldbackServer
@testable import FoldbackSync

/// Question: do fleets keep their promises against a space, with every fault of the simulation?
///
/// A fleet compares its devices with the books of an `InProcessAuthority`. Here a space decides, with the
/// rulings of the script, and the books follow it.
@Suite struct SpaceFleetTests {
    private static let keys = Generator<String>.element(of: ["a", "b", "c"])
    private static let moves = Generator<Move>.oneOf(
        .making(Move.set, keys, .integers(in: 0...9)),
        .making(Move.add, keys, .integers(in: 0...9)),
        .making(Move.claim, keys), .making(Move.remove, keys))

    @Test func `N1 to N12: fleets of devices agree with a space once the faults have healed`() async
    {
        let first = testSeed("SpaceFleetTests", variable: "SPACE_FLEET_SEED")
        var operations = 0
        var fired: [SimulatedFault: Int] = [:]
        for seed in first..<first + TestEffort.value(quick: 40, full: 1_000) {
            let simulation = Simulation<Board>(
                events: Self.moves, replicas: Int(1 + seed % 4), stepsMax: 20 + Int(seed % 3) * 40
            ) { SpaceTwin($0) }
            let run = await simulation.run(seed: seed)
            if let finding = await simulation.finding(in: run, candidatesMax: 500) {
                Issue.record("seed \(seed): \(finding)")
                return
            }
            operations += run.operations
            fired.merge(run.fired, uniquingKeysWith: +)
        }
        print("\(operations) operations; \(fired)")
    }
}

/// A space that decides in place of an authority in memory, whose books follow it.
private final class SpaceTwin: Authority {
    typealias Event = Move

    private let books: InProcessAuthority<Board>
    private let rules: TwinRules
    private let opened = Mutex<(space: Space<TwinRules>?, isOpening: Bool)>((nil, false))
    private let bell = Signal()
    private let account = Account("fleet")!

    init(_ books: InProcessAuthority<Board>) {
        self.books = books
        rules = TwinRules(books)
    }

    func submit(
        _ intents: [Submission<Move>], from device: SyncPoint
    ) async throws(AuthorityFailure) -> Verdicts<Move> {
        let space = await space()
        let answer = try await space.authority(for: account).submit(intents, from: device)
        try follow(space, intents, answer)
        return answer
    }

    func changes(after device: SyncPoint) async throws(AuthorityFailure) -> Changes<Move> {
        try await space().authority(for: account).changes(after: device)
    }

    func changes(
        after device: SyncPoint, waiting: Duration
    ) async throws(AuthorityFailure) -> Changes<Move> {
        try await space().authority(for: account).changes(after: device, waiting: waiting)
    }

    /// Opens the space at the first call. A restored authority has the decisions of its copy.
    private func space() async -> Space<TwinRules> {
        let isFirst = opened.withLock { opened in
            defer { opened.isOpening = true }
            return !opened.isOpening
        }
        guard isFirst else {
            await bell.wait(ignoringCancellation: true) { [self] in
                opened.withLock { $0.space != nil }
            }
            return opened.withLock { $0.space! }
        }
        let space = await Space.inMemory(
            rules: rules, lineage: books.lineage, sources: books.sources,
            log: LogSources(now: books.sources.now, freshReplica: { ReplicaID("the space")! }))
        let kept = books.removeAll()
        for decision in kept {
            guard let id = decision.event.origin, let event = decision.event.event,
                let sent = try? Board.codec.decode(
                    decision.sent.bytes.span.bytes, format: decision.sent.format)
            else { preconditionFailure("\(decision) cannot be restored") }
            rules.restore(event == sent ? .accept : .reword(event), for: id)
            let intent = Submission(id: id, event: sent)
            do throws(AuthorityFailure) {
                let answer = try await space.authority(for: account).submit([intent])
                try follow(space, [intent], answer)
            } catch { preconditionFailure("\(id) cannot be restored: \(error)") }
        }
        // The founding has a position too.
        books.follow(verdicts: [], head: space.head) { _ in [] }
        opened.withLock { $0.space = space }
        bell.ring()
        return space
    }

    private func follow(
        _ space: Space<TwinRules>, _ intents: [Submission<Move>], _ answer: Verdicts<Move>
    ) throws(AuthorityFailure) {
        books.follow(
            verdicts: intents.compactMap { intent in answer[intent.id].map { (intent, $0) } },
            head: space.head
        ) { position in
            (try? space.page(after: SyncPoint(lineage: nil, through: position), for: self.account))
                .map { page in
                    page.events.map { event in
                        guard case .recorded(let recorded) = event.delivered,
                            let move = try? Board.codec.decode(
                                recorded.bytes.span.bytes, format: recorded.format)
                        else { preconditionFailure("\(event) cannot be read") }
                        return ConfirmedEvent(
                            position: event.position, event: move, origin: event.origin)
                    }
                } ?? []
        }
    }
}

private final class TwinRules: Rules {
    private let books: InProcessAuthority<Board>
    private let restored = Mutex<[IntentID: Ruling<Move>]>([:])

    init(_ books: InProcessAuthority<Board>) { self.books = books }

    func restore(_ ruling: Ruling<Move>, for id: IntentID) {
        restored.withLock { $0[id] = ruling }
    }

    func decide(
        _ intent: Submission<Move>, by account: Account, on board: Board, at time: Timestamp
    ) -> Ruling<Move> {
        restored.withLock { $0.removeValue(forKey: intent.id) } ?? books.ruling(intent, board)
    }

    func access(of account: Account, to space: SpaceName) async -> Bool { true }
}
