import Foundation

/// One figure of a run.
struct Measurement: Encodable, Sendable {
    /// Unique in the run, and complete without the section's title.
    let name: String
    let value: Double
    let unit: String
    /// The number of samples.
    let n: Int
    var note = ""
}

/// A bound for a figure. The verdict is always computed.
enum Target: Sendable {
    case atLeast(Double)
    case atMost(Double)
    case exactly(Double)

    func verdict(on value: Double) -> String {
        let (words, isReached) =
            switch self {
            case .atLeast(let bound): ("at least \(bound.short)", value >= bound)
            case .atMost(let bound): ("at most \(bound.short)", value <= bound)
            case .exactly(let bound): ("exactly \(bound.short)", value == bound)
            }
        return "\(words): \(isReached ? "reached" : "missed")"
    }
}

extension Measurement {
    /// Returns the figure with the target's verdict before the note.
    ///
    /// - Parameter worst: The number to judge instead of the value.
    func judged(by target: Target, on worst: Double? = nil) -> Measurement {
        var judged = self
        judged.note = [target.verdict(on: worst ?? value), note].filter { !$0.isEmpty }.joined(
            separator: "; ")
        return judged
    }
}

/// Measurements under one title.
struct Section: Sendable {
    let title: String
    let measurements: [Measurement]
}

extension [Section] {
    /// The columns name, value, unit, n and note, each as wide as its longest text.
    var table: String {
        let all = flatMap(\.measurements)
        let names = all.map(\.name.count).max() ?? 0
        let values = all.map(\.value.text.count).max() ?? 0
        let units = all.map(\.unit.count).max() ?? 0
        let counts = all.map { $0.n.grouped.count }.max() ?? 0
        var text = ""
        for section in self {
            text += "\n\(section.title)\n"
            for figure in section.measurements {
                let columns = [
                    figure.name.filled(to: names),
                    figure.value.text.filled(to: values, atRight: true),
                    figure.unit.filled(to: units),
                    "n \(figure.n.grouped.filled(to: counts, atRight: true))",
                    figure.note,
                ]
                let last = columns.lastIndex { !$0.isEmpty } ?? 0
                text += "  " + columns[...last].joined(separator: "  ") + "\n"
            }
        }
        return text
    }

    /// A JSON array of {name, value, unit, n, note}, each on its own line.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let lines = try flatMap(\.measurements).map { figure in
            "  " + String(decoding: try encoder.encode(figure), as: UTF8.self)
        }
        return "[\n" + lines.joined(separator: ",\n") + "\n]"
    }
}

// MARK: Numbers as text

extension Double {
    /// The number with at least three digits, and with commas between thousands.
    var text: String {
        if self == rounded(), magnitude < 1e15 { return Int(self).grouped }
        switch magnitude {
        case 100...: return Int(rounded()).grouped
        case 10..<100: return String(format: "%.1f", self)
        case 1..<10: return String(format: "%.2f", self)
        default: return String(format: "%.3f", self)
        }
    }
}

extension Double {
    /// A chosen number, without more digits than it was given.
    fileprivate var short: String { String(format: "%g", self) }
}

extension Int {
    var grouped: String {
        let digits = String(magnitude)
        var text = ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place).isMultiple(of: 3) { text += "," }
            text.append(digit)
        }
        return (self < 0 ? "-" : "") + text
    }
}

extension String {
    fileprivate func filled(to width: Int, atRight: Bool = false) -> String {
        let spaces = String(repeating: " ", count: Swift.max(0, width - count))
        return atRight ? spaces + self : self + spaces
    }
}
