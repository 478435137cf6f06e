import Foldback
import Foundation

/// A real `feed-web` in its own process.
///
/// The process and its files are gone when this object ends.
package final class FeedWeb: Sendable {
    private let process: ChildProcess
    private let client: JSONClient

    /// - Parameters:
    ///   - clock: `manual`: only ``advance(milliseconds:)`` moves the time; or `system`.
    ///   - options: more arguments, such as `--seed-posts`.
    package static func start(
        clock: String = "manual", _ options: [String] = []
    ) async throws -> FeedWeb {
        let (process, port) = try await ChildProcess.start({ directory in
            [
                ChildProcess.executable("feed-web"), "--port", "0", "--clock", clock, "--data",
                directory.appending(path: "data").path,
            ] + options
        }) { line in
            line.firstMatch(of: /^http:\/\/127\.0\.0\.1:(\d+)\//).flatMap { UInt16($0.1) }
        }
        return FeedWeb(process, port)
    }

    private init(_ process: ChildProcess, _ port: UInt16) {
        self.process = process
        client = JSONClient(port: port)
    }

    /// Ends the server, and returns when it has ended.
    package func end() { process.end() }

    /// What the server has complained about. After ``end()``, there is nothing more to come.
    package var complaints: [Substring] { process.output.filter { $0.hasPrefix("feed-web: ") } }

    /// The address of a page.
    ///
    /// - Parameter query: more of the query, such as `&scene=archive`.
    package func page(of replica: String, _ query: String = "") -> String {
        "http://127.0.0.1:\(client.port)/?replica=\(replica)\(query)"
    }

    // MARK: Commands

    /// Does something as a person of a replica would.
    ///
    /// - Returns: the number of the intent; nil if the command does not record one.
    @discardableResult
    package func perform(_ action: JSON, as replica: String) async throws -> Int64? {
        try await accepted(client.send("POST", "/r/\(replica)/do", action), action)["number"]?
            .integerValue
    }

    /// Does something to the world around the replicas.
    @discardableResult
    package func stage(_ action: JSON) async throws -> JSON {
        try await accepted(client.send("POST", "/stage", action), action)
    }

    /// Moves the clock, and returns when everything that woke up has run and was sent to the pages.
    package func advance(milliseconds: Int) async throws {
        try await stage(["do": "advance", "seconds": .double(Double(milliseconds) / 1_000)])
    }

    package func stage() async throws -> JSON {
        try await accepted(client.send("GET", "/stage"), "stage")
    }

    /// All that a page of the replica shows, with the revision.
    package func state(of replica: String, _ query: String = "") async throws -> JSON {
        try await accepted(client.send("GET", "/r/\(replica)/state\(query)"), "state")
    }

    private func accepted(_ answer: JSONClient.Answer, _ action: JSON) throws -> JSON {
        guard answer.status == 200, answer.body["error"] == nil else {
            throw FeedWebError(action: action, status: answer.status, answer: answer.body)
        }
        return answer.body
    }
}

/// The server refused a command.
package struct FeedWebError: Error, CustomStringConvertible {
    package let action: JSON
    package let status: Int
    package let answer: JSON

    package var description: String { "\(action) was answered with \(status): \(answer)" }
}
