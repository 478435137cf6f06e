#if ReplayTool
    import Foldback
    import FoldbackHistory
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
        var expectation: StateExpectation?

        private var type: String { view.source.type }
        private var module: String { view.source.module }

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
                let file = directory.appending(path: name).relativePath
                try Output.writing(to: file) { try $0(bytes) }
                try Output.line(file.visible)
            }
        }

        /// Only of what every compiler takes in a name.
        static func identifier(_ name: String) -> String {
            let words = name.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
            let joined = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
            return joined.first?.isLetter == true ? joined : "Recorded" + joined
        }

        /// The text as source code has it, whatever is in it.
        private func literal(_ text: String) -> String { String(reflecting: text) }

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
                    let history = try RecordedHistory(ndjson: Self.file(\(literal("\(name).ndjson"))))
                    let end = history.read(by: \(type).codec).snapshot(of: \(type).self)
                    let expected = try JSON(parsing: Self.file(\(literal("\(name).expected.json"))))
                    #expect(JSON(describing: end.view) == expected["view"])
                    #expect(JSON(describing: end.confirmed) == expected["confirmed"])
                    #expect(JSON(describing: end.pending) == expected["pending"])
                    #expect(JSON(describing: end.conflicted) == expected["conflicted"])
                }

            """ + (expectation.map(broken) ?? "") + "}\n"
        }

        /// A test that fails for as long as a state is not as expected.
        private func broken(_ expectation: StateExpectation) -> String {
            """

                @Test func `every state is as expected`() throws {
                    let history = try RecordedHistory(ndjson: Self.file(\(literal("\(name).ndjson"))))
                        .read(by: \(type).codec)
                    let expectation = try StateExpectation(\(literal(expectation.description)))
                    let before = try history.snapshot(of: \(type).self, at: 0)
                    #expect(expectation.holds(of: before.view), "before the first entry")
                    for snapshot in history.snapshots(of: \(type).self) {
                        #expect(expectation.holds(of: snapshot.view), "behind entry \\(snapshot.sequence)")
                    }
                }

            """
        }
    }
#endif
