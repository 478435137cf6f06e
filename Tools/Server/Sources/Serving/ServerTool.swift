import ArgumentParser
import Foldback
import FoldbackHistory
import FoldbackPostgres
import FoldbackServer
import Foundation

/// A server of an app's rules as a command with subcommands.
///
/// ```swift
/// @main
/// struct NotesServer: ServerTool {
///     static func rules(_ access: SpaceAccess) -> NotesRules { NotesRules() }
/// }
/// ```
public protocol ServerTool {
    associatedtype R: Rules
    /// Returns the rules of all spaces.
    ///
    /// - Parameter access: what FOLDBACK_ACCESS says, for rules that have no membership of their own.
    static func rules(_ access: SpaceAccess) -> R
}

/// Which spaces an account may use.
public enum SpaceAccess: String, Sendable {
    /// Each account may use each space.
    case all
    /// An account may use the space that has its name.
    case own

    public func allows(_ account: Account, _ space: SpaceName) -> Bool {
        self == .all || account.name == ExactString(space.description)
    }
}

extension ServerTool {
    public static func main() async {
        do throws(any Error) {
            var command = ServerCommand.parsed()
            guard let command = command as? any ServerSubcommand else {
                do { return try command.run() } catch { ServerCommand.exit(withError: error) }
            }
            let environment = ProcessInfo.processInfo.environment
            try await command.run(try Configuration(environment: environment), rules)
        } catch {
            FileHandle.standardError.write(Data("\(ServerCommand.name): \(error)\n".utf8))
            exit(1)
        }
    }
}

private protocol ServerSubcommand: ParsableCommand {
    func run<R: Rules>(
        _ configuration: Configuration, _ rules: (SpaceAccess) -> R
    ) async throws
}

/// The commands of every server.
struct ServerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Serves spaces over HTTP.",
        discussion: """
            Devices sync with http://ADDRESS/v1/spaces/SPACE and a token. The names in the \
            environment, with their defaults:

            \(Configuration.names.map { "  \($0.name)=\($0.standard)\n      \($0.help)" }
                .joined(separator: "\n"))
            """,
        subcommands: [Serve.self, Token.self, Backup.self, Move.self, NewLineage.self],
        defaultSubcommand: Serve.self)

    static var name: String {
        URL(filePath: CommandLine.arguments.first ?? "server").lastPathComponent
    }

    /// Parses the arguments, or ends the process with help or an error.
    static func parsed() -> any ParsableCommand {
        do { return try parseAsRoot() } catch { exit(withError: error) }
    }

    struct Serve: ServerSubcommand {
        static let configuration = CommandConfiguration(
            abstract: "Runs the server until SIGTERM or Ctrl-C. This is the default.")

        @Flag(
            help: """
                Copied or restored spaces keep their lineage. Give it once, and only if the copy has \
                every answer that devices got, and the original is gone.
                """)
        var adopt = false

        @OptionGroup var database: Database

        func run<R: Rules>(
            _ configuration: Configuration, _ rules: (SpaceAccess) -> R
        ) async throws {
            let table = try database.table(configuration)
            guard table == nil || !adopt else {
                throw ConfigurationError(
                    "--adopt is for folders that have the decisions, and PostgreSQL has them")
            }
            try await Server(configuration, rules(configuration.access)).run(adopt, over: table)
        }
    }

    struct Token: ServerSubcommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints a token, signed with the server's own key.")

        @Argument(help: "The account whose devices use it.")
        var account: String

        @Option(help: "The days until it expires.")
        var days = 365

        func run<R: Rules>(
            _ configuration: Configuration, _ rules: (SpaceAccess) -> R
        ) async throws {
            guard configuration.keys == nil else {
                throw ConfigurationError(
                    "FOLDBACK_KEYS is set, and these keys are public: make tokens with the secret keys"
                )
            }
            guard let account = Account(account) else {
                throw ConfigurationError("an account has 1 to 255 bytes")
            }
            guard 1...36_500 ~= days else {
                throw ConfigurationError("a token is valid for 1 to 36500 days")
            }
            let key = try OwnKey(in: configuration.data)
            let tokens = await Tokens(secret: key.bytes, audience: configuration.audience)
            print(try await tokens.token(of: account, until: .inSeconds(days * 86_400)))
        }
    }

    struct Backup: ServerSubcommand {
        static let configuration = CommandConfiguration(
            abstract: "Copies a space's log, also while the server uses it.",
            discussion: "The copy is checked before it gets its name. An earlier one is replaced.")

        @Argument(help: "The name of the space.")
        var space: String

        @Argument(help: "The folder of the copy.")
        var directory: String

        func run<R: Rules>(
            _ configuration: Configuration, _ rules: (SpaceAccess) -> R
        ) async throws {
            let space = try SpaceName(argument: space)
            let reader = try LogReader(at: configuration.place(of: space))
            try await reader.backup(to: URL(filePath: directory, directoryHint: .isDirectory))
            print("The log of \(space) is copied to \(directory).")
        }
    }

    /// The database that has the decisions.
    struct Database: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                """
                The decisions are in this PostgreSQL, and the folder has a copy: "host=db1,db2 \
                dbname=app user=foldback_server". The default is FOLDBACK_POSTGRES.
                """, valueName: "conninfo"))
        var postgres: String?

        func table(_ configuration: Configuration) throws -> PostgresTable? {
            guard let text = postgres ?? configuration.postgres else { return nil }
            do { return try PostgresTable(text) } catch {
                throw ConfigurationError("--postgres or FOLDBACK_POSTGRES: \(error)")
            }
        }

    }

    /// A space in the database.
    struct SharedSpace: ParsableArguments {
        @Argument(help: "The name of the space.")
        var space: String

        @OptionGroup var database: Database

        func parsed(_ configuration: Configuration) throws -> (SpaceName, PostgresTable) {
            guard let table = try database.table(configuration) else {
                throw ConfigurationError("name the database: --postgres or FOLDBACK_POSTGRES")
            }
            return (try SpaceName(argument: space), table)
        }
    }

    struct Move: ServerSubcommand {
        static let configuration = CommandConfiguration(
            abstract: "Moves a space from the folder to PostgreSQL. Devices notice nothing.",
            discussion: """
                No server may run meanwhile. If it is interrupted, run it again. Afterwards the folder has \
                a copy, for a server with --postgres.
                """)

        @OptionGroup var shared: SharedSpace

        func run<R: Rules>(
            _ configuration: Configuration, _ rules: (SpaceAccess) -> R
        ) async throws {
            let (space, table) = try shared.parsed(configuration)
            let count = try await Space<R>.move(
                from: configuration.place(of: space), named: space, to: table)
            print("\(space) is in PostgreSQL now: \(count) groups of decisions were appended.")
        }
    }

    struct NewLineage: ServerSubcommand {
        static let configuration = CommandConfiguration(
            abstract: "Lets the servers go on with what PostgreSQL has, after it lost decisions.",
            discussion: """
                Devices continue on new logs, and send again what is lost. Run it once, when the database \
                is the one that you want to keep.
                """)

        @OptionGroup var shared: SharedSpace

        func run<R: Rules>(
            _ configuration: Configuration, _ rules: (SpaceAccess) -> R
        ) async throws {
            let (space, table) = try shared.parsed(configuration)
            let lineage = try await table.beginNewLineage(of: space)
            print("The lineage of \(space) is \(lineage) now.")
        }
    }
}

extension SpaceName {
    fileprivate init(argument: String) throws {
        guard let name = SpaceName(argument) else {
            throw ConfigurationError("\(argument) is not the name of a space")
        }
        self = name
    }
}
