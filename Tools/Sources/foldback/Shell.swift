import ArgumentParser
import Foldback
import FoldbackReplay
import FoldbackShell
import Foundation

struct Shell: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "A session over a log of documents: a JSON object a line in, one out.",
        discussion: """
            The log is created if it is absent. Commands: record, acknowledge, reject, withdraw, \
            dismiss, retry, confirm; view, get, intent, rejections, entries, status.

            Example:
              $ echo '{"do":"record","event":{"op":"set","key":"a","value":1}}' | foldback shell a.log
              {"intent":1,"ok":true,"sequence":1}
            """)

    @OptionGroup var log: DirectoryArgument

    @Option(help: "The replica's name in a log that is created; a fresh UUID by default.")
    var replica: String?

    @Option(help: "Which source confirms; fixed when the log is created (default: downlink).")
    var confirmedBy: LogKind?

    @Option(help: "What an answer promises: durable or relaxed.")
    var durability = Durability.durable

    @Option(help: "Where documents are kept meanwhile: memory or rows; the log does not remember.")
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
                throw ValidationError("a replica's name has 1 to 255 bytes")
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

/// What keeps a session's documents.
enum DocumentStore: String, ExpressibleByArgument, CaseIterable {
    case memory
    case rows
}

/// Lines as bytes, for they need not be text. Reading blocks: the session has nothing else to do.
struct InputLines {
    private var piece = [UInt8](repeating: 0, count: 1 << 16)
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false

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
            // Whatever is there: Foundation's reading waits for as much as was asked for, or traps.
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
