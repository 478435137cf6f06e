import Foldback
import TestSupport
import Testing

@testable import FoldbackTesting

/// A review found parts of a log that no law compared.
@Suite struct ObservationTests {
    /// The laws compared no attempts, so a log that forgot them passed.
    @Test(arguments: LogKind.allCases)
    func `F7: F19: an observation has the attempts of pending intents, in the log and in the model`(
        kind: LogKind
    ) async throws {
        let steps: [Script<Move>.Step] = [
            .record(.set("a", 1)), .record(.set("b", 1)), .record(.set("c", 1)), .attempt(1),
            .attempt(1), .attempt(2), .attempt(3), .withdraw(1), .reopen, .withdraw(2), .kill,
            .abandon(1), .reject(2, message: "no"), .attempt(1), .acknowledge(3), .withdraw(3),
            .retry(2), .withdraw(4),
        ]
        let trial = try await Trial<Board>(Script(kind, steps))
        for (logStep, modelStep) in zip(trial.logSteps, trial.modelSteps) {
            #expect(logStep.result == modelStep.result)
            #expect(logStep.observation.difference(from: modelStep.observation) == nil)
        }
        let seen = trial.logSteps.map(\.observation.attempts)
        #expect(Array(seen[3...6]) == [[1: 1], [1: 2], [1: 2, 2: 1], [1: 2, 2: 1, 3: 1]])
        #expect(seen[10] == seen[6] && seen[11] == [2: 1, 3: 1] && seen[12] == [3: 1])
        #expect(seen[14] == [:])
        let refused = CommandResult.refused("mayHaveLeft")
        #expect([7, 9].map { trial.logSteps[$0].result } == [refused, refused])
        #expect(trial.logSteps[13].result == .ignored(nil))
        #expect(trial.logSteps[15].result == .refused("notPending"))
        #expect(trial.logSteps[17].result == .appended)
        try await requireLaw(.p10, of: Board.self, for: Script(kind, steps))
    }

    @Test func `an observation without an attempt differs from one with it`() async throws {
        let start: [Script<Move>.Step] = [.record(.set("a", 1))]
        let (without, with) = (
            try await Trial<Board>(Script(.downlink, start)),
            try await Trial<Board>(Script(.downlink, start + [.attempt(1)]))
        )
        let found = try #require(with.logSteps.last?.observation)
        let expected = try #require(without.logSteps.last?.observation)
        #expect(found.difference(from: expected)?.manner == "attempts")
    }

    @Test func `an observation has the rejection, the retried intent and the time of the answer`()
        async throws
    {
        func observation(_ steps: [Script<Move>.Step]) async throws -> Observation<Board> {
            let trial = try await Trial<Board>(Script(.downlink, steps))
            let last = try #require(trial.logSteps.last)
            #expect(
                last.observation.difference(from: try #require(trial.modelSteps.last).observation)
                    == nil)
            return last.observation
        }
        let start: [Script<Move>.Step] = [.record(.set("a", 1)), .record(.set("b", 1))]
        let no = try await observation(start + [.reject(1, message: "no")])
        let never = try await observation(start + [.reject(1, message: "never")])
        #expect(no.difference(from: never)?.manner == "states")

        let retried = try await observation(start + [.reject(1, message: "no"), .retry(1)])
        let recorded = try await observation(
            start + [.reject(1, message: "no"), .record(.set("a", 1))])
        #expect(retried.difference(from: recorded, [.states])?.manner == "states")
        #expect(retried.intents[2].retries == 1 && retried.intents[0].isDismissed)

        let early = try await observation(start + [.acknowledge(1), .acknowledge(2)])
        let late = try await observation(start + [.acknowledge(2), .acknowledge(1)])
        #expect(early.difference(from: late)?.manner == "states")
    }
}
