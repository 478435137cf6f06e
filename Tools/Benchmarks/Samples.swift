/// What one round of a load gave.
struct Pace: Sendable {
    let count: Int
    let elapsed: Duration
    /// Of each call, in any order; of each transaction where that is what is called.
    let latencies: [Duration]

    var perSecond: Double { Double(count) / (elapsed / .seconds(1)) }

    /// Latencies that so many percent of all did not exceed, in microseconds.
    func microseconds(percentiles: [Double]) -> [Double] {
        let sorted = latencies.map { $0 / .microseconds(1) }.sorted()
        return percentiles.map { sorted.percentile($0) }
    }
}

extension [Double] {
    /// Of a sorted list that has at least one element.
    func percentile(_ percent: Double) -> Double {
        precondition(!isEmpty, "nothing was measured")
        let place = (Double(count) * percent / 100).rounded(.up)
        return self[Swift.min(Swift.max(Int(place) - 1, 0), count - 1)]
    }

    var median: Double {
        let sorted = sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2)
            ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    /// The median as a measurement, with how far the values lie apart in its note.
    ///
    /// - Parameters:
    ///   - each: what each value is of, like "round".
    ///   - samples: how many samples they rest on; nil: each is one.
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

    /// The same for many single samples, of which the outermost say little.
    ///
    /// - Parameter samples: how many they rest on, where each stands for several.
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
