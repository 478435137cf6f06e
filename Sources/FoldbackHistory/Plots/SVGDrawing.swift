/// The color, dashes and marker of a series.
package struct SVGStyle: Sendable {
    /// From 0 up. Places above the last begin again.
    let place: Int
    let isEarlier: Bool
    let hasMarker: Bool

    package init(place: Int, isEarlier: Bool = false) {
        self.place = place % Self.colors.count
        self.isEarlier = isEarlier
        hasMarker = true
    }

    init(of series: Plot.Series, at place: Int) {
        self.place = (series.style ?? place) % Self.colors.count
        isEarlier = series.isEarlier
        hasMarker = series.shape == .line && series.points.count <= 24
    }

    /// Each has a contrast of more than 3 to white and to near-black (WCAG 2.2, 1.4.11).
    static let colors = ["#2f7fd6", "#c9650a", "#23925a", "#b053c4", "#d2486a", "#7d7f1f"]
    private static let dashes = ["", "7 3", "2 3", "9 3 2 3", "5 2", "1 2"]

    package var className: String { "plot-\(place + 1)" }
    var color: String { Self.colors[place] }
    var dash: String { isEarlier ? "3 4" : Self.dashes[place] }
}

/// An SVG element that is being written. All numbers are pixels, and all text is escaped.
package struct SVGDrawing {
    private let width: Double
    private let height: Double
    private var body = ""

    package init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    package enum Rule: String {
        case axis
        case grid
        case mark

        fileprivate var attributes: String {
            switch self {
            case .axis: #"stroke="currentColor" stroke-opacity="0.7""#
            case .grid: #"stroke="currentColor" stroke-opacity="0.16""#
            case .mark: #"stroke="currentColor" stroke-opacity="0.9" stroke-dasharray="3 3""#
            }
        }
    }

    package enum Anchor: String { case start, middle, end }

    // MARK: Parts

    package mutating func line(
        _ start: (x: Double, y: Double), _ end: (x: Double, y: Double), _ rule: Rule
    ) {
        body += """
            <path class="plot-\(rule.rawValue)" d="M\(pair(start))L\(pair(end))" \
            \(rule.attributes)/>

            """
    }

    /// Writes text whose baseline begins, ends or is centered at a point.
    package mutating func text(
        _ text: String, at point: (x: Double, y: Double), _ anchor: Anchor = .start,
        size: Int = 12, isBold: Bool = false, hasHalo: Bool = false
    ) {
        let anchored = anchor == .start ? "" : #" text-anchor="\#(anchor.rawValue)""#
        let sized = size == 12 ? "" : #" font-size="\#(size)""#
        let weight = isBold ? #" font-weight="600""# : ""
        let halo = hasHalo ? #" class="plot-halo""# : ""
        body += """
            <text x="\(point.x.fixed(1))" y="\(point.y.fixed(1))"\(anchored)\(sized)\(weight)\(halo)>\
            \(text.escapedForXML)</text>

            """
    }

    package mutating func path(_ points: [(x: Double, y: Double)], _ style: SVGStyle) {
        guard let first = points.first else { return }
        var path = "M" + pair(first)
        var last = first
        for point in points.dropFirst() {
            // Horizontal and vertical lines are shorter, and most lines of steps are.
            if point.y.fixed(1) == last.y.fixed(1) {
                path += "H" + point.x.fixed(1)
            } else if point.x.fixed(1) == last.x.fixed(1) {
                path += "V" + point.y.fixed(1)
            } else {
                path += "L" + pair(point)
            }
            last = point
        }
        let dash = style.dash.isEmpty ? "" : #" stroke-dasharray="\#(style.dash)""#
        body += """
            <path class="\(style.className)" d="\(path)" fill="none" stroke="\(style.color)" \
            stroke-width="\(style.isEarlier ? "1.2" : "1.8")" stroke-linejoin="round"\(dash)/>

            """
    }

    package mutating func bar(
        _ corner: (x: Double, y: Double), _ other: (x: Double, y: Double), _ style: SVGStyle
    ) {
        let size = (other.x - corner.x, other.y - corner.y)
        let fill =
            style.isEarlier ? #"fill="none" stroke-dasharray="3 2""# : #"fill="\#(style.color)""#
        body += """
            <rect class="\(style.className)" x="\(corner.x.fixed(1))" y="\(corner.y.fixed(1))" \
            width="\(size.0.fixed(1))" height="\(size.1.fixed(1))" \(fill) stroke="\(style.color)"/>

            """
    }

    /// Writes a circle, square, triangle or diamond, so that color is not the only difference.
    package mutating func marker(_ center: (x: Double, y: Double), _ style: SVGStyle) {
        let (x, y) = center
        let form =
            switch style.place % 4 {
            case 0:
                "M\((x - 4).fixed(1)) \(y.fixed(1))a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z"
            case 1: "M\(pair((x - 4, y - 4)))h8v8h-8z"
            case 2: "M\(pair((x, y - 5)))l5 9h-10z"
            default: "M\(pair((x, y - 5.5)))l5.5 5.5l-5.5 5.5l-5.5 -5.5z"
            }
        let fill = style.isEarlier ? "none" : style.color
        body += """
            <path class="\(style.className)" d="\(form)" fill="\(fill)" stroke="\(style.color)"/>

            """
    }

    // MARK: The element

    package func svg(title: String, description: String, _ place: SVGPlace) -> String {
        let (prefix, style) =
            switch place {
            case .file: ("plot", Self.style)
            case .page(let prefix): (prefix.escapedForXML, "")
            }
        let background =
            style.isEmpty ? "" : #"<rect class="plot-background" width="100%" height="100%"/>"#
        return """
            <svg xmlns="http://www.w3.org/2000/svg" class="plot" role="img" \
            aria-labelledby="\(prefix)-title \(prefix)-desc" \
            viewBox="0 0 \(width.fixed(1)) \(height.fixed(1))" width="\(width.fixed(1))" \
            height="\(height.fixed(1))" fill="currentColor" font-size="12" \
            font-family="system-ui, 'DejaVu Sans', sans-serif">
            <title id="\(prefix)-title">\(title.escapedForXML)</title>
            <desc id="\(prefix)-desc">\(description.escapedForXML)</desc>
            \(style)\(background)
            \(body)</svg>

            """
    }

    private static let style = """
        <style>
        .plot { color: #1c2024; --plot-background: #ffffff }
        @media (prefers-color-scheme: dark) {
          .plot { color: #e4e7eb; --plot-background: #16191d }
        }
        .plot-background { fill: var(--plot-background) }
        .plot-halo { paint-order: stroke; stroke: var(--plot-background); stroke-width: 3px }
        </style>
        """

    /// About the width of a text. Most system fonts are not wider.
    package static func width(of text: String, size: Double = 12) -> Double {
        Double(text.unicodeScalars.count) * 0.56 * size
    }

    private func pair(_ point: (x: Double, y: Double)) -> String {
        "\(point.x.fixed(1)) \(point.y.fixed(1))"
    }
}

extension String {
    /// The text as XML and HTML take it as text and as attributes.
    ///
    /// Characters that XML does not allow, and characters that change the direction of text, become
    /// U+FFFD.
    package var escapedForXML: String {
        var escaped = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\t", "\n", "\r": escaped += " "
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{FFFE}"..."\u{FFFF}",
                "\u{200E}"..."\u{200F}", "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}":
                escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
