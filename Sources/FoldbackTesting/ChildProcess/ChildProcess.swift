import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Another process of this program that judges what it is sent, spoken to over a socket.
///
/// Spawned and waited for by hand: it may end at any moment, must not leave anything behind, and its
/// end must be waited for with a bound.
final class ChildProcess: Sendable {
    struct Unavailable: Error { let reason: String }
    /// It is there no longer, or does not get on.
    struct End: Error { let how: String }

    private let id: pid_t
    private let socket: Int32
    private let received = Mutex<[UInt8]>([])
    private let folder: TemporaryFolder
    private let isReaped = Mutex(false)

    /// - Throws: where there can be none.
    init(folding type: any Any.Type) throws(Unavailable) {
        guard getenv(ChildMain.variable) == nil else {
            throw Unavailable(reason: "this is such a process already")
        }
        guard let description = ProgramType.description(of: type) else {
            throw Unavailable(reason: "\(type) cannot be found by another process")
        }
        guard let program = ProgramType.program else {
            throw Unavailable(reason: "this system does not say where the program is")
        }
        do { folder = try TemporaryFolder() } catch {
            throw Unavailable(reason: "there is no room for its words: \(error)")
        }
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Self.streamType, 0, &ends) == 0 else {
            throw Unavailable(reason: "there is no socket for it (\(errno))")
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

    /// The system's error number, 0 for none, and the process.
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

    // MARK: Speaking

    /// That nobody is there to take it shows in the answer.
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
        var looked = 0
        while true {
            if let line = nextLine(behind: &looked) { return .success(line) }
            var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, secondsMax * 1_000) > 0 else {
                kill(id, SIGKILL)
                return .failure(End(how: "it did not come to an end in \(secondsMax) s"))
            }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { return .failure(end()) }
            received.withLock { $0 += buffer[..<count] }
        }
    }

    /// - Parameter looked: how many bytes are known to have no line end.
    private func nextLine(behind looked: inout Int) -> String? {
        received.withLock { received in
            guard let end = received[looked...].firstIndex(of: 10) else {
                looked = received.count
                return nil
            }
            defer { received.removeSubrange(...end) }
            return String(decoding: received[..<end], as: UTF8.self)
        }
    }

    // MARK: Its end

    private func end() -> End {
        guard let status = reap(after: 2_000) else { return End(how: "it has gone") }
        let signal = status & 0x7F
        var how =
            signal == 0
            ? "it ended with status \((status >> 8) & 0xFF)" : "it was ended by signal \(signal)"
        let words = try? String(contentsOf: folder.url.appending(path: "stderr"), encoding: .utf8)
        if let why = words?.split(separator: "\n").first(where: { $0.contains("rror") }) {
            how += ": \(why)"
        }
        return End(how: how)
    }

    /// Waits for its end, and brings it about if that takes too long.
    ///
    /// - Returns: how it ended, as waitpid(2) says; nil where somebody else has waited for it.
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
