/// Keeps at most ``Plot/pointCountMax`` of any number of points, in one pass and bounded memory.
///
/// Up to that number it keeps all points. Then it divides the x-axis into intervals, and keeps the
/// first, the least, the greatest and the last point of each. When there are too many intervals, it
/// joins them in pairs. Lines through the kept points cover the same pixels as lines through all
/// points. Source: Jugel et al., "M4: A Visualization-Oriented Time Series Data Aggregation",
/// VLDB 2014.
package struct PointSampler {
    /// The number of points that were added.
    package private(set) var count = 0
    private var all: [Plot.Point] = []
    private var intervals: [Interval] = []
    private var length = 0.0

    package init() {}

    private struct Interval {
        var place: Double
        var first: Plot.Point
        var least: Plot.Point
        var greatest: Plot.Point
        var last: Plot.Point

        init(_ point: Plot.Point, at place: Double) {
            self.place = place
            (first, least, greatest, last) = (point, point, point, point)
        }

        mutating func add(_ next: Interval) {
            if next.least.y < least.y { least = next.least }
            if next.greatest.y > greatest.y { greatest = next.greatest }
            last = next.last
        }

        /// At most four points, in order of x. Of points with an equal x, the order does not
        /// matter, except for the first and the last.
        var points: [Plot.Point] {
            var points = [first]
            let between = [least, greatest].sorted { $0.x < $1.x }
            for point in between + [last] where point != points.last { points.append(point) }
            return points
        }
    }

    private static let intervalCountMax = Plot.pointCountMax / 4

    /// Adds a point whose `x` is not below that of the point before.
    package mutating func add(_ point: Plot.Point) {
        count += 1
        guard length == 0 else { return append(point) }
        all.append(point)
        guard all.count > Plot.pointCountMax else { return }
        let span = (all.last?.x ?? 0) - (all.first?.x ?? 0)
        length = max(span, 1) / Double(Self.intervalCountMax)
        for point in all { append(point) }
        all = []
    }

    private mutating func append(_ point: Plot.Point) {
        let interval = Interval(point, at: (point.x / length).rounded(.down))
        guard let last = intervals.last, last.place >= interval.place else {
            intervals.append(interval)
            while intervals.count > Self.intervalCountMax { joinPairs() }
            return
        }
        intervals[intervals.count - 1].add(interval)
    }

    private mutating func joinPairs() {
        length *= 2
        var joined: [Interval] = []
        for var interval in intervals {
            interval.place = (interval.place / 2).rounded(.down)
            if let last = joined.last, last.place == interval.place {
                joined[joined.count - 1].add(interval)
            } else {
                joined.append(interval)
            }
        }
        intervals = joined
    }

    /// The points to draw.
    package var points: [Plot.Point] { length == 0 ? all : intervals.flatMap(\.points) }

    /// A sentence for the plot's facts if points were left out.
    package var fact: String? {
        guard length > 0 else { return nil }
        return
            "The plot has \(points.count.grouped) of \(count.grouped) points: the first, least, greatest and last of each interval."
    }
}
