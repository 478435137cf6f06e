/// The result of one round of a load.
struct Pace: Sendable {
    let count: Int
    let elapsed: Duration
    /// The latency of each call or transaction, in any order; empty if the load does not measure
    /// them.
    let latencies: [Duration]

    var perSecond: Double { Double(count) / (elapsed / .seconds(1)) }

    /// The latencies in microseconds at some percentiles.
    func microseconds(percentiles: [Double]) -> [Double] {
        let sorted = latencies.map { $0 / .microseconds(1) }.sorted()
        return percentiles.map { sorted.percentile($0) }
    }
}

extension [Double] {
    var median: Double {
        let sorted = sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2)
            ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    /// The median as a measurement. The note has the least and the greatest value.
    ///
    /// - Parameters:
    ///   - each: The plural noun for the values, like "rounds".
    ///   - samples: The number of samples; nil if each value is one.
    func measurement(
        _ name: String, unit: String, each: String, samples: Int? = nil
    ) -> Measurement {
        let sorted = sorted()
        let (least, most) = (sorted.percentile(0), sorted.percentile(100))
        return Measurement(
            name: name, value: median, unit: unit, n: samples ?? count,
            note: least == most
                ? "the same in \(count) \(each)"
                : "median of \(count) \(each), \(least.text) to \(most.text)")
    }

    /// The median as a measurement. The note has the quartiles, because single outliers mean
    /// little.
    ///
    /// - Parameter samples: The number of samples; nil if each value is one.
    func quartered(
        _ name: String, unit: String, samples: Int? = nil, note: String = ""
    ) -> Measurement {
        let sorted = sorted()
        let spread = "half of them \(sorted.percentile(25).text) to \(sorted.percentile(75).text)"
        return Measurement(
            name: name, value: median, unit: unit, n: samples ?? count,
            note: [note, spread].filter { !$0.isEmpty }.joined(separator: "; "))
    }
}
