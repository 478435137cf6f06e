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
            as {"do":"view"}. Commands that write: record, together, release, undo, redo, \
            acknowledge, reject, withdraw, abandon, dismiss, retry, confirm. Commands that read: \
            view, get, intent, rejections, entries, status. {"do":"backup","to":DIR} copies the log \
            to DIR, and {"do":"compact","keepingEntries":1000,"archive":DIR} removes old entries. Once {"do":"flush"} is answered, everything answered before it survives a \
            power cut, also under relaxed.

            record takes "replacing":KEY, which takes back the last intent with that key if it was \
            never sent, and "held":true, which records a draft that is not sent before \
            {"do":"release","intent":1}. {"do":"together","events":[...]} records all events or \
            none, as one action. {"do":"undo","intent":1} takes back the whole action of an intent, \
            and redo brings it back.

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
        var newReplica = NewReplica.random
        if let replica {
            guard let id = ReplicaID(replica) else {
                throw ValidationError("a replica's name must have 1 to 255 bytes")
            }
            newReplica = .exactly(id)
        }
        let (log, confirmedBy, durability) = (log.directory, confirmedBy, durability)
        let session = try await ShellSession<P> { [newReplica] () throws(LogError) in
            if let confirmedBy {
                try await Store.open(
                    at: log, documents, confirmedBy: confirmedBy, durability: durability,
                    replica: newReplica)
            } else {
                try await Store.open(
                    at: log, documents, existingOr: .downlink, durability: durability,
                    replica: newReplica)
            }
        }
        var input = InputLines()
        do {
            while let line = try input.next() {
                let answer =
                    switch line {
                    case .whole(let bytes): await session.answer(to: bytes)
                    case .refused(let reason): ShellError(refusedLine: reason).json
                    }
                try Output.write(answer.printed + [UInt8(ascii: "\n")])
            }
        } catch {
            await session.store.close()
            throw error
        }
        await session.store.close()
    }
}

/// The place where a session keeps documents: in memory or as rows.
enum DocumentStore: String, ExpressibleByArgument, CaseIterable {
    case memory
    case rows
}
