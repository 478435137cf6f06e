import Foundation
import Testing

/// Tests from an article that named a function which was gone, and a comment that cited a rule
/// which never was. A reader searches for such a name, and finds nothing.
@Suite struct NameTests {
    private static let repository = Result { try Repository() }

    @Test func `each rule that prose cites is defined`() throws {
        let repository = try Self.repository.get()
        let citations = repository.prose.matches(of: Self.rule)
        #expect(citations.count > 500)
        for (place, groups) in citations {
            guard let rule = groups[0], !repository.rules.contains(rule) else { continue }
            Issue.record(
                "\(place): \(rule) is not defined; cite a rule of Invariants or Rules, or a law")
        }
    }

    @Test func `each name that prose cites exists`() throws {
        let repository = try Self.repository.get()
        let citations =
            repository.prose.matches(of: Self.link) + repository.prose.matches(of: Self.name)
        #expect(citations.count > 2_000)
        for (place, groups) in citations {
            guard let name = groups[0], !Self.isForeign(name, at: place),
                let fault = repository.fault(in: name, labels: groups[1] ?? "")
            else { continue }
            Issue.record("\(place): \(name): \(fault); name what exists, or drop the backticks")
        }
    }

    @Test func `each file and folder that prose cites exists`() throws {
        let repository = try Self.repository.get()
        for (place, groups) in repository.prose.matches(of: Self.path) {
            guard let path = groups[0], !Self.isForeign(path, at: place) else { continue }
            let file = SourceTree.root.appending(path: path)
            if !FileManager.default.fileExists(atPath: file.path) {
                Issue.record("\(place): \(path) does not exist; give its present path")
            }
        }
        for (place, groups) in repository.prose.matches(of: Self.file) {
            guard let name = groups[0], !Self.isForeign(name, at: place),
                !repository.hasFile(name)
            else { continue }
            Issue.record("\(place): no file is called \(name); give its present name")
        }
    }

    @Test(arguments: [
        ("`Log.write(_:at:)`", nil), ("``Log/write(_:at:)``", nil), ("`Kind.small`", nil),
        ("`Log.rewrite`", "Log has no rewrite"), ("`Log.Kind`", nil), ("`Kind`", nil),
        ("`Logs`", "the code has no Logs"), ("`write(_:to:)`", "the code has no to"),
        ("`Log.id`", nil), ("`a few words`", nil), ("`--flag`", nil),
    ])
    func `a name exists if the code has it`(prose: String, fault: String?) {
        let code = """
            struct Log: Named {
                func write(_ text: String, at place: Int) {}
                enum Kind { case small, large }
            }
            protocol Named {
                var id: String { get }
            }
            let others = [rewrite]
            // \(prose)
            """
        let repository = Repository([("Log.swift", code)])
        let citations =
            repository.prose.matches(of: Self.link) + repository.prose.matches(of: Self.name)
        let faults = citations.compactMap { citation in
            citation.groups[0].flatMap {
                repository.fault(in: $0, labels: citation.groups[1] ?? "")
            }
        }
        #expect(faults == [fault].compactMap { $0 })
        #expect(citations.allSatisfy { $0.place == "Log.swift:9" })
    }

    /// A rule's number. Code points and sizes of pages look similar.
    private static let rule = #"(?<![\w\\/#."+-])([A-Z]{1,2}\d{1,2})(?![\w-])"#

    /// A link to a symbol: its path without the module, and its labels.
    private static let link = #"``(?:/\w+/)?([\w/.]+)(?:\(([\w:]*)\))?(?:-\w+)?``"#

    /// A name of Swift in backticks: `Store`, `Store.open`, `commitBytesMax`, `.durable`,
    /// `flush()`, `record(_:once:)`.
    private static let name =
        #"(?<!`)`(?!\S*\.swift`)"#
        + #"([A-Z]+[a-z]\w*(?:\.\w+)*|[a-z]+[A-Z]\w*|\.[a-z]\w*|[a-z]\w*(?=\((?:\w+:)*\)))"#
        + #"(?:\(([\w:]*)\))?`(?!`)"#

    private static let path = #"`((?:Sources|Tests|Tools)/[\w./+-]+)`"#

    private static let file = #"`([\w/]*(?:[A-Z]\w*\+\w+(?:\.swift)?|[A-Z]\w*\.swift))`"#

    private static func isForeign(_ name: String, at place: String) -> Bool {
        foreign.contains(name) || foreignArticles.contains { place.contains("/\($0).md:") }
    }

    /// Names of systems and of other libraries, and folders without source files.
    private static let foreign: Set = [
        "CPowerTrace", "CodingKeyRepresentable", "Configuration.prepareDatabase", "Cookie",
        "Fixtures", "FocusState", "FoldbackFailures", "Task.sleep", "Thread.isMainThread",
        "URLRequest.timeoutInterval", "URLSession", "URLSession.data", "afterSeconds",
        // The command that Contributing adds as an example.
        "Tools/Commands/foldback/Count.swift",
    ]

    /// Articles about the names of other libraries, and about names that are gone.
    private static let foreignArticles = ["FromElm", "FromTanStackQuery", "Changelog"]
}
