import Foldback
import Foundation
import Processes

/// A command ended with another status than the test needs.
struct CommandFailure: Error, CustomStringConvertible {
    let words: [String]
    let end: ProcessEnd

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
) async throws -> ProcessEnd {
    try await runTool(words, statuses: statuses, in: directory)
}

@discardableResult
func runTool(
    _ words: [String], statuses: Set<Int32> = [0], in directory: URL? = nil
) async throws -> ProcessEnd {
    let command = [executable(words[0])] + words.dropFirst()
    let end = try await onThread { try run(command, in: directory) }
    guard statuses.contains(end.status) else { throw CommandFailure(words: words, end: end) }
    return end
}

/// Runs a line as a shell does, with the tools on its path.
func runShell(_ line: String, in directory: URL) async throws -> ProcessEnd {
    let tools = URL(filePath: executable("x")).deletingLastPathComponent().path
    return try await onThread {
        try run(["/bin/bash", "-c", "PATH=\"$0:$PATH\"; \(line)", tools], in: directory)
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

extension ShellProcess {
    /// Sends a command, and returns its answer.
    ///
    /// - Throws: ``ShellFailure`` if the answer is missing or an error.
    @discardableResult
    func perform(_ line: String) throws -> JSON {
        send(line)
        let answer = answer()
        guard let answer, answer["ok"] == true else {
            throw ShellFailure(line: line, answer: answer)
        }
        return answer
    }
}

struct ShellFailure: Error {
    let line: String
    let answer: JSON?
}
