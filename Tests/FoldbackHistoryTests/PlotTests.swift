import FoldbackHistory
import Foundation
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// Question: is a plot's SVG well-formed, harmless and small, whatever its texts and numbers are?
@Suite struct PlotTests {
    private static let hostile =
        "</title><script>alert(1)</script> & \"'\u{0}\u{1B}]0;x\u{7}\u{202E}]]>\u{FFFF}"

    private static func plot(
        _ words: String, _ points: [Plot.Point], _ x: Plot.Axis.Scale = .linear,
        _ y: Plot.Axis.Scale = .linear, _ numbers: Plot.Axis.Numbers = .plain
    ) -> Plot {
        var earlier = Plot.Series(words, .line, points, style: 0)
        earlier.isEarlier = true
        return Plot(
            title: words, x: Plot.Axis(words, x, numbers), y: Plot.Axis(words, y, numbers),
            series: [
                Plot.Series(words, .line, points), Plot.Series(words, .steps, points),
                Plot.Series(words, .bars, points), earlier,
            ], marks: points.prefix(3).map { Plot.Mark($0.x, words) }, facts: [words])
    }

    /// The elements and attributes of a well-formed document.
    private final class Reader: NSObject, XMLParserDelegate {
        var elements: [(name: String, attributes: [String: String])] = []
        var text = ""

        static func read(_ svg: String) throws -> Reader {
            let reader = Reader()
            let parser = XMLParser(data: Data(svg.utf8))
            parser.delegate = reader
            try #require(parser.parse(), "\(String(describing: parser.parserError)): \(svg)")
            return reader
        }

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
            qualifiedName: String?, attributes: [String: String] = [:]
        ) {
            elements.append((name, attributes))
        }

        func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
    }

    private static let places: [SVGPlace] = [.file, .page(prefix: "a\"><script>")]

    @Test func `an SVG is well-formed and has only drawing elements, whatever the words are`()
        throws
    {
        let points = (1...9).map { Plot.Point(Double($0), Double($0 * $0)) }
        for place in Self.places {
            let svg = Self.plot(Self.hostile, points).svg(place)
            let reader = try Reader.read(svg)
            let names = Set(reader.elements.map(\.name))
            #expect(names.isSubset(of: ["svg", "title", "desc", "style", "rect", "path", "text"]))
            #expect(
                !svg.contains("<script") && !svg.contains("\u{202E}") && !svg.contains("\u{1B}"))
            #expect(reader.text.contains("<script>alert(1)</script> & \"'"))
        }
    }

    @Test func `an SVG has a role, a title and a description`() throws {
        for place in Self.places {
            let svg = Self.plot("Pending & more", [.init(1, 2)]).svg(place)
            let reader = try Reader.read(svg)
            let root = try #require(reader.elements.first)
            #expect(root.attributes["role"] == "img")
            let ids = reader.elements.filter { ["title", "desc"].contains($0.name) }
                .compactMap { $0.attributes["id"] }
            #expect(root.attributes["aria-labelledby"] == ids.joined(separator: " "))
            #expect(ids.count == 2)
        }
    }

    @Test func `an SVG for a page has no inline styles, and a file adapts to dark`() throws {
        let plot = Self.plot("words", [.init(1, 2), .init(2, 3)])
        let page = plot.svg(.page(prefix: "p"))
        #expect(!page.contains("<style") && !page.contains("style="))
        #expect(page.contains(#"class="plot-1""#) && page.contains("currentColor"))
        let file = plot.svg(.file)
        #expect(file.contains("prefers-color-scheme: dark") && !file.contains(" style="))
    }

    @Test func `extreme numbers give finite coordinates`() throws {
        let values: [Double] = [
            0, -0.0, 1, -1, 1e-300, 1e300, -1e300, .greatestFiniteMagnitude,
            .leastNonzeroMagnitude, .infinity, -.infinity, .nan, 1_795_209_600_000, 9e15, -9e18,
        ]
        let numbers: [Plot.Axis.Numbers] = [.plain, .bytes, .milliseconds, .moments]
        for (x, y) in [(Plot.Axis.Scale.linear, Plot.Axis.Scale.linear), (.log, .log)] {
            for kind in numbers {
                for first in values {
                    for second in values {
                        let points = [Plot.Point(first, second), Plot.Point(second, first)]
                        let svg = Self.plot("words", points, x, y, kind).svg(.file)
                        #expect(!svg.contains("nan") && !svg.contains("inf"), "\(first) \(second)")
                        #expect(svg.utf8.count < 50_000, "\(first) \(second) \(kind)")
                    }
                }
            }
        }
    }

    @Test func `a plot of many points stays small and keeps the least and the greatest`() throws {
        var sampler = PointSampler()
        for place in 0..<300_000 {
            let value = place == 123_457 ? 99_999 : place == 200_003 ? -5 : place % 1_000
            sampler.add(Plot.Point(Double(place) * 3, Double(value)))
        }
        let points = sampler.points
        #expect(points.count <= Plot.pointCountMax && points.count > Plot.pointCountMax / 4)
        #expect(points.map(\.x) == points.map(\.x).sorted())
        #expect(points.first == Plot.Point(0, 0) && points.last == Plot.Point(899_997, 999))
        #expect(points.contains(Plot.Point(370_371, 99_999)))
        #expect(points.contains(Plot.Point(600_009, -5)))
        #expect(sampler.fact?.contains("of 300,000 points") == true)
        var plot = Self.plot("words", points)
        plot.series.removeLast(2)
        #expect(plot.svg(.file).utf8.count < 50_000)
    }

    @Test func `up to a thousand points are all kept`() {
        var sampler = PointSampler()
        for place in 0..<Plot.pointCountMax { sampler.add(Plot.Point(1e12, Double(place))) }
        #expect(sampler.points.count == Plot.pointCountMax && sampler.fact == nil)
        sampler.add(Plot.Point(1e12, 0))
        #expect(sampler.points.count <= 4 && sampler.count == Plot.pointCountMax + 1)
    }

    @Test(arguments: [
        (Plot.Axis.Numbers.plain, 0, "0"), (.plain, 0.25, "0.25"), (.plain, 9_999, "9,999"),
        (.plain, 20_000, "20k"), (.plain, 1_500_000, "1.5M"), (.plain, 0.004_2, "0.0042"),
        (.bytes, 12, "12 B"), (.bytes, 1_500, "1.5 kB"), (.bytes, 2_000_000, "2 MB"),
        (.milliseconds, 0.5, "0.5 ms"), (.milliseconds, 1_500, "1.5 s"),
        (.milliseconds, 120_000, "2 min"), (.milliseconds, 86_400_000 * 3, "3 d"),
        (.moments, 1_795_209_600_000, "11-20 21:20:00"), (.moments, -1, "12-31 23:59:59"),
        (.moments, 951_782_400_000, "02-29 00:00:00"),
    ])
    func `numbers have short texts`(numbers: Plot.Axis.Numbers, value: Double, text: String) {
        #expect(numbers.text(value) == text)
    }
}
