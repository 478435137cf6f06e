import Foldback
import TestSupport
import Testing

@testable import FoldbackTesting

/// A projection passed its laws for months, and no script had ever rejected an accepted intent.
@Suite struct CoverageTests {
    private struct Sum: Projection, Codable, Equatable {
        enum Event: Codable, Equatable, Sendable { case added(Int) }
        struct TooMuch: Error {}
        var sum = 0

        mutating func apply(_ event: Event, _ context: EventContext) throws {
            guard case .added(let number) = event else { return }
            guard sum + number < 20 else { throw TooMuch() }
            sum += number
        }
    }

    private typealias Step = Script<Sum.Event>.Step

    private static let events = Generator<Sum.Event>.making(
        Sum.Event.added, .integers(in: 0...9))

    private static func effort(_ scriptsMax: Int) -> Effort {
        Effort(
            scriptsMax: scriptsMax, durationMax: nil, stepsMax: 24, candidatesMax: 100,
            stepMax: .seconds(30))
    }

    @Test func `a pair is the step and the state that its intent had before`() {
        let script = Script<Sum.Event>(
            .downlink,
            [
                .record(.added(1), force: false), .record(.added(19), force: true),
                .record(.added(2), force: false, held: true),
                .acknowledge(2, position: nil, replacement: nil), .attempt(1),
                .change(1, .withdraw, force: false), .change(3, .release, force: false),
                .reject(1, code: nil, message: "no"), .reject(1, code: nil, message: "no"),
                .change(1, .retry, force: false), .reject(1_000_000, code: nil, message: "no"),
                .confirm([Script.ServerEvent(1, .added(2), .own(3))]),
            ])
        let pairs = Trial<Sum>.pairs(in: script, Trial<Sum>.modelSteps(of: script))
        #expect(
            pairs == [
                "acknowledge of conflicted": 1, "attempt of pending": 1, "withdraw of sent": 1,
                "release of draft": 1, "reject of sent": 1, "reject of rejected": 1,
                "retry of rejected": 1, "reject of unknown": 1, "confirm of conflicted": 1,
            ])
        #expect(pairs.keys.allSatisfy(Pair.all.contains))
    }

    @Test func `a run counts pairs and labels, and names what is required and did not occur`()
        async throws
    {
        let coverage = Coverage<Sum.Event>(
            requiring: ["reject of pending", "two recorded", "ten of a kind"]
        ) { script in
            let count = script.recordedEvents.count
            return count == 2 ? ["two recorded", "two recorded"] : count > 2 ? ["many"] : []
        }
        let report = await checkLaws(
            of: Sum.self, events: Self.events, laws: [.p5], effort: Self.effort(60),
            coverage: coverage, failures: .forgotten)
        #expect(report.isClean && !report.isComplete && report.missing == ["ten of a kind"])
        #expect(report.pairs["reject of pending", default: 0] > 0, "\(report)")
        let labels = report.labels["two recorded", default: 0]
        #expect((1...60).contains(labels) && report.labels["many"] != nil, "\(report)")
        #expect("\(report)".contains("never occurred, and is required: \"ten of a kind\" (not"))
        await #expect(throws: LawsBroken.self) {
            try await requireLaws(
                of: Sum.self, events: Self.events, laws: [.p5], effort: Self.effort(20),
                coverage: Coverage(requiring: ["ten of a kind"]), failures: .forgotten)
        }
    }

    /// Swarm testing: some scripts have only a few kinds of steps. Before, no script edited an intent
    /// that was not rejected.
    @Test func `1,000 scripts reach nearly every pair`() async {
        let scripts = Self.events.scripts(.downlink, steps: 24)
        var reached: Set<String> = []
        var kinds: [Int] = []
        for seed in 0..<1_000 as Range<UInt64> {
            guard let script = try? scripts.value(seed: seed) else { continue }
            let steps = Trial<Sum>.modelSteps(of: script)
            reached.formUnion(Trial<Sum>.pairs(in: script, steps).keys)
            if script.steps.count > 8 { kinds.append(Set(script.steps.map(\.name)).count) }
        }
        let missing = Pair.all.subtracting(reached).sorted()
        // A few are rare: the edit of a draft, which no rejection precedes.
        #expect(missing.count <= 20, "\(missing)")
        #expect(kinds.contains { $0 <= 3 } && kinds.contains { $0 >= 8 })
    }
}
