import BrowserDriver
import Foldback
import Foundation

/// A command ended with another status than the test needs.
struct CommandFailure: Error, CustomStringConvertible {
    let words: [String]
    let end: CommandEnd

    var description: String {
        "\(words.joined(separator: " ")) ended with \(end.status): \(end.errors)"
    }
}

/// Runs a command line to its end. Tools are beside the test bundle.
///
/// - Parameters:
///   - words: the tool's name and its arguments.
///   - statuses: the exit codes that are not a failure.
@discardableResult
func runTool(
    _ words: String..., statuses: Set<Int32> = [0], in directory: URL? = nil
) async throws -> CommandEnd {
    try await runTool(words, statuses: statuses, in: directory)
}

@discardableResult
func runTool(
    _ words: [String], statuses: Set<Int32> = [0], in directory: URL? = nil
) async throws -> CommandEnd {
    let command = [ChildProcess.executable(words[0])] + words.dropFirst()
    let end = try await ended(command, in: directory)
    guard statuses.contains(end.status) else { throw CommandFailure(words: words, end: end) }
    return end
}

/// Runs a line as a shell does, with the tools on its path.
func runShell(_ line: String, in directory: URL) async throws -> CommandEnd {
    let tools = URL(filePath: ChildProcess.executable("x")).deletingLastPathComponent().path
    return try await ended(
        ["/bin/bash", "-c", "PATH=\"$0:$PATH\"; \(line)", tools], in: directory)
}

private func ended(_ command: [String], in directory: URL?) async throws -> CommandEnd {
    // The calls block, and must not block the threads of tasks.
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async {
            continuation.resume(with: Result { try CommandEnd(of: command, in: directory) })
        }
    }
}

/// A directory in the temporary directory. It is removed with this value.
final class Folder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(
        path: "foldback-report-\(UUID().uuidString)", directoryHint: .isDirectory)

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }
    deinit { try? FileManager.default.removeItem(at: url) }

    /// The path of a file in it.
    func path(_ name: String) -> String { url.appending(path: name).path }
}

/// A process that writes a log: `foldback shell`, or a session that somebody types.
final class Writer {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var buffer: [UInt8] = []

    init(_ log: String, _ options: [String] = []) throws {
        process.executableURL = URL(filePath: ChildProcess.executable("foldback"))
        process.arguments = ["shell", log] + options
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        // A write to a killed shell would end this process with SIGPIPE.
        signal(SIGPIPE, SIG_IGN)
        try process.run()
    }

    deinit {
        if process.isRunning { kill() }
        process.waitUntilExit()
    }

    /// Sends a command, and returns its answer.
    ///
    /// - Throws: ``WriterEnded`` if the answer is missing or an error.
    @discardableResult
    func send(_ line: String) throws -> JSON {
        try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let answer = try JSON(parsing: Array(buffer[..<end]))
                buffer.removeSubrange(...end)
                guard answer["ok"] == true else { throw WriterEnded(line: line, answer: answer) }
                return answer
            }
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw WriterEnded(line: line, answer: nil) }
            buffer.append(contentsOf: data)
        }
    }

    /// Kills the process, and returns when it has ended.
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Ends the input, and returns when the process has ended.
    func end() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}

struct WriterEnded: Error {
    let line: String
    let answer: JSON?
}
