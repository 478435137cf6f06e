import ArgumentParser
import BrowserDriver
import Foldback
import Foundation

/// Measures the report page and the inspector in Chromium, on long logs.
@main
struct ReportBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report-bench",
        abstract: "Measures the report page and the inspector in Chromium, on long logs.",
        discussion: """
            Prints a JSON object for each figure: the name, the value, the unit, and the promised \
            bound. The figures are valid only on an otherwise idle machine, and from a release \
            build: swift run -c release --package-path Tools report-bench
            """)

    @Argument(help: "The number of entries of the inspector's log.")
    var entries = 1_000_000

    private static let selections = 1_010

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "report-bench-\(ProcessInfo.processInfo.processIdentifier)",
            directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let browser = try await WebDriver.start()
        try await Self.measurePage(in: folder, browser)
        try await Self.measureInspector(entries, in: folder, browser)
    }

    private static func measurePage(in folder: URL, _ browser: WebDriver) async throws {
        let what = "page of 10,000 entries"
        let (file, page) = (
            folder.appending(path: "page.ndjson"), folder.appending(path: "page.html")
        )
        try LongHistory.write(entries: 10_000, to: file)
        let made = try time {
            try run("foldback", "export", file.path, "--as", "page", "-o", page.path)
        }
        print("\(what), made", made, "s", atMost: nil)
        let bytes = try FileManager.default.attributesOfItem(atPath: page.path)[.size] as? Int
        print("\(what), size", Double(bytes ?? 0) / 1e6, "MB", atMost: 10)
        let figures = try await LogPageFigures.measure(
            page.absoluteString, selections: selections, in: browser)
        report(figures, what, loadMax: 1_000, selectionMax: 50)
    }

    private static func measureInspector(
        _ entries: Int, in folder: URL, _ browser: WebDriver
    ) async throws {
        let what = "inspector of \(entries) entries"
        let (file, log) = (
            folder.appending(path: "long.ndjson"), folder.appending(path: "long.log")
        )
        try LongHistory.write(entries: entries, to: file)
        let made = try time { try run("foldback", "import", file.path, log.path) }
        print("\(what), import", made, "s", atMost: nil)
        let (process, address) = try await ChildProcess.start({ _ in
            [ChildProcess.executable("foldback"), "inspect", log.path]
        }) { line in line.hasPrefix("http://") ? String(line) : nil }
        defer { process.end() }
        let window = try await browser.newWindow()
        try await browser.show(window)
        let figures = try await LogPageFigures.measure(
            address, selections: selections, in: browser)
        report(figures, what, loadMax: nil, selectionMax: 300)
    }

    private static func report(
        _ figures: LogPageFigures, _ what: String, loadMax: Double?, selectionMax: Double
    ) {
        print("\(what), first paint", figures.firstPaintMilliseconds, "ms", atMost: nil)
        print("\(what), entries listed", figures.listMilliseconds, "ms", atMost: 1_000)
        print("\(what), first entry shown", figures.loadMilliseconds, "ms", atMost: loadMax)
        for percentile in [50.0, 95, 100] {
            print(
                "\(what), selection p\(Int(percentile))",
                figures.selectionMilliseconds(percentile: percentile), "ms",
                atMost: percentile == 95 ? selectionMax : nil)
        }
        print("\(what), heap after 10 selections", figures.heapBytes.early / 1e6, "MB", atMost: nil)
        print("\(what), heap growth after 1,000 more", figures.heapGrowth, "times", atMost: 1.5)
    }

    private static func print(
        _ name: String, _ value: Double, _ unit: String, atMost: Double?
    ) {
        var line: JSON.Object = [
            "name": .string(ExactString(name)), "value": .double((value * 100).rounded() / 100),
            "unit": .string(ExactString(unit)),
        ]
        if let atMost { line["atMost"] = .double(atMost) }
        // Figures come one by one, also if the output is a file.
        try? FileHandle.standardOutput.write(
            contentsOf: Data(JSON.object(line).encoded + [UInt8(ascii: "\n")]))
    }

    private static func time(_ body: () throws -> Void) rethrows -> Double {
        let start = ContinuousClock.now
        try body()
        return (ContinuousClock.now - start) / .seconds(1)
    }

    private static func run(_ tool: String, _ arguments: String...) throws {
        let process = try Process.run(
            URL(filePath: ChildProcess.executable(tool)), arguments: arguments)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw ToolFailure(description: "\(tool) ended with \(process.terminationStatus)")
        }
    }
}

/// A tool ended with an error, which it has printed.
struct ToolFailure: Error, CustomStringConvertible {
    let description: String
}
