import Foldback
import Foundation
import Processes
import Testing

/// The logs of the tests.
enum Recipes {
    /// Plays the demo's feed. Its 36 entries have rejections, conflicts, retries and replacements.
    static func feed(in folder: Folder) async throws -> String {
        try await runTool("foldback-demo", "feed", "--directory", folder.url.path)
        return folder.path("feed.log")
    }

    /// Sends a log through a bundle.
    static func imported(_ log: String, in folder: Folder) async throws -> String {
        let (bundle, imported) = (folder.path("bundle.ndjson"), folder.path("imported.log"))
        try await runTool("feed-replay", "export", log, "--as", "bundle", "-o", bundle)
        try await runTool("feed-replay", "import", bundle, imported)
        return imported
    }

    /// Makes a log of documents. The rejection of intent 2 makes intent 3 conflicted, and changes
    /// the effect of intent 5.
    static func documents(in folder: Folder) throws -> String {
        try log(
            "documents.log",
            [
                #"{"do":"record","event":{"op":"set","key":"post","value":{"likes":0,"tags":[]}}}"#,
                #"{"do":"acknowledge","intent":1}"#,
                #"{"do":"record","event":{"op":"set","key":"draft","value":{"text":"one"}}}"#,
                #"{"do":"record","event":{"op":"merge","key":"draft","value":{"note":"two"},"require":"present"}}"#,
                #"{"do":"record","event":{"op":"increment","key":"post","field":"likes","by":1}}"#,
                #"{"do":"record","event":{"op":"merge","key":"draft","value":{"text":"three"}}}"#,
                #"{"do":"reject","intent":2,"code":"quota","message":"too many drafts"}"#,
                #"{"do":"record","event":{"op":"increment","key":"post","field":"likes","by":-4}}"#,
                #"{"do":"acknowledge","intent":4}"#,
                #"{"do":"record","event":{"op":"set","key":"k7","value":7},"confirmOnly":true}"#,
            ], in: folder)
    }

    /// Makes a log of documents whose intent 6 an outbox has tried to send, and has quarantined.
    static func attempts(in folder: Folder) async throws -> String {
        let record = { (number: Int) in
            #"{"do":"record","event":{"op":"set","key":"k\#(number)","value":\#(number)}}"#
        }
        let log = try log("attempts.log", (1...8).map(record), in: folder)
        let book = folder.path("book")
        try Data().write(to: URL(filePath: book))
        try await runTool("foldback-probe", "poison", log, book, "concurrent", "6")
        return log
    }

    /// Makes a log of documents from lines of `foldback shell`.
    static func log(
        _ name: String, _ lines: [String], kind: LogKind = .acknowledgement, in folder: Folder
    ) throws -> String {
        let log = folder.path(name)
        let shell = try ShellProcess(
            log,
            ["--confirmed-by", kind.rawValue, "--replica", "me", "--durability", "relaxed"])
        for line in lines { try shell.perform(line) }
        shell.finish()
        return log
    }

    /// Writes a history as a file of `export`.
    static func write(
        _ entries: [String], to file: String, kind: LogKind = .acknowledgement,
        codec: Int = 1, replica: String = "me"
    ) throws {
        let head =
            #"{"codec":\#(codec),"foldback":1,"kind":"\#(kind.rawValue)","replica":\#(replica.quoted),"version":1}"#
        try Data(([head] + entries).joined(separator: "\n").utf8 + [0x0A])
            .write(to: URL(filePath: file))
    }
}
