import FoldbackReplay
import Foundation
import Processes

/// The processes that show the logs of the devices, each in a page of its own. The supervisor runs
/// them, so they go on when the server is killed. A device's log is shown once a page asks for it.
///
/// Each writes its address to a file, which the server reads.
struct Inspectors {
    /// The first argument of such a process. The server prints it before the name of a device.
    static let command = "inspect"
    /// The folder for the logs.
    let data: String
    /// Each ends when this releases it, or when its input ends.
    private var running: [String: RunningProcess] = [:]

    /// Removes the addresses of an earlier run that was killed.
    init(data: String) {
        self.data = data
        let names = (try? FileManager.default.contentsOfDirectory(atPath: data)) ?? []
        for name in names where name.hasPrefix(Self.prefix) { unlink("\(data)/\(name)") }
    }

    /// Shows the log of a device, unless it is shown. A failure is only a complaint: the feed goes on.
    mutating func show(_ name: String) {
        if running[name]?.isRunning ?? false { return }
        do { running[name] = try start(name) } catch {
            complain("the log of \(name) cannot be shown: \(error)")
        }
    }

    private func start(_ name: String) throws -> RunningProcess {
        let file = Self.file(for: name, in: data)
        unlink(file)
        // Only the user may read it, because the address lets everybody in who knows it.
        let output = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard output >= 0 else {
            throw StartError("\(file) cannot be made: \(String(cString: strerror(errno)))")
        }
        return try RunningProcess(
            [Bundle.main.executablePath!, Self.command, "\(data)/replica-\(name)"], input: .pipe,
            output: .file(FileHandle(fileDescriptor: output, closeOnDealloc: true)),
            errors: .inherited)
    }

    /// Ends all of them, and removes their addresses.
    mutating func end() {
        let names = Array(running.keys)
        running = [:]
        for name in names { unlink(Self.file(for: name, in: data)) }
    }

    private static let prefix = "inspector-"

    static func file(for name: String, in data: String) -> String { "\(data)/\(prefix)\(name)" }
}

/// Shows a log, with the feed's own types.
struct FeedInspector: ReplayTool {
    static let projections = [ReplayProjection(Timeline.self)]
}
