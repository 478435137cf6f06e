import ArgumentParser
import Foundation

/// A feed in a browser: an authority and several devices in one process, and a second process that
/// restarts it when it crashes.
@main
struct FeedWeb: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed-web",
        abstract: "Serves a feed to browsers on this computer.",
        discussion: """
            Prints the page's address when the page is ready. Each replica is a device with a log of \
            its own, and its page is at /?replica=NAME. The stage at the bottom of the page holds, \
            rejects and delays the answers of the authority, and crashes the server, which then \
            starts again with the same files.

            The server ends when its input ends, or on SIGTERM.

            Example: feed-web --port 8080 --data /tmp/feed
            """)

    @Option(help: "The port on 127.0.0.1; 0 for any free port.")
    var port: UInt16 = 8080

    @Option(
        help: ArgumentHelp(
            "The directory for the logs. By default, a new directory, which is removed at the end.",
            valueName: "dir"))
    var data: String?

    @Option(help: "system, or manual: the time then moves only by POST /stage.")
    var clock: ClockKind = .system

    @Option(help: "The names of the devices, separated by commas.")
    var replicas = "mia,ben,zoe"

    @Option(help: "The number of posts that a new authority has.")
    var seedPosts = 12

    /// The number of times that the server was started before. Only the supervisor passes it.
    @Option(help: .hidden)
    var child: Int?

    func validate() throws {
        guard (0...1000).contains(seedPosts) else {
            throw ValidationError("--seed-posts must be from 0 to 1000, not \(seedPosts)")
        }
        let names = names
        let isName = { (name: String) in
            (1...20).contains(name.count)
                && name.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
        }
        guard (1...8).contains(names.count), Set(names).count == names.count,
            names.allSatisfy(isName)
        else {
            throw ValidationError(
                "--replicas needs 1 to 8 different names of letters from a to z, not \(replicas)")
        }
        if let name = names.first(where: FeedAuthority.usedNames.contains) {
            throw ValidationError("--replicas cannot have \(name): the authority uses this name")
        }
        guard child == nil || data != nil else { throw ValidationError("a child needs --data") }
    }

    var names: [String] { replicas.split(separator: ",").map(String.init) }

    /// With a word in place of options, this is a replay tool, so that the commands that the log's
    /// page shows work.
    static func main() async {
        guard let word = CommandLine.arguments.dropFirst().first, !word.hasPrefix("-") else {
            return await main(nil)
        }
        if word == Inspectors.command { Child.endWithSupervisor(at: STDIN_FILENO) }
        await FeedInspector.main()
    }

    func run() async throws {
        // A closed output or connection is an error of the call that writes, and not the end.
        signal(SIGPIPE, SIG_IGN)
        guard let child, let data else { return try supervise() }
        try await Child(options: self, data: URL(filePath: data), restarts: child).run()
    }

    private func supervise() throws {
        let folder = try DataFolder(data)
        defer { folder.end() }
        try Supervisor(
            port: port, data: folder.path,
            arguments: [
                "--clock", clock.rawValue, "--replicas", replicas, "--seed-posts", "\(seedPosts)",
            ]
        ).run()
    }
}

/// Whether the time passes by itself.
enum ClockKind: String, ExpressibleByArgument {
    case system, manual
}
