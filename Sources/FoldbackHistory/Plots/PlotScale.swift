/// The range of an axis, its ticks, and the place of each number on it.
struct PlotScale {
    let axis: Plot.Axis
    let range: ClosedRange<Double>
    /// The numbers that get a line and a label, ascending.
    let ticks: [Double]
    /// The length of a step between ticks of a linear axis.
    private let step: Double

    /// - Parameters:
    ///   - values: the numbers to show. Numbers that a log scale cannot show are left out.
    ///   - isWhole: ends the range at ticks, and begins a linear range at 0.
    init(_ axis: Plot.Axis, of values: some Sequence<Double>, isWhole: Bool) {
        self.axis = axis
        let shown = values.filter { axis.shows($0) }.map(Self.clamped)
        let least = shown.min() ?? (axis.scale == .log ? 1 : 0)
        let most = shown.max() ?? 1
        switch axis.scale {
        case .linear:
            let low = isWhole ? min(0, least) : least
            let high = most - low > max(1, low.magnitude) * 1e-12 ? most : low + 1
            step = Self.step(axis.numbers, from: low, to: high)
            let end = isWhole ? (high / step).rounded(.up) * step : high
            range = low...max(end, high)
            ticks = Self.multiples(of: step, in: range)
        case .log:
            step = 0
            let (low, high) = (least.decade, isWhole || most == least ? most.decadeAbove : most)
            let start = isWhole || most == least ? low.power : least
            range = start...max(high == most ? most : high, start * 10)
            ticks = axis.numbers == .milliseconds ? Self.lengths(in: range) : Self.powers(in: range)
        }
    }

    /// Beyond these bounds, the arithmetic of ticks would lose its precision.
    private static func clamped(_ value: Double) -> Double {
        let bounded = min(max(value, -1e15), 1e15)
        return value > 0 ? max(bounded, 1e-9) : bounded
    }

    /// Returns the place of a number, from 0 to 1. Numbers outside of the range are at its ends.
    func place(of value: Double) -> Double {
        let clamped = min(max(value, range.lowerBound), range.upperBound)
        switch axis.scale {
        case .linear:
            return (clamped - range.lowerBound) / (range.upperBound - range.lowerBound)
        case .log:
            let low = range.lowerBound.decimalLogarithm
            return (clamped.decimalLogarithm - low) / (range.upperBound.decimalLogarithm - low)
        }
    }

    /// Returns the text of a tick.
    func label(_ value: Double) -> String {
        axis.numbers == .moments
            ? Moment(value).text(step: step, isInOneDay: isInOneDay) : axis.numbers.text(value)
    }

    /// The label of the axis. For moments it has the day if the ticks lack it.
    var title: String {
        guard axis.numbers == .moments, isInOneDay, step < Moment.dayLength else {
            return axis.label
        }
        return "\(axis.label), \(Moment(range.lowerBound).day)"
    }

    private var isInOneDay: Bool {
        Moment(range.lowerBound).day == Moment(range.upperBound).day
    }

    // MARK: Ticks

    /// About five steps of 1, 2 or 5 times a power of ten, or of whole units of time.
    private static func step(
        _ numbers: Plot.Axis.Numbers, from low: Double, to high: Double
    ) -> Double {
        let rough = (high - low) / 6
        if numbers == .moments || numbers == .milliseconds {
            if let step = Moment.steps.first(where: { $0 >= rough }) { return step }
            let days = rough / Moment.dayLength
            return Moment.dayLength * nice(days)
        }
        return max(nice(rough), numbers == .plain ? 0 : 1)
    }

    private static func nice(_ rough: Double) -> Double {
        let power = rough.decade.power
        return ([1, 2, 5, 10].first { $0 * power >= rough * 0.999 } ?? 10) * power
    }

    private static func multiples(of step: Double, in range: ClosedRange<Double>) -> [Double] {
        let first = (range.lowerBound / step).rounded(.up)
        let last = (range.upperBound / step + 1e-9).rounded(.down)
        guard first <= last, last - first < 100 else { return [range.lowerBound] }
        return stride(from: first, through: last, by: 1).map { $0 * step }
    }

    /// Round lengths of time in the range, up to years.
    private static func lengths(in range: ClosedRange<Double>) -> [Double] {
        let all: [Double] = [
            1, 10, 100, 1_000, 10_000, 60_000, 600_000, 3_600_000, 36_000_000, Moment.dayLength,
            10 * Moment.dayLength, 100 * Moment.dayLength, 1_000 * Moment.dayLength,
        ]
        let found = all.filter(range.contains)
        return found.count > 1 ? found : powers(in: range)
    }

    /// The powers of ten in the range, or every second or third of them. A short range also gets 2
    /// and 5 times the powers.
    private static func powers(in range: ClosedRange<Double>) -> [Double] {
        let (first, last) = (range.lowerBound.decade, range.upperBound.decade)
        let every = max(1, (last - first + 7) / 8)
        let factors: [Double] = last - first <= 2 ? [1, 2, 5] : [1]
        return stride(from: first, through: last, by: every).flatMap { exponent in
            factors.map { $0 * exponent.power }
        }.filter { $0 >= range.lowerBound * 0.999 && $0 <= range.upperBound * 1.001 }
    }
}

extension Plot.Axis {
    /// Returns whether the axis can show a number.
    func shows(_ value: Double) -> Bool { value.isFinite && (scale == .linear || value > 0) }
}

extension Int {
    /// Ten to this power.
    fileprivate var power: Double {
        let whole = (0..<magnitude).reduce(1.0) { power, _ in power * 10 }
        return self < 0 ? 1 / whole : whole
    }
}

extension Double {
    /// The greatest integer power of ten up to this positive number.
    fileprivate var decade: Int { Int((decimalLogarithm + 1e-9).rounded(.down)) }

    /// The least power of ten from this positive number on.
    fileprivate var decadeAbove: Double { Int((decimalLogarithm - 1e-9).rounded(.up)).power }

    /// The logarithm to the base 10 of a positive number. The standard library has none.
    var decimalLogarithm: Double {
        guard self > 0, isFinite else { return 0 }
        // ln m = 2 artanh((m - 1) / (m + 1)) for the significand m, from 1 to 2.
        let ratio = (significand - 1) / (significand + 1)
        var term = ratio
        var sum = 0.0
        for odd in stride(from: 1.0, through: 41, by: 2) {
            sum += term / odd
            term *= ratio * ratio
        }
        let ofTwo = 0.693_147_180_559_945_3
        return (Double(exponent) * ofTwo + 2 * sum) / 2.302_585_092_994_045_7
    }
}
