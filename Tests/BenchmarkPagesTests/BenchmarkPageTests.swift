import BenchmarkPages
import Foundation
import Testing

/// Question: which figures of a run belong in one chart, and which earlier value is beside each?
@Suite struct BenchmarkPageTests {
    private static func figure(
        _ section: String, _ name: String, _ unit: String, _ value: Double = 1
    ) -> BenchmarkFigure {
        BenchmarkFigure(section: section, name: name, value: value, unit: unit, n: 7)
    }

    /// Each chart as its title and the labels and sizes of its rows.
    private static func summary(_ figures: [BenchmarkFigure]) -> [String] {
        BenchmarkChart.charts(of: figures).map { chart in
            let rows = chart.rows.map { row in
                row.label + (row.size.map { " \(Int($0))" } ?? "")
            }
            return "\(chart.form) \(chart.title) [\(chart.unit)]: \(rows.joined(separator: "; "))"
        }
    }

    @Test func `figures at several sizes are curves, and curves with the same words share a chart`()
    {
        let figures = ["raw", "JSON"].flatMap { kind in
            [1, 256, 16].flatMap { count in
                [
                    Self.figure("R", "record, \(kind), \(count) in flight", "intents/s"),
                    Self.figure("R", "record, \(kind), \(count) in flight, p50 of a call", "us"),
                ]
            }
        }
        #expect(
            Self.summary(figures) == [
                "curves n in flight [intents/s]: record, raw 1; record, raw 16; record, raw 256; record, JSON 1; record, JSON 16; record, JSON 256",
                "curves n in flight, p50 of a call [us]: record, raw 1; record, raw 16; record, raw 256; record, JSON 1; record, JSON 16; record, JSON 256",
            ])
    }

    @Test func `a figure with two sizes is on the longest, then the widest curve`() {
        let shapes = [
            "10,000 settled entries over 1,000 keys", "1,000,000 settled entries over 1,000 keys",
        ]
        let figures = ["0", "2,000"].flatMap { tail in
            shapes.map { Self.figure("O", "open with \(tail) after the checkpoint, \($0)", "ms") }
        }
        #expect(
            Self.summary(figures) == [
                "curves n settled entries over 1,000 keys [ms]: open with 0 after the checkpoint 10000; open with 0 after the checkpoint 1000000; open with 2,000 after the checkpoint 10000; open with 2,000 after the checkpoint 1000000"
            ])
    }

    @Test func `figures of one size are dots, by unit`() {
        let figures = [
            Self.figure("C", "decode, own codec", "ns"), Self.figure("C", "encode, JSON", "ns"),
            Self.figure("C", "decode, JSON : own", ""), Self.figure("C", "encode, JSON : own", ""),
            Self.figure("D", "list, building", "ms"), Self.figure("D", "list, comparing", "ms"),
        ]
        #expect(
            Self.summary(figures) == [
                "dots  [ns]: decode, own codec; encode, JSON",
                "dots  []: decode, JSON : own; encode, JSON : own",
                "dots list [ms]: building; comparing",
            ])
    }

    @Test func `many dots of one unit are divided by the start of their names`() {
        let figures = (0..<14).map { number in
            Self.figure("C", number == 3 ? "alone" : "k\(number % 2), x\(number)", "ns")
        }
        let charts = BenchmarkChart.charts(of: figures)
        #expect(charts.map(\.title) == ["k0", "k1", ""])
        #expect(charts.map(\.rows.count) == [7, 6, 1])
    }

    @Test func `the article's pictures of allocations and draining find their charts`() throws {
        let recorded = ["raw bytes", "JSON documents"].flatMap { kind in
            ["1", "1,024"].flatMap { count in
                let name = "durable record, \(kind), \(count) in flight"
                return [
                    Self.figure("Recording, durable", name, "intents/s"),
                    Self.figure(
                        "Recording, durable", "\(name), allocations", "allocations/intent"),
                ]
            }
        }
        let drained = ["durable raw LMDB, answers, 64 a request", "durable Outbox"].map {
            Self.figure("Draining", $0, "answers/s")
        }
        let charts = BenchmarkChart.charts(of: recorded + drained)
        func labels(_ picture: String) -> [String]? {
            ArticlePicture.all.first { $0.name == "benchmark-\(picture)" }?
                .chart(among: charts)?.rows.map(\.label)
        }
        let kinds = ["durable record, raw bytes", "durable record, JSON documents"]
        #expect(labels("recording") == kinds.flatMap { [$0, $0] })
        #expect(labels("recording-allocations") == kinds.flatMap { [$0, $0] })
        #expect(labels("draining") == drained.map(\.name))
    }

    @Test func `words with letters, points or wrong commas are not sizes`() {
        for name in ["p50 of x", "1.5 times", "1,00 of x", "x1 of y", "0 of x", ",1 of x", "é"] {
            #expect(SizedName.divisions(of: name).isEmpty, "\(name)")
        }
        #expect(SizedName.divisions(of: "a, 1,000 of 20, b").map(\.size) == [1_000, 20])
    }

    @Test func `more than five curves are divided among charts`() {
        let figures = (0..<7).flatMap { kind in
            [10, 20].map { Self.figure("A", "kind\(kind), \($0) pending", "us") }
        }
        #expect(BenchmarkChart.charts(of: figures).map(\.rows.count) == [10, 4])
    }

    @Test func `every figure is in one chart, except those about the run`() {
        let figures =
            [Self.figure("Machine", "machine", "cores")]
            + (0..<40).map {
                Self.figure("S\($0 % 3)", "a\($0 % 4), \($0) b, c\($0 % 2)", "u\($0 % 2)")
            }
        let shown = BenchmarkChart.charts(of: figures).flatMap(\.rows).map(\.figure.name)
        #expect(shown.sorted() == figures.dropFirst().map(\.name).sorted())
    }

    // MARK: Earlier runs

    private static let runs = [
        BenchmarkRuns.Run(name: "run-3.json", figures: [figure("A", "a", "s", 3)]),
        BenchmarkRuns.Run(
            name: "run-1.json", figures: [figure("A", "a", "s", 1), figure("B", "b", "s", 10)]),
        BenchmarkRuns.Run(name: "run-2.json", figures: [figure("B", "c", "s", 20)]),
    ]

    @Test func `beside each figure is the latest earlier run that has it`() {
        #expect(BenchmarkRuns.values(in: Self.runs) == ["a": 3, "b": 10, "c": 20])
        let before = BenchmarkRuns.earlier(than: "run-3.json", among: Self.runs)
        #expect(BenchmarkRuns.values(in: before) == ["a": 1, "b": 10, "c": 20])
        #expect(BenchmarkRuns.earlier(than: "run-1.json", among: Self.runs).isEmpty)
        #expect(BenchmarkRuns.earlier(than: "other.json", among: Self.runs).count == 3)
    }

    @Test func `kept runs are read again, the oldest first, and broken files are left out`() throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "foldback-runs-\(ProcessInfo.processInfo.processIdentifier)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let runs = BenchmarkRuns(in: folder)
        #expect(try runs.all().isEmpty)
        for hour in 0..<BenchmarkRuns.countMax + 2 {
            let date = Date(timeIntervalSince1970: Double(hour) * 3_600)
            _ = try runs.keep([Self.figure("A", "a", "s", Double(hour))], at: date)
        }
        try Data("{".utf8).write(to: folder.appending(path: "run-0.json"))
        let kept = try runs.all()
        #expect(kept.count == BenchmarkRuns.countMax)
        #expect(kept.first?.name == "run-19700101T020000Z.json")
        #expect(
            kept.last?.figures == [Self.figure("A", "a", "s", Double(BenchmarkRuns.countMax + 1))])
    }

    @Test func `the array that --json prints is read as well`() throws {
        let text = #"[{"name":"a","value":1.5,"unit":"s","n":2,"note":""}]"#
        let figures = try BenchmarkRuns.figures(in: Data(text.utf8))
        #expect(
            figures == [
                BenchmarkFigure(section: nil, name: "a", value: 1.5, unit: "s", n: 2)
            ])
    }

    // MARK: The page

    @Test func `the page has every figure, no script, and hostile words as text`() {
        let hostile = "</title><script>alert(1)</script>\"'&"
        let figures = [
            Self.figure(hostile, "\(hostile), 10 x", hostile), Self.figure("A", hostile, "s"),
            Self.figure(hostile, "\(hostile), 20 x", hostile), Self.figure("A", "zero", "s", 0),
        ]
        let html = BenchmarkPage(figures, earlier: ["zero": 0, hostile: 2]).html
        #expect(!html.contains("<script") && html.contains("default-src 'none'"))
        #expect(html.components(separatedBy: "<tr><th scope=\"row\">").count == 5)
        #expect(html.components(separatedBy: "role=\"img\"").count == 3)
    }
}
