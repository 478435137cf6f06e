import ArgumentParser
import Foundation

/// Runs the server in a child process, and starts it again whenever it ends, with the same socket
/// and files.
///
/// The child ends with the supervisor, also if the supervisor is killed: its output is a pipe of the
/// supervisor, and it ends when nobody can read that pipe any more.
struct Supervisor {
    let port: UInt16
    /// The folder for the logs.
    let data: String
    /// The child's other arguments, without port and number.
    let arguments: [String]

    /// Serves until the input ends or a signal comes.
    ///
    /// - Throws: ``StartError`` if no server can be started or watched; `ExitCode` if a child has said
    ///   why.
    func run() throws {
        let signals = SignalPipe(SIGTERM, SIGINT)
        let socket = try ListeningSocket(port)
        var restarts = Restarts()
        var inspectors = Inspectors(data: data)
        defer { inspectors.end() }
        while true {
            let start = ContinuousClock.now
            let child = try ServerProcess(
                ["--port", "\(socket.port)", "--child", "\(restarts.count)", "--data", data]
                    + arguments,
                listeningOn: socket.file)
            var isReady = false
            while true {
                guard try wait(for: child.output, or: signals.reader) == .child else {
                    return child.end()
                }
                guard let text = child.read() else { break }
                for line in text.split(separator: "\n") {
                    if let name = line.wordAfter(Inspectors.command) { inspectors.show(name) }
                    guard !isReady, line == Child.readyWord else { continue }
                    isReady = true
                    if !restarts.wasReady { printAtOnce("http://127.0.0.1:\(socket.port)/\n") }
                    restarts.wasReady = true
                }
            }
            child.end()
            guard child.mayWorkAgain else { throw ExitCode.failure }
            if child.wantsNewLogs { inspectors.end() }
            let pause = restarts.pause(
                after: .now - start, isReady: isReady,
                isKilled: child.isKilled || child.wantsNewLogs)
            guard let pause else {
                throw StartError(
                    "the server ended \(Restarts.failuresMax) times before it was ready")
            }
            if try wait(for: nil, or: signals.reader, pause) == .end { return }
        }
    }

    private enum Event { case child, end, timeIsUp }

    /// Waits until the child has written or ended, until this process has to end, or until the time
    /// is up.
    private func wait(
        for output: Int32?, or signals: Int32, _ limit: Duration? = nil
    ) throws(StartError) -> Event {
        // Without events, `poll` reports only that the other end is closed. So the supervisor does
        // not read from a terminal.
        var files = [
            pollfd(fd: STDIN_FILENO, events: 0, revents: 0),
            pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
            pollfd(fd: output ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        let milliseconds = limit.map { Int32($0 / .milliseconds(1)) } ?? -1
        let count = try waitForEvents(of: &files, milliseconds: milliseconds)
        if files[0].revents != 0 || files[1].revents != 0 { return .end }
        return count == 0 ? .timeIsUp : .child
    }
}

extension Substring {
    /// The rest of a line that begins with a word; nil if it does not.
    fileprivate func wordAfter(_ word: String) -> String? {
        let words = split(separator: " ")
        return words.count == 2 && words[0] == word ? String(words[1]) : nil
    }
}

/// The server cannot be started, with the reason in words. Another start would not help.
struct StartError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
