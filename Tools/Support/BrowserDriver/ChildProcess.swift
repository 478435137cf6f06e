import Foundation
import Synchronization

/// A process with a directory of its own. Both are gone when this object ends, and also when the
/// test process dies in any way.
///
/// A shell holds the process on a leash: it reads its input, and a pipe ends with the last process
/// that can write to it. Then the shell kills the process and everything that it started. It does
/// not ask them to end, because threads of tasks block SIGTERM, and a child inherits that. The
/// process has the same input as the shell.
package final class ChildProcess: Sendable {
    /// The directory for temporary files. `TMPDIR` of the process names it.
    package let directory: URL
    private let shell: Process
    private let leash = Pipe()
    /// Left when the output has ended.
    private let reading = DispatchGroup()
    private let written = Mutex<[Substring]>([])

    /// The lines that the process has written to its output and as errors.
    package var output: [Substring] { written.withLock { $0 } }

    /// The time that a process has until it is ready.
    private static let startMax = DispatchTimeInterval.seconds(120)

    /// Starts a command, and returns with the first line that `isReady` accepts.
    ///
    /// - Parameters:
    ///   - command: makes the command, given the directory of the process.
    ///   - isReady: returns what the line says; nil if the process is not ready yet.
    /// - Throws: ``ChildProcessError`` if the process ended without such a line, or was not ready in
    ///   time.
    package static func start<Found: Sendable>(
        _ command: (URL) -> [String], until isReady: @escaping @Sendable (Substring) -> Found?
    ) async throws -> (ChildProcess, Found) {
        let name = "foldback-browser-\(UUID().uuidString)"
        let directory = FileManager.default.temporaryDirectory.appending(
            path: name, directoryHint: .isDirectory)
        let command = command(directory)
        let (process, lines) = try ChildProcess.launch(command, in: directory)
        // Without a process, there are no more lines.
        let deadline = DispatchWorkItem { process.end() }
        DispatchQueue.global().asyncAfter(deadline: .now() + startMax, execute: deadline)
        defer { deadline.cancel() }
        for await line in lines {
            if let found = isReady(line) { return (process, found) }
        }
        throw ChildProcessError(command: command, output: process.output)
    }

    private static func launch(
        _ command: [String], in directory: URL
    ) throws -> (ChildProcess, AsyncStream<Substring>) {
        let output = Pipe()
        let process = try ChildProcess(command, in: directory, output: output)
        let (lines, continuation) = AsyncStream.makeStream(of: Substring.self)
        // The pipe is read until its end, because a process that fills a pipe stops.
        let file = output.fileHandleForReading
        process.reading.enter()
        Thread.detachNewThread { [weak process, reading = process.reading] in
            var rest = Data()
            while case let data = file.availableData, !data.isEmpty {
                rest.append(data)
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = Substring(decoding: rest[..<end], as: UTF8.self)
                    process?.written.withLock { $0.append(line) }
                    continuation.yield(line)
                    rest = Data(rest[rest.index(after: end)...])
                }
            }
            continuation.finish()
            reading.leave()
        }
        return (process, lines)
    }

    private init(_ command: [String], in directory: URL, output: Pipe) throws {
        self.directory = directory
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let script = """
            exec 3<&0
            setsid "$@" <&3 2>&1 & child=$!
            exec >/dev/null 2>&1
            cat
            kill -KILL -$child; wait $child
            rm -rf "$TMPDIR"
            """
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-c", script, "sh"] + command
        shell.environment = ProcessInfo.processInfo.environment.merging(
            ["TMPDIR": directory.path], uniquingKeysWith: { $1 })
        shell.standardInput = leash
        shell.standardOutput = output
        try shell.run()
        self.shell = shell
    }

    /// Ends the process, and returns when it has ended and all of its output was read.
    package func end() {
        try? leash.fileHandleForWriting.close()
        shell.waitUntilExit()
        // A process that left the group could keep the pipe open.
        _ = reading.wait(timeout: .now() + 10)
    }

    deinit { end() }

    /// Returns the path of an executable. Executables are beside the test bundle.
    package static func executable(_ name: String) -> String {
        URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appending(path: name).path
    }
}

/// A process ended before it was ready, or was not ready in time.
package struct ChildProcessError: Error, CustomStringConvertible {
    package let command: [String]
    package let output: [Substring]

    package var description: String {
        """
        \(command.joined(separator: " ")) was never ready. It said: \
        \(output.joined(separator: "\n"))
        """
    }
}
