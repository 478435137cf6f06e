extension Plot.Axis.Numbers {
    /// Returns a number in a short form, such as 1.5, 20k, 3 MB or 2 min.
    package func text(_ value: Double) -> String {
        switch self {
        case .plain, .counts: return value.prefixed("", from: 10_000)
        case .bytes:
            let text = value.prefixed(" ", from: 1_000)
            return text + (value.magnitude < 1_000 ? " B" : "B")
        case .milliseconds: return Self.duration(value)
        case .moments: return Moment(value).text(step: 1_000, isInOneDay: false)
        }
    }

    private static func duration(_ milliseconds: Double) -> String {
        let units: [(length: Double, name: String)] = [
            (Moment.dayLength, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"),
        ]
        let unit = units.first { milliseconds.magnitude >= $0.length } ?? (1, "ms")
        return "\((milliseconds / unit.length).short) \(unit.name)"
    }
}

extension Double {
    /// The number with at most three significant digits after a point, and without trailing zeros.
    package var short: String {
        guard isFinite, magnitude < 1e15 else { return "\(self)" }
        if magnitude >= 100 || self == rounded() { return Int(rounded()).grouped }
        var places = magnitude >= 10 ? 1 : 2
        var least = 0.1
        while magnitude < least, magnitude > 0, places < 9 {
            places += 1
            least /= 10
        }
        return fixed(places)
    }

    /// The number with at most so many digits after the point.
    func fixed(_ places: Int) -> String {
        var scale = 1
        for _ in 0..<places { scale *= 10 }
        let all = Int((magnitude * Double(scale)).rounded())
        let (whole, rest) = all.quotientAndRemainder(dividingBy: scale)
        var digits = String(String(rest + scale).dropFirst())
        while digits.last == "0" { digits.removeLast() }
        let sign = self < 0 && all > 0 ? "-" : ""
        return sign + String(whole) + (digits.isEmpty ? "" : "." + digits)
    }

    /// The number with k, M or G from a magnitude on.
    fileprivate func prefixed(_ space: String, from least: Double) -> String {
        guard magnitude >= least else { return short }
        let prefixes: [(size: Double, name: String)] = [(1e12, "T"), (1e9, "G"), (1e6, "M")]
        let prefix = prefixes.first { magnitude >= $0.size } ?? (1e3, "k")
        return (self / prefix.size).short + space + prefix.name
    }
}

extension Int {
    /// The number with commas between thousands.
    package var grouped: String {
        var text = ""
        let digits = String(magnitude)
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place).isMultiple(of: 3) { text += "," }
            text.append(digit)
        }
        return (self < 0 ? "-" : "") + text
    }
}

/// A moment in UTC, as the ticks of an axis show it.
struct Moment {
    static let dayLength = 86_400_000.0
    /// Lengths of time in milliseconds that fit clocks and calendars, up to a day.
    static let steps: [Double] = [
        1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000,
        120_000, 300_000, 600_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 10_800_000,
        21_600_000, 43_200_000, 86_400_000,
    ]

    private let milliseconds: Double

    init(_ milliseconds: Double) {
        // The calendar's arithmetic is exact for a million years around 1970.
        self.milliseconds = Swift.min(Swift.max(milliseconds, -3e16), 3e16).rounded(.down)
    }

    /// Returns the time of day, the day, or both, as precisely as the step between ticks needs.
    func text(step: Double, isInOneDay: Bool) -> String {
        guard step < Self.dayLength else { return day }
        var time = clock(3_600_000, 24) + ":" + clock(60_000, 60)
        if step < 60_000 { time += ":" + clock(1_000, 60) }
        if step < 1_000 { time += "." + clock(1, 1_000) }
        return isInOneDay ? time : "\(day.dropFirst(5)) \(time)"
    }

    private func clock(_ unit: Double, _ count: Int) -> String {
        let part = Int((milliseconds / unit).rounded(.down)) % count
        return String(String((part + count) % count + 10_000).suffix(String(count - 1).count))
    }

    /// The date, such as 2026-11-23.
    ///
    /// The algorithm counts from March, so that the leap day is the year's last day. Source: Howard
    /// Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
    var day: String {
        let days = Int((milliseconds / Self.dayLength).rounded(.down)) + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        let civil = month < 10 ? month + 3 : month - 9
        let year = yearOfEra + era * 400 + (civil <= 2 ? 1 : 0)
        func two(_ number: Int) -> String { String(String(number + 100).suffix(2)) }
        let padded =
            (0..<10_000).contains(year) ? String(String(year + 10_000).dropFirst()) : "\(year)"
        return "\(padded)-\(two(civil))-\(two(day))"
    }
}
