import Foundation
import Testing

/// Tests from a list of 82 requirements whose tests nobody could name: the table of requirements
/// names them, and each name must belong to a test.
@Suite struct RequirementTests {
    private static let path = "Sources/FoldbackUI/FoldbackUI.docc/Requirements.md"

    /// A line of a table of the article.
    private struct Row {
        let number: Substring
        let tests: Substring

        /// The names of tests in code spans.
        var names: [String] { tests.matches(of: /`([^`]+)`/).map { String($0.1) } }
        /// The numbers of browser tests, such as B3.
        var browserTests: [String] {
            tests.replacing(/`[^`]+`/, with: "").matches(of: /\bB\d+\b/).map { String($0.0) }
        }
    }

    /// Returns the lines whose first cell is a number after a prefix, with the last cell.
    private static func rows(_ prefix: String) throws -> [Row] {
        let text = try String(contentsOf: SourceTree.root.appending(path: path), encoding: .utf8)
        return text.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: " | ")
            guard let first = cells.first, first.hasPrefix("| \(prefix)"),
                Int(first.dropFirst(2 + prefix.count)) != nil, let last = cells.last
            else { return nil }
            return Row(number: first.dropFirst(2), tests: last)
        }
    }

    /// The titles of the sections of `Tools/bench`.
    private static func benchmarks() throws -> Set<String> {
        let sources = try SourceTree.sources(under: "Tools/Proofs/foldback-bench")
        return Set(
            sources.flatMap(\.lines).filter { $0.holds("Benchmark(") }.compactMap { line in
                line.firstMatch(of: /\bBenchmark\(title: "([^"]+)"/).map { String($0.1) }
            })
    }

    @Test func `each of the 82 requirements and 14 browser tests is in the table once`() throws {
        #expect(try Self.rows("").map(\.number) == (1...82).map { "\($0)" })
        #expect(try Self.rows("B").map(\.number) == (1...14).map { "B\($0)" })
    }

    @Test func `each requirement names a test, and each named test exists`() throws {
        let tests = try SourceTree.testNames()
        let benchmarks = try Self.benchmarks()
        let browserTests = try Self.rows("B")
        for row in try Self.rows("") + browserTests {
            if row.names.isEmpty, row.browserTests.isEmpty {
                Issue.record("\(Self.path): \(row.number) names no test")
            }
            for name in row.names where !tests.contains(name) && !benchmarks.contains(name) {
                Issue.record(
                    "\(Self.path): \(row.number) names \(name), which is not a test or a benchmark")
            }
            for number in row.browserTests
            where !browserTests.contains(where: { $0.number == number }) {
                Issue.record("\(Self.path): \(row.number) names \(number), which is not listed")
            }
        }
        for row in browserTests where !row.names.allSatisfy({ $0.hasPrefix("\(row.number): ") }) {
            Issue.record("\(Self.path): the name of \(row.number) must begin with its number")
        }
    }
}
