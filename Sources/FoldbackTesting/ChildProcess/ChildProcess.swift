import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Another process of this program that checks scripts. The two processes talk over a socket.
///
/// It uses posix_spawn and waitpid directly, because the process may end at any moment, must leave
/// nothing behind, and must end within a bounded time.
final class ChildProcess: Sendable {
    struct Unavailable: Error { let reason: String }
    /// The process has ended, or took too long.
    struct End: Error { let how: String }

    private let id: pid_t
    private let socket: Int32
    private let received = Mutex<[UInt8]>([])
    private let folder: TemporaryFolder
    private let isReaped = Mutex(false)

    /// - Throws: ``Unavailable`` if no process can be started.
    init(folding type: any Any.Type) throws(Unavailable) {
        guard getenv(ChildMain.variable) == nil else {
            throw Unavailable(reason: "this is already a child process")
        }
        guard let description = ProgramType.description(of: type) else {
            throw Unavailable(reason: "\(type) cannot be found by another process")
        }
        guard let program = ProgramType.program else {
            throw Unavailable(reason: "this system does not name the program's file")
        }
        do { folder = try TemporaryFolder() } catch {
            throw Unavailable(reason: "its folder cannot be created: \(error)")
        }
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Self.streamType, 0, &ends) == 0 else {
            throw Unavailable(reason: "its socket cannot be created (\(errno))")
        }
        socket = ends[0]
        let (status, id) = Self.spawn(
            program.path, description, ends[1], folder.url.appending(path: "stderr").path)
        self.id = id
        close(ends[1])
        guard status == 0 else {
            isReaped.withLock { $0 = true }
            throw Unavailable(reason: "it could not be started (\(status))")
        }
        guard case .success(ChildMain.ready) = answer(secondsMax: 20) else {
            throw Unavailable(reason: "another process of \(program.path) did not find \(type)")
        }
    }

    deinit {
        close(socket)
        _ = reap(after: 0)
    }

    private static var streamType: Int32 {
        #if os(Linux)
            Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        #else
            SOCK_STREAM
        #endif
    }

    /// The system's error number, 0 for success, and the process.
    private static func spawn(
        _ program: String, _ type: String, _ socket: Int32, _ errors: String
    ) -> (status: Int32, id: pid_t) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, socket, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT, 0o600)
        let environment = ProcessInfo.processInfo.environment
            .merging(["SWIFT_BACKTRACE": "enable=no", ChildMain.variable: type]) { $1 }
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(program), nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var id: pid_t = 0
        let status = posix_spawn(&id, program, &actions, nil, &arguments, &variables)
        return (status, id)
    }

    // MARK: Messages

    /// Sends a line. If the process has ended, ``answer(secondsMax:)`` reports it.
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

    /// Returns the next line; blocks until there is one.
    ///
    /// - Parameter secondsMax: the limit, after which the process is killed.
    func answer(secondsMax: Int32) -> Result<String, End> {
        var searched = 0
        while true {
            if let line = nextLine(after: &searched) { return .success(line) }
            var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, secondsMax * 1_000) > 0 else {
                kill(id, SIGKILL)
                return .failure(End(how: "it took more than \(secondsMax) s"))
            }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { return .failure(end()) }
            received.withLock { $0 += buffer[..<count] }
        }
    }

    /// - Parameter searched: how many bytes have no line end.
    private func nextLine(after searched: inout Int) -> String? {
        received.withLock { received in
            guard let end = received[searched...].firstIndex(of: 10) else {
                searched = received.count
                return nil
            }
            defer { received.removeSubrange(...end) }
            return String(decoding: received[..<end], as: UTF8.self)
        }
    }

    // MARK: The end

    private func end() -> End {
        guard let status = reap(after: 2_000) else { return End(how: "it has ended") }
        let signal = status & 0x7F
        var how =
            signal == 0
            ? "it ended with status \((status >> 8) & 0xFF)" : "signal \(signal) ended it"
        let errors = try? String(contentsOf: folder.url.appending(path: "stderr"), encoding: .utf8)
        if let why = errors?.split(separator: "\n").first(where: { $0.contains("rror") }) {
            how += ": \(why)"
        }
        return End(how: how)
    }

    /// Waits for the end of the process, and kills it if that takes too long.
    ///
    /// - Returns: the status of waitpid(2); nil if the status was already collected.
    private func reap(after milliseconds: Int) -> Int32? {
        isReaped.withLock { isReaped in
            guard !isReaped else { return nil }
            isReaped = true
            var status: Int32 = 0
            for _ in 0..<milliseconds {
                switch waitpid(id, &status, WNOHANG) {
                case id: return status
                case 0: usleep(1_000)
                default: return nil
                }
            }
            kill(id, SIGKILL)
            return waitpid(id, &status, 0) == id ? status : nil
        }
    }
}
