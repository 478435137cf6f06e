import Foldback
import Foundation
import Testing

/// What the system was asked to do, call by call (L2).
@Suite(.serialized) struct DurabilityTests {
    /// Calls between the second intent's data write and its answer, in order. The answer goes to
    /// standard output, descriptor 1; LMDB's meta page goes through a descriptor of its own, which it
    /// opens with O_DSYNC.
    private func calls(_ durability: String) throws -> [String] {
        let directory = DiskDirectory()
        let trace = directory.url.appending(path: "trace")
        let shell = try ShellProcess(
            directory.log, ["--durability", durability],
            under: Strace.tracing("openat,write,writev,pwrite64,fdatasync", to: trace))
        for value in 1...2 {
            shell.send(#"{"do":"record","event":{"op":"set","key":"a","value":\#(value)}}"#)
            #expect(shell.answer()?["ok"] == true)
        }
        _ = shell.finish()
        let lines = try String(contentsOf: trace, encoding: .utf8).split(separator: "\n")
        let synchronous = lines.filter { $0.contains("data.mdb") && $0.contains("O_DSYNC") }
            .compactMap { $0.split(separator: "= ").last }
        let answers = lines.indices.filter { lines[$0].contains(" write(1, ") }
        let between = lines[(try #require(answers.first) + 1)..<(try #require(answers.last))]
        return between.compactMap { line in
            if line.contains(" fdatasync(") { return "flush" }
            if synchronous.contains(where: { line.contains(" pwrite64(\($0), ") }) {
                return "meta, flushed"
            }
            return line.contains(" pwrite64(") || line.contains(" writev(") ? "write" : nil
        }
    }

    @Test(.enabled(if: Strace.isThere, "strace is not installed: apt-get install strace"))
    func `L2: durable flushes between an intent's write and the return of its record`() throws {
        let calls = try calls("durable")
        print("durable record: \(calls.joined(separator: ", "))")
        let write = try #require(calls.firstIndex(of: "write"))
        let flush = try #require(calls.firstIndex(of: "flush"))
        #expect(write < flush)
        #expect(calls.last == "meta, flushed")
    }

    @Test(.enabled(if: Strace.isThere, "strace is not installed: apt-get install strace"))
    func `L2: relaxed flushes the data, and not the meta page`() throws {
        let calls = try calls("relaxed")
        print("relaxed record: \(calls.joined(separator: ", "))")
        #expect(calls.contains("flush"))
        #expect(!calls.contains("meta, flushed"))
    }
}
