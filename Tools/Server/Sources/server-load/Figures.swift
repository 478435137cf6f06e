/// Bounds of a load's figures, as far as there are any.
struct Aims {
    /// Intents a second, at least.
    var perSecond: Double?
    /// Milliseconds, at most.
    var p50: Double?
    var p99: Double?
}

extension [[Double]] {
    /// The p50 and the p99 of rounds of times in milliseconds, each ascending.
    func percentiles(_ name: String, aims: Aims? = nil) -> [Measurement] {
        [(50.0, aims?.p50), (99, aims?.p99)].map { percent, aim in
            let figure = map { $0.percentile(percent) }.measurement(
                "\(name), p\(Int(percent))", unit: "ms", each: "rounds",
                samples: map(\.count).reduce(0, +))
            return aim.map { figure.judged(by: .atMost($0)) } ?? figure
        }
    }
}

extension [Devices.Round] {
    /// The intents a second, and the times of requests.
    func figures(_ name: String, aims: Aims? = nil, note: String = "") -> [Measurement] {
        let use = sorted { $0.perSecond < $1.perSecond }[count / 2].use.words
        var speed = map(\.perSecond).measurement(
            name, unit: "intents/s", each: "rounds",
            samples: map(\.latencies.count).reduce(0, +))
        speed.note = [note, speed.note, use].filter { !$0.isEmpty }.joined(separator: "; ")
        if let aim = aims?.perSecond { speed = speed.judged(by: .atLeast(aim)) }
        return [speed] + map(\.latencies).percentiles(name, aims: aims)
    }
}
