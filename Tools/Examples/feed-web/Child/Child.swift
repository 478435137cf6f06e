import FlyingFox
import Foldback
import FoldbackSync
import Foundation

/// The process with the server. The supervisor starts it again when it ends.
struct Child {
    let port: UInt16
    let data: URL
    let clock: ClockKind
    let replicas: [String]
    let seedPosts: Int
    let restarts: Int

    /// Printed as a line when the server listens.
    static let readyWord = "ready"
    /// Printed before the name of a device whose log is to be shown.
    static let inspectWord = "inspect"
    /// The status of a child after which the next one begins with new logs.
    static let newLogs: Int32 = 80
    /// The status of a child that ends although another child may work, for example because the disk
    /// is full (EX_TEMPFAIL of sysexits.h).
    static let temporaryFailure: Int32 = 75

    /// The longest time of a request in seconds. It must not end while a command moves the clock.
    private static let requestSecondsMax: TimeInterval = 86_400

    func run(removingLogs: Bool) async throws {
        Self.endWithSupervisor()
        do {
            if removingLogs { try await removeLogs() }
            let world = try await World(
                at: data, clock: clock, replicas: replicas, seedPosts: seedPosts,
                restarts: restarts, lost: { Self.end(after: $0) })
            // The supervisor's socket takes the place of the server's own socket.
            try await HTTPServer(
                address: try .inet(ip4: "127.0.0.1", port: 0), timeout: Self.requestSecondsMax,
                pool: InheritedSocketPool(
                    HTTPServer.defaultPool(), socket: STDIN_FILENO,
                    isListening: { printAtOnce("\(Self.readyWord)\n") }),
                logger: .disabled, handler: Server(world: world, gate: Gate(port: port))
            ).run()
        } catch CommandError.log(let error) where error.isOfStorage {
            Self.end(after: error)
        } catch let error as LogError where error.isOfStorage {
            Self.end(after: error)
        } catch let error as AuthorityFailure {
            // The first posts could not be written.
            complain(error.reason)
            exit(Self.temporaryFailure)
        }
    }

    /// Removes the logs of an earlier child, that of the authority last. If this is cut off, there
    /// are new devices, but no device with the log of another authority.
    private func removeLogs() async throws {
        for name in replicas.map({ "replica-\($0)" }) + ["archive", "authority"] {
            try await Store<Timeline>.wipe(at: data.appending(path: name), discardingPending: true)
        }
        let settings = World.settingsFile(in: data)
        guard FileManager.default.fileExists(atPath: settings.path) else { return }
        try FileManager.default.removeItem(at: settings)
    }

    /// Ends the process, so that the supervisor starts another one, which opens all files again.
    static func end(after error: LogError) -> Never {
        complain("\(error)")
        exit(temporaryFailure)
    }

    /// Ends this process when the supervisor ends, in whatever way: the output is a pipe of the
    /// supervisor. Nothing needs to be saved, because the logs are durable at any moment.
    static func endWithSupervisor() {
        Thread {
            // Without events, `poll` reports only that nobody can read the pipe any more.
            var output = [pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)]
            do throws(StartError) {
                _ = try waitForEvents(of: &output)
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
