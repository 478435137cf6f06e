import ArgumentParser
import Foundation

/// Runs the server in a child process, and starts it again whenever it ends, on the same port and
/// files.
///
/// The child ends with the supervisor, also if the supervisor is killed: its input is a pipe of the
/// supervisor, and it ends when that pipe closes.
struct Supervisor {
    let port: UInt16
    /// The child's arguments, without port and number.
    let arguments: [String]

    /// The number of children in a row that may end before they are ready.
    private static let failuresMax = 3

    /// Serves until the input ends or a signal comes.
    func run() throws {
        let signals = try SignalPipe(SIGTERM, SIGINT)
        let reserved = try ReservedPort(port)
        var restarts = 0
        var failures = 0
        var isAnnounced = false
        while failures < Self.failuresMax {
            let child = try ServerProcess(
                ["--port", "\(reserved.number)", "--child", "\(restarts)"] + arguments)
            var isReady = false
            while true {
                guard wait(for: child.output, or: signals.reader) == .child else {
                    return child.end()
                }
                guard let text = child.read() else { break }
                isReady = isReady || text.contains(Child.readyLine)
                if isReady, !isAnnounced { write("\(reserved.address)\n") }
                isAnnounced = isAnnounced || isReady
            }
            child.end()
            failures = isReady ? 0 : failures + 1
            restarts += 1
        }
        throw ValidationError("the server ended \(failures) times before it was ready")
    }

    private enum Event { case child, end }

    /// Waits until the child has written or ended, or until this process has to end.
    private func wait(for output: Int32, or signals: Int32) -> Event {
        // Without events, `poll` reports only that the other end is closed. So the supervisor does
        // not read from a terminal.
        var files = [
            pollfd(fd: STDIN_FILENO, events: 0, revents: 0),
            pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
            pollfd(fd: output, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&files, nfds_t(files.count), -1) <= 0 {}
        return files[0].revents == 0 && files[1].revents == 0 ? .child : .end
    }
}

/// A child process with the server.
private struct ServerProcess {
    private let process = Process()
    private let input = Pipe()
    private let outputPipe = Pipe()

    var output: Int32 { outputPipe.fileHandleForReading.fileDescriptor }

    init(_ arguments: [String]) throws {
        process.executableURL = Bundle.main.executableURL
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = outputPipe
        try process.run()
    }

    /// Returns what the child has written; nil once it has ended.
    func read() -> String? {
        let data = outputPipe.fileHandleForReading.availableData
        return data.isEmpty ? nil : String(decoding: data, as: UTF8.self)
    }

    /// Ends the child, and waits for its end.
    func end() {
        try? input.fileHandleForWriting.close()
        process.terminate()
        process.waitUntilExit()
    }
}

/// A port that no other server gets, also while no child listens on it.
///
/// The socket is bound and does not listen. A child that binds with `SO_REUSEADDR` can still listen
/// on the port.
private struct ReservedPort {
    let number: UInt16
    /// Never closed: the port is reserved until the process ends.
    private let socket: Int32

    var address: String { "http://127.0.0.1:\(number)/" }

    init(_ wanted: UInt16) throws {
        #if canImport(Darwin)
            socket = Foundation.socket(AF_INET, SOCK_STREAM, 0)
        #else
            socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        var isOn: Int32 = 1
        setsockopt(
            socket, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = wanted.bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { [socket] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
            }
        }
        guard isBound else {
            throw ValidationError(
                "port \(wanted) cannot be used: \(String(cString: strerror(errno)))")
        }
        number = UInt16(bigEndian: address.sin_port)
    }
}

/// A pipe that gets a byte when a signal comes.
private struct SignalPipe {
    let reader: Int32

    /// The end that the handler writes to. A handler has no context.
    nonisolated(unsafe) private static var writer: Int32 = -1

    init(_ signals: Int32...) throws {
        let pipe = Pipe()
        reader = dup(pipe.fileHandleForReading.fileDescriptor)
        Self.writer = dup(pipe.fileHandleForWriting.fileDescriptor)
        for file in [reader, Self.writer] { _ = fcntl(file, F_SETFD, FD_CLOEXEC) }
        for number in signals {
            signal(number) { _ in
                var byte: UInt8 = 0
                _ = Foundation.write(SignalPipe.writer, &byte, 1)
            }
        }
    }
}

/// Prints at once. If the output is closed, the program goes on.
func write(_ text: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
}
