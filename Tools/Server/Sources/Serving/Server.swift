import Foldback
import FoldbackServer
import FoldbackSync
import Foundation
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle

/// A server: its spaces, two ports, and a graceful stop.
struct Server<R: Rules>: Sendable {
    private let configuration: Configuration
    private let rules: R
    private let logger: Logger
    private let traffic = Traffic()
    private let repetitions = Repetitions()

    init(_ configuration: Configuration, _ rules: R) {
        self.configuration = configuration
        self.rules = rules
        logger = Logger(label: "foldback") { StreamLogHandler.standardError(label: $0) }
    }

    /// Serves until SIGTERM or SIGINT.
    ///
    /// Then it is not ready, open polls end, decided requests are answered, and it returns within 20 s.
    ///
    /// - Parameter table: the decisions of all servers; nil if the folder has them.
    func run(_ isAdopting: Bool, over table: (any DecisionTable)?) async throws {
        ServerProcess.prepare()
        let tokens = try await tokens()
        let spaces = Spaces(
            in: configuration.data.appending(path: "spaces", directoryHint: .isDirectory),
            rules: rules, adopting: isAdopting, over: table)
        let handler = Handler(spaces, report: report) { await tokens.account(of: $0) }
        var group = ServiceGroupConfiguration(
            services: [
                application(
                    Health(spaces: spaces, traffic: traffic), at: configuration.adminListen,
                    of: "FOLDBACK_ADMIN_LISTEN", connectionsMax: 64, name: "health and metrics"),
                application(
                    Adapter(handler: handler, traffic: traffic), at: configuration.listen,
                    of: "FOLDBACK_LISTEN", connectionsMax: configuration.connectionsMax,
                    name: "listening"),
                // The last one is stopped first: polls end before connections are closed.
                SpacesService(spaces: spaces, traffic: traffic),
            ],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet)
        group.maximumGracefulShutdownDuration = .seconds(15)
        group.maximumCancellationDuration = .seconds(3)
        let asking = Task { if let table { await ask(table) } }
        defer { asking.cancel() }
        try await ServiceGroup(configuration: group).run()
    }

    /// Says at the start whether the database can be used. Without this, only requests would tell.
    private func ask(_ table: any DecisionTable) async {
        do throws(TableFailure) {
            let timeline = try await table.barrier()
            logger.info("The database answers, on timeline \(timeline).")
        } catch {
            logger.error(
                "The database cannot be used: \(error). The server goes on, and its spaces are unavailable until it can."
            )
        }
    }

    /// The messages of the libraries are about their own parts.
    private var quiet: Logger {
        var logger = logger
        logger.logLevel = .critical
        return logger
    }

    private func application<Responder: HTTPResponder>(
        _ responder: Responder, at address: Configuration.Address, of variable: String,
        connectionsMax: Int, name: String
    ) -> Listening<Responder>
    where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
        let application = ServerProcess.application(
            responder, host: address.host, port: address.port, connectionsMax: connectionsMax,
            name: name, logger: quiet)
        return Listening(application: application, address: address, variable: variable)
    }

    // MARK: Tokens

    private func tokens() async throws -> Tokens {
        let audience = configuration.audience
        if let file = configuration.keys {
            return try await Tokens(keySet: file, audience: audience)
        }
        let key = try OwnKey(in: configuration.data)
        let tokens = await Tokens(secret: key.bytes, audience: audience)
        if key.isNew, let account = Account("me") {
            let token = try await tokens.token(of: account, until: .inSeconds(365 * 86_400))
            ServerProcess.say(
                """
                This server signs its own tokens. Here is one for the account "me", valid for a year:
                \(token)
                """)
        }
        return tokens
    }

    // MARK: The log

    private func report(_ failure: AuthorityFailure) {
        guard let leftOut = repetitions.note("\(failure)", at: .now) else { return }
        let more = leftOut == 1 ? "once more" : "\(leftOut) times more"
        let text = leftOut == 0 ? "\(failure)" : "\(failure) (and \(more))"
        switch failure {
        // These are about the client.
        case .unauthenticated, .superseded: logger.debug("\(text)")
        // A server that stops ends its polls with this.
        case .unavailable where traffic.isStopping: logger.debug("\(text)")
        case .unavailable: logger.warning("\(text)")
        default: logger.error("\(text)")
        }
    }
}

extension Configuration {
    /// The folder of a space's log.
    func place(of space: SpaceName) -> URL {
        data.appending(path: "spaces/\(space.folder)", directoryHint: .isDirectory)
    }
}

/// Serves at an address, and says which one cannot be used.
private struct Listening<Responder: HTTPResponder>: Service
where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
    let application: Application<Responder>
    let address: Configuration.Address
    let variable: String

    func run() async throws {
        do { try await application.run() } catch let error as IOError {
            throw ConfigurationError(
                "\(address) cannot be used (\(String(cString: strerror(error.errnoCode)))): choose "
                    + "another address in \(variable), or end the process that has it")
        }
    }
}

/// Closes the spaces when the server stops.
private struct SpacesService<R: Rules>: Service {
    let spaces: Spaces<R>
    let traffic: Traffic

    func run() async throws {
        try? await gracefulShutdown()
        traffic.stop()
        await spaces.close()
    }
}
