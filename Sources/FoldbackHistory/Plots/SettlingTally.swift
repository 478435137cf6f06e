/// The distribution of times from recording to settlement, in bounded memory.
///
/// An intent that returns to the overlay, because an authority accepted it after all, counts again
/// when it is settled again.
struct SettlingTally: Sendable {
    private(set) var count = 0
    /// How many times were negative, because the clock was set back. They count as 0.
    private var negativeCount = 0
    /// The counts by the bar of ``start(ofBar:)``.
    private var bars: [Int] = []
    /// The counts by ``bucket(of:)``, for the median and the 95th percentile.
    private var buckets: [Int] = []

    mutating func add(_ milliseconds: Int64) {
        count += 1
        if milliseconds < 0 { negativeCount += 1 }
        let time = Int(max(milliseconds, 0))
        Self.increment(&bars, at: Self.bar(of: time))
        Self.increment(&buckets, at: Self.bucket(of: time))
    }

    private static func increment(_ counts: inout [Int], at place: Int) {
        while counts.count <= place { counts.append(0) }
        counts[place] += 1
    }

    // MARK: Bars

    /// The bars begin at 0, 1, 2, 5, 10, 20, 50 and so on milliseconds.
    static func start(ofBar bar: Int) -> Double {
        guard bar > 0 else { return 0 }
        let power = (0..<(bar - 1) / 3).reduce(1.0) { power, _ in power * 10 }
        return [1, 2, 5][(bar - 1) % 3] * power
    }

    private static func bar(of time: Int) -> Int {
        var bar = 0
        while start(ofBar: bar + 1) <= Double(time) { bar += 1 }
        return bar
    }

    // MARK: Percentiles

    /// Times below 128 ms have a bucket each. From there on, each doubling has 64 buckets.
    private static func bucket(of time: Int) -> Int {
        guard time >= 128 else { return time }
        let shift = Int.bitWidth - time.leadingZeroBitCount - 7
        return shift * 64 + time >> shift
    }

    private static func start(ofBucket bucket: Int) -> Int {
        guard bucket >= 128 else { return bucket }
        let shift = bucket / 64 - 1
        return (bucket - shift * 64) << shift
    }

    /// Returns the least time that `percent` percent of all times do not exceed (nearest rank), in
    /// milliseconds. The result is exact below 128 ms, and at most 1.6 % too low from there on.
    func percentile(_ percent: Int) -> Int? {
        guard count > 0 else { return nil }
        let rank = max(1, (count * percent + 99) / 100)
        var sum = 0
        for (bucket, count) in buckets.enumerated() {
            sum += count
            if sum >= rank { return Self.start(ofBucket: bucket) }
        }
        return nil
    }

    // MARK: The plot

    /// - Parameter stillPending: the number of intents that are not settled at the end.
    func plot(stillPending: Int) -> Plot {
        var facts = ["\(count.grouped) intents were settled."]
        var marks: [Plot.Mark] = []
        if let median = percentile(50), let high = percentile(95) {
            let text = Plot.Axis.Numbers.milliseconds.text
            let (half, most) = (text(Double(median)), text(Double(high)))
            facts[0] =
                "\(count.grouped) intents were settled: half of them within \(half), 95 % within \(most)."
            marks = [
                Plot.Mark(Self.shown(median), "median \(half)"),
                Plot.Mark(Self.shown(high), "95 % \(most)"),
            ]
        }
        facts.append("\(stillPending.grouped) are still pending or accepted.")
        if negativeCount > 0 {
            facts.append(
                "\(negativeCount.grouped) were settled at an earlier time of the clock, and count as 0 ms."
            )
        }
        return Plot(
            title: "Time to settle",
            x: Plot.Axis("time from recording to settlement", .log, .milliseconds),
            y: Plot.Axis("intents", .linear, .counts),
            series: [Plot.Series("intents", .bars, points)], marks: marks, facts: facts)
    }

    /// The bars from the first that is not empty to the last. The bar of 0 ms begins at 0.5 ms,
    /// because the scale is logarithmic.
    private var points: [Plot.Point] {
        guard let first = bars.firstIndex(where: { $0 > 0 }) else { return [] }
        let points = bars[first...].enumerated().map { place, count in
            Plot.Point(Self.shown(Self.start(ofBar: first + place)), Double(count))
        }
        return points + [Plot.Point(Self.start(ofBar: bars.count), 0)]
    }

    private static func shown(_ time: some BinaryFloatingPoint) -> Double {
        max(0.5, Double(time))
    }

    private static func shown(_ time: Int) -> Double { shown(Double(time)) }
}
