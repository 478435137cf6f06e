import Foldback
import FoldbackServer
import Foundation

/// What a server needs to know, read from the environment.
struct Configuration: Sendable {
    /// An address to listen on.
    struct Address: Sendable, CustomStringConvertible {
        let host: String
        let port: Int

        var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
        var isLoopback: Bool {
            host == "::1" || host == "localhost" || host.hasPrefix("127.")
        }
    }

    let listen: Address
    let adminListen: Address
    let data: URL
    /// A file with the public keys of those who sign tokens; nil for a key of the server's own.
    let keys: URL?
    let audience: String
    let access: SpaceAccess
    let connectionsMax: Int
    /// A connection string of PostgreSQL; nil if the folder has the decisions.
    let postgres: String?

    /// The names of the environment, each with its default and a line of help.
    static let names: [(name: String, standard: String, help: String)] = [
        ("FOLDBACK_LISTEN", "127.0.0.1:8787", "the address for devices; port 0 takes a free one"),
        ("FOLDBACK_ADMIN_LISTEN", "127.0.0.1:8788", "the address of health and metrics"),
        (
            "FOLDBACK_PLAINTEXT", "",
            "\"behind-proxy\" allows addresses that other machines reach: TLS is a proxy's job"
        ),
        ("FOLDBACK_DATA", "foldback-data", "the folder of the spaces"),
        (
            "FOLDBACK_KEYS", "",
            "a JWKS file with the keys of tokens; without it, the server's own key signs them"
        ),
        ("FOLDBACK_AUDIENCE", "foldback", "the \"aud\" that a token must have"),
        (
            "FOLDBACK_ACCESS", "all",
            "all: each account may use each space; own: only the space with its own name"
        ),
        ("FOLDBACK_CONNECTIONS", "12000", "the most connections at once"),
        (
            "FOLDBACK_POSTGRES", "",
            "a connection string of PostgreSQL, which then has the decisions; as --postgres"
        ),
    ]

    /// - Throws: ``ConfigurationError``.
    init(environment: [String: String]) throws(ConfigurationError) {
        let known = Set(Self.names.map(\.name))
        let unknown = environment.keys.filter { $0.hasPrefix("FOLDBACK_") && !known.contains($0) }
        if let name = unknown.min() {
            throw ConfigurationError("\(name) is not a name of this server; see --help")
        }
        func value(_ name: String) -> String {
            environment[name] ?? Self.names.first { $0.name == name }?.standard ?? ""
        }
        listen = try Self.address(value("FOLDBACK_LISTEN"), of: "FOLDBACK_LISTEN")
        adminListen = try Self.address(value("FOLDBACK_ADMIN_LISTEN"), of: "FOLDBACK_ADMIN_LISTEN")
        let plaintext = value("FOLDBACK_PLAINTEXT")
        guard plaintext.isEmpty || plaintext == "behind-proxy" else {
            throw ConfigurationError("FOLDBACK_PLAINTEXT must be \"behind-proxy\", or not set")
        }
        for address in [listen, adminListen] where !address.isLoopback && plaintext.isEmpty {
            throw ConfigurationError(
                "\(address) is reached by other machines, and this server has no TLS: put a proxy "
                    + "with TLS in front, and set FOLDBACK_PLAINTEXT=behind-proxy")
        }
        data = URL(filePath: value("FOLDBACK_DATA"), directoryHint: .isDirectory)
        let keys = value("FOLDBACK_KEYS")
        self.keys = keys.isEmpty ? nil : URL(filePath: keys)
        audience = value("FOLDBACK_AUDIENCE")
        guard !audience.isEmpty else {
            throw ConfigurationError("FOLDBACK_AUDIENCE must not be empty")
        }
        guard let access = SpaceAccess(rawValue: value("FOLDBACK_ACCESS")) else {
            throw ConfigurationError("FOLDBACK_ACCESS must be \"all\" or \"own\"")
        }
        self.access = access
        guard let connections = Int(value("FOLDBACK_CONNECTIONS")), 1...1_000_000 ~= connections
        else { throw ConfigurationError("FOLDBACK_CONNECTIONS must be a number from 1") }
        connectionsMax = connections
        let postgres = value("FOLDBACK_POSTGRES")
        self.postgres = postgres.isEmpty ? nil : postgres
    }

    private static func address(
        _ text: String, of name: String
    ) throws(ConfigurationError) -> Address {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let host = parts.dropLast().joined(separator: ":")
            .trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        guard parts.count >= 2, !host.isEmpty, let port = Int(parts[parts.count - 1]),
            0...65_535 ~= port
        else {
            throw ConfigurationError("\(name) must be an address and a port, not \"\(text)\"")
        }
        return Address(host: host, port: port)
    }
}

/// What is wrong with the environment, and what to do.
struct ConfigurationError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
