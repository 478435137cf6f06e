import ArgumentParser
import Foundation
import Processes

/// Many long polls that wait at once, from several processes: each has files for only some connections.
struct WaitingPolls {
    let count: Int

    private static let processCount = 4

    struct Memory {
        let anonymous: Double
        let resident: Double

        init(of server: LoadedServer) throws(LoadError) {
            guard let anonymous = server.mebibytes("RssAnon"),
                let resident = server.mebibytes("VmRSS")
            else { throw LoadError("this system does not tell the memory of a process") }
            (self.anonymous, self.resident) = (anonymous, resident)
        }
    }

    struct Result {
        let before: Memory
        let during: Memory
        /// From an intent until the last poll has its effect.
        let seconds: Double
    }

    /// Starts a fresh server, and lets polls wait for one intent.
    func run(on server: LoadedServer, space: String) throws -> Result {
        try server.restart()
        var request = Numbered(
            server.submission(Devices.body(device: 0, 1), to: space, answerBytes: 150),
            numberCount: 1)
        let sender = try Connection(to: server.port)
        let head = try sender.exchange(request.next()).number(after: "\"head\":") ?? 1
        let before = try Memory(of: server)
        let poll = server.fetch(from: space, after: head, wait: 55, answerBytes: 400)
        let processes = try (0..<Self.processCount).map { _ in
            try RunningProcess(
                [
                    executable("server-load"), "polls", "\(server.port)",
                    "\(count / Self.processCount)", String(decoding: poll, as: UTF8.self),
                ], errors: .inherited)
        }
        for process in processes where process.nextLine() != "waiting" {
            throw LoadError("a process of polls ended early")
        }
        // Then the server has read all requests.
        sleep(2)
        try requireWaiting(server)
        let during = try Memory(of: server)
        let start = ContinuousClock.now
        try sender.exchange(request.next())
        for process in processes where process.nextLine() != "answered" {
            throw LoadError("a poll was not answered")
        }
        let seconds = start.duration(to: .now) / .seconds(1)
        for process in processes { process.waitUntilExit() }
        return Result(before: before, during: during, seconds: seconds)
    }

    private func requireWaiting(_ server: LoadedServer) throws(LoadError) {
        guard let port = server.adminPort else { return }
        let metrics = try Connection(to: port).exchange(
            Array("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8))
        let open = metrics.number(after: "\nfoldback_polls_open ") ?? 0
        guard open == count / Self.processCount * Self.processCount else {
            throw LoadError("only \(open) polls wait")
        }
    }
}

/// Sends the same poll on many connections, and waits for all answers.
struct PollsProcess: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "polls", abstract: "Waits with many polls.", shouldDisplay: false)

    @Argument var port: Int
    @Argument var count: Int
    @Argument var request: String

    func run() throws {
        let connections = try (0..<count).map { _ in
            let connection = try Connection(to: port, bufferBytes: 1 << 10)
            try connection.send(Array(request.utf8))
            return connection
        }
        say("waiting")
        for connection in connections { _ = try connection.receive() }
        say("answered")
    }

    private func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
