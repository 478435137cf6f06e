import Foldback
import FoldbackSync
import FoldbackTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Born from answers that are lost, intents that are applied twice and replicas that drift apart where
/// outbox, log and server are each tried alone.
///
/// Property: once the faults of a fleet have healed, every intent is settled exactly once and every
/// replica has what the authority has.
@Suite struct SimulationTests {
    private static let keys = Generator<String>.element(of: ["a", "b", "c"])
    private static let moves = Generator<Move>.oneOf(
        .making(Move.set, keys, .integers(in: 0...9)), .making(Move.add, keys, .integers(in: 0...9)),
        .making(Move.claim, keys), .making(Move.remove, keys))

    private static func simulation(replicas: Int, stepsMax: Int) -> Simulation<Board> {
        Simulation(of: Board.self, events: moves, replicas: replicas, stepsMax: stepsMax)
    }

    private static func seed() -> UInt64 {
        let given = ProcessInfo.processInfo.environment["FLEET_SEED"].flatMap(UInt64.init)
        let seed = given ?? UInt64.random(in: 0...UInt64(UInt32.max))
        print("fleets from seed \(seed) on (again: FLEET_SEED=\(seed))")
        return seed
    }

    @Test func `once the faults have healed, every replica has what the authority has`() async {
        let first = Self.seed()
        var fired: [SimulatedFault: Int] = [:]
        var operations = 0
        for seed in first..<first + 300 {
            let simulation = Self.simulation(
                replicas: Int(1 + seed % 4), stepsMax: 20 + Int(seed % 3) * 40)
            let run = await simulation.run(seed: seed)
            if let finding = await simulation.finding(in: run, candidatesMax: 2_000) {
                Issue.record("seed \(seed): \(finding)")
                return
            }
            operations += run.operations
            fired.merge(run.fired, uniquingKeysWith: +)
        }
        print("\(operations) operations; \(fired)")
        #expect(SimulatedFault.allCases.filter { fired[$0] == nil } == [])
    }
}
