import Foundation

/// The kept runs of `Tools/bench`: a file for each, with a JSON line for each figure.
///
/// Also runs of single sections are kept. What is earlier is therefore decided for each figure.
package struct BenchmarkRuns: Sendable {
    package struct Run: Equatable, Sendable {
        /// The file's name. It has the time, so that names are in order of time.
        package let name: String
        package let figures: [BenchmarkFigure]

        package init(name: String, figures: [BenchmarkFigure]) {
            self.name = name
            self.figures = figures
        }
    }

    private let folder: URL

    package init(in folder: URL) { self.folder = folder }

    /// The most runs that are kept. A whole run has about 60 kB.
    package static let countMax = 50

    /// Returns the value of each figure in the latest run that has it.
    ///
    /// - Parameter runs: the earlier runs in any order.
    package static func values(in runs: [Run]) -> [String: Double] {
        var values: [String: Double] = [:]
        for run in runs.sorted(by: { $0.name < $1.name }) {
            for figure in run.figures { values[figure.name] = figure.value }
        }
        return values
    }

    /// Returns the runs before the one with a name. A name that no kept run has is after all of
    /// them.
    package static func earlier(than name: String, among runs: [Run]) -> [Run] {
        runs.contains { $0.name == name } ? runs.filter { $0.name < name } : runs
    }

    // MARK: Texts

    /// Reads JSON lines, or the array that `--json` prints.
    ///
    /// - Throws: `DecodingError` if a line is not a figure.
    package static func figures(in text: Data) throws -> [BenchmarkFigure] {
        let decoder = JSONDecoder()
        if text.first(where: { !" \n\t".utf8.contains($0) }) == UInt8(ascii: "[") {
            return try decoder.decode([BenchmarkFigure].self, from: text)
        }
        return try text.split(separator: UInt8(ascii: "\n")).map { line in
            try decoder.decode(BenchmarkFigure.self, from: line)
        }
    }

    package static func lines(of figures: [BenchmarkFigure]) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try figures.reduce(into: Data()) { lines, figure in
            lines += try encoder.encode(figure) + [UInt8(ascii: "\n")]
        }
    }

    // MARK: Files

    /// Keeps a run, and removes the oldest if there are too many.
    ///
    /// - Parameter date: when the run ended.
    /// - Returns: the file's name.
    package func keep(_ figures: [BenchmarkFigure], at date: Date) throws -> String {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let time = date.formatted(.iso8601).filter { $0.isNumber || $0.isLetter }
        let name = "run-\(time).json"
        try Self.lines(of: figures).write(to: folder.appending(path: name), options: .atomic)
        for old in try names().dropLast(Self.countMax) {
            try FileManager.default.removeItem(at: folder.appending(path: old))
        }
        return name
    }

    /// Reads all kept runs, the oldest first. A file that cannot be read is left out.
    package func all() throws -> [Run] {
        try names().compactMap { name in
            guard let text = try? Data(contentsOf: folder.appending(path: name)),
                let figures = try? Self.figures(in: text)
            else { return nil }
            return Run(name: name, figures: figures)
        }
    }

    private func names() throws -> [String] {
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasPrefix("run-") && $0.hasSuffix(".json") }.sorted()
    }
}
