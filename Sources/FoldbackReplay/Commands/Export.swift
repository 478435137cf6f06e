#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory
    import Foundation

    enum ExportForm: String, ExpressibleByArgument, CaseIterable {
        case ndjson
        case test
        case bundle
        case page
    }

    struct Export<Tool: ReplayTool>: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "export",
                abstract:
                    "Writes a log as a file, a test or a bug report.",
                discussion: """
                    ndjson: a line for each entry, to standard output. test: a Swift Testing case \
                    and its fixture, in the directory -o. bundle: one file for a bug report, which \
                    `import` also takes. page: one HTML file that shows the log in any browser, \
                    without a network; --from, --to and the filters of `log` choose its entries, at \
                    most \(PageReport.entryCountMax).

                    \(RedactionOptions.discussion)

                    Example: \(Tool.name) export feed.log --as test -o Tests/FeedTests
                    """)
        }

        @OptionGroup var log: LogArgument

        @Option(name: .customLong("as"), help: "ndjson, test, bundle or page.")
        var form = ExportForm.ndjson

        @Option(name: .shortAndLong, help: "The file to write; for a test, the directory.")
        var output: String?

        @Option(help: "For a page: the first entry's sequence.")
        var from: UInt64?

        @Option(help: "For a page: the last entry's sequence.")
        var to: UInt64?

        @OptionGroup(title: "Entries of a page") var filter: EntryFilter
        @OptionGroup var redaction: RedactionOptions
        @OptionGroup var projection: ProjectionOption
        @OptionGroup var space: SpaceOption

        @Flag(help: "No effect: an export is always JSON lines.")
        var json = false

        func validate() throws {
            guard form == .ndjson || output != nil else {
                throw ValidationError("--as \(form.rawValue) needs -o")
            }
            if let word = selection.words.first, form != .page {
                throw ValidationError(
                    "\(word) is only for --as page; `log --json` prints chosen entries")
            }
            guard form == .page || space.path == nil else {
                throw ValidationError("--space is only for --as page")
            }
            if let from, let to, from > to {
                throw ValidationError("--from \(from) is after --to \(to)")
            }
        }

        private var selection: ReportSelection {
            ReportSelection(
                first: LogSequence(max(from ?? 1, 1)), last: to.map { LogSequence($0) },
                filter: filter)
        }

        func run() throws {
            let projection = try space.projection(named: projection.name, of: Tool.self)
            let spared = SparedLog(log)
            if let output { try spared.requireSpared(by: output) }
            let reader = try log.reader()
            let redacted =
                redaction.isNeeded
                ? try redaction.redacted(reader.history(), projection, Tool.group) : nil
            switch form {
            case .page:
                try writePage(
                    try redacted.map { try LogReader($0) } ?? reader, projection, spared)
            case .ndjson, .bundle:
                let head = form == .bundle ? try bundleHead(reader, redacted, projection) : [:]
                guard let output else {
                    return try write(reader, redacted, head) { try Output.write($0) }
                }
                try Output.writing(to: output, sparing: spared) { write in
                    try self.write(reader, redacted, head, write)
                }
                Output.noteWritten(output, form == .bundle ? "the bug report" : "the log's lines")
            case .test:
                var text: [UInt8] = []
                try write(reader, redacted, [:]) { text += $0 }
                try TestCase(
                    name: log.name,
                    history: String(decoding: text, as: UTF8.self), view: projection.view
                ).write(into: URL(filePath: output ?? "."), sparing: spared)
            }
        }

        /// Writes the page. A damaged log makes a page of the entries before the damage, and the
        /// command then fails.
        private func writePage(
            _ reader: LogReader, _ first: ReplayProjection, _ spared: SparedLog
        ) throws {
            let log = try InspectedLog(
                tool: Tool.name, argument: log, reader: reader, isLive: false,
                isRedacted: redaction.isNeeded,
                projections: try Tool.shown(first, isAlone: projection.name != nil, in: reader),
                listed: Tool.projections, reruns: Tool.reruns,
                space: try space.log(
                    readBy: Tool.group, beside: first, isRedacted: redaction.isNeeded))
            let report = try PageReport(log, selection)
            try Output.writing(to: output ?? "", sparing: spared) { write in
                try withoutActuallyEscaping(write) { try report.write($0) }
            }
            Output.noteWritten(output ?? "", "the page")
            guard let damage = report.damage else { return }
            throw StreamFailure("\(output ?? "") shows only the entries before damage: \(damage)")
        }

        /// Writes a log in bounded memory. A redacted history is already in memory, because it is
        /// numbered and compared as a whole.
        private func write(
            _ reader: LogReader, _ redacted: RecordedHistory<[UInt8]>?, _ head: JSON.Object,
            _ write: ([UInt8]) throws -> Void
        ) throws {
            guard let redacted else {
                return try Progress.run("writing entries", of: UInt64(reader.entryCount())) {
                    try lines(of: reader, head, $0, write)
                }
            }
            try redacted.writeFile(head, write)
        }

        private func lines(
            of reader: LogReader, _ head: JSON.Object, _ progress: Progress,
            _ write: ([UInt8]) throws -> Void
        ) throws {
            let format = try reader.firstFormat()
            try write(try reader.fileHead(format).with(head).fileLine())
            var start: LogSequence = 1
            while true {
                let entries = try reader.entries(from: start, countMax: 512)
                guard let last = entries.last else { return }
                var piece: [UInt8] = []
                for entry in entries {
                    piece += try entry.fileJSON(format).fileLine()
                }
                try write(piece)
                progress.advance(by: UInt64(entries.count))
                start = LogSequence(last.sequence.value + 1)
            }
        }

        /// Returns the first facts that a reader of the bundle needs. For a redacted bundle they
        /// come from the redacted history.
        private func bundleHead(
            _ reader: LogReader, _ redacted: RecordedHistory<[UInt8]>?,
            _ projection: ReplayProjection
        ) throws -> JSON.Object {
            let state =
                if let redacted {
                    try projection.view.end(of: redacted)
                } else {
                    try projection.view.state(reader, at: try reader.lastSequence())
                }
            // A redacted log's lineage and lost data are not part of its history.
            let status = try (redacted.map { try LogReader($0) } ?? reader).status().json
            return state.bundleHead(tool: Tool.name, projection: projection.name, status)
        }
    }

    extension SeenState {
        /// Returns the member that the first line of a bundle has besides those of every file.
        func bundleHead(
            tool: String, projection: String, _ status: JSON.Object
        ) -> JSON.Object {
            let now = ISO8601DateFormatter().string(from: Date())
            let bundle: JSON = [
                "at": .string(now), "tool": .string(tool),
                "system": .string(ProcessInfo.processInfo.operatingSystemVersionString),
                "projection": .string(projection), "status": .object(status),
                "conflicted": .array(
                    conflicted.map { ["intent": .of($0.number), "reason": .string($0.reason)] }),
                "faults": .array(
                    faults.map { ["entry": .of($0.sequence), "reason": .string($0.reason)] }),
            ]
            return ["bundle": bundle]
        }
    }

    extension RecordedHistory<[UInt8]> {
        /// Writes the lines of a file.
        ///
        /// - Parameter head: more members of the first line.
        func writeFile(_ head: JSON.Object, _ write: ([UInt8]) throws -> Void) throws {
            var isFirst = true
            try writeLines { line in
                try write(try (isFirst ? line.with(head) : line).fileLine())
                isFirst = false
            }
        }
    }

    extension JSON {
        /// Returns a line of a file with its newline.
        ///
        /// - Throws: `.tooLarge` if no command could read the line again.
        func fileLine() throws -> [UInt8] {
            let line = printed
            try Limit.line.require(line.count)
            return line + [UInt8(ascii: "\n")]
        }

        /// Returns the object with more members.
        fileprivate func with(_ more: Object) -> JSON {
            guard case .object(var object) = self else { return self }
            for (name, value) in more.members { object[name] = value }
            return .object(object)
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

        func fileHead(_ format: EventFormat) throws -> JSON {
            RecordedHistory<[UInt8]>.head(kind, replica, format, try sharedConflicts())
        }
    }

    struct ImportCommand<Tool: ReplayTool>: AsyncParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "import",
                abstract: "Creates a log from a file of `export`.",
                discussion: """
                    The log must not exist yet, or must have no entries. It gets the same views, \
                    overlay, states and numbers. New intents belong to another replica.

                    Example: \(Tool.name) import report.ndjson feed.log --dry-run
                    """)
        }

        @Argument(help: "A file of `export --as ndjson` or `bundle`; - for standard input.")
        var file: String

        @OptionGroup var log: DirectoryArgument

        @Flag(help: "Prints what it would import, and imports nothing.")
        var dryRun = false

        @Flag(
            help:
                "Closes the gaps of a history without some entries: sequences and numbers change."
        )
        var closeGaps = false

        @Flag(help: "One JSON object.")
        var json = false

        func run() async throws {
            let spared = SparedLog(log)
            try spared.requireOutside(input: file)
            // A log in another log's folder would look like a part of it.
            if !exists { try spared.requireSpared(by: log.path) }
            var history = try LogArgument.history(at: file)
            if closeGaps { history = try history.closed() }
            do throws(HistoryError) {
                try history.checkImport(into: log.directory)
            } catch {
                guard case .doesNotFollow = error else { throw error }
                throw StreamFailure(
                    "\(LogArgument.shown(file)): \(error); close gaps with --close-gaps")
            }
            if !dryRun { try await history.importLog(into: log.directory) }
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

        private var exists: Bool { FileManager.default.fileExists(atPath: log.path) }
    }
#endif
