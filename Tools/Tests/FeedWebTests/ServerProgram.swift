import BrowserDriver
import Foldback
import Foundation
import Processes
import Synchronization

/// The program `feed-web` in its own process, which ends with this object.
///
/// Its input is a pipe of the test process, so it ends with that too.
final class ServerProgram: Sendable {
    enum Ending { case input, signal(Int32) }

    /// The folder for the files. Without `--data`, it is the directory for temporary files.
    let data: Folder
    private let process: RunningProcess
    private let knownPort = Mutex<UInt16>(0)

    var port: UInt16 { knownPort.withLock { $0 } }
    var client: JSONClient { JSONClient(port: port) }

    /// Starts the program and returns when it is ready. Its clock stands still.
    ///
    /// - Parameters:
    ///   - hasData: whether it gets a directory.
    ///   - trace: the file for its system calls; nil for no trace.
    static func start(
        hasData: Bool = true, tracingTo trace: URL? = nil
    ) async throws -> ServerProgram {
        let program = try ServerProgram(
            ["--port", "0", "--clock", "manual"], hasData: hasData, tracingTo: trace)
        let line = try await onThread { program.process.nextLine() } ?? ""
        guard let port = line.firstMatch(of: /^http:\/\/127\.0\.0\.1:(\d+)\/$/).map({ $0.1 })
        else { throw UnexpectedAnswer(description: line) }
        program.knownPort.withLock { $0 = UInt16(port) ?? 0 }
        return program
    }

    /// - Parameter readsOutput: false for a pipe that nobody can read.
    init(
        _ arguments: [String], hasData: Bool = true, readsOutput: Bool = true,
        tracingTo trace: URL? = nil
    ) throws {
        data = try Folder()
        var command = [executable("feed-web")] + arguments
        if hasData, !arguments.contains("--data") { command += ["--data", data.url.path] }
        if let trace {
            let calls = "openat,pwrite64,fdatasync,fsync,msync,recvfrom,read,sendto,write"
            command = Strace.tracing(calls, to: trace) + ["-y", "-s", "8000"] + command
        }
        process = try RunningProcess(
            command, environment: ["TMPDIR": data.url.path], input: .pipe,
            errors: readsOutput ? .output : .inherited)
        if !readsOutput { process.closeOutput() }
    }

    deinit { if process.isRunning { end(by: .input) } }

    // MARK: The process

    var isRunning: Bool { process.isRunning }

    /// Ends the program, and returns its status.
    @discardableResult func end(by ending: Ending) -> Int32 {
        switch ending {
        case .input: process.closeInput()
        case .signal(let number): process.signal(number)
        }
        return waitUntilExit()
    }

    /// Returns the status when the program has ended.
    @discardableResult func waitUntilExit() -> Int32 { process.waitUntilExit() }

    /// What the program has written until its end.
    var lines: [String] { process.waitForEnd().output.split(separator: "\n").map(String.init) }

    // MARK: Commands

    /// Does something as mia would, and returns when all that follows from it has happened.
    func perform(_ command: JSON) async throws {
        let answer = try await client.send("POST", "/r/mia/do", command)
        guard answer.status == 200, answer.body["error"] == nil else {
            throw UnexpectedAnswer(description: "\(command): \(answer.body)")
        }
    }

    /// The id of the process with the server.
    func childPID() async throws -> pid_t {
        pid_t(try await client.send("GET", "/stage").body["pid"]?.integerValue ?? 0)
    }

    /// The position of the newest decision.
    func head() async throws -> Int64 {
        try await client.send("GET", "/stage").body["head"]?.integerValue ?? 0
    }
}

/// What a server said in place of what a test needs.
private struct UnexpectedAnswer: Error, CustomStringConvertible {
    let description: String
}
