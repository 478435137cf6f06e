import Foundation

/// Where a run makes its logs, and how long it may take.
struct Workbench: Sendable {
    /// More rounds and a larger log.
    let isFull: Bool
    let settledLogs: SettledLogs
    let letterLogs: MailboxLogs
    /// On the disk that is measured.
    private let disk: URL
    /// In memory where there is such a file system, for what a flush would hide.
    private let memory: URL

    /// Takes away what runs have left behind that were ended from outside.
    init(_ options: Options) throws {
        isFull = options.isFull
        let memoryFolder = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
        let diskFolder = URL(filePath: options.directory, directoryHint: .isDirectory)
        let hasMemory = FileManager.default.isWritableFile(atPath: memoryFolder.path)
        disk = try Self.folder(in: diskFolder)
        memory = try Self.folder(in: hasMemory ? memoryFolder : diskFolder)
        settledLogs = SettledLogs(in: disk)
        letterLogs = MailboxLogs(in: memory)
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

    /// To be called when nothing in here is open any more.
    func clear() throws {
        for folder in [disk, memory] where FileManager.default.fileExists(atPath: folder.path) {
            try FileManager.default.removeItem(at: folder)
        }
    }

    /// The logs that are opened and looked back in.
    var longHistories: [SettledLogs.Shape] {
        (isFull ? [1_000_000, 10_000_000] : [1_000_000]).map {
            SettledLogs.Shape(entryCount: $0, keyCount: 1_000)
        }
    }

    /// A log of letters with so long a history, on the disk.
    func letterHistory(entryCount: Int) async throws -> URL {
        try await letterLogs.history(entryCount: entryCount, in: disk)
    }

    /// One whose state, and so its checkpoint, is large.
    let manyKeys = SettledLogs.Shape(entryCount: 1_000_000, keyCount: 100_000)

    var machine: Machine { Machine(measuring: disk) }

    enum Place { case disk, memory }

    /// Runs `body` with the path of a directory that is not there yet, and removes it afterwards.
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

    /// Tells whoever waits how far the run is.
    func note(_ text: String) { writeError("  \(text)") }
}

/// A line on standard error: standard output has the figures and nothing else.
func writeError(_ line: String) {
    FileHandle.standardError.write(Data("\(line)\n".utf8))
}
