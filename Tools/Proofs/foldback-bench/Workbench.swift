import Foundation

/// The folders of a run's logs, and the run's length.
struct Workbench: Sendable {
    /// More rounds and a larger log.
    let isFull: Bool
    /// The tool that measures feed-web in a browser; nil if it was not built.
    let browserTool: String?
    let settledLogs: SettledLogs
    let mailboxLogs: MailboxLogs
    /// The folder on the measured disk.
    private let disk: URL
    /// The folder in memory, if the system has such a file system: for costs that a flush would
    /// hide.
    private let memory: URL

    /// Also removes the folders of earlier runs that were killed.
    init(_ options: Options) throws {
        isFull = options.isFull
        browserTool = options.browserTool
        let memoryFolder = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
        let diskFolder = URL(filePath: options.directory, directoryHint: .isDirectory)
        let hasMemory = FileManager.default.isWritableFile(atPath: memoryFolder.path)
        disk = try Self.folder(in: diskFolder)
        memory = try Self.folder(in: hasMemory ? memoryFolder : diskFolder)
        settledLogs = SettledLogs(in: disk)
        mailboxLogs = MailboxLogs(in: memory)
    }

    private static let prefix = "foldback-bench-"

    private static func folder(in parent: URL) throws -> URL {
        let files = FileManager.default
        try files.createDirectory(at: parent, withIntermediateDirectories: true)
        for name in try files.contentsOfDirectory(atPath: parent.path)
        where name.hasPrefix(prefix) {
            guard let process = Int32(name.dropFirst(prefix.count)), kill(process, 0) != 0,
                errno == ESRCH
            else { continue }
            try files.removeItem(at: parent.appending(path: name))
        }
        let name = prefix + String(ProcessInfo.processInfo.processIdentifier)
        let folder = parent.appending(path: name, directoryHint: .isDirectory)
        try files.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    /// Removes the folders. Call it after all logs in them are closed.
    func clear() throws {
        for folder in [disk, memory] where FileManager.default.fileExists(atPath: folder.path) {
            try FileManager.default.removeItem(at: folder)
        }
    }

    /// The logs for measurements of opening and of the past.
    var longHistories: [SettledLogs.Shape] {
        (isFull ? [1_000_000, 10_000_000] : [1_000_000]).map {
            SettledLogs.Shape(entryCount: $0, keyCount: 1_000)
        }
    }

    /// A log of messages with a history of `entryCount` entries, on the disk.
    func mailboxHistory(entryCount: Int) async throws -> URL {
        try await mailboxLogs.history(entryCount: entryCount, in: disk)
    }

    /// A log with a large state, and so with a large checkpoint.
    let manyKeys = SettledLogs.Shape(entryCount: 1_000_000, keyCount: 100_000)

    var machine: Machine { Machine(measuring: disk) }

    enum Place { case disk, memory }

    /// Calls `body` with the path of a directory that does not exist yet, and then removes the
    /// directory.
    func withDirectory<R>(
        on place: Place, _ body: (URL) async throws -> R
    ) async throws -> R {
        let parent = place == .disk ? disk : memory
        let url = parent.appending(path: UUID().uuidString, directoryHint: .isDirectory)
        let result: Result<R, any Error>
        do { result = .success(try await body(url)) } catch { result = .failure(error) }
        if FileManager.default.fileExists(atPath: url.path) {
            try FileManager.default.removeItem(at: url)
        }
        return try result.get()
    }

    /// Prints the progress of the run.
    func note(_ text: String) { writeError("  \(text)") }
}

/// Writes a line to standard error. Standard output has only the figures.
func writeError(_ line: String) {
    FileHandle.standardError.write(Data("\(line)\n".utf8))
}
