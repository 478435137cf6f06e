import Foldback
import Foundation
import Synchronization

/// A process that this process started. It ends with this object at the latest.
///
/// ```swift
/// let shell = try RunningProcess([executable("foldback"), "shell", log], input: .pipe)
/// shell.send(#"{"do":"status"}"#)
/// let answer = shell.nextLine()
/// shell.closeInput()
/// let end = shell.waitForEnd()
/// ```
///
/// The calls block. Wrap them in ``onThread(_:)`` in a task. Use ``LeashedProcess`` for a program
/// that starts programs of its own, such as a browser.
package final class RunningProcess: Sendable {
    /// The place that a standard stream is connected to.
    package enum Stream: Sendable {
        /// Nothing comes from it, and it loses everything.
        case none
        /// This object reads or writes it.
        case pipe
        /// The same stream of this process.
        case inherited
        case file(FileHandle)
        /// The same place as the output. Only for errors.
        case output
    }

    private let process = Process()
    /// Left when the process has ended. Foundation's own wait can notice that 50 ms late.
    private let ending = DispatchGroup()
    private let input: FileHandle?
    private let output: FileHandle?
    private let errors: DrainedStream?
    /// Output that was read and that no call has returned yet.
    private let unread = Mutex<[UInt8]>([])

    /// - Parameters:
    ///   - words: a program, by path or by name, and its arguments.
    ///   - environment: added to the environment of this process.
    ///   - errors: a pipe is read all the time, because a process that fills one waits.
    package init(
        _ words: [String], environment: [String: String] = [:], in directory: URL? = nil,
        input: Stream = .none, output: Stream = .pipe, errors: Stream = .pipe
    ) throws {
        // A program with a path runs at once: a tracing library must see no other program.
        let hasPath = words[0].contains("/")
        process.executableURL = URL(filePath: hasPath ? words[0] : "/usr/bin/env")
        process.arguments = hasPath ? Array(words.dropFirst()) : words
        process.currentDirectoryURL = directory
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let source = Self.place(input, .standardInput)
        let target = Self.place(output, .standardOutput)
        let isMerged = if case .output = errors { true } else { false }
        let errorTarget = isMerged ? target : Self.place(errors, .standardError)
        process.standardInput = source
        process.standardOutput = target
        process.standardError = errorTarget
        process.terminationHandler = { [ending] _ in ending.leave() }
        ending.enter()
        do { try Self.starting.withLock { [process] _ in try process.run() } } catch {
            ending.leave()
            throw error
        }
        self.input = (source as? Pipe)?.fileHandleForWriting
        self.output = (target as? Pipe)?.fileHandleForReading
        self.errors =
            isMerged ? nil : (errorTarget as? Pipe).map { DrainedStream($0.fileHandleForReading) }
    }

    /// Processes start one after the other. `Process` notices the end of a program by a socket that
    /// closes. A program that another thread starts at the same moment can inherit this socket, and
    /// keeps it open. If it is a daemon, the wait for the first program never ends, and takes a whole
    /// processor.
    private static let starting = Mutex<Void>(())

    /// Returns what `Process` takes for a stream.
    private static func place(_ stream: Stream, _ own: FileHandle) -> Any {
        switch stream {
        case .none: FileHandle.nullDevice
        case .pipe: Pipe()
        case .inherited: own
        case .file(let file): file
        case .output: preconditionFailure("only errors can go to the place of the output")
        }
    }

    deinit {
        signal(SIGKILL)
        ending.wait()
        // Foundation knows of the end just after it has said so. Without the last call, it keeps the
        // process and its pipes for good.
        while process.isRunning { sched_yield() }
        process.waitUntilExit()
    }

    package var id: pid_t { process.processIdentifier }
    package var isRunning: Bool { ending.wait(timeout: .now()) == .timedOut }

    /// Sends a signal, unless the process has ended.
    package func signal(_ number: Int32) { if isRunning { kill(id, number) } }

    // MARK: Streams

    /// Writes a line to the input. A process that has ended loses it.
    package func send(_ line: String) {
        // A write to a process that has ended would end this process with SIGPIPE.
        Foundation.signal(SIGPIPE, SIG_IGN)
        try? input?.write(contentsOf: Data((line + "\n").utf8))
    }

    package func closeInput() { try? input?.close() }

    /// Closes this process's end of the output, so that the process cannot write to it.
    package func closeOutput() { try? output?.close() }

    /// Returns the next line of the output; nil if the output has ended.
    package func nextLine() -> String? {
        unread.withLock { unread in
            while true {
                if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = String(decoding: unread[..<end], as: UTF8.self)
                    unread.removeSubrange(...end)
                    return line
                }
                guard let data = output?.availableData, !data.isEmpty else {
                    defer { unread = [] }
                    return unread.isEmpty ? nil : String(decoding: unread, as: UTF8.self)
                }
                unread += data
            }
        }
    }

    /// Returns the next line of the output as JSON; nil if it is not JSON, or the output has ended.
    package func nextJSON() -> JSON? { nextLine().flatMap { try? JSON(parsing: $0) } }

    // MARK: Its end

    /// Waits for the process to end, and returns its ``ProcessEnd/status``.
    ///
    /// It does not end if it waits for a reader of its output.
    @discardableResult package func waitUntilExit() -> Int32 {
        ending.wait()
        return process.terminationStatus
    }

    /// Reads all streams to their ends, and waits for the process to end.
    @discardableResult package func waitForEnd() -> ProcessEnd {
        let rest = unread.withLock { unread in
            defer { unread = [] }
            return unread + ((try? output?.readToEnd()) ?? Data())
        }
        let words = errors?.text ?? ""
        ending.wait()
        return ProcessEnd(
            status: process.terminationStatus, reason: process.terminationReason,
            output: String(decoding: rest, as: UTF8.self), errors: words)
    }
}

/// The end of a process, with what it wrote and nobody had read.
package struct ProcessEnd: Sendable {
    /// The exit code, or the number of the signal that ended the process.
    package let status: Int32
    package let reason: Process.TerminationReason
    package let output: String
    package let errors: String

    package var isSuccess: Bool { reason == .exit && status == 0 }

    /// The lines of output, each as JSON.
    package var lines: [JSON] {
        get throws { try output.split(separator: "\n").map { try JSON(parsing: String($0)) } }
    }
}

/// Runs a command to its end.
///
/// - Parameters:
///   - words: a program, by path or by name, and its arguments.
///   - secondsMax: the time until the process is killed.
package func run(
    _ words: [String], environment: [String: String] = [:], in directory: URL? = nil,
    input: RunningProcess.Stream = .none, output: RunningProcess.Stream = .pipe,
    errors: RunningProcess.Stream = .pipe, secondsMax: Double? = nil
) throws -> ProcessEnd {
    let process = try RunningProcess(
        words, environment: environment, in: directory, input: input, output: output,
        errors: errors)
    let deadline = DispatchWorkItem { process.signal(SIGKILL) }
    if let secondsMax {
        DispatchQueue.global().asyncAfter(deadline: .now() + secondsMax, execute: deadline)
    }
    defer { deadline.cancel() }
    return process.waitForEnd()
}

/// Returns the path of an executable or a library that is built with this one.
package func executable(_ name: String) -> String {
    URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: name).path
}

/// Calls a function that blocks, and must not block the threads of tasks.
package func onThread<R: Sendable>(
    _ body: @escaping @Sendable () throws -> R
) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
    }
}

/// A stream that a thread reads to its end.
private final class DrainedStream: Sendable {
    private let data = Mutex(Data())
    private let reading = DispatchGroup()

    init(_ file: FileHandle) {
        reading.enter()
        Thread.detachNewThread { [self] in
            let read = (try? file.readToEnd()) ?? Data()
            data.withLock { $0 = read }
            reading.leave()
        }
    }

    /// Everything from the stream. Waits until the stream has ended.
    var text: String {
        reading.wait()
        return data.withLock { String(decoding: $0, as: UTF8.self) }
    }
}
