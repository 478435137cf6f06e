import Foldback

extension Finding {
    /// The finding of a fleet.
    init<P: Projection>(
        _ violation: Violation, _ run: SimulationRun, _ recorded: RecordedFleet, _: P.Type,
        _ shrinking: Shrinking, runsTried: Int
    ) {
        law = violation.law
        statement = violation.statement
        difference = violation.comparison.map(Self.lines) ?? []
        table = (run.script + ["trace:"] + Self.shortened(run.trace).map { "  \($0)" })
            .joined(separator: "\n")
        stepCount = run.stepCount
        ndjson = recorded.json
        source = """
            @Test func `\(P.self): \(violation.law.title)`() async throws {
                let fleet = RecordedFleet(
                    replicas: \(recorded.replicas), stepsMax: \(recorded.stepsMax),
                    choices: \(recorded.choices))
                try await requireFleet(fleet, of: \(P.self).self, events: events)
            }
            """
        self.shrinking = shrinking
        scriptsTried = runsTried
    }

    /// The first and last lines of a trace. A fleet that does not settle repeats itself.
    private static func shortened(_ trace: [String]) -> [String] {
        let (first, last) = (30, 6)
        guard trace.count > first + last else { return trace }
        return trace.prefix(first) + ["... \(trace.count - first - last) lines ..."]
            + trace.suffix(last)
    }
}
