import Foldback
import Foundation
import Processes
import Testing

/// Question: what does the command `plot` write, and where?
@Suite(.serialized) struct ReplayToolPlotTests {
    private let foldback = executable("foldback")
    private let directory = DiskDirectory()

    init() throws { try ReplayStory.makeLog(directory.log) }

    private func path(_ name: String) -> String { directory.url.appending(path: name).path }

    @Test(arguments: ["pending", "settling", "bytes"])
    func `plot writes the same SVG to a file as to standard output`(subject: String) throws {
        let command = [foldback, "plot", directory.log.path, "--of", subject]
        let shown = try run(command)
        #expect(shown.status == 0 && shown.output.hasPrefix("<svg xmlns="), "\(shown)")
        #expect(shown.output.hasSuffix("</svg>\n") && shown.output.utf8.count < 20_000)
        #expect(!shown.output.contains("hello, world"), "a plot has nothing of the events")
        let file = path("\(subject).svg")
        let written = try run(command + ["-o", file])
        #expect(written.status == 0 && written.output.isEmpty, "\(written)")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == shown.output)
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `plot --json prints the points, of a log and of its export`() throws {
        let file = path("log.ndjson")
        #expect(try run([foldback, "export", directory.log.path, "-o", file]).status == 0)
        for log in [directory.log.path, file] {
            let seen = try run([foldback, "plot", log, "--of", "pending", "--json"])
            let json = try JSON(parsing: seen.output)
            let points = json["series"]?.arrayValue?.first?["points"]?.arrayValue
            let counts = points?.compactMap { $0.arrayValue?.last?.integerValue }
            #expect(counts == [1, 0, 1, 2, 1, 2], "\(seen)")
        }
    }

    @Test func `plot refuses a file in the log, and an unknown subject`() throws {
        let log = directory.log.path
        for (command, words) in [
            (["--of", "pending", "-o", log + "/plot.svg"], "path outside"),
            (["--of", "events"], "events"), ([], "--of"),
        ] {
            let seen = try run([foldback, "plot", log] + command)
            #expect(seen.status == 2 && seen.errors.contains(words), "\(command): \(seen)")
            #expect(seen.errors.split(separator: "\n").count == 1 && seen.output.isEmpty)
        }
    }
}
