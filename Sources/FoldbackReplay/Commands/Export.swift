#if ReplayTool
    import ArgumentParser
    import Foldback
    import Foundation

    enum ExportForm: String, ExpressibleByArgument, CaseIterable {
        case ndjson
        case test
        case bundle
    }

    struct Export<Tool: ReplayTool>: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "export",
                abstract:
                    "Writes a log as a file: to look at, to test with, to send; changes nothing.",
                discussion: """
                    ndjson: a line for each entry, to standard output. test: a Swift Testing case and its \
                    fixture, into the directory -o. bundle: one file for a bug report, which `import` takes as \
                    well.

                    Example: \(Tool.name) export feed.log --as test -o Tests/FeedTests
                    """)
        }

        @OptionGroup var log: LogArgument

        @Option(name: .customLong("as"), help: "ndjson, test or bundle.")
        var form = ExportForm.ndjson

        @Option(name: .shortAndLong, help: "Where it goes: a file, for a test a directory.")
        var output: String?

        @OptionGroup var redactor: Redactor
        @OptionGroup var projection: ProjectionOption

        @Flag(help: "The same: an export is JSON lines.")
        var json = false

        func validate() throws {
            guard form == .ndjson || output != nil else {
                throw ValidationError("--as \(form.rawValue) needs -o")
            }
        }

        func run() throws {
            let reader = try log.reader()
            switch form {
            case .ndjson, .bundle:
                let head = form == .bundle ? try bundleHead(reader) : [:]
                guard let output else {
                    return try lines(of: reader, head) { try Output.write($0) }
                }
                try Self.writing(to: URL(filePath: output)) { write in
                    try lines(of: reader, head, write)
                }
            case .test: try writeTest(reader, into: URL(filePath: output ?? "."))
            }
        }

        /// In bounded memory.
        private func lines(
            of reader: LogReader, _ more: JSON.Object, _ write: ([UInt8]) throws -> Void
        ) throws {
            let format = try reader.firstFormat()
            guard case .object(var head) = reader.fileHead(format) else { return }
            for (name, value) in more.members { head[name] = value }
            try write(JSON.object(head).encoded + [UInt8(ascii: "\n")])
            var start: LogSequence = 1
            while true {
                let entries = try reader.entries(from: start, countMax: 512)
                guard let last = entries.last else { return }
                var piece: [UInt8] = []
                for entry in entries {
                    piece += try redactor.redacted(entry.fileJSON(format)).encoded
                    piece.append(UInt8(ascii: "\n"))
                }
                try write(piece)
                start = LogSequence(last.sequence.value + 1)
            }
        }

        /// What who gets a bundle asks first.
        private func bundleHead(_ reader: LogReader) throws -> JSON.Object {
            let view = try Tool.projection(named: projection.name).view
            let state = try view.state(reader, at: try reader.lastSequence())
            let now = ISO8601DateFormatter().string(from: Date())
            var bundle: JSON.Object = [
                "at": .string(now), "tool": .string(Tool.name),
                "system": .string(ProcessInfo.processInfo.operatingSystemVersionString),
                "projection": .string(projection.name ?? Tool.projections.first?.name ?? ""),
                "status": .object(try reader.status().json),
                "conflicted": .array(
                    state.conflicted.map {
                        ["intent": .of($0.number), "reason": .string($0.reason)]
                    }),
                "faults": .array(
                    state.faults.map {
                        ["entry": .of($0.sequence), "reason": .string($0.reason)]
                    }),
            ]
            if redactor.isNeeded {
                bundle["conflicted"] = nil
                bundle["faults"] = nil
            }
            return ["bundle": .object(bundle)]
        }

        private func writeTest(_ reader: LogReader, into directory: URL) throws {
            let view = try Tool.projection(named: projection.name).view
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true)
            let name = log.directory.deletingPathExtension().lastPathComponent
            let fixture = directory.appending(path: "\(name).ndjson")
            try Self.writing(to: fixture) { write in try lines(of: reader, [:], write) }
            // Of what was written: redacted events give other states.
            let text = try String(contentsOf: fixture, encoding: .utf8)
            let end = try view.end(of: try RecordedHistory(ndjson: text))
            let expected = directory.appending(path: "\(name).expected.json")
            try Self.writing(to: expected) { try $0(end.json.encoded) }
            let source = TestSource(name: name, type: view.typeName, module: view.moduleName).text
            let file = directory.appending(path: "\(TestSource.identifier(name))LogTests.swift")
            try Self.writing(to: file) { try $0(Array(source.utf8)) }
            try Output.line("\(file.path)\n\(fixture.path)\n\(expected.path)")
        }

        /// All of it or, where something fails, nothing.
        private static func writing(
            to file: URL, _ body: (([UInt8]) throws -> Void) throws -> Void
        ) throws {
            let part = file.deletingLastPathComponent()
                .appending(path: ".\(file.lastPathComponent).part")
            guard FileManager.default.createFile(atPath: part.path, contents: nil),
                let handle = try? FileHandle(forWritingTo: part)
            else { throw StreamFailure("\(part.path) cannot be written") }
            defer { try? FileManager.default.removeItem(at: part) }
            try body { bytes in
                do { try handle.write(contentsOf: Data(bytes)) } catch {
                    throw StreamFailure("\(part.path) cannot be written: \(error)")
                }
            }
            try handle.close()
            guard rename(part.path, file.path) == 0 else {
                throw StreamFailure(
                    "\(file.path) cannot be written: \(String(cString: strerror(errno)))")
            }
        }
    }

    /// A test that a history gives what the log gave.
    private struct TestSource {
        let name: String
        let type: String
        let module: String

        static func identifier(_ name: String) -> String {
            let words = name.split { !$0.isLetter && !$0.isNumber }
            let joined = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
            return joined.first?.isLetter == true ? joined : "Recorded" + joined
        }

        var text: String {
            """
            import Foldback
            import Foundation
            import Testing
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
            }

            """
        }
    }

    extension LogReader {
        func firstFormat() throws -> EventFormat {
            var start: LogSequence = 1
            while true {
                let entries = try entries(from: start, countMax: 64)
                guard let last = entries.last else { return .json }
                if let event = entries.lazy.flatMap(\.events).first { return event.format }
                start = LogSequence(last.sequence.value + 1)
            }
        }

        func fileHead(_ format: EventFormat) -> JSON {
            RecordedHistory<[UInt8]>.head(kind, replica, format)
        }
    }

    struct ImportCommand<Tool: ReplayTool>: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "import",
                abstract: "Makes a log of what `export` wrote.",
                discussion: """
                    The log must not be there, or have no entries. It gets the same views, overlay, states and \
                    numbers; new intents are another replica's.

                    Example: \(Tool.name) import report.ndjson feed.log --dry-run
                    """)
        }

        @Argument(help: "A file of `export --as ndjson` or `bundle`; - for standard input.")
        var file: String

        @OptionGroup var log: LogArgument

        @Flag(help: "Says what it would do, and does nothing.")
        var dryRun = false

        @Flag(
            help:
                "Closes the gaps of a history from which entries were taken out: sequences and numbers change."
        )
        var closeGaps = false

        @Flag(help: "One JSON object.")
        var json = false

        func run() async throws {
            let data: Data
            do {
                data =
                    file == "-"
                    ? try FileHandle.standardInput.readToEnd() ?? Data()
                    : try Data(contentsOf: URL(filePath: file))
            } catch {
                throw StreamFailure("\(file) cannot be read: \(error.localizedDescription)")
            }
            guard let text = String(data: data, encoding: .utf8) else {
                throw StreamFailure("\(file) is not UTF-8")
            }
            var history: RecordedHistory<[UInt8]>
            do { history = try RecordedHistory(ndjson: text) } catch let error as HistoryFileError {
                throw StreamFailure("\(file): \(error)")
            }
            if closeGaps { history = try history.closed() }
            try Foldback.checkImport(history, into: log.directory)
            if !dryRun { try await Foldback.importHistory(history, into: log.directory) }
            let intents = history.entries.count {
                if case .intent = $0.content { true } else { false }
            }
            guard !json else {
                return try Output.line(
                    [
                        "entries": .integer(Int64(history.count)),
                        "intents": .integer(Int64(intents)),
                        "kind": .string(history.kind.rawValue), "done": .bool(!dryRun),
                    ] as JSON)
            }
            let what =
                "\(history.count) entries, \(intents) intents, confirmed by \(history.kind.rawValue)"
            try Output.line("\(dryRun ? "would import" : "imported") \(what)")
        }
    }
#endif
