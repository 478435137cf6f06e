/// Several loads on one disk that take turns for several rounds, so that noise on the machine
/// affects all of them.
struct InterleavedRun: Sendable {
    struct Load: Sendable {
        let name: String
        /// The operation whose latency is measured.
        var call = "call"
        /// The unit of the speed, like "intents/s".
        var unit = "intents/s"
        let pace: @Sendable () async throws -> Pace
    }

    private var loads: [Load] = []
    private var comparisons: [Comparison] = []

    /// A figure that compares two loads, round by round.
    private struct Comparison: Sendable {
        let name: String
        let unit: String
        let ours: String
        let theirs: String
        let target: Target?
        let value: @Sendable (_ ours: Pace, _ theirs: Pace) -> Double
    }

    mutating func add(_ load: Load) { loads.append(load) }

    /// Adds the speed of `ours` relative to `raw`.
    mutating func compareSpeed(of ours: String, withRaw raw: String, _ target: Target? = nil) {
        compareSpeed(of: ours, with: raw, called: "raw", target)
    }

    /// Adds the speed of `ours` relative to another load.
    ///
    /// - Parameter words: The other load's name in the name of the figure.
    mutating func compareSpeed(
        of ours: String, with theirs: String, called words: String, _ target: Target? = nil
    ) {
        comparisons.append(
            Comparison(
                name: "\(ours) / \(words)", unit: "times", ours: ours, theirs: theirs,
                target: target
            ) { $0.perSecond / $1.perSecond })
    }

    /// Adds the difference of the median latencies of `ours` and `raw`.
    mutating func compareLatency(of ours: String, withRaw raw: String, _ target: Target? = nil) {
        comparisons.append(
            Comparison(
                name: "\(ours), p50 above raw's", unit: "us", ours: ours, theirs: raw,
                target: target
            ) { $0.microseconds(percentiles: [50])[0] - $1.microseconds(percentiles: [50])[0] })
    }

    /// Adds the median latency of `ours` relative to the latency of `raw`.
    mutating func compareTime(of ours: String, withRaw raw: String, _ target: Target? = nil) {
        compareTime(of: ours, with: raw, called: "raw's", target)
    }

    /// Adds the median latency of `ours` relative to the latency of another load.
    ///
    /// - Parameter words: The other load's name in the name of the figure, in the genitive.
    mutating func compareTime(
        of ours: String, with theirs: String, called words: String, _ target: Target? = nil
    ) {
        comparisons.append(
            Comparison(
                name: "\(ours), p50 / \(words)", unit: "times", ours: ours, theirs: theirs,
                target: target
            ) { $0.microseconds(percentiles: [50])[0] / $1.microseconds(percentiles: [50])[0] })
    }

    /// Runs the loads; the medians of the rounds for each load's speed and latencies, then the
    /// comparisons.
    func measurements(rounds: Int, _ bench: Workbench) async throws -> [Measurement] {
        var paces: [String: [Pace]] = [:]
        for round in 1...rounds {
            bench.note("round \(round) of \(rounds)")
            for load in loads { paces[load.name, default: []].append(try await load.pace()) }
        }
        var figures: [Measurement] = []
        for load in loads { figures += Self.figures(of: load, paces[load.name] ?? []) }
        for comparison in comparisons {
            let ours = paces[comparison.ours] ?? []
            let theirs = paces[comparison.theirs] ?? []
            let figure = zip(ours, theirs).map(comparison.value).measurement(
                comparison.name, unit: comparison.unit, each: "rounds")
            figures.append(comparison.target.map { figure.judged(by: $0) } ?? figure)
        }
        return figures
    }

    private static func figures(of load: Load, _ paces: [Pace]) -> [Measurement] {
        let count = paces.reduce(0) { $0 + $1.count }
        let speed = paces.map(\.perSecond).measurement(
            load.name, unit: load.unit, each: "rounds", samples: count)
        let calls = paces.reduce(0) { $0 + $1.latencies.count }
        guard calls > 0 else { return [speed] }
        let latencies = paces.map { $0.microseconds(percentiles: [50, 99]) }
        return [
            speed,
            latencies.map { $0[0] }.measurement(
                "\(load.name), p50 of a \(load.call)", unit: "us", each: "rounds", samples: calls),
            latencies.map { $0[1] }.measurement(
                "\(load.name), p99 of a \(load.call)", unit: "us", each: "rounds", samples: calls),
        ]
    }
}
