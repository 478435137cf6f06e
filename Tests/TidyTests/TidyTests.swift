import Foundation
import Testing

/// Holds what a compiler cannot: who may know whom, and what nobody may call.
@Suite struct TidyTests {
    struct Source {
        let path: String
        let lines: [Substring]
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static func sources(under folder: String) throws -> [Source] {
        let base = root.appending(path: folder)
        let files = FileManager.default.enumerator(at: base, includingPropertiesForKeys: nil)
        return try (files?.allObjects as? [URL] ?? [])
            .filter { $0.pathExtension == "swift" && !$0.path.contains("/.build") }
            .map { url in
                let text = try String(contentsOf: url, encoding: .utf8)
                let path = url.path.replacingOccurrences(of: root.path + "/", with: "")
                return Source(
                    path: path, lines: text.split(separator: "\n", omittingEmptySubsequences: false)
                )
            }
            .sorted { $0.path < $1.path }
    }

    /// Each line of code, without what is a comment.
    private static func forEachLine(
        of sources: [Source], _ body: (_ source: Source, _ number: Int, _ code: Substring) -> Void
    ) {
        for source in sources {
            for (index, line) in source.lines.enumerated() {
                let code = line.drop { $0 == " " }
                guard !code.hasPrefix("//") else { continue }
                body(source, index + 1, code)
            }
        }
    }

    @Test func `only FoldbackLMDB imports CLMDB, only the writer's layers import FoldbackLMDB`()
        throws
    {
        Self.forEachLine(of: try Self.sources(under: "Sources/Foldback")) { source, number, code in
            if code == "import CLMDB" {
                Issue.record("\(source.path):\(number): use FoldbackLMDB instead of CLMDB")
            }
            let mayKnow = ["Log/", "Writer/", "Foldback.swift", "Foldback+Simulation.swift"]
            if code == "import FoldbackLMDB",
                !mayKnow.contains(where: { source.path.contains("Foldback/\($0)") })
            {
                Issue.record("\(source.path):\(number): go through LogStorage instead")
            }
        }
    }

    /// A library that imports one cannot be used from the other, nor from an executable.
    @Test func `sources import no test framework`() throws {
        Self.forEachLine(of: try Self.sources(under: "Sources")) { source, number, code in
            if code.hasSuffix("import Testing") || code.hasSuffix("import XCTest") {
                Issue.record("\(source.path):\(number): return a report instead")
            }
        }
    }

    @Test func `FoldbackSync stands on Foldback alone, and starts no task of its own`() throws {
        let imports = ["Foldback", "Foundation", "FoundationEssentials", "Synchronization"]
        let banned = [" Task {", " Task(", "Task.detached", "Thread", "Dispatch"]
        Self.forEachLine(of: try Self.sources(under: "Sources/FoldbackSync")) {
            source, number, code in
            if code.hasPrefix("import "), !imports.contains(String(code.dropFirst(7))) {
                Issue.record("\(source.path):\(number): go through Foldback instead")
            }
            for call in banned where " \(code)".contains(call) {
                Issue.record("\(source.path):\(number): no\(call) here; use a task group")
            }
        }
    }

    /// Types declared in a folder are used in that folder and those behind it.
    @Test func `folders of Foldback know only those before them`() throws {
        let order = ["Model", "Format", "Log", "Projection", "Rows", "Replay", "Writer"]
        var declared: [(name: String, folder: Int)] = []
        var sources: [(Source, Int)] = []
        for (place, folder) in order.enumerated() {
            for source in try Self.sources(under: "Sources/Foldback/\(folder)") {
                sources.append((source, place))
                Self.forEachLine(of: [source]) { _, _, code in
                    let words = code.split { !$0.isLetter && !$0.isNumber }
                    guard
                        let keyword = words.firstIndex(where: {
                            ["struct", "class", "enum", "protocol"].contains($0)
                        }),
                        words[..<keyword].contains(where: { ["package", "public"].contains($0) }),
                        !words[..<keyword].contains("func"), keyword + 1 < words.count
                    else { return }
                    declared.append((String(words[keyword + 1]), place))
                }
            }
        }
        for (source, place) in sources {
            let behind = Set(declared.filter { $0.folder > place }.map(\.name))
                .subtracting(declared.filter { $0.folder <= place }.map(\.name))
            Self.forEachLine(of: [source]) { source, number, code in
                for word in code.split(whereSeparator: { !$0.isLetter && !$0.isNumber })
                where behind.contains(String(word)) {
                    Issue.record(
                        "\(source.path):\(number): \(word) lies behind \(order[place]); move one of them"
                    )
                }
            }
        }
    }

    @Test func `nobody asks the system for time, names or luck outside one place`() throws {
        let banned = [
            ("Date()", "take a Timestamp from LogSources"),
            ("UUID()", "take a name from LogSources"),
            ("Task.sleep", "wait for what you wait for"), ("try!", "throw a typed error"),
            ("fatalError(", "precondition, with the values in the message"),
            ("print(", "return it"), (".random(", "take it as an argument"),
            ("ContinuousClock", "take the time as an argument"),
        ]
        let allowed = ["", "Sync", "Testing"].map { "Sources/Foldback\($0)/System.swift" }
        // A command line is where the system is asked and things are printed.
        let sources = try Self.sources(under: "Sources").filter {
            !allowed.contains($0.path) && !$0.path.hasPrefix("Sources/FoldbackReplay/")
        }
        Self.forEachLine(of: sources) { source, number, code in
            for (call, instead) in banned where code.contains(call) {
                Issue.record("\(source.path):\(number): no \(call) here; \(instead)")
            }
        }
    }

    @Test func `transitions name every case`() throws {
        let transitions =
            try Self.sources(under: "Sources/Foldback/Model")
            + Self.sources(under: "Sources/FoldbackSync").filter { $0.path.contains("State") }
        Self.forEachLine(of: transitions) { source, number, code in
            if code.hasPrefix("default:") {
                Issue.record("\(source.path):\(number): name the cases instead of default")
            }
        }
    }

    @Test func `files are short enough to be read`() throws {
        let folders = [
            "Sources", "Tests", "Tools/Sources", "Tools/Tests", "Tools/Benchmarks",
            "Tools/Comparison/Sources",
        ]
        for folder in folders {
            for source in try Self.sources(under: folder) {
                let most = folder.hasSuffix("Tests") ? 800 : 500
                if source.lines.count > most {
                    Issue.record("\(source.path): \(source.lines.count) lines; split it by facet")
                }
            }
        }
    }

    @Test func `unchecked promises to the compiler carry their proof`() throws {
        for source in try Self.sources(under: "Sources") {
            let promises = source.lines.indices.filter {
                source.lines[$0].contains("@unchecked Sendable {")
            }
            for line in promises {
                let proof = source.lines[max(0, line - 12)..<line].joined(separator: "\n")
                if !proof.contains("`@unchecked Sendable`:") {
                    Issue.record("\(source.path):\(line + 1): say why, above the declaration")
                }
            }
        }
    }
}
