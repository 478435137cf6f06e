import BenchmarkPages
import Foundation

/// Keeps a run, and draws its page and the charts of the article Benchmarks.
struct Pictures {
    private let options: Options
    private let runs: BenchmarkRuns

    init(_ options: Options) {
        self.options = options
        runs = BenchmarkRuns(in: URL(filePath: options.keep, directoryHint: .isDirectory))
    }

    /// Keeps the figures of a run.
    func keep(_ sections: [Section]) throws -> BenchmarkRuns.Run {
        let figures = sections.flatMap { section in
            section.measurements.map {
                BenchmarkFigure(
                    section: section.title, name: $0.name, value: $0.value, unit: $0.unit,
                    n: $0.n, note: $0.note)
            }
        }
        let name = try runs.keep(figures, at: Date())
        writeError("kept as \(options.keep)/\(name)")
        return BenchmarkRuns.Run(name: name, figures: figures)
    }

    /// Draws the run in a file.
    func draw(file path: String) throws {
        let file = URL(filePath: path)
        let figures = try BenchmarkRuns.figures(in: Data(contentsOf: file))
        try draw(BenchmarkRuns.Run(name: file.lastPathComponent, figures: figures))
    }

    /// Draws the run, beside the runs that were kept before it.
    func draw(_ run: BenchmarkRuns.Run) throws {
        let earlier = BenchmarkRuns.values(
            in: BenchmarkRuns.earlier(than: run.name, among: try runs.all()))
        if options.isPage {
            let page = BenchmarkPage(run.figures, earlier: earlier).html
            try write(page, to: options.keep, "benchmarks.html")
        }
        guard let folder = options.svg else { return }
        // The article is about one run. An earlier run would only distract.
        let charts = BenchmarkChart.charts(of: run.figures)
        for picture in ArticlePicture.all {
            guard let chart = picture.chart(among: charts) else {
                writeError("left out: \(picture.name). The run lacks its figures")
                continue
            }
            try write(chart.svg(.file), to: folder, "\(picture.name).svg")
        }
    }

    private func write(_ text: String, to folder: String, _ name: String) throws {
        let folder = URL(filePath: folder, directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: name)
        try Data(text.utf8).write(to: file, options: .atomic)
        writeError("wrote \(file.path), \(text.utf8.count.grouped) bytes")
    }
}
