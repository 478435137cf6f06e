import Foundation
import Testing

/// Tests from mutants whose places were quoted code: renames broke them, and only Tools/mutants
/// noticed. Now each place is a line that ends in a marker, such as `// mutant: batch-order`.
@Suite struct MarkerTests {
    @Test func `each marker in the sources belongs to one mutant`() throws {
        let used = try Self.mutants().compactMap(\.marker)
        for (marker, places) in try Self.markers() {
            let place = places.joined(separator: ", ")
            if places.count > 1 { Issue.record("\(marker) is at \(place); keep one of them") }
            let count = used.filter { $0 == marker }.count
            if count != 1 {
                Issue.record("\(place): \(count) mutants use the marker \(marker); one must")
            }
        }
    }

    @Test func `each mutant's marker is in the sources`() throws {
        let markers = try Self.markers()
        for mutant in try Self.mutants() {
            guard let marker = mutant.marker, markers[marker] == nil else { continue }
            Issue.record(
                "no line in Sources ends in // mutant: \(marker), which a mutant names; mark the code"
            )
        }
    }

    @Test func `rules F2 to F10, rules F13 to F15, F19 and each law have a mutant`() throws {
        let mutants = try Self.mutants()
        #expect(mutants.count >= 72)
        for number in [2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15, 19]
        where !mutants.contains(where: { $0.rule == "F\(number)" }) {
            Issue.record("no mutant breaks F\(number); add one to Tools/Proofs/foldback-mutants")
        }
        let laws = try SourceTree.sources(under: "Sources/FoldbackTesting/Laws")
            .filter { $0.path.hasSuffix("/Law.swift") }
            .flatMap { $0.code.compactMap { $0.text.prefixMatch(of: /case (\w+) = "/)?.1 } }
        #expect(!laws.isEmpty)
        for law in laws where !mutants.contains(where: { $0.law == law }) {
            Issue.record("no mutant breaks \(law); add one to Tools/Proofs/foldback-mutants")
        }
    }

    @Test func `each rule of views that can be broken in one line has a mutant`() throws {
        let mutants = try Self.mutants()
        for number in [5, 8, 10, 12, 15, 16, 19, 20, 21, 22, 24, 25, 26, 27, 29]
        where !mutants.contains(where: { $0.rule == "U\(number)" }) {
            Issue.record("no mutant breaks U\(number); add one to Mutants+Views.swift")
        }
    }

    @Test func `each test that judges a mutant exists`() throws {
        let tests = try SourceTree.testNames()
        let judges = try Self.mutants().compactMap(\.test)
        #expect(judges.count >= 35)
        for test in judges where !tests.contains(test) {
            Issue.record("a mutant names \(test), which is not a test")
        }
    }

    // MARK: Reading the sources

    /// Returns the places of each marker.
    private static func markers() throws -> [String: [String]] {
        var places: [String: [String]] = [:]
        for source in try SourceTree.sources(under: "Sources") {
            for (index, line) in source.lines.enumerated() where line.holds("// mutant:") {
                let marker = line.firstMatch(of: #/ {2}\/\/ mutant: ([a-z-]+)$/#)?.1
                places[marker.map(String.init) ?? "malformed", default: []]
                    .append("\(source.path):\(index + 1)")
            }
        }
        return places
    }

    private struct MutantText {
        let rule: String
        let law: String
        /// Nil if a law or a probe is the judge.
        let test: String?
        /// Nil for a projection.
        let marker: String?

        /// - Parameter source: The arguments of `Mutant(…)`.
        init(_ source: Substring) {
            rule = source.firstMatch(of: /rule: "([^"]+)"/).map { String($0.1) } ?? ""
            law = source.firstMatch(of: /law: \.(\w+)/).map { String($0.1) } ?? ""
            test = source.firstMatch(of: /\btest: "([^"]+)"/).map { String($0.1) }
            marker = source.firstMatch(of: /\bat: "([^"]+)"/).map { String($0.1) }
        }
    }

    private static func mutants() throws -> [MutantText] {
        try SourceTree.sources(under: "Tools/Proofs/foldback-mutants")
            .filter { $0.path.contains("/Mutants+") }
            .flatMap { source in
                // The first part precedes the first mutant.
                source.lines.joined(separator: "\n").split(separator: " Mutant(").dropFirst()
                    .map(MutantText.init)
            }
    }
}
