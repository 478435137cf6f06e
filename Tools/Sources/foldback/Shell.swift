import ArgumentParser
import Foldback
import FoldbackReplay
import FoldbackShell
import Foundation

struct Shell: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs a session on a log of documents: one JSON object per line in and out.",
        discussion: """
            The command creates the log if it does not exist. Each line of input is a command, such \
            as {"do":"view"}. Commands that write: record, acknowledge, reject, withdraw, dismiss, \
            retry, confirm. Commands that read: view, get, intent, rejections, entries, status.

            Example:
              $ echo '{"do":"record","event":{"op":"set","key":"a","value":1}}' | foldback shell a.log
              {"intent":1,"ok":true,"sequence":1}
            """)

    @OptionGroup var log: DirectoryArgument

    @Option(help: "The name of a new log's replica; a fresh UUID by default.")
    var replica: String?

    @Option(help: "The source that confirms, which a new log keeps for good; downlink by default.")
    var confirmedBy: LogKind?

    @Option(help: "Whether a power cut can undo the last commit: durable, no; relaxed, yes.")
    var durability = Durability.durable

    @Option(help: "Where this session keeps documents; the log does not store the choice.")
    var store = DocumentStore.memory

    func run() async throws {
        switch store {
        case .memory: try await run(Documents.self)
        case .rows: try await run(StoredDocuments.self)
        }
    }

    private func run<P: ShownDocuments>(_ documents: P.Type) async throws {
        let replica = try replica.map { name in
            guard let replica = ReplicaID(name) else {
                throw ValidationError("a replica's name must have 1 to 255 bytes")
            }
            return replica
        }
        let store =
            if let confirmedBy {
                try await Store.open(
                    at: log.directory, documents, confirmedBy: confirmedBy,
                    durability: durability, replica: replica)
            } else {
                try await Store.open(
                    at: log.directory, documents, existingOr: .downlink,
                    durability: durability, replica: replica)
            }
        let session = ShellSession(over: store)
        var input = InputLines()
        do {
            while let line = try input.next() {
                try Output.write(await session.answer(to: line).encoded + [UInt8(ascii: "\n")])
            }
        } catch {
            await store.close()
            throw error
        }
        await store.close()
    }
}

/// The place where a session keeps documents: in memory or as rows.
enum DocumentStore: String, ExpressibleByArgument, CaseIterable {
    case memory
    case rows
}

/// Reads lines of standard input as bytes, because input need not be text.
///
/// Reading blocks the thread. The session has no other work until a line arrives.
struct InputLines {
    private var piece = [UInt8](repeating: 0, count: 1 << 16)
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false

    /// Returns the next line without its newline; nil at the end of input.
    ///
    /// - Throws: `StreamFailure` if standard input cannot be read.
    mutating func next() throws -> [UInt8]? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return Array(buffer[start..<end])
            }
            guard !isAtEnd else {
                defer { start = buffer.count }
                return start < buffer.count ? Array(buffer[start...]) : nil
            }
            buffer.removeSubrange(..<start)
            start = 0
            searched = buffer.count
            // `read` returns the bytes that have arrived. Foundation waits for the whole piece, or
            // traps.
            let count = piece.withUnsafeMutableBytes {
                read(STDIN_FILENO, $0.baseAddress, $0.count)
            }
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw StreamFailure(
                    "standard input cannot be read: \(String(cString: strerror(errno)))")
            }
            isAtEnd = count == 0
            buffer.append(contentsOf: piece[..<count])
        }
    }
}
