/// Where an SVG is shown, and so how it gets its colors.
package enum SVGPlace: Sendable {
    /// A file of its own. It has a `<style>` for light and dark.
    case file
    /// A page whose content security policy may forbid inline styles. It has only presentation
    /// attributes, which fit light and dark pages, and classes. Text has the page's color.
    ///
    /// - Parameter prefix: begins the ids of the title and the description, which must be unique in
    ///   the page.
    case page(prefix: String)
}

extension Plot {
    /// Returns the plot as an SVG element with its title and description.
    ///
    /// Classes: `plot`, `plot-grid`, `plot-mark`, and `plot-1` to `plot-6` for the series.
    package func svg(_ place: SVGPlace) -> String {
        var drawing = SVGDrawing(width: PlotFrame.width, height: PlotFrame.height(of: self))
        PlotFrame(self).draw(in: &drawing)
        return drawing.svg(title: title, description: description, place)
    }
}

/// The areas of a plot, and how its parts are drawn there.
private struct PlotFrame {
    static let width = 720.0
    private static let (left, right) = (76.0, 704.0)
    private static let areaHeight = 220.0

    private let plot: Plot
    private let x: PlotScale
    private let y: PlotScale
    private let top: Double

    private var bottom: Double { top + Self.areaHeight }

    static func height(of plot: Plot) -> Double { top(of: plot) + areaHeight + 52 }

    private static func top(of plot: Plot) -> Double {
        58 + Double(PlotLegend(plot, width: right - left).rowCount) * PlotLegend.rowHeight
    }

    init(_ plot: Plot) {
        self.plot = plot
        let points = plot.series.lazy.flatMap(\.points)
        x = PlotScale(plot.x, of: points.map(\.x) + plot.marks.map(\.x), isWhole: false)
        y = PlotScale(plot.y, of: points.map(\.y), isWhole: true)
        top = Self.top(of: plot)
    }

    private func point(_ point: Plot.Point) -> (x: Double, y: Double) { (at(point.x), up(point.y)) }

    private func at(_ value: Double) -> Double {
        Self.left + x.place(of: value) * (Self.right - Self.left)
    }

    private func up(_ value: Double) -> Double { bottom - y.place(of: value) * Self.areaHeight }

    func draw(in drawing: inout SVGDrawing) {
        drawing.text(plot.title, at: (12, 22), size: 15, isBold: true)
        PlotLegend(plot, width: Self.right - Self.left).draw(in: &drawing, at: (Self.left, 46))
        drawing.text(y.title, at: (12, top - 12))
        drawAxes(in: &drawing)
        for (place, series) in plot.series.enumerated() {
            draw(series, SVGStyle(of: series, at: place), in: &drawing)
        }
        drawMarks(in: &drawing)
    }

    private func drawAxes(in drawing: inout SVGDrawing) {
        for tick in y.ticks {
            let height = up(tick)
            drawing.line((Self.left, height), (Self.right, height), .grid)
            drawing.text(y.label(tick), at: (Self.left - 8, height + 4), .end)
        }
        var end = -Double.infinity
        for tick in x.ticks {
            let place = at(tick)
            let label = x.label(tick)
            drawing.line((place, bottom), (place, bottom + 5), .axis)
            let half = SVGDrawing.width(of: label) / 2
            let middle = min(max(place, half + 4), Self.width - half - 4)
            guard middle - half > end + 8 else { continue }
            end = middle + half
            drawing.text(label, at: (middle, bottom + 20), .middle)
        }
        drawing.line((Self.left, bottom), (Self.right, bottom), .axis)
        drawing.text(x.title, at: ((Self.left + Self.right) / 2, bottom + 40), .middle)
    }

    private func drawMarks(in drawing: inout SVGDrawing) {
        // Labels that would touch each other are at different heights, and later ones are left out.
        var ends = [-Double.infinity, -Double.infinity]
        for mark in plot.marks where plot.x.shows(mark.x) {
            let place = at(mark.x)
            drawing.line((place, top), (place, bottom), .mark)
            let width = SVGDrawing.width(of: mark.label)
            let isLeft = place + width + 8 > Self.right
            let start = isLeft ? place - width - 5 : place + 5
            guard !mark.label.isEmpty, let row = ends.firstIndex(where: { $0 + 6 < start }) else {
                continue
            }
            ends[row] = start + width
            drawing.text(mark.label, at: (start, top + 12 + Double(row) * 15), hasHalo: true)
        }
    }

    private func draw(_ series: Plot.Series, _ style: SVGStyle, in drawing: inout SVGDrawing) {
        let points = series.points.filter { plot.x.shows($0.x) && plot.y.shows($0.y) }
        switch series.shape {
        case .line: drawing.path(points.map(point), style)
        case .steps: drawing.path(steps(points), style)
        case .bars:
            for (bar, next) in zip(points, points.dropFirst()) where bar.y > 0 {
                let (start, end) = (at(bar.x) + 1, at(next.x) - 1)
                drawing.bar((start, up(bar.y)), (max(start + 1, end), bottom), style)
            }
        }
        guard series.shape == .line, points.count <= 24 else { return }
        for each in points { drawing.marker(point(each), style) }
    }

    private func steps(_ points: [Plot.Point]) -> [(x: Double, y: Double)] {
        var corners: [(x: Double, y: Double)] = []
        for each in points.map(point) {
            if let last = corners.last { corners.append((each.x, last.y)) }
            corners.append(each)
        }
        return corners
    }
}

/// The names of a plot's series, each with its color, dashes and marker.
private struct PlotLegend {
    static let rowHeight = 18.0
    private let entries: [(style: SVGStyle, name: String)]
    /// For each entry, its row and its place in the row.
    private let places: [(row: Int, x: Double)]
    let rowCount: Int

    init(_ plot: Plot, width: Double) {
        var entries = plot.series.enumerated().filter { !$0.element.isEarlier }
            .map { (SVGStyle(of: $0.element, at: $0.offset), $0.element.name) }
        // All earlier series share one entry. Their colors tell what they belong to.
        if let earlier = plot.series.enumerated().first(where: { $0.element.isEarlier }) {
            entries.append((SVGStyle(of: earlier.element, at: earlier.offset), "earlier"))
        }
        // The name of a single series would repeat the title.
        self.entries = entries.count < 2 ? [] : entries
        var places: [(row: Int, x: Double)] = []
        var (row, end) = (0, 0.0)
        for entry in self.entries {
            let length = 40 + SVGDrawing.width(of: entry.name) + 20
            if end > 0, end + length > width { (row, end) = (row + 1, 0) }
            places.append((row, end))
            end += length
        }
        self.places = places
        rowCount = self.entries.isEmpty ? 0 : row + 1
    }

    func draw(in drawing: inout SVGDrawing, at start: (x: Double, y: Double)) {
        for (entry, place) in zip(entries, places) {
            let x = start.x + place.x
            let y = start.y + Double(place.row) * Self.rowHeight
            drawing.path([(x, y - 4), (x + 32, y - 4)], entry.style)
            if entry.style.hasMarker { drawing.marker((x + 16, y - 4), entry.style) }
            drawing.text(entry.name, at: (x + 40, y))
        }
    }
}
