import FoldbackReplay
import Foundation

/// The processes that show the logs of the devices, each in a page of its own. The supervisor runs
/// them, so they go on when the server is killed. A device's log is shown once a page asks for it.
struct Inspectors {
    /// The first argument of such a process.
    static let command = "inspect"
    /// The folder for the logs.
    let data: String
    private var running: [String: ServerProcess] = [:]

    init(data: String) { self.data = data }

    /// Shows the log of a device, and says in a file where. The server reads the file.
    mutating func show(_ name: String) throws {
        if let inspector = running[name], inspector.isRunning { return announce(name, inspector) }
        let inspector = try ServerProcess(
            [Self.command, "\(data)/replica-\(name)"], input: .nullDevice)
        running[name] = inspector
        announce(name, inspector)
    }

    private func announce(_ name: String, _ inspector: ServerProcess) {
        // Only the user may read the file, because the address lets everybody in who knows it.
        guard let address = inspector.firstLine,
            FileManager.default.createFile(
                atPath: Self.file(for: name, in: data), contents: Data(address.utf8),
                attributes: [.posixPermissions: 0o600])
        else { return complain("the log of \(name) cannot be shown") }
    }

    /// Ends all of them.
    mutating func end() {
        for inspector in running.values { inspector.end() }
        running = [:]
    }

    static func file(for name: String, in data: String) -> String { "\(data)/inspector-\(name)" }
}

/// Shows a log, with the feed's own types.
struct FeedInspector: ReplayTool {
    static let projections = [ReplayProjection(Timeline.self)]
}
