#if ReplayTool
    import Foldback
    import Foundation

    /// A test that a history gives what the log gave.
    struct TestCase {
        /// Imported by what is written, not by this.
        private static let framework = "Testing"

        let name: String
        /// As a file has it.
        let history: String
        let view: any ReplayedView
        /// What should have held of every state, and does not.
        var expectation: Expectation?

        private var type: String { view.typeName }
        private var module: String { view.moduleName }

        /// A source file, the history, and what it gives.
        func write(into directory: URL) throws {
            do {
                try FileManager.default.createDirectory(
                    at: directory, withIntermediateDirectories: true)
            } catch {
                throw StreamFailure(
                    "\(directory.path) cannot be made: \(error.localizedDescription)")
            }
            // Of what is written: redacted events give other states.
            let end = try view.end(of: try RecordedHistory(ndjson: history))
            let files: [(String, [UInt8])] = [
                ("\(Self.identifier(name))LogTests.swift", Array(text.utf8)),
                ("\(name).ndjson", Array(history.utf8)),
                ("\(name).expected.json", end.json.encoded),
            ]
            for (name, bytes) in files {
                let file = directory.appending(path: name)
                try Output.writing(to: file) { try $0(bytes) }
                try Output.line(file.relativePath)
            }
        }

        static func identifier(_ name: String) -> String {
            let words = name.split { !$0.isLetter && !$0.isNumber }
            let joined = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
            return joined.first?.isLetter == true ? joined : "Recorded" + joined
        }

        private var text: String {
            """
            import Foldback
            import Foundation
            import \(Self.framework)
            \(module == "Foldback" ? "" : "\n@testable import \(module)\n")
            /// What a log showed in the end, folded again from its entries.
            @Suite struct \(Self.identifier(name))LogTests {
                private static func file(_ name: String) throws -> String {
                    let folder = URL(filePath: #filePath).deletingLastPathComponent()
                    return try String(contentsOf: folder.appending(path: name), encoding: .utf8)
                }

                @Test func `the log gives what it gave`() throws {
                    let history = try RecordedHistory(ndjson: Self.file("\(name).ndjson"))
                    let end = history.read(by: \(type).codec).snapshot(of: \(type).self)
                    let expected = try JSON(parsing: Self.file("\(name).expected.json"))
                    #expect(JSON(describing: end.view) == expected["view"])
                    #expect(JSON(describing: end.confirmed) == expected["confirmed"])
                    #expect(JSON(describing: end.pending) == expected["pending"])
                    #expect(JSON(describing: end.conflicted) == expected["conflicted"])
                }

            """ + (expectation.map(broken) ?? "") + "}\n"
        }

        /// A test that fails for as long as a state is not as expected.
        private func broken(_ expectation: Expectation) -> String {
            let (name, literal) = (expectation.comparison.rawValue, "\(expectation.literal)")
            func quoted(_ text: String) -> String { "#\"\(text)\"#" }
            let holds =
                switch expectation.comparison {
                case .equal, .unequal:
                    "try (found ?? .null) \(name) JSON(parsing: \(quoted(literal)))"
                case .less, .more, .atMost, .atLeast:
                    "found.flatMap { Double(\"\\($0)\") }.map { $0 \(name) \(literal) } ?? true"
                }
            return """

                    @Test func `\(expectation.description.replacing("`", with: "'"))`() throws {
                        let history = try RecordedHistory(ndjson: Self.file("\(self.name).ndjson"))
                        for snapshot in history.read(by: \(type).codec).snapshots(of: \(type).self) {
                            let place = try #require(JSONPointer(\(quoted("\(expectation.place)"))))
                            let found = JSON(describing: snapshot.view)[at: place]
                            #expect(\(holds), "behind entry \\(snapshot.sequence)")
                        }
                    }

                """
        }
    }
#endif
