#if ReplayTool
    import Foldback
    import FoldbackHistory
    import Foundation

    /// A test that a history folds to the same states as the log.
    struct TestCase {
        /// The generated file imports this module; this file does not.
        private static let framework = "Testing"

        let name: String
        /// The text of the history file.
        let history: String
        let view: any ReplayedView
        /// An expectation that some state does not meet.
        var expectation: StateExpectation?

        private var type: String { view.source.type }

        /// The other projections that share conflicts in this history.
        private var others: [SourceName] {
            let head = history.prefix { $0 != "\n" }
            let periods = (try? JSON(parsing: Array(head.utf8)))?["conflicts"]?.arrayValue ?? []
            let names = periods.flatMap { $0["projections"]?.arrayValue ?? [] }
                .compactMap { $0["name"]?.stringValue.map { ExactString($0) } }
            return view.others.filter { names.contains($0.name) }.map(\.source)
        }

        /// These projections as an argument.
        private var also: String {
            let types = others.map { "AdditionalProjection(\($0.type).self)" }
            return types.isEmpty ? "" : ", also: [\(types.joined(separator: ", "))]"
        }

        /// The imports of the modules with the projections.
        private var imports: String {
            let modules = Set(([view.source] + others).map(\.module)).subtracting(["Foldback"])
            return modules.sorted().map { "\n@testable import \($0)" }.joined()
                + (modules.isEmpty ? "" : "\n")
        }

        /// Writes a source file, the history, and the expected end state.
        ///
        /// - Parameter log: the command's log, which the files must not become a part of.
        func write(into directory: URL, sparing log: SparedLog) throws {
            try log.requireSpared(by: directory.relativePath)
            do {
                try FileManager.default.createDirectory(
                    at: directory, withIntermediateDirectories: true)
            } catch {
                throw StreamFailure(
                    "\(directory.path) cannot be created: \(error.localizedDescription)")
            }
            for (name, bytes) in try files() {
                let file = directory.appending(path: name).relativePath
                try Output.writing(to: file, sparing: log) { try $0(bytes) }
                try Output.line(file.visible)
            }
        }

        /// Returns the files with their names: the source, the history, the expected end state.
        func files() throws -> [(name: String, bytes: [UInt8])] {
            // The end state comes from the history as written, because redacted events give other
            // states.
            let end = try view.end(of: try RecordedHistory(ndjson: history))
            return [
                ("\(Self.identifier(name))LogTests.swift", Array(text.utf8)),
                ("\(name).ndjson", Array(history.utf8)),
                ("\(name).expected.json", end.json.printed),
            ]
        }

        /// Returns a name of ASCII letters and digits, which every compiler accepts.
        static func identifier(_ name: String) -> String {
            let words = name.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
            let joined = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
            return joined.first?.isLetter == true ? joined : "Recorded" + joined
        }

        /// Returns the text as a string literal in source code.
        private func literal(_ text: String) -> String { String(reflecting: text) }

        /// The text of the test.
        var text: String {
            """
            import Foldback
            import FoldbackHistory
            import Foundation
            import \(Self.framework)
            \(imports)
            /// The end state of a log, folded again from its entries.
            @Suite struct \(Self.identifier(name))LogTests {
                private static func file(_ name: String) throws -> String {
                    let folder = URL(filePath: #filePath).deletingLastPathComponent()
                    return try String(contentsOf: folder.appending(path: name), encoding: .utf8)
                }

                @Test func `the log folds to its recorded end state`() throws {
                    let history = try RecordedHistory(ndjson: Self.file(\(literal("\(name).ndjson"))))
                    let end = try history.read(by: \(type).codec).snapshot(of: \(type).self\(also))
                    let expected = try JSON(parsing: Self.file(\(literal("\(name).expected.json"))))
                    #expect(JSON(describing: end.view) == expected["view"])
                    #expect(JSON(describing: end.confirmed) == expected["confirmed"])
                    #expect(JSON(describing: end.pending) == expected["pending"])
                    #expect(JSON(describing: end.conflicted) == expected["conflicted"])
                }

            """ + (expectation.map(broken) ?? "") + "}\n"
        }

        /// Returns a test that fails while a state does not meet the expectation.
        private func broken(_ expectation: StateExpectation) -> String {
            """

                @Test func `every state meets the expectation`() throws {
                    let history = try RecordedHistory(ndjson: Self.file(\(literal("\(name).ndjson"))))
                        .read(by: \(type).codec)
                    let expectation = try StateExpectation(\(literal(expectation.description)))
                    let before = try history.snapshot(of: \(type).self\(also), at: 0)
                    #expect(expectation.holds(of: before.view), "before the first entry")
                    for snapshot in try history.snapshots(of: \(type).self\(also)) {
                        #expect(expectation.holds(of: snapshot.view), "after entry \\(snapshot.sequence)")
                    }
                }

            """
        }
    }
#endif
