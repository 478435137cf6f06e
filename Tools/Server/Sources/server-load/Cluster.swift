import Dispatch
import FaultyNetwork
import Foundation
import Synchronization

/// A primary and a synchronous standby of PostgreSQL on this machine. Both flush each commit.
final class Cluster: Sendable {
    private let script: ClusterScript
    private let directory: URL
    /// How libpq connects to the node that takes writes.
    let connection: String

    /// - Parameters:
    ///   - script: `Tools/Server/cluster`.
    ///   - directory: a new folder.
    init(_ script: String, in directory: URL) throws {
        note("starting a primary and a standby")
        self.directory = directory
        self.script = ClusterScript(script, in: directory, isFlushing: true)
        connection = try self.script.run("start")
    }

    deinit { _ = try? command("destroy") }

    /// Runs a command of the script.
    @discardableResult
    func command(_ name: String, _ arguments: String...) throws -> String {
        try script.run(name, arguments)
    }

    /// Returns the only value that a statement of the superuser returns, or the first column of a row.
    @discardableResult
    func value(_ statement: String) throws -> String {
        try command("psql", "-v", "ON_ERROR_STOP=1", "-qAtc", statement)
    }

    // MARK: Raw inserts

    /// Makes a table with the columns and keys of the table of decisions.
    func makePlainTable() throws {
        try value(
            "CREATE TABLE plain (LIKE foldback.decision INCLUDING ALL); "
                + "GRANT INSERT ON plain TO foldback_server")
    }

    /// Inserts rows into the plain table from one connection, a statement and transaction at a time.
    ///
    /// The client is `pgbench`, with simple queries.
    ///
    /// - Parameters:
    ///   - rows: the rows of a statement.
    ///   - space: a new one.
    ///   - count: the number of statements. A time would end with a signal that this thread blocks, and
    ///     a process inherits that.
    /// - Returns: the rows a second.
    func insertions(rows: Int, space: String, count: Int) throws -> Double {
        let values = (0..<rows).map { row in
            """
            ('\(space)', :place, \(row), 'accepted', 'device 0', :place * 256 + \(row), 'ann', \
            7241903418276541093, 1, '{1,1}', '\(Devices.event(device: 0, row))')
            """
        }
        let file = directory.appending(path: "../insert-\(rows).sql").standardizedFileURL
        let statement = """
            \\set place :place + 1
            INSERT INTO plain (space, position, ordinal, outcome, replica, number, account, digest, \
            version, format, effect) VALUES \(values.joined(separator: ", "));

            """
        try Data(statement.utf8).write(to: file)
        let folder = try value("SELECT setting FROM pg_config WHERE name = 'BINDIR'")
        let options = ["-n", "-c", "1", "-t", "\(count)", "-D", "place=0", "-f", file.path]
        let report = try ClusterScript.run(["\(folder)/pgbench"] + options + [connection])
        // Version 13 has two lines: the second one is without the time to connect, too.
        let last = report.split(separator: "\n").last { $0.hasPrefix("tps = ") }
        guard let words = last?.split(separator: " "), words.count > 2, let pace = Double(words[2])
        else { throw LoadError("pgbench did not tell a pace: \(report)") }
        return pace * Double(rows)
    }

    // MARK: Promotion

    /// Promotes the standby while `body` runs.
    ///
    /// - Returns: the seconds until the command had ended.
    func promote(while body: () throws -> Void) throws -> Double {
        let start = ContinuousClock.now
        let ended = DispatchGroup()
        let seconds = Mutex<Result<Double, any Error>?>(nil)
        DispatchQueue.global().async(group: ended) { [self] in
            let result = Result {
                try command("promote")
                return start.duration(to: .now) / .seconds(1)
            }
            seconds.withLock { $0 = result }
        }
        let result = Result { try body() }
        ended.wait()
        try result.get()
        return try seconds.withLock { try $0?.get() } ?? 0
    }
}
