import Foundation
import Testing

/// Tests from a list of 82 requirements whose tests nobody could name: the table of requirements
/// names them, and each name must belong to a test.
@Suite struct RequirementTests {
    private static let path = "Sources/FoldbackUI/FoldbackUI.docc/Requirements.md"

    /// The tests that the table names and that are still to be written. Remove a name as soon as
    /// its test exists.
    private static let planned: Set<String> = [
        "B1: a like is in the page with the first message after the click",
        "B2: an accepted like loses its mark, and nothing else changes",
        "B3: a rejected comment stays as a ghost with its reason",
        "B4: a rejected comment takes nothing else with it",
        "B5: the first load shows placeholders, and then posts",
        "B5: an empty feed says that it is empty",
        "B6: a post whose id is known keeps its node",
        "B6: rows above leave the scroll position and the focus alone",
        "B7: a wait shows and says more with time",
        "B7: an unhurried wait shows no motion in the first second",
        "B8: an indicator does not flicker, and content is never late",
        "B9: with reduced motion, text that changes takes the place of motion",
        "B9: placeholders shimmer only without reduced motion",
        "B10: an obstructive wait takes the focus and gives it back",
        "B10: a parallel wait never moves the focus",
        "B10: signing in covers the page until it ends",
        "B11: a bar never falls",
        "B11: a stalled wait can be restarted",
        "B12: work without a network waits, and survives a kill",
        "B12: no answered action is lost by twenty kills",
        "B13: two people see each other's posts and likes",
        "B14: a window over 10,000 rows moves both ways",
        "B14: the page equals the server's state at each revision",
    ]

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

    /// The names of all tests. Only tests have a sentence as their name.
    private static func tests() throws -> Set<String> {
        let sources = try ["Tests", "Tools/Tests"].flatMap(SourceTree.sources)
        return Set(
            sources.flatMap(\.lines).compactMap { line in
                line.firstMatch(of: /\bfunc `([^`]+ [^`]+)`/).map { String($0.1) }
            })
    }

    @Test func `each of the 82 requirements and 14 browser tests is in the table once`() throws {
        #expect(try Self.rows("").map(\.number) == (1...82).map { "\($0)" })
        #expect(try Self.rows("B").map(\.number) == (1...14).map { "B\($0)" })
    }

    @Test func `each requirement names a test, and each named test exists`() throws {
        let tests = try Self.tests()
        let browserTests = try Self.rows("B")
        for row in try Self.rows("") + browserTests {
            if row.names.isEmpty, row.browserTests.isEmpty {
                Issue.record("\(Self.path): \(row.number) names no test")
            }
            for name in row.names where !tests.contains(name) && !Self.planned.contains(name) {
                Issue.record("\(Self.path): \(row.number) names \(name), which is not a test")
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

    @Test func `no planned test exists, and each is named by a requirement`() throws {
        let tests = try Self.tests()
        let named = Set(try (Self.rows("") + Self.rows("B")).flatMap(\.names))
        for name in Self.planned.sorted() {
            if tests.contains(name) { Issue.record("\(name) exists; it is not planned any more") }
            if !named.contains(name) { Issue.record("\(name) is planned for no requirement") }
        }
    }
}
