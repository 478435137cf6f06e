import FlyingFox
import Foldback
import FoldbackSync
import Foundation

/// The process with the server. The supervisor starts it again when it ends.
struct Child {
    let options: FeedWeb
    let data: URL
    let restarts: Int

    /// Printed as a line when the server listens.
    static let readyWord = "ready"
    /// The status of a child after which the next one begins with new logs.
    static let newLogs: Int32 = 80
    /// The status of a child that ends although another child may work, for example because the disk
    /// is full (EX_TEMPFAIL of sysexits.h).
    static let temporaryFailure: Int32 = 75

    /// The longest time of a request in seconds. It must not end while a command moves the clock.
    private static let requestSecondsMax: TimeInterval = 86_400

    func run() async throws {
        Self.endWithSupervisor(at: STDOUT_FILENO)
        do {
            try await finishRemovingLogs()
            let world = try await World(
                at: data, clock: options.clock, replicas: options.names,
                seedPosts: options.seedPosts, restarts: restarts,
                lost: { Self.end(after: $0) })
            // The supervisor's socket takes the place of the server's own socket.
            try await HTTPServer(
                address: try .inet(ip4: "127.0.0.1", port: 0), timeout: Self.requestSecondsMax,
                pool: InheritedSocketPool(
                    HTTPServer.defaultPool(), socket: STDIN_FILENO,
                    isListening: { printAtOnce("\(Self.readyWord)\n") }),
                logger: .disabled, handler: Server(world: world, gate: Gate(port: options.port))
            ).run()
        } catch {
            switch error {
            case CommandError.log(let error) where error.isOfStorage,
                let error as LogError where error.isOfStorage:
                Self.end(after: error)
            case let error as AuthorityFailure:
                // The first posts could not be written.
                complain(error.reason)
                exit(Self.temporaryFailure)
            default: throw error
            }
        }
    }

    /// The file that says that the logs are to be removed.
    static func removalFile(in data: URL) -> URL { data.appending(path: "remove-logs") }

    /// Removes all logs if an earlier child was asked to. The file that says so is the last to go, so
    /// the next child finishes a removal that was cut off. A device with a new log must not meet an
    /// authority with verdicts on its old intents.
    private func finishRemovingLogs() async throws {
        let files = FileManager.default
        let removal = Self.removalFile(in: data)
        guard files.fileExists(atPath: removal.path) else { return }
        for name in options.names.map({ "replica-\($0)" }) + ["archive", "authority"] {
            try await Store<Timeline>.wipe(at: data.appending(path: name), discardingPending: true)
        }
        let settings = World.settingsFile(in: data)
        if files.fileExists(atPath: settings.path) { try files.removeItem(at: settings) }
        try files.removeItem(at: removal)
    }

    /// Ends the process, so that the supervisor starts another one, which opens all files again.
    static func end(after error: LogError) -> Never {
        complain("\(error)")
        exit(temporaryFailure)
    }

    /// Ends this process when the supervisor ends, in whatever way. Nothing needs to be saved, because
    /// the logs are durable at any moment.
    ///
    /// - Parameter pipe: a pipe whose other end the supervisor has.
    static func endWithSupervisor(at pipe: Int32) {
        Thread {
            // Without events, `poll` reports only that nobody has the other end any more.
            var files = [pollfd(fd: pipe, events: 0, revents: 0)]
            do throws(StartError) {
                _ = try waitForEvents(of: &files)
                exit(EXIT_SUCCESS)
            } catch {
                complain(error.description)
                exit(temporaryFailure)
            }
        }.start()
    }
}

extension LogError {
    /// Whether a disk or a file failed, and not a command.
    var isOfStorage: Bool {
        switch self {
        case .storage, .outcomeUnknown, .latched: true
        default: false
        }
    }
}
