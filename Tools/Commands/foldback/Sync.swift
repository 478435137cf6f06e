import ArgumentParser
import Foldback
import FoldbackHTTP
import FoldbackReplay
import FoldbackSync
import Foundation
import Synchronization

struct Sync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sends what a log of documents has pending, and fetches what others did.",
        discussion: """
            The command creates the log if it does not exist. It ends when the server has everything, and \
            the log has everything of the server. With --follow, it goes on until Ctrl-C, and prints \
            each change of the status. Exit code 1: something is left, or \
            was refused; the last line says why.

            If the server has lost data that this log has, the log continues as a new one, and \
            the command records again what only the old one had.

            Example: foldback sync notes.log http://127.0.0.1:8787 --space default --token-file token
            """)

    @OptionGroup var log: DirectoryArgument

    @Argument(help: "The server's address, without /v1.")
    var server: String

    @Option(help: "The name of the space.")
    var space = "default"

    @Option(help: "A file with the token; without it, SYNC_TOKEN in the environment has it.")
    var tokenFile: String?

    @Flag(help: "Goes on until Ctrl-C.")
    var follow = false

    @Option(help: "The seconds after which the command gives up, without --follow.")
    var within = 60

    func validate() throws {
        guard address != nil else {
            throw ValidationError("\(server) is not an address such as http://127.0.0.1:8787")
        }
        guard 1...86_400 ~= within else {
            throw ValidationError("--within must be from 1 to 86400 seconds")
        }
    }

    private var address: URL? {
        guard let url = URL(string: server), ["http", "https"].contains(url.scheme ?? ""),
            url.host() != nil
        else { return nil }
        return url
    }

    func run() async throws {
        guard let address else { return }
        let token = try token()
        let sync = FoldbackSync.Sync(
            try await Self.open(log.directory),
            with: HTTPAuthority<DocumentEvent>(address, space: space, token: token),
            policy: .ordered, continuing: Continuing(opening: Self.open) { _ in .bring })
        let isDrained: Bool
        // A drain that has ended does not run. What it ran into is in the status before.
        let last = Mutex(sync.status)
        do {
            if follow { try await Self.follow(sync) }
            let waiting = Task {
                try await Self.sayObstacles(of: sync) { status in last.withLock { $0 = status } }
            }
            defer { waiting.cancel() }
            isDrained = try await sync.drain(within: .seconds(within)) == .drained
        } catch {
            await sync.store.close()
            throw error
        }
        let left = sync.status.pendingCount
        let isDone = isDrained && left == 0
        let text =
            if isDone {
                "Everything is saved on the server."
            } else if isDrained {
                Self.text(of: left, in: sync.store)
            } else {
                Self.text(of: last.withLock(\.self))
            }
        try Output.write(
            "\(text) (entry \(sync.store.status.sequence), "
                + "position \(sync.store.status.through))\n")
        let refused = sync.store.rejections.count
        if refused > 0 {
            try Output.write("\(refused) refused; `foldback log` shows what the server said\n")
        }
        await sync.store.close()
        if !isDone || refused > 0 { throw ExitCode(1) }
    }

    /// Says what holds the command up, as errors.
    ///
    /// - Parameter note: called with each status while the sync runs.
    private static func sayObstacles(
        of sync: FoldbackSync.Sync<Documents>, _ note: (SyncStatus) -> Void
    ) async throws {
        var last = ""
        for await status in sync.statuses where status.obstacle != .paused(.stopped) {
            note(status)
            switch status.obstacle {
            // The command continues on a new log.
            case .paused(.superseded): continue
            case .paused, .oldLog: break
            default: continue
            }
            let text = text(of: status)
            if text != last { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
            last = text
        }
    }

    /// Prints each change of the status. The end of the process ends it: everything is in the log.
    private static func follow(_ sync: FoldbackSync.Sync<Documents>) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await sync.run() }
            group.addTask {
                var last = ""
                for await status in sync.statuses where status.obstacle != .paused(.stopped) {
                    let text = text(of: status)
                    if text != last { try Output.write("\(text)\n") }
                    last = text
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private static func text(of status: SyncStatus) -> String {
        [status.message, status.suggestion].compactMap { $0 }.joined(separator: " ")
    }

    /// Says what a drain leaves, and why.
    private static func text(of left: Int, in store: Store<Documents>) -> String {
        let failing = store.attempts.values.count { $0.quarantine != nil }
        let cause =
            failing > 0
            ? "the server fails on \(failing), and others may wait for that"
            : "they wait for a draft, or for a newer version of this command"
        return "Changes that are left: \(left); \(cause)."
    }

    private func token() throws -> String {
        let text: String
        if let tokenFile {
            do { text = try String(contentsOf: URL(filePath: tokenFile), encoding: .utf8) } catch {
                throw ValidationError(
                    "the token in \(tokenFile) cannot be read: \(error.localizedDescription)")
            }
        } else if let value = ProcessInfo.processInfo.environment["SYNC_TOKEN"] {
            text = value
        } else {
            throw ValidationError("give --token-file, or the token in SYNC_TOKEN")
        }
        let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !token.isEmpty, token.utf8.allSatisfy({ 33...126 ~= $0 }) else {
            throw ValidationError("the token must be one word of printable ASCII characters")
        }
        return token
    }

    @Sendable private static func open(
        _ directory: URL
    ) async throws(LogError) -> Store<Documents> {
        try await Store.open(
            at: directory, Documents.self, confirmedBy: .downlink, durability: .durable)
    }
}
