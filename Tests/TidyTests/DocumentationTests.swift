import Foundation
import Testing

/// Tests from a review that found only 34 of 107 public types under a topic.
@Suite struct DocumentationTests {
    private static let modules = [
        "Foldback", "FoldbackHistory", "FoldbackSync", "FoldbackTesting", "FoldbackReplay",
        "FoldbackUI", "FoldbackServer", "FoldbackHTTP",
    ]

    private static func articles(of module: String) throws -> [(path: String, text: String)] {
        try SourceTree.files(under: "Sources/\(module)") { $0.hasSuffix(".md") }
    }

    @Test(arguments: modules)
    func `every public type is listed under a topic`(_ module: String) throws {
        let topics = try Self.articles(of: module).map(\.text).joined(separator: "\n")
        for source in try SourceTree.sources(under: "Sources/\(module)") {
            for line in source.lines where line.contains("public ") {
                // FoldbackReplay's sources are indented, because they are inside `#if ReplayTool`.
                let match = line.firstMatch(
                    of:
                        /^(?:    )?public (?:final |indirect )?(?:struct|class|enum|protocol|actor) (\w+)/
                )
                guard let match, line.first != " " || module == "FoldbackReplay" else { continue }
                // DocC hides these names. They are public for inlinable code alone.
                guard !match.1.hasPrefix("_") else { continue }
                if !topics.contains("- ``\(match.1)``") {
                    Issue.record("\(source.path): list \(match.1) under a topic of \(module).docc")
                }
            }
        }
    }

    /// A link breaks if its file is moved.
    @Test func `links to files of the repository point to existing files`() throws {
        var pages = try Self.modules.flatMap(Self.articles)
        let readme = SourceTree.root.appending(path: "README.md")
        pages.append(("README.md", try String(contentsOf: readme, encoding: .utf8)))
        for (path, text) in pages {
            for match in text.matches(of: /\]\((Sources\/[^)#]+)/) {
                let file = SourceTree.root.appending(path: String(match.1))
                if !FileManager.default.fileExists(atPath: file.path) {
                    Issue.record("\(path): \(match.1) is not a file")
                }
            }
        }
    }

    /// An example passed `conflicts:` last, and did not compile.
    @Test func `examples pass the arguments of Store.open in its order`() throws {
        let opening = try String(
            contentsOf: SourceTree.root.appending(
                path: "Sources/Foldback/Store/Store+Opening.swift"), encoding: .utf8)
        let link = try #require(opening.firstMatch(of: /``open\(at:_:([\w:]+)\)``/)?.1)
        let labels: [Substring] = ["at"] + link.split(separator: ":")
        let files = try SourceTree.files(under: "Sources") {
            $0.hasSuffix(".swift") || $0.hasSuffix(".md")
        }
        var found = 0
        for (path, text) in files {
            let examples = path.hasSuffix(".md") ? text : Self.comments(of: text)
            for call in examples.matches(
                of: /Store(?:<\w+>)?\.open\(\s*(at: (?:[^()]|\([^()]*\))*)\)/)
            {
                found += 1
                var rest = labels[...]
                for argument in call.1.matches(of: /(?:^|,)\s*(\w+):/) {
                    guard let place = rest.firstIndex(of: argument.1) else {
                        Issue.record("\(path): no \(argument.1): at this place: \(call.0)")
                        break
                    }
                    rest = rest[(place + 1)...]
                }
            }
        }
        #expect(found >= 8)
    }

    /// The text of the doc comments.
    private static func comments(of source: String) -> String {
        source.split(separator: "\n").compactMap {
            $0.firstMatch(of: /^\s*\/\/\/(.*)$/).map { String($0.1) }
        }.joined(separator: "\n")
    }
}
