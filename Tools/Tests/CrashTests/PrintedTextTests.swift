import Foldback
import FoldbackHistory
import Foundation
import Processes
import Testing

/// Born from answers with raw U+009B and U+202E, which a terminal obeys, and from counts that were
/// sequences.
@Suite(.serialized) struct PrintedTextTests {
    private let foldback = executable("foldback")
    private let directory = DiskDirectory()
    /// DEL, CSI, a right-to-left override, an isolate, a mark, and a line separator.
    private static let hostile = "\u{7F}\u{9B}31m\u{202E}\u{2066}\u{200F}\u{61C}\u{2028}é"

    private func path(_ name: String) -> String { directory.url.appending(path: name).path }

    private func isPlain(_ text: String) -> Bool {
        !text.unicodeScalars.contains { scalar in
            guard scalar != "\n" else { return false }
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: return true
            default: return scalar.properties.isBidiControl
            }
        }
    }

    @Test func `printed JSON has no character that a terminal obeys, and the log keeps each byte`()
        async throws
    {
        let text = Self.hostile
        let event: JSON = ["op": "set", "key": .string(text), "value": .string(text)]
        let (log, file) = (directory.log.path, path("file"))
        let shell = try ShellProcess(directory.log, ["--replica", text])
        let record: JSON = ["do": "record", "event": event, "once": .string(text)]
        shell.send(record.description)
        #expect(shell.answer()?["ok"] == true)
        let reject: JSON = ["do": "reject", "intent": 1, "message": .string(text)]
        shell.send(reject.description, record.description)
        #expect(shell.finish().status == 0)
        let lines = [
            #"{"do":"view"}"#, #"{"do":"status"}"#, #"{"do":"intent","intent":1}"#,
            #"{"do":"entries","from":1,"limit":9}"#, #"{"do":"\#(text)"}"#,
        ]
        let quoted = lines.joined(separator: "\n")
        var outputs = [
            try run(["sh", "-c", "printf '%s\\n' \"$0\" | '\(foldback)' shell '\(log)'", quoted])
        ]
        #expect(outputs[0].output.split(separator: "\n").count == 5)
        for command in [
            ["log", "--json"], ["tail", "--json"], ["status", "--json"], ["at", "1", "--json"],
            ["diff", "0", "1", "--json"], ["why", "--intent", "1", "--json"],
            ["what-if", "--drop", "1", "--json"], ["export"], ["verify", "--json"],
            ["step", "--json"], ["first-break", "--expect", "/x != null", "--json"],
            ["minimize", "--expect", "/x != null"],
            ["log"], ["status"], ["at", "1"], ["why", "--intent", "1"],
            ["why", "--place", "/\(text)"],
        ] {
            outputs.append(try run([foldback, command[0], log] + command.dropFirst()))
        }
        for seen in outputs {
            #expect(seen.status < 2 && !seen.output.isEmpty, "\(seen)")
            #expect(isPlain(seen.output + seen.errors), "\(seen)")
        }
        let json = try run([foldback, "log", log, "--json"]).output.split(separator: "\n")
        #expect(try JSON(parsing: String(json[0]))["event"] == event)
        // A copy through a file has the same bytes.
        #expect(try run([foldback, "export", log, "-o", file]).status == 0)
        #expect(isPlain(try String(contentsOfFile: file, encoding: .utf8)))
        #expect(try run([foldback, "import", file, path("copy")]).status == 0)
        for directory in [directory.log, directory.url.appending(path: "copy")] {
            let reader = try LogReader(at: directory)
            defer { reader.close() }
            let first = try #require(try reader.entries(from: 1, countMax: 1).first)
            guard case .intent(let intent) = first.content else {
                Issue.record("entry 1 is not an intent")
                continue
            }
            #expect(intent.event.bytes == event.encoded)
        }
        let copied = try run([foldback, "export", path("copy")]).output.split(separator: "\n")
        let first = try run([foldback, "export", log]).output.split(separator: "\n")
        #expect(copied.dropFirst() == first.dropFirst())
        #expect(try run([foldback, "export", log, "--as", "test", "-o", path("T")]).status == 0)
        for name in ["log.ndjson", "log.expected.json"] {
            #expect(isPlain(try String(contentsOfFile: path("T/\(name)"), encoding: .utf8)))
        }
    }

    @Test func `an error shortens a long argument or event, and keeps its advice`() throws {
        try ReplayStory.makeLog(directory.log)
        let long = String(repeating: "x", count: 100_000)
        for command in [
            ["at", directory.log.path, long], ["log", long], [long],
            ["log", directory.log.path, long],
            ["export", directory.log.path, "-o", "/tmp/\(long)"],
            ["what-if", directory.log.path, "--edit", "1=\(long)"],
            ["first-break", directory.log.path, "--expect", long],
            ["first-break", directory.log.path, "--check", long],
        ] {
            let seen = try run([foldback] + command)
            #expect(seen.status >= 2 && seen.output.isEmpty, "\(command[0]): \(seen.status)")
            #expect(seen.errors.utf8.count < 1_200, "\(command[0]): \(seen.errors.utf8.count)")
            #expect(seen.errors.contains(#/\.\.\. \(\d{6} bytes\) \.\.\./#), "\(seen.errors)")
        }
    }

    @Test func `status counts entries, also of a history with gaps`() throws {
        try ReplayStory.makeLog(directory.log)
        let file = path("file")
        let whole = try run([foldback, "status", directory.log.path]).output
        #expect(whole.contains("entries     6\n") && whole.contains("last entry  6\n"), "\(whole)")
        let small = ["--expect", "/draft == null", "-o", file]
        #expect(try run([foldback, "minimize", directory.log.path] + small).status == 0)
        let holed = try run([foldback, "status", file]).output
        #expect(holed.contains("entries     1\n") && holed.contains("last entry  4\n"), "\(holed)")
        let json = try run([foldback, "status", file, "--json"]).output
        let status = try JSON(parsing: json.trimmingCharacters(in: .newlines))
        #expect(status["entries"] == 1 && status["sequence"] == 4, "\(json)")
        let bundle = try run([foldback, "export", file, "--as", "bundle", "-o", path("bundle")])
        #expect(bundle.status == 0)
        let head = try String(contentsOfFile: path("bundle"), encoding: .utf8).split(
            separator: "\n")
        #expect(try JSON(parsing: String(head[0]))["bundle"]?["status"]?["entries"] == 1)
        let step = try run(["sh", "-c", "echo n | '\(foldback)' step '\(file)'"]).output
        #expect(step.contains("before the first entry, and the last is 4\n"), "\(step)")
        #expect(step.contains("entry 4, and the last is 4  "), "\(step)")
        let shell = try ShellProcess(directory.log)
        shell.send(#"{"do":"status"}"#)
        let answer = shell.answer()
        #expect(answer?["entries"] == 6 && answer?["sequence"] == 6, "\(answer ?? .null)")
        #expect(shell.finish().status == 0)
    }
}
