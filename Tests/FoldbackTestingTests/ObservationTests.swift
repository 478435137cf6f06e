import Foldback
import TestSupport
import Testing

@testable import FoldbackTesting

/// A review found parts of a log that no law compared.
@Suite struct ObservationTests {
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
