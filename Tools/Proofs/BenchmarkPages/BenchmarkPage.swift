import FoldbackHistory
import Foundation

/// The page of `Tools/bench --page`: one HTML file with every chart of a run, and a table of
/// figures under each.
///
/// It has no script and fetches nothing. It follows the system's light or dark mode.
package struct BenchmarkPage {
    private let figures: [BenchmarkFigure]
    private let charts: [BenchmarkChart]

    /// - Parameter earlier: the values of earlier runs by name.
    package init(_ figures: [BenchmarkFigure], earlier: [String: Double]) {
        self.figures = figures
        charts = BenchmarkChart.charts(of: figures, earlier: earlier)
    }

    package var html: String {
        var sections: [(title: String, charts: [BenchmarkChart])] = []
        for chart in charts {
            if sections.last?.title == chart.section {
                sections[sections.count - 1].charts.append(chart)
            } else {
                sections.append((chart.section, [chart]))
            }
        }
        let links = sections.enumerated().map { number, section in
            "<li><a href=\"#section-\(number)\">\(Self.heading(section.title))</a></li>"
        }
        let body = sections.enumerated().map { number, section in
            """
            <section aria-labelledby="section-\(number)">
            <h2 id="section-\(number)">\(Self.heading(section.title))</h2>
            \(section.charts.enumerated().map { Self.figure($1, id: "c\(number)-\($0)") }.joined())</section>

            """
        }
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta http-equiv="Content-Security-Policy" \
            content="default-src 'none'; style-src 'unsafe-inline'">
            <title>Benchmarks of Foldback</title>
            <style>
            \(Self.style)
            </style>
            </head>
            <body>
            <header>
            <h1>Benchmarks of Foldback</h1>
            \(facts)<p>Filled markers are this run. Hollow markers with thin dashes are the latest \
            earlier run that has the figure.</p>
            </header>
            <nav aria-label="Sections"><ul>
            \(links.joined(separator: "\n"))
            </ul></nav>
            <main>
            \(body.joined())</main>
            </body>
            </html>

            """
    }

    private var facts: String {
        figures.filter(\.isAboutRun).map { figure in
            let note = figure.note.isEmpty ? "" : ": \(figure.note)"
            let text = "\(figure.name), \(figure.value.short) \(figure.unit)\(note)"
            return "<p>\(text.escapedForXML)</p>\n"
        }.joined()
    }

    private static func heading(_ title: String) -> String {
        title.isEmpty ? "Figures" : title.escapedForXML
    }

    private static func figure(_ chart: BenchmarkChart, id: String) -> String {
        let rows = chart.rows.map { row in
            let change = row.earlier.map { earlier in
                earlier == 0 ? "" : "\(((row.figure.value / earlier - 1) * 100).rounded().short) %"
            }
            let cells = [
                row.figure.value.short, row.earlier?.short ?? "", change ?? "",
                row.figure.n.grouped,
            ]
            return """
                <tr><th scope="row">\(row.figure.name.escapedForXML)</th>\
                \(cells.map { "<td class=\"number\">\($0)</td>" }.joined())\
                <td>\(row.figure.note.escapedForXML)</td></tr>

                """
        }
        let unit = chart.unit.isEmpty ? "value" : chart.unit.escapedForXML
        return """
            <figure>
            \(chart.svg(.page(prefix: id)))<div class="table" tabindex="0" role="region" \
            aria-label="Figures: \(chart.heading.escapedForXML)"><table>
            <thead><tr><th scope="col">figure</th><th scope="col">\(unit)</th>\
            <th scope="col">earlier</th><th scope="col">change</th><th scope="col">samples</th>\
            <th scope="col">note</th></tr></thead>
            <tbody>
            \(rows.joined())</tbody></table></div>
            </figure>

            """
    }

    private static let style = """
        :root { --text: #1c2024; --page: #ffffff; --line: #d5d9de; --link: #0b5cad }
        @media (prefers-color-scheme: dark) {
          :root { --text: #e4e7eb; --page: #16191d; --line: #3a4048; --link: #7ab8ff }
        }
        body { margin: 0 auto; max-width: 75rem; padding: 1rem; color: var(--text);
          background: var(--page); font: 16px/1.5 system-ui, sans-serif }
        h2 { border-top: 1px solid var(--line); padding-top: 1rem }
        a { color: var(--link) }
        nav ul { columns: 3 14rem; padding-left: 1.2rem }
        figure { margin: 0 0 2.5rem }
        svg.plot { max-width: 100%; height: auto; display: block }
        .plot-halo { paint-order: stroke; stroke: var(--page); stroke-width: 3px }
        .table { overflow-x: auto }
        table { border-collapse: collapse; font-size: 0.85rem }
        th, td { padding: 0.15rem 0.6rem; text-align: left; vertical-align: top;
          border-bottom: 1px solid var(--line); font-weight: normal }
        thead th { font-weight: 600 }
        tbody th { min-width: 12rem }
        .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
        """
}
