import Foldback

/// The numbers of pending and accepted intents after each entry.
struct PendingTally: Sendable {
    private var byTime = (pending: PointSampler(), accepted: PointSampler())
    private var bySequence = (pending: PointSampler(), accepted: PointSampler())
    private var first: Timestamp?
    private var latest = Timestamp(millisecondsSince1970: .min)
    /// How often an entry's time was before that of an earlier entry.
    private var setBackCount = 0
    private var most = (pending: 0, accepted: 0)
    private var last = (pending: 0, accepted: 0)

    mutating func add(_ sequence: LogSequence, _ time: Timestamp, pending: Int, accepted: Int) {
        if time < latest { setBackCount += 1 }
        latest = max(latest, time)
        first = first ?? time
        let (time, place) = (Double(latest.millisecondsSince1970), Double(sequence.value))
        byTime.pending.add(Plot.Point(time, Double(pending)))
        byTime.accepted.add(Plot.Point(time, Double(accepted)))
        bySequence.pending.add(Plot.Point(place, Double(pending)))
        bySequence.accepted.add(Plot.Point(place, Double(accepted)))
        most = (max(most.pending, pending), max(most.accepted, accepted))
        last = (pending, accepted)
    }

    /// The plot, with accepted intents only if there were any.
    var plot: Plot {
        let isByTime = first.map { $0 != latest } ?? false
        let samples = isByTime ? byTime : bySequence
        var series = [Plot.Series("pending", .steps, samples.pending.points)]
        var facts = [
            "At most \(most.pending.grouped) intents were pending, and \(last.pending.grouped) after the last entry."
        ]
        if most.accepted > 0 {
            series.append(Plot.Series("accepted", .steps, samples.accepted.points))
            facts.append(
                "At most \(most.accepted.grouped) were accepted, and \(last.accepted.grouped) after the last entry."
            )
        }
        if isByTime, setBackCount > 0 {
            facts.append(
                "The clock went back before \(setBackCount.grouped) entries. They are drawn at the latest time before them."
            )
        }
        if let fact = samples.pending.fact { facts.append(fact) }
        return Plot(
            title: "Pending intents",
            x: isByTime
                ? Plot.Axis("time (UTC)", .linear, .moments)
                : Plot.Axis("sequence", .linear, .counts),
            y: Plot.Axis("intents", .linear, .counts), series: series, facts: facts)
    }
}

/// The bytes of the records up to each entry.
struct BytesTally: Sendable {
    /// The sequences of the log's checkpoints, ascending.
    var checkpoints: [LogSequence] = []
    private var samples = PointSampler()
    private var sum = 0

    mutating func add(_ sequence: LogSequence, _ count: Int) {
        sum += count
        samples.add(Plot.Point(Double(sequence.value), Double(sum)))
    }

    var plot: Plot {
        let count = samples.count
        let mean = count == 0 ? 0 : Double(sum) / Double(count)
        let lines =
            switch checkpoints.count {
            case 0: "The log has no checkpoints."
            case 1: "A vertical line marks the log's checkpoint."
            case let count: "Vertical lines mark the log's \(count.grouped) checkpoints."
            }
        let facts = [
            "\(count.grouped) entries have \(sum.grouped) bytes, \(mean.short) each. \(lines)",
            samples.fact,
        ]
        return Plot(
            title: "Bytes of the entries", x: Plot.Axis("sequence", .linear, .counts),
            y: Plot.Axis("bytes", .linear, .bytes),
            series: [Plot.Series("bytes", .line, samples.points)],
            marks: checkpoints.enumerated().map { place, sequence in
                Plot.Mark(
                    Double(sequence.value), place == checkpoints.count - 1 ? "checkpoint" : "")
            }, facts: facts.compactMap { $0 })
    }
}
