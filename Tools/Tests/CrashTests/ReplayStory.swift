import Foldback
import Foundation
import Processes
import Testing

/// The log that the tests of replay commands use.
enum ReplayStory {
    /// The commands that make the log: a post, a like, a draft, and an increment by -4 that makes
    /// the likes negative. The last two intents stay pending.
    static let lines = [
        #"{"do":"record","event":{"op":"set","key":"post","value":{"likes":0,"text":"hello, world"}}}"#,
        #"{"do":"acknowledge","intent":1}"#,
        #"{"do":"record","event":{"op":"increment","key":"post","field":"likes","by":1}}"#,
        #"{"do":"record","event":{"op":"set","key":"draft","value":"x"}}"#,
        #"{"do":"acknowledge","intent":2}"#,
        #"{"do":"record","event":{"op":"increment","key":"post","field":"likes","by":-4}}"#,
    ]

    static func makeLog(
        _ log: URL, _ lines: [String] = lines, kind: LogKind = .acknowledgement,
        replica: String = "me"
    ) throws {
        let shell = try ShellProcess(log, ["--confirmed-by", kind.rawValue, "--replica", replica])
        for line in lines {
            shell.send(line)
            #expect(shell.answer()?["ok"] == true)
        }
        #expect(shell.finish().status == 0)
    }

    /// Writes a history as a file of `export`.
    static func write(
        _ entries: [String], to file: URL, codec: Int = 1,
        kind: LogKind = .acknowledgement, replica: String = "me"
    ) throws {
        let head =
            #"{"codec":\#(codec),"foldback":1,"kind":"\#(kind.rawValue)","replica":"\#(replica)","version":1}"#
        try ([head] + entries).map { $0 + "\n" }.joined()
            .write(to: file, atomically: true, encoding: .utf8)
    }

    static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}
