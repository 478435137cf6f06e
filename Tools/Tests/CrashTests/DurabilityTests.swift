import Foldback
import Foundation
import Processes
import Testing

/// Born from the question whether each commit makes the system calls that its durability promises
/// (L2).
@Suite(.serialized) struct DurabilityTests {
    private static let commands = [
        #"{"do":"record","event":{"op":"set","key":"a","value":1}}"#,
        #"{"do":"record","event":{"op":"set","key":"a","value":2}}"#,
        #"{"do":"acknowledge","intent":1}"#,
        #"{"do":"record","event":{"op":"set","key":"b","value":3}}"#,
        #"{"do":"reject","intent":2,"message":"no"}"#,
    ]

    /// Returns the system calls between each answer and the next, in order. The calls of the first
    /// command are left out.
    ///
    /// The shell writes answers to standard output, descriptor 1. LMDB writes its meta page through
    /// a separate descriptor, which it opens with O_DSYNC.
    private func calls(_ durability: String, over store: DocumentStore) throws -> [[String]] {
        let directory = DiskDirectory()
        let trace = directory.url.appending(path: "trace")
        let shell = try ShellProcess(
            directory.log, ["--durability", durability, "--confirmed-by", "acknowledgement"],
            over: store,
            under: Strace.tracing("openat,write,writev,pwrite64,fdatasync", to: trace))
        for command in Self.commands {
            shell.send(command)
            #expect(shell.answer()?["ok"] == true)
        }
        _ = shell.finish()
        let lines = try String(contentsOf: trace, encoding: .utf8).split(separator: "\n")
        let synchronous = lines.filter { $0.contains("data.mdb") && $0.contains("O_DSYNC") }
            .compactMap { $0.split(separator: "= ").last }
        let answers = lines.indices.filter { lines[$0].contains(" write(1, ") }
        try #require(answers.count == Self.commands.count)
        return zip(answers, answers.dropFirst()).map { before, answer in
            lines[(before + 1)..<answer].compactMap { line in
                if line.contains(" fdatasync(") { return "flush" }
                if synchronous.contains(where: { line.contains(" pwrite64(\($0), ") }) {
                    return "meta, flushed"
                }
                return line.contains(" pwrite64(") || line.contains(" writev(") ? "write" : nil
            }
        }
    }

    @Test(
        .needsStrace,
        arguments: DocumentStore.allCases)
    func `L2, L4: a durable command commits once, and flushes before it returns`(
        store: DocumentStore
    ) throws {
        for calls in try calls("durable", over: store) {
            print("durable, \(store): \(calls.joined(separator: ", "))")
            #expect(calls.first == "write")
            #expect(calls.drop { $0 == "write" } == ["flush", "meta, flushed"])
        }
    }

    @Test(
        .needsStrace,
        arguments: DocumentStore.allCases)
    func `L2, L4: a relaxed command flushes the data once, and not the meta page`(
        store: DocumentStore
    ) throws {
        for calls in try calls("relaxed", over: store) {
            print("relaxed, \(store): \(calls.joined(separator: ", "))")
            #expect(calls.filter { $0 == "flush" } == ["flush"])
            #expect(!calls.contains("meta, flushed"))
        }
    }
}
