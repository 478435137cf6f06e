import Foldback
import FoldbackHistory
import TestSupport
import Testing

/// Where do a server's decisions stand among the entries of a device's log?
///
/// The model is what really happened: one list of all events, in which each side has a clock of its own.
@Suite struct DecisionPlacesTests {
    /// What happens on the device and on the server, in the true order.
    private struct World {
        enum Step: Equatable {
            case entry(LogSequence)
            case decision(Int)
        }

        private let me = ReplicaID("me")!
        private let other = ReplicaID("other")!
        private var random: SeededGenerator
        /// How far each clock may jump with each step.
        private let jump: ClosedRange<Int64>
        private var device: Int64 = 1_000
        private var server: Int64 = 1_000

        var steps: [Step] = []
        var entries: [LogEntry<Int>] = []
        var decisions: [DecisionPlaces.Decision] = []
        /// The intents of the device that have no answer, and those that the server has not decided.
        private var unanswered: [(number: IntentNumber, position: Position?)] = []
        private var rejected: Set<IntentID> = []
        private var next: IntentNumber = 1
        private var fetched: Position = 0

        /// - Parameter areClocksExact: whether both sides have one clock, which goes on with each step.
        init(seed: UInt64, areClocksExact: Bool, steps count: Int) throws {
            random = SeededGenerator(seed: seed)
            jump = areClocksExact ? 1...1 : -50...50
            for _ in 0..<count {
                let jumps =
                    areClocksExact
                    ? [1, 1] : [jump, jump].map { Int64.random(in: $0, using: &random) }
                device += jumps[0]
                server += jumps[1]
                switch Int.random(in: 0..<4, using: &random) {
                case 0: try record()
                case 1, 2: decide()
                default: try learn()
                }
            }
        }

        private mutating func add(_ content: LogEntry<Int>.Content) {
            let sequence = LogSequence(UInt64(entries.count + 1))
            entries.append(
                LogEntry(
                    sequence: sequence, time: Timestamp(millisecondsSince1970: device), replica: me,
                    info: [:], content: content))
            steps.append(.entry(sequence))
        }

        private func event() throws -> LoggedEvent<Int> {
            try LoggedEvent(1, writtenBy: JSONCodec<Int>())
        }

        private mutating func record() throws {
            add(.intent(LoggedIntent(next, try event())))
            unanswered.append((next, nil))
            next = IntentNumber(next.value + 1)
        }

        /// Decides a group: undecided intents of the device, and perhaps one of another.
        private mutating func decide() {
            let position = Position(UInt64(decisions.last?.position.value ?? 0) + 1)
            var origins: [IntentID] = []
            let open = unanswered.indices.filter { unanswered[$0].position == nil }
            for index in open.prefix(Int.random(in: 0...2, using: &random)) {
                unanswered[index].position = position
                origins.append(IntentID(replica: me, number: unanswered[index].number))
            }
            if origins.isEmpty || Bool.random(using: &random) {
                origins.append(IntentID(replica: other, number: IntentNumber(position.value)))
            }
            for origin in origins {
                steps.append(.decision(decisions.count))
                if Int.random(in: 0..<4, using: &random) == 0 { rejected.insert(origin) }
                decisions.append(
                    DecisionPlaces.Decision(
                        position: position, origin: origin,
                        time: Timestamp(millisecondsSince1970: server)))
            }
        }

        /// The device gets an answer, or a batch up to some position.
        private mutating func learn() throws {
            if let index = unanswered.firstIndex(where: { $0.position != nil }),
                Bool.random(using: &random)
            {
                let (number, position) = unanswered.remove(at: index)
                return rejected.contains(IntentID(replica: me, number: number))
                    ? add(.changed(number, .rejected(Rejection(message: "no"))))
                    : add(.acknowledged(number, position: position, replacement: nil))
            }
            guard let end = decisions.last?.position, end > fetched else { return }
            let through = Position(
                UInt64.random(in: (fetched.value + 1)...end.value, using: &random))
            let new = decisions.filter { $0.position > fetched && $0.position <= through }
            let events = new.filter { $0.origin.map { !rejected.contains($0) } ?? true }
            add(
                .confirmed(
                    try events.map {
                        BatchEvent(position: $0.position, event: try event(), origin: $0.origin)
                    },
                    through: through))
            unanswered.removeAll { number, position in
                guard let position, position <= through else { return false }
                return !rejected.contains(IntentID(replica: me, number: number))
            }
            fetched = through
        }

        func places() throws -> [DecisionPlaces.Place] {
            try log().places(of: decisions)
        }

        /// The device's log.
        func log() throws -> DecisionPlaces {
            let history = try RecordedHistory(
                kind: .downlink, replica: me, entries: entries, codec: JSONCodec<Int>())
            return try DecisionPlaces(LogReader(history))
        }

        /// The entry that each decision really followed.
        var truth: [LogSequence] {
            var last: LogSequence = 0
            return steps.compactMap { step in
                if case .entry(let sequence) = step { last = sequence }
                return if case .decision = step { last } else { nil }
            }
        }
    }

    private static let seed = testSeed("decision places", variable: "DECISION_PLACES_SEED")

    @Test func `with one clock, a decision stands where it was made`() throws {
        for seed in Self.seed..<Self.seed + 300 {
            let world = try World(seed: seed, areClocksExact: true, steps: 60)
            #expect(try world.places().map(\.after) == world.truth, "seed \(seed)")
        }
    }

    @Test func `with any clocks, no decision is before its intent or after its answer`() throws {
        for seed in Self.seed..<Self.seed + 300 {
            let world = try World(seed: seed, areClocksExact: false, steps: 60)
            let places = try world.places()
            #expect(places.map(\.after) == places.map(\.after).sorted(), "seed \(seed)")
            for (index, decision) in world.decisions.enumerated() {
                let place = places[index]
                // What is known of the decision, by a look at each entry.
                var recorded: LogSequence = 0
                var known: LogSequence?
                for entry in world.entries {
                    var knows = false
                    switch entry.content {
                    case .intent(let intent):
                        if decision.origin
                            == IntentID(replica: entry.replica, number: intent.number)
                        {
                            recorded = entry.sequence
                        }
                    case .acknowledged(let number, _, _), .changed(let number, _):
                        knows = decision.origin == IntentID(replica: entry.replica, number: number)
                    case .confirmed(_, let through): knows = decision.position <= through
                    }
                    if knows, known == nil { known = entry.sequence }
                }
                #expect(recorded <= place.after, "seed \(seed), decision \(index)")
                if let known {
                    #expect(place.after < known && place.isKnown, "seed \(seed), decision \(index)")
                }
            }
        }
    }

    @Test func `the logs of two servers do not go together`() throws {
        let world = try World(seed: 1, areClocksExact: true, steps: 60)
        let places = try world.log()
        let another = world.decisions.map { decision in
            DecisionPlaces.Decision(
                position: decision.position,
                origin: IntentID(replica: ReplicaID("stranger")!, number: 1), time: decision.time)
        }
        #expect(throws: DecisionPlaces.Mismatch.self) { try places.places(of: another) }
        // An older copy of the space lacks what the log has.
        #expect(throws: DecisionPlaces.Mismatch.self) {
            try places.places(of: Array(world.decisions.prefix(2)))
        }
    }
}
