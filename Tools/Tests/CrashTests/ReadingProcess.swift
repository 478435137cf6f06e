import Foldback
import Foundation
import Processes
import Testing

/// Another process that reads a log all the time, while a process that is killed changes what is at the
/// log's path (L9).
///
/// It must read on, or be told to open the log again. It opens it again then.
final class ReadingProcess {
    private let process: RunningProcess

    init() throws {
        process = try RunningProcess([executable("foldback-probe"), "read"], input: .pipe)
    }

    /// Begins to read a log. It has been read once on return.
    func begin(_ log: URL) {
        process.send(log.path)
        #expect(process.nextLine() == "reading")
    }

    /// Expects that it has read one log, or that log, an error that the file was replaced, and the other log.
    ///
    /// - Parameters:
    ///   - now: what is there now.
    ///   - before: what was there at the last call, or when it began.
    func expect(_ now: String, after before: String, _ note: Comment) throws {
        process.send("")
        let answer = try #require(process.nextJSON()?.arrayValue, note)
        let change = before == Self.missing ? [before, now] : [before, "lost", now]
        #expect(answer.compactMap(\.stringValue) == (now == before ? [now] : change), note)
    }

    /// What it sees if no log is there.
    static let missing = "missing"

    /// What it sees of a log.
    static func content(
        base: LogSequence, last: LogSequence, pending: Int, confirmed: JSON
    ) -> String { "\(base)-\(last), \(pending) pending: \(confirmed)" }
}
