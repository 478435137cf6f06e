import Foldback
import Foundation
import Processes
import Testing

/// A real `inspect` in its own process, and the requests of a browser that opened its address.
final class InspectorProcess {
    let process: RunningProcess
    let port: Int
    let token: String

    /// Starts the tool, and waits for the line with its address.
    ///
    /// - Parameters:
    ///   - descriptors: the number of files that it may open.
    ///   - path: the value of `PATH`.
    init(
        _ arguments: [String], of tool: String = "foldback", descriptors: Int? = nil,
        path: String? = nil
    ) throws {
        let limit = descriptors.map { ["/bin/sh", "-c", #"ulimit -n \#($0); exec "$0" "$@""#] }
        process = try RunningProcess(
            (limit ?? []) + [executable(tool), "inspect"] + arguments,
            environment: path.map { ["PATH": $0] } ?? [:])
        let line = process.nextLine() ?? ""
        let parts = try #require(
            line.firstMatch(of: /^http:\/\/127\.0\.0\.1:(\d+)\/\?token=([0-9a-f]{32})$/), "\(line)")
        port = try #require(Int(parts.1))
        token = String(parts.2)
    }

    struct Answer {
        let status: Int
        let headers: [String]
        let body: String

        var json: JSON { (try? JSON(parsing: body)) ?? .null }

        func header(_ name: String) -> String? {
            headers.first { $0.lowercased().hasPrefix(name.lowercased() + ": ") }
                .map { String($0.dropFirst(name.count + 2)) }
        }
    }

    var cookie: String { "foldback-\(port)=\(token)" }

    /// Sends a request with curl. The path is sent as it is.
    func send(_ path: String, _ options: [String] = [], cookie: String? = nil) throws -> Answer {
        let seen = try run(
            ["curl", "-sS", "-i", "--path-as-is", "--max-time", "300"]
                + ["-b", cookie ?? self.cookie] + options + ["http://127.0.0.1:\(port)\(path)"])
        try #require(seen.status == 0, "\(path): \(seen.errors)")
        // curl also prints the answer `100 Continue`, which has no body.
        var rest = seen.output[...]
        while rest.hasPrefix("HTTP/1.1 100"), let end = rest.range(of: "\r\n\r\n") {
            rest = rest[end.upperBound...]
        }
        let end = try #require(rest.range(of: "\r\n\r\n"), "\(seen.output)")
        let lines = rest[..<end.lowerBound].components(separatedBy: "\r\n")
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return Answer(
            status: try #require(status), headers: Array(lines.dropFirst()),
            body: String(rest[end.upperBound...]))
    }

    /// Returns the JSON of a successful GET request.
    func get(_ path: String, line: Int = #line) throws -> JSON {
        let answer = try send(path)
        let place = SourceLocation(fileID: #fileID, filePath: #filePath, line: line, column: 1)
        #expect(answer.status == 200, "\(path): \(answer)", sourceLocation: place)
        return answer.json
    }

    func post(_ path: String, _ body: String) throws -> Answer {
        try send(path, ["-H", "Content-Type: application/json", "-d", body])
    }
}

extension String {
    /// The text as a part of a query.
    var queried: String {
        addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? self
    }
}
