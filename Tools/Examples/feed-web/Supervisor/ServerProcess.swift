import Foundation

/// A child process with the server.
struct ServerProcess {
    private let process = Process()
    private let outputPipe = Pipe()

    /// The file to read what the child writes.
    var output: Int32 { outputPipe.fileHandleForReading.fileDescriptor }

    /// Starts the child. A socket is its input, because `Process` passes no other files on.
    init(_ arguments: [String], listeningOn socket: Int32) throws {
        process.executableURL = Bundle.main.executableURL
        process.arguments = arguments
        process.standardInput = FileHandle(fileDescriptor: socket, closeOnDealloc: false)
        process.standardOutput = outputPipe
        try process.run()
    }

    /// Returns what the child has written; nil once it has ended.
    func read() -> String? {
        let data = outputPipe.fileHandleForReading.availableData
        return data.isEmpty ? nil : String(decoding: data, as: UTF8.self)
    }

    /// Ends the child, and waits for its end. Nothing needs to be saved, because the logs are durable
    /// at any moment.
    func end() {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }

    /// Whether the child, which has ended, wants the next child to begin with new logs.
    var wantsNewLogs: Bool {
        process.terminationReason == .exit && process.terminationStatus == Child.newLogs
    }

    /// Whether the child, which has ended, was killed.
    var isKilled: Bool {
        process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL
    }

    /// Whether another child may work better than this one, which has ended: it crashed or was
    /// killed, or it says so.
    var mayWorkAgain: Bool {
        process.terminationReason == .uncaughtSignal
            || [EXIT_SUCCESS, Child.temporaryFailure, Child.newLogs]
                .contains(process.terminationStatus)
    }
}

/// A socket that listens on 127.0.0.1.
///
/// The supervisor holds it, and each child accepts its connections. So no other server gets the port
/// while no child runs, and a page that connects then is served by the next child.
struct ListeningSocket {
    let port: UInt16
    /// Never closed: it listens until the process ends.
    let file: Int32

    /// - Parameter wanted: the port; 0 for any free port.
    init(_ wanted: UInt16) throws(StartError) {
        #if canImport(Darwin)
            file = socket(AF_INET, SOCK_STREAM, 0)
        #else
            file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        // The children share this setting.
        _ = fcntl(file, F_SETFL, O_NONBLOCK)
        var isOn: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &isOn, size)
        // All connections inherit this. FlyingFox writes the head and the body of an answer one after
        // the other. With Nagle's algorithm, the body would wait until the browser acknowledges the
        // head, after 40 ms.
        setsockopt(file, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, size)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = wanted.bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { [file] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(file, $0, length) == 0 && listen(file, SOMAXCONN) == 0
                    && getsockname(file, $0, &length) == 0
            }
        }
        guard isListening else {
            throw StartError("port \(wanted) cannot be used: \(String(cString: strerror(errno)))")
        }
        port = UInt16(bigEndian: address.sin_port)
    }
}
