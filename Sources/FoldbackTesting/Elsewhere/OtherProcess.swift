import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Another process of this program that folds what it is sent, spoken to over a socket.
final class OtherProcess: Sendable {
    struct Unavailable: Error { let reason: String }
    /// It is there no longer, or does not get on.
    struct End: Error { let how: String }

    private let process = Process()
    private let socket: Int32
    private let received = Mutex<[UInt8]>([])
    private let folder: TemporaryFolder

    /// - Throws: where there can be none.
    init(folding type: any Any.Type) throws(Unavailable) {
        guard let type = ProgramType.description(of: type) else {
            throw Unavailable(reason: "\(type) cannot be found by another process")
        }
        guard let program = ProgramType.program else {
            throw Unavailable(reason: "this system does not say where the program is")
        }
        do {
            folder = try TemporaryFolder()
            var ends: [Int32] = [-1, -1]
            guard socketpair(AF_UNIX, Self.streamType, 0, &ends) == 0 else {
                throw CocoaError(.fileReadUnknown)
            }
            socket = ends[0]
            let errors = folder.url.appending(path: "stderr")
            try Data().write(to: errors)
            process.executableURL = program
            process.environment = ProcessInfo.processInfo.environment
                .merging(["SWIFT_BACKTRACE": "enable=no", FoldingProcess.variable: type]) { $1 }
            process.standardInput = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
            process.standardOutput = FileHandle.nullDevice
            process.standardError = try FileHandle(forWritingTo: errors)
            try process.run()
            close(ends[1])
        } catch {
            throw Unavailable(reason: "another process could not be started: \(error)")
        }
        guard case .success(FoldingProcess.ready) = answer(secondsMax: 20) else {
            throw Unavailable(reason: "another process of \(program.path) did not find \(type)")
        }
    }

    deinit {
        close(socket)
        process.terminate()
    }

    private static var streamType: Int32 {
        #if os(Linux)
            Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        #else
            SOCK_STREAM
        #endif
    }

    /// One history; that nobody is there to take it shows in the answer.
    func send(_ text: String) {
        let bytes = Array("\(text)\n".utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    /// The next line. Blocks until there is one.
    ///
    /// - Parameter secondsMax: behind that the process counts as one that never ends, and is ended.
    func answer(secondsMax: Int32) -> Result<String, End> {
        while true {
            if let line = nextLine() { return .success(line) }
            var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, secondsMax * 1_000) > 0 else {
                kill(process.processIdentifier, SIGKILL)
                return .failure(End(how: "it did not come to an end in \(secondsMax) s"))
            }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { return .failure(end()) }
            received.withLock { $0 += buffer[..<count] }
        }
    }

    private func nextLine() -> String? {
        received.withLock { received in
            guard let end = received.firstIndex(of: 10) else { return nil }
            defer { received.removeSubrange(...end) }
            return String(decoding: received[..<end], as: UTF8.self)
        }
    }

    private func end() -> End {
        process.waitUntilExit()
        let status = process.terminationStatus
        var how =
            process.terminationReason == .exit
            ? "it ended with status \(status)" : "it was ended by signal \(status)"
        let words = try? String(contentsOf: folder.url.appending(path: "stderr"), encoding: .utf8)
        if let why = words?.split(separator: "\n").first(where: { $0.contains("rror") }) {
            how += ": \(why)"
        }
        return End(how: how)
    }
}
