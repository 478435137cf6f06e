import Foundation

/// One figure of a run.
struct Figure: Encodable, Sendable {
    let side: String
    let name: String
    let value: Double
    let unit: String
    /// The number of samples.
    let n: Int
    var note = ""
}

/// The measured times of one side, by the name of the operation.
struct Times: Sendable {
    private(set) var names: [String] = []
    private var calls: [String: [Duration]] = [:]
    private var counts: [String: Int] = [:]
    private var totals: [String: Duration] = [:]

    /// - Parameter total: The time of all calls together; nil if one call followed the other.
    mutating func add(
        _ name: String, _ durations: [Duration], count: Int, total: Duration? = nil
    ) {
        if calls[name] == nil { names.append(name) }
        calls[name, default: []] += durations
        counts[name, default: 0] += count
        totals[name, default: .zero] += total ?? durations.reduce(.zero, +)
    }

    /// Adds the times of another round.
    mutating func add(_ other: Times) {
        for name in other.names {
            add(
                name, other.calls[name] ?? [], count: other.counts[name] ?? 0,
                total: other.totals[name])
        }
    }

    /// The median time of an operation that was measured.
    func median(of name: String) -> Double {
        (calls[name] ?? []).map { $0 / .microseconds(1) }.sorted().percentile(50)
    }

    func figures(of side: String) -> [Figure] {
        names.flatMap { name -> [Figure] in
            let sorted = (calls[name] ?? []).map { $0 / .microseconds(1) }.sorted()
            guard !sorted.isEmpty, let count = counts[name], let total = totals[name] else {
                return []
            }
            return [
                Figure(
                    side: side, name: "\(name), p50", value: sorted.percentile(50), unit: "us",
                    n: sorted.count),
                Figure(
                    side: side, name: "\(name), p99", value: sorted.percentile(99), unit: "us",
                    n: sorted.count),
                Figure(
                    side: side, name: "\(name), a second",
                    value: Double(count) / (total / .seconds(1)), unit: "1/s", n: count),
            ]
        }
    }
}

extension [Double] {
    /// The median of a ratio in each round. The note has the least and the greatest.
    ///
    /// - Parameter aim: the highest median that the note calls reached; nil for no aim.
    func ratio(of ours: String, to theirs: String, _ name: String, aim: Double? = nil) -> Figure {
        let sorted = sorted()
        let (least, median, most) = (
            sorted.percentile(0), sorted.percentile(50), sorted.percentile(100)
        )
        let verdict = aim.map {
            String(format: "; at most %g: ", $0) + (median <= $0 ? "reached" : "missed")
        }
        return Figure(
            side: "\(ours) / \(theirs)", name: name, value: median, unit: Figure.ratioUnit,
            n: count,
            note: String(format: "%.2f to %.2f in %d rounds", least, most, count) + (verdict ?? ""))
    }
}

extension Figure {
    static let ratioUnit = "times"

    fileprivate var isRatio: Bool { unit == Self.ratioUnit }
}

extension [Figure] {
    /// A table with a line for each name and a column for each side, and then the ratios of two
    /// sides.
    var table: String {
        let ratios = filter(\.isRatio).map { ratio in
            "\(ratio.side), \(ratio.name): "
                + String(format: "%.2f", ratio.value) + " times, \(ratio.note)\n"
        }
        return filter { !$0.isRatio }.columns + "\n" + ratios.joined()
    }

    private var columns: String {
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
                    String(
                        format: $0.value < 10 ? "%.2f" : $0.value < 100 ? "%.1f" : "%.0f",
                        $0.value)
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
