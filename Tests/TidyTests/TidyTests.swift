import Foundation
import Testing

/// Checks rules that the compiler cannot check: which files may import a module, and which calls
/// are banned.
@Suite struct TidyTests {
    @Test func `Foldback imports FoldbackLMDB only in Storage and Store, never CLMDB`() throws {
        for source in try SourceTree.sources(under: "Sources/Foldback") {
            for (number, module) in source.imports {
                if module == "CLMDB" {
                    Issue.record("\(source.path):\(number): use FoldbackLMDB instead of CLMDB")
                }
                let mayKnow = ["Storage/", "Store/"]
                if module == "FoldbackLMDB",
                    !mayKnow.contains(where: { source.path.contains("Foldback/\($0)") })
                {
                    Issue.record("\(source.path):\(number): go through LogStorage instead")
                }
            }
        }
    }

    @Test(arguments: [
        "import CLMDB", "public import CLMDB", "@preconcurrency import CLMDB",
        "@_exported import CLMDB", "@_spi(Testing) @testable internal import CLMDB",
        "import struct CLMDB.MDB_val", "    import CLMDB",
    ])
    func `an import is found with any attribute, access and kind`(_ line: Substring) {
        #expect(SourceFile.imported(by: line) == "CLMDB")
        #expect(SourceFile.imported(by: "let important = CLMDB") == nil)
    }

    /// A library that imports a test framework cannot be used with another framework or in an
    /// executable.
    @Test func `sources do not import a test framework`() throws {
        for source in try SourceTree.sources(under: "Sources") {
            for (number, module) in source.imports where ["Testing", "XCTest"].contains(module) {
                Issue.record("\(source.path):\(number): return a report instead")
            }
        }
    }

    /// An app showed "The operation could not be completed. (Foldback.LogError error 7.)".
    @Test func `every public error has words for people`() throws {
        let sources = try SourceTree.sources(under: "Sources")
        let conformances = Set(
            sources.flatMap(\.code).compactMap { line in
                line.text.holds("LocalizedError")
                    ? line.text.firstMatch(of: /(?:extension|struct|enum) (\w+):/)?.1 : nil
            })
        #expect(conformances.count > 10)
        for source in sources {
            for (number, code) in source.code {
                guard code.holds("public ") else { continue }
                let type = code.firstMatch(of: /public (?:struct|enum) (\w+):[^{]*\bError\b/)?.1
                guard let type, !conformances.contains(type) else { continue }
                Issue.record("\(source.path):\(number): make \(type) a LocalizedError")
            }
        }
    }

    @Test func `FoldbackSync depends only on Foldback, and starts no tasks of its own`() throws {
        let imports = [
            "Foldback", "FoldbackCollections", "Foundation", "FoundationEssentials",
            "Synchronization",
        ]
        let banned = [" Task {", " Task(", "Task.detached", "Thread", "Dispatch"]
        for source in try SourceTree.sources(under: "Sources/FoldbackSync") {
            for (number, module) in source.imports where !imports.contains(module) {
                Issue.record("\(source.path):\(number): go through Foldback instead")
            }
            for (number, code) in source.code {
                for call in banned where Self.calls(code, call) {
                    Issue.record("\(source.path):\(number): no\(call) here; use a task group")
                }
            }
        }
    }

    /// Views of every platform use it, and nobody should wait for a network to show a screen (U2).
    @Test func `FoldbackUI imports Foldback and the toolchain's own modules only`() throws {
        let imports = ["Foldback", "Observation", "Synchronization"]
        for source in try SourceTree.sources(under: "Sources/FoldbackUI") {
            let allowed = Self.isForSwiftUI(source) ? imports + ["SwiftUI"] : imports
            for (number, module) in source.imports where !allowed.contains(module) {
                Issue.record("\(source.path):\(number): FoldbackUI must not import \(module)")
            }
        }
    }

    /// A file for one platform is not compiled on the others, so nothing else may depend on it.
    @Test func `a file for SwiftUI is one condition, keeps no state and starts no task`() throws {
        let banned = [
            "@State", "@Observable", "@FocusState", "@AccessibilityFocusState", "@GestureState",
            "@AppStorage", "@SceneStorage", "Task {", "Task(", "#else",
        ]
        var count = 0
        for source in try SourceTree.sources(under: "Sources/FoldbackUI")
        where Self.isForSwiftUI(source) {
            count += 1
            let lines = source.lines.filter { !$0.isEmpty }
            let marks = lines.filter { $0.hasPrefix("#") }
            if lines.first != "#if canImport(SwiftUI)" || lines.last != "#endif" || marks.count != 2
            {
                Issue.record("\(source.path): put all of it inside #if canImport(SwiftUI)")
            }
            for (number, code) in source.code {
                for word in banned where code.holds(word) {
                    Issue.record("\(source.path):\(number): no \(word) here; use a model")
                }
            }
        }
        #expect(count > 0)
    }

    private static func isForSwiftUI(_ source: SourceFile) -> Bool {
        source.path.hasPrefix("Sources/FoldbackUI/SwiftUI/")
    }

    @Test func `U1: sources take time, names and random numbers as arguments`() throws {
        let banned = [
            ("Date()", "take a Timestamp from LogSources"),
            ("UUID()", "take a name from LogSources"),
            ("Task.sleep", "await the event itself"), ("try!", "throw a typed error"),
            ("fatalError(", "use precondition, with the values in the message"),
            (" print(", "return it"), (".random(", "take it as an argument"),
            ("ContinuousClock", "take the time as an argument"),
            ("SuspendingClock", "take the time as an argument"),
            ("DispatchTime", "take the time as an argument"),
        ]
        let allowed = [
            "Sources/Foldback/Model/LogSources.swift", "Sources/FoldbackSync/System.swift",
            "Sources/FoldbackTesting/System/System.swift", "Sources/FoldbackUI/System.swift",
            "Sources/FoldbackHTTP/Outcome.swift",
            "Sources/FoldbackPostgres/PostgresConnection.swift",
        ]
        // A command-line tool may use the system's clock and print.
        let sources = try SourceTree.sources(under: "Sources").filter {
            !allowed.contains($0.path) && !$0.path.hasPrefix("Sources/FoldbackReplay/")
        }
        for source in sources {
            for (number, code) in source.code {
                for (call, instead) in banned where Self.calls(code, call) {
                    Issue.record("\(source.path):\(number): no \(call) here; \(instead)")
                }
            }
        }
    }

    /// A test that sleeps is slow on a fast machine and fails on a slow one.
    @Test(arguments: [
        "Tests/FoldbackUITests", "Tools/Tests/BrowserTests", "Tools/Tests/FeedWebTests",
        "Tools/Support/BrowserDriver",
    ])
    func `tests of views wait for events, and never sleep`(_ folder: String) throws {
        let sources = try SourceTree.sources(under: folder)
        #expect(!sources.isEmpty)
        for source in sources {
            for (number, code) in source.code
            where code.holds("sleep(")
                && (code.holds("Task.sleep") || code.holds("Thread.sleep")
                    || code.contains(/(?:^|[^.\w])(?:sleep|usleep|nanosleep)\(/))
            {
                Issue.record("\(source.path):\(number): no sleep here; await the event itself")
            }
        }
    }

    @Test func `transitions switch without default`() throws {
        let transitions =
            try SourceTree.sources(under: "Sources/Foldback/Model")
            + SourceTree.sources(under: "Sources/FoldbackSync").filter { $0.path.contains("State") }
        for source in transitions {
            for (number, code) in source.code {
                if code.hasPrefix("default:") {
                    Issue.record("\(source.path):\(number): name the cases instead of default")
                }
            }
        }
    }

    @Test func `a source file has at most 500 lines, and a test file 800`() throws {
        for folder in ["Sources", "Tests", "Tools"] {
            for source in try SourceTree.sources(under: folder) {
                let isTest = source.path.contains(/^(Tools\/)?Tests\//)
                let most = isTest ? 800 : 500
                if source.lines.count > most {
                    Issue.record("\(source.path): \(source.lines.count) lines; split it by facet")
                }
            }
        }
    }

    @Test func `each unchecked Sendable has a proof above its declaration`() throws {
        for source in try SourceTree.sources(under: "Sources") {
            let promises = source.lines.indices.filter {
                source.lines[$0].holds("@unchecked Sendable {")
            }
            for line in promises {
                let proof = source.lines[max(0, line - 12)..<line].joined(separator: "\n")
                if !proof.contains("`@unchecked Sendable`:") {
                    Issue.record("\(source.path):\(line + 1): say why, above the declaration")
                }
            }
        }
    }

    /// Whether a line has a call. A call that begins with a space may be the first word of the line.
    private static func calls(_ code: Substring, _ call: String) -> Bool {
        code.holds(call) || call.hasPrefix(" ") && code.hasPrefix(call.dropFirst())
    }
}
