import FoldbackHistory
import Foundation

/// A chart of figures of one section and one unit, with the figures under it.
///
/// ``charts(of:earlier:)`` makes all charts of a run. Figures that were measured at several sizes
/// are curves: cost against size, both logarithmic. All others are dots, one below the other.
package struct BenchmarkChart: Equatable, Sendable {
    package enum Form: Equatable, Sendable {
        case curves
        case dots
    }

    /// A figure, its value in the latest earlier run that has it, and its series and size.
    package struct Row: Equatable, Sendable {
        package let figure: BenchmarkFigure
        package let earlier: Double?
        /// The name of the curve; for dots, the part of the name that differs from the title.
        package let label: String
        package let size: Double?
    }

    package let section: String
    /// What the figures share, without the section; may be empty.
    package let title: String
    package let unit: String
    package let form: Form
    /// The words of the sizes, such as "n pending"; empty for dots.
    package let sizeWords: String
    package fileprivate(set) var rows: [Row]

    /// More curves than this are divided among several charts.
    package static let curveCountMax = 5
    /// More dots than this are divided among several charts.
    package static let dotCountMax = 12

    /// Returns the charts of a run, in the order of its figures.
    ///
    /// - Parameter earlier: the values of earlier runs by name; see ``BenchmarkRuns/values(in:)``.
    package static func charts(
        of figures: [BenchmarkFigure], earlier: [String: Double] = [:]
    ) -> [BenchmarkChart] {
        var charts: [BenchmarkChart] = []
        for section in figures.map({ $0.section ?? "" }).uniqued {
            let ours = figures.filter { ($0.section ?? "") == section && !$0.isAboutRun }
            let curves = CurveFinder(ours).curves
            let curved = Set(curves.flatMap { $0.figures.map(\.figure.name) })
            charts += curveCharts(curves, section, earlier)
            charts += dotCharts(ours.filter { !curved.contains($0.name) }, section, earlier)
        }
        return charts
    }

    /// The title with the section.
    package var heading: String {
        guard title.isEmpty else { return section.isEmpty ? title : "\(section): \(title)" }
        return [section, unit].filter { !$0.isEmpty }.joined(separator: ", ")
    }

    // MARK: Curves

    private static func curveCharts(
        _ curves: [CurveFinder.Curve], _ section: String, _ earlier: [String: Double]
    ) -> [BenchmarkChart] {
        // Curves in one chart have the same size words, the same words after them, and one unit.
        let families = curves.map { [$0.name.part, $0.name.trailing, $0.unit] }.uniqued
        return families.flatMap { family in
            let ours = curves.filter { [$0.name.part, $0.name.trailing, $0.unit] == family }
            return stride(from: 0, to: ours.count, by: curveCountMax).map { start in
                chart(Array(ours[start..<min(start + curveCountMax, ours.count)]), section, earlier)
            }
        }
    }

    private static func chart(
        _ curves: [CurveFinder.Curve], _ section: String, _ earlier: [String: Double]
    ) -> BenchmarkChart {
        let name = curves[0].name
        let names = curves.map(\.name.leading)
        let common = curves.count > 1 ? "" : name.leading
        let words = [common, name.part, name.trailing]
        let rows = zip(curves, names).flatMap { curve, label in
            curve.figures.map { figure, size in
                Row(
                    figure: figure, earlier: earlier[figure.name],
                    label: label.isEmpty ? name.part : label, size: size)
            }
        }
        return BenchmarkChart(
            section: section, title: words.filter { !$0.isEmpty }.joined(separator: ", "),
            unit: curves[0].unit, form: .curves, sizeWords: name.part, rows: rows)
    }

    // MARK: Dots

    /// The figures of one unit are in one chart. If they are too many, those whose names begin
    /// alike are in one chart, and the others in a last chart.
    private static func dotCharts(
        _ figures: [BenchmarkFigure], _ section: String, _ earlier: [String: Double]
    ) -> [BenchmarkChart] {
        figures.map(\.unit).uniqued.flatMap { unit in
            let ours = figures.filter { $0.unit == unit }
            guard ours.count > dotCountMax else { return [dots(ours, section, earlier)] }
            let groups = Dictionary(grouping: ours, by: \.name.firstPart)
            let together = ours.map(\.name.firstPart).uniqued.compactMap { groups[$0] }
                .filter { $0.count > 1 }
            let others = ours.filter { groups[$0.name.firstPart]?.count == 1 }
            return (together + [others]).filter { !$0.isEmpty }.map { dots($0, section, earlier) }
        }
    }

    private static func dots(
        _ figures: [BenchmarkFigure], _ section: String, _ earlier: [String: Double]
    ) -> BenchmarkChart {
        let starts = figures.map(\.name.firstPart).uniqued
        let isShared = starts.count == 1 && figures.allSatisfy { $0.name != starts[0] }
        let rows = figures.map { figure in
            Row(
                figure: figure, earlier: earlier[figure.name],
                label: isShared
                    ? String(figure.name.dropFirst(starts[0].count + 2)) : figure.name,
                size: nil)
        }
        return BenchmarkChart(
            section: section, title: isShared ? starts[0] : "", unit: figures[0].unit, form: .dots,
            sizeWords: "", rows: rows)
    }
}

/// Finds the curves among figures: names that differ in one size only, with one unit.
private struct CurveFinder {
    struct Curve {
        let name: SizedName
        let unit: String
        /// By size, ascending.
        let figures: [(figure: BenchmarkFigure, size: Double)]
    }

    private struct Key: Hashable {
        let name: SizedName
        let unit: String
    }

    let curves: [Curve]

    /// A figure can be on several curves. It goes to the curve with the most sizes; of those, to
    /// the curve with the widest range; of those, to the curve of the earliest size in the name.
    init(_ figures: [BenchmarkFigure]) {
        var members: [Key: [(figure: BenchmarkFigure, size: Double)]] = [:]
        var keys: [Key] = []
        for figure in figures {
            for (name, size) in SizedName.divisions(of: figure.name) {
                let key = Key(name: name, unit: figure.unit)
                if members[key] == nil { keys.append(key) }
                members[key, default: []].append((figure, size))
            }
        }
        var taken: Set<String> = []
        var found: [Curve] = []
        while true {
            var best: (key: Key, rank: [Double])?
            for key in keys {
                let free = (members[key] ?? []).filter { !taken.contains($0.figure.name) }
                members[key] = free
                let sizes = Set(free.map(\.size))
                guard sizes.count > 1, let least = sizes.min(), let most = sizes.max() else {
                    continue
                }
                let rank = [Double(sizes.count), most / least]
                if best.map({ $0.rank.lexicographicallyPrecedes(rank) }) ?? true {
                    best = (key, rank)
                }
            }
            guard let best else { break }
            let all = (members[best.key] ?? []).sorted { $0.size < $1.size }
            taken.formUnion(all.map(\.figure.name))
            found.append(Curve(name: best.key.name, unit: best.key.unit, figures: all))
        }
        let order = Dictionary(
            figures.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        func place(_ curve: Curve) -> Int {
            curve.figures.compactMap { order[$0.figure.name] }.min() ?? 0
        }
        curves = found.sorted { place($0) < place($1) }
    }
}

extension BenchmarkFigure {
    /// Facts about the run as a whole, which the head of the page shows.
    var isAboutRun: Bool { section == "Machine" || name == "machine" || name == "the whole run" }
}

extension String {
    /// The text before the first comma that does not divide a number.
    fileprivate var firstPart: String { components(separatedBy: ", ")[0] }
}

extension Array where Element: Hashable {
    /// The elements in order, each at its first place only.
    fileprivate var uniqued: [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
