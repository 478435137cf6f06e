import FoldbackHistory
import Foundation

extension BenchmarkChart {
    /// Returns the chart as an SVG element. Earlier values have hollow markers and thin dashes.
    package func svg(_ place: SVGPlace) -> String {
        switch form {
        case .curves: curvePlot.svg(place)
        case .dots: dots(place)
        }
    }

    package var curvePlot: Plot {
        let labels = rows.reduce(into: [String]()) { labels, row in
            if labels.last != row.label { labels.append(row.label) }
        }
        var now: [Plot.Series] = []
        var before: [Plot.Series] = []
        for (style, label) in labels.enumerated() {
            let ours = rows.filter { $0.label == label }
            now.append(
                Plot.Series(
                    label, .line, ours.map { Plot.Point($0.size ?? 1, $0.figure.value) },
                    style: style))
            let earlier = ours.compactMap { row in
                row.earlier.map { Plot.Point(row.size ?? 1, $0) }
            }
            guard !earlier.isEmpty else { continue }
            var series = Plot.Series("\(label), earlier", .line, earlier, style: style)
            series.isEarlier = true
            before.append(series)
        }
        let isLog = rows.allSatisfy { $0.figure.value > 0 && $0.earlier ?? 1 > 0 }
        return Plot(
            title: heading,
            x: Plot.Axis(sizeWords, .log, .counts),
            y: Plot.Axis(unit.isEmpty ? "count" : unit, isLog ? .log : .linear),
            series: now + before, facts: facts)
    }

    /// A sentence for each curve, or for each dot.
    package var facts: [String] {
        rows.map { row in
            let size = row.size.map { ", n = \(Int($0).grouped)" } ?? ""
            let earlier = row.earlier.map { " (earlier \($0.short))" } ?? ""
            return "\(row.label)\(size): \(row.figure.value.short) \(unit)".trimmed + earlier + "."
        }
    }

    // MARK: Dots

    private var isLogarithmic: Bool {
        let values = rows.map(\.figure.value) + rows.compactMap(\.earlier)
        guard let least = values.min(), let most = values.max(), least > 0 else { return false }
        return most / least > 30
    }

    private func dots(_ place: SVGPlace) -> String {
        let (left, right, rowHeight) = (14.0, 706.0, 38.0)
        let hasEarlier = rows.contains { $0.earlier != nil }
        let top = hasEarlier ? 72.0 : 46.0
        var drawing = SVGDrawing(width: 720, height: top + Double(rows.count) * rowHeight + 20)
        drawing.text(heading, at: (12, 22), size: 15, isBold: true)
        let (now, before) = (SVGStyle(place: 0), SVGStyle(place: 0, isEarlier: true))
        if hasEarlier {
            drawing.marker((20, 42), now)
            drawing.text("this run", at: (30, 46))
            drawing.marker((106, 42), before)
            drawing.text("earlier run", at: (116, 46))
        }
        let scale = DotScale(
            values: rows.flatMap { [$0.figure.value] + [$0.earlier].compactMap { $0 } },
            isLogarithmic: isLogarithmic)
        for (number, row) in rows.enumerated() {
            let y = top + Double(number) * rowHeight
            drawing.text(row.label, at: (left, y))
            drawing.text(
                "\(row.figure.value.short) \(unit)".trimmed, at: (right, y), .end, isBold: true)
            drawing.line((left, y + 13), (right, y + 13), .grid)
            func at(_ value: Double) -> Double {
                left + 6 + scale.place(value) * (right - left - 12)
            }
            if !isLogarithmic {
                drawing.path([(left, y + 13), (at(row.figure.value), y + 13)], now)
            }
            if let earlier = row.earlier { drawing.marker((at(earlier), y + 13), before) }
            drawing.marker((at(row.figure.value), y + 13), now)
        }
        drawing.text(
            isLogarithmic ? "logarithmic scale" : "from 0",
            at: (left, top + Double(rows.count) * rowHeight + 6), size: 11)
        return drawing.svg(
            title: heading, description: facts.joined(separator: " "), place)
    }
}

/// The places of dots on their lines, from 0 to 1.
private struct DotScale {
    private let isLogarithmic: Bool
    private let least: Double
    private let most: Double

    init(values: [Double], isLogarithmic: Bool) {
        self.isLogarithmic = isLogarithmic
        least = isLogarithmic ? log10(values.min() ?? 1) : min(0, values.min() ?? 0)
        let top = isLogarithmic ? log10(values.max() ?? 1) : values.max() ?? 1
        most = top > least ? top : least + 1
    }

    func place(_ value: Double) -> Double {
        ((isLogarithmic ? log10(value) : value) - least) / (most - least)
    }
}

extension String {
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespaces) }
}
