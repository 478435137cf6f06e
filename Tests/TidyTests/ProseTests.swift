import Foundation
import Testing

/// Tests from a review that counted sentences with the structure of another language. The
/// expression finds only the worst ones. The others need a reader.
@Suite struct ProseTests {
    /// The permitted number of findings. A commit may lower it, and must not raise it.
    private static let countMax = 1

    private static let avoided =
        #"\b(behind (it|them|the|a|an|which|each|every|what|that)|anew|but for|be it|dear"#
        + #"|otherwise than|is no (?!longer)\w+|whoever|of whom)\b"#

    /// Returns the files with comments, articles, help texts and test names. The test searches
    /// whole files, because code does not contain the avoided words.
    private static func prose() throws -> [(path: String, text: String)] {
        let folders = try ["Sources", "Tests", "Tools"].flatMap { folder in
            try SourceTree.files(under: folder) { path in
                let name = URL(filePath: path).lastPathComponent
                return path.hasSuffix(".swift") || path.hasSuffix(".md") || path.hasSuffix(".sh")
                    || path.contains("/Tools/") && !name.contains(".") && Self.isFile(path)
            }
        }
        let readme = try String(
            contentsOf: SourceTree.root.appending(path: "README.md"), encoding: .utf8)
        return folders.filter { !$0.path.hasSuffix("ProseTests.swift") } + [("README.md", readme)]
    }

    private static func isFile(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
            && !isDirectory.boolValue
    }

    @Test func `prose avoids the listed expressions`() throws {
        let avoided = try NSRegularExpression(pattern: Self.avoided, options: .caseInsensitive)
        var count = 0
        var findings: [String] = []
        for (path, text) in try Self.prose() {
            for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
                .enumerated()
            {
                let line = String(line)
                let range = NSRange(line.startIndex..., in: line)
                for match in avoided.matches(in: line, range: range) {
                    count += 1
                    let words = Range(match.range, in: line).map { line[$0] } ?? ""
                    findings.append("\(path):\(index + 1): rewrite \"\(words)\"")
                }
            }
        }
        if count > Self.countMax {
            Issue.record(
                "\(count), at most \(Self.countMax)\n\(findings.joined(separator: "\n"))")
        }
    }

    @Test func `the README has at most 8,000 characters`() throws {
        let readme = try String(
            contentsOf: SourceTree.root.appending(path: "README.md"), encoding: .utf8)
        #expect(readme.count <= 8_000)
    }

    /// Readers of the repository do not have the project's design documents.
    @Test func `comments cite rules and articles instead of sections of other documents`() throws {
        for source in try ["Sources", "Tests", "Tools"].flatMap(SourceTree.sources) {
            for (index, line) in source.lines.enumerated()
            where line.contains("//")
                && (line.contains("of the design") || line.contains(/\bsections? \d/))
            {
                Issue.record(
                    "\(source.path):\(index + 1): name a rule of Invariants, or an article")
            }
        }
    }
}
