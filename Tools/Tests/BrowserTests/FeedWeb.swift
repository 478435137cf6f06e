import Foldback
import Foundation

/// A real `feed-web` in its own process, with a clock that only this test moves.
///
/// The process and its files are gone when this object ends.
final class FeedWeb: Sendable {
    let address: URL
    private let process: ChildProcess
    private let client: JSONClient

    /// - Parameter options: more arguments, such as `--seed-posts`.
    static func start(_ options: [String] = []) async throws -> FeedWeb {
        let (process, port) = try await ChildProcess.start({ directory in
            [
                ChildProcess.executable("feed-web"), "--port", "0", "--clock", "manual", "--data",
                directory.appending(path: "data").path,
            ] + options
        }) { line in
            line.firstMatch(of: /^http:\/\/127\.0\.0\.1:(\d+)\//).flatMap { UInt16($0.1) }
        }
        return FeedWeb(process, port)
    }

    private init(_ process: ChildProcess, _ port: UInt16) {
        self.process = process
        address = URL(string: "http://127.0.0.1:\(port)/")!
        client = JSONClient(port: port)
    }

    /// Ends the server, and returns when it has ended.
    func end() { process.end() }

    /// What the server has complained about.
    var complaints: [Substring] { process.output.filter { $0.hasPrefix("feed-web: ") } }

    /// The address of a page.
    ///
    /// - Parameter query: more of the query, such as `&scene=archive`.
    func page(of replica: String, _ query: String = "") -> URL {
        URL(string: "/?replica=\(replica)\(query)", relativeTo: address)!.absoluteURL
    }

    // MARK: Commands

    /// Does something as a person of a replica would.
    ///
    /// - Returns: the number of the intent; nil if the command does not record one.
    @discardableResult
    func perform(_ action: JSON, as replica: String) async throws -> Int64? {
        try await accepted(client.send("POST", "/r/\(replica)/do", action), action)["number"]?
            .integerValue
    }

    /// Does something to the world around the replicas.
    @discardableResult
    func stage(_ action: JSON) async throws -> JSON {
        try await accepted(client.send("POST", "/stage", action), action)
    }

    /// Moves the clock, and returns when everything that woke up has run and was sent to the pages.
    func advance(milliseconds: Int) async throws {
        try await stage(["do": "advance", "seconds": .double(Double(milliseconds) / 1_000)])
    }

    func stage() async throws -> JSON { try await accepted(client.send("GET", "/stage"), "stage") }

    /// All that a page of the replica shows, with the revision.
    func state(of replica: String, _ query: String = "") async throws -> JSON {
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
struct FeedWebError: Error, CustomStringConvertible {
    let action: JSON
    let status: Int
    let answer: JSON

    var description: String { "\(action) was answered with \(status): \(answer)" }
}
