import ArgumentParser
import Foldback
import FoldbackExamples
import FoldbackHistory
import Foundation

/// The demo's first part: a process records a real editing session and is killed twice.
struct Session: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Records an editing session, and kills the recording process twice.",
        discussion: """
            Each transaction of the session is one intent. At the end, the view and confirmed state \
            must equal the session's last text. If they do not, the exit code is 1.

            Example: Tools/demo session.json.gz
            """)

    @Option(help: "The directory for the log, which stays there.")
    var directory: String

    @Option(help: "A text file to type if no session is given.")
    var text: String?

    @Argument(
        help: "A session in the format of github.com/josephg/editing-traces, .json or .json.gz.")
    var file: String?

    func run() async throws {
        let trace = try trace()
        let intents = trace.intents
        let log = try freshLog("session.log", in: directory)
        let edits = log.deletingLastPathComponent().appending(path: "session.edits")
        try Data(intents.map { $0.json.encoded + [0x0A] }.joined()).write(to: edits)

        write("\(trace.name): \(intents.count) intents, each durable before it is acknowledged\n")
        var tally = try RecordingProcess.runAll(
            log: log, edits: edits, total: intents.count,
            killsAt: [intents.count / 3, intents.count * 2 / 3])
        try await check(log, trace, &tally)
        tally.printTable(intents: intents.count)
        write(
            """

            The log stays at \(log.path)
            To see its entries: swift run --package-path Tools foldback tail \(log.path)

            """)
    }

    private func trace() throws -> Trace {
        if let file {
            guard FileManager.default.isReadableFile(atPath: file) else {
                throw TraceError("\(file) is missing or not readable; give the file of a session")
            }
            return try Trace(file: URL(filePath: file))
        }
        guard let text else {
            throw ValidationError("give the file of a session, or a text file with --text")
        }
        let url = URL(filePath: text)
        let name = "typing \(url.lastPathComponent)"
        guard let typed = String(validating: try contents(of: url), as: UTF8.self) else {
            throw TraceError("\(text) is not UTF-8; give a text file")
        }
        return Trace(typing: typed, name: name)
    }

    /// Opens the log as an app does after a restart, and compares the texts.
    private func check(_ log: URL, _ trace: Trace, _ tally: inout Tally) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        let store = try await Store.open(
            at: log, Text.self, confirmedBy: .acknowledgement, durability: .durable)
        tally.reopen = clock.now - start
        let status = store.status
        tally.entries = status.entryCount
        tally.bytes = status.bytesOnDisk
        let failures = [
            store.view.string.isExactly(trace.end)
                ? nil : "the view is not the session's last text",
            store.confirmed.string.isExactly(trace.end)
                ? nil : "confirmed state is not the session's last text",
            status.nextIntent.value == UInt64(trace.intents.count) + 1
                ? nil
                : "the log has \(status.nextIntent.value - 1) intents, not \(trace.intents.count)",
            status.pendingCount == 0 ? nil : "\(status.pendingCount) intents are pending",
        ].compactMap(\.self)
        await store.close()
        guard failures.isEmpty else {
            throw DemoFailure(description: "FAILED: " + failures.joined(separator: "; "))
        }
        write(
            "view and confirmed state equal the session's last text, code point by code point\n\n")
    }
}

extension String {
    /// Compares code points. `==` also treats composed and decomposed letters as equal.
    fileprivate func isExactly(_ other: String) -> Bool {
        unicodeScalars.elementsEqual(other.unicodeScalars)
    }
}
