import Foundation

/// One figure of a run.
struct Figure: Encodable, Sendable {
    let side: String
    let name: String
    let value: Double
    let unit: String
    /// How many samples it rests on.
    let n: Int
}

/// What was timed of one side, by what was done.
struct Times: Sendable {
    private(set) var names: [String] = []
    private var calls: [String: [Duration]] = [:]
    private var counts: [String: Int] = [:]
    private var totals: [String: Duration] = [:]

    /// - Parameter total: of all together; nil: the calls came one after the other.
    mutating func add(
        _ name: String, _ durations: [Duration], count: Int, total: Duration? = nil
    ) {
        if calls[name] == nil { names.append(name) }
        calls[name, default: []] += durations
        counts[name, default: 0] += count
        totals[name, default: .zero] += total ?? durations.reduce(.zero, +)
    }

    func figures(of side: String) -> [Figure] {
        names.flatMap { name -> [Figure] in
            let sorted = (calls[name] ?? []).map { $0 / .microseconds(1) }.sorted()
            guard !sorted.isEmpty, let count = counts[name], let total = totals[name] else {
                return []
            }
            func percentile(_ percent: Double) -> Double {
                sorted[min(Int(Double(sorted.count) * percent / 100), sorted.count - 1)]
            }
            return [
                Figure(
                    side: side, name: "\(name), p50", value: percentile(50), unit: "us",
                    n: sorted.count),
                Figure(
                    side: side, name: "\(name), p99", value: percentile(99), unit: "us",
                    n: sorted.count),
                Figure(
                    side: side, name: "\(name), a second",
                    value: Double(count) / (total / .seconds(1)), unit: "1/s", n: count),
            ]
        }
    }
}

extension [Figure] {
    /// A line for each thing that was measured, a column for each side.
    var table: String {
        var sides: [String] = []
        var names: [String] = []
        for figure in self {
            if !sides.contains(figure.side) { sides.append(figure.side) }
            if !names.contains(figure.name) { names.append(figure.name) }
        }
        let width = names.map(\.count).max() ?? 0
        var text = "".filled(to: width + 5)
        for side in sides { text += "  " + side }
        text += "\n"
        for name in names {
            let row = filter { $0.name == name }
            text += "\(name.filled(to: width)) \((row.first?.unit ?? "").filled(to: 4))"
            for side in sides {
                let value = row.first { $0.side == side }.map {
                    String(format: $0.value < 100 ? "%.1f" : "%.0f", $0.value)
                }
                text += "  " + (value ?? "-").filled(to: side.count, atRight: true)
            }
            text += "\n"
        }
        return text
    }

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let lines = try map { "  " + String(decoding: try encoder.encode($0), as: UTF8.self) }
        return "[\n" + lines.joined(separator: ",\n") + "\n]"
    }
}

extension String {
    fileprivate func filled(to width: Int, atRight: Bool = false) -> String {
        let spaces = String(repeating: " ", count: Swift.max(0, width - count))
        return atRight ? spaces + self : self + spaces
    }
}
