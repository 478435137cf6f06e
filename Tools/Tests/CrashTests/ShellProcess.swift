import BrowserDriver
import Foldback
import FoldbackShell
import Foundation
import Testing

/// The place where a session keeps documents, as given by `--store`.
enum DocumentStore: String, CaseIterable, CustomTestStringConvertible {
    case memory
    case rows

    var testDescription: String { rawValue }

    var type: any ShownDocuments.Type {
        switch self {
        case .memory: Documents.self
        case .rows: StoredDocuments.self
        }
    }

    /// Memory for an even turn, rows for an odd turn.
    init(_ turn: Int) { self = turn % 2 == 0 ? .memory : .rows }
}

extension ShownDocuments {
    /// Returns the keys of the store's view, and checks that the store equals a fold of its log.
    static func keys(in store: Store<Self>, _ note: Comment) async throws -> Set<String> {
        let shown = try state(of: store)
        let fold = ShownState(
            try await store.snapshot(of: Documents.self, at: store.status.sequence))
        #expect(shown.sequence == fold.sequence, note)
        #expect(shown.documents == fold.documents, note)
        #expect(shown.confirmed == fold.confirmed, note)
        #expect(shown.conflicted == fold.conflicted, note)
        return Set(shown.documents.objectValue?.members.map(\.name.string) ?? [])
    }
}

/// A real `foldback shell` in its own process.
final class ShellProcess {
    let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let errors = Pipe()
    private var buffer: [UInt8] = []

    /// Returns the path of an executable. Executables are beside the test bundle.
    static func executable(_ name: String) -> URL {
        URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: name)
    }

    /// - Parameter wrapper: the start of a command that runs the shell, such as strace.
    init(
        _ log: URL, _ options: [String] = [], over store: DocumentStore = .memory,
        under wrapper: [String] = []
    ) throws {
        let shell = [Self.executable("foldback").path, "shell", log.path]
        let command = wrapper + shell + ["--store", store.rawValue] + options
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        process.standardInput = input
        process.standardOutput = output
        process.standardError = errors
        // A write to a killed shell would end this process with SIGPIPE.
        signal(SIGPIPE, SIG_IGN)
        try process.run()
    }

    func send(_ lines: String...) {
        let text = lines.map { $0 + "\n" }.joined()
        try? input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    }

    /// Returns the next answer; nil if the process has ended.
    func answer() -> JSON? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(buffer[..<end])
                buffer.removeSubrange(...end)
                return try? JSON(parsing: line)
            }
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { return nil }
            buffer.append(contentsOf: data)
        }
    }

    func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }

    /// Ends the input, and waits for the process to end.
    func finish() -> (status: Int32, errors: String) {
        try? input.fileHandleForWriting.close()
        let text = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: text, as: UTF8.self))
    }
}

/// Runs a command, and waits for its end.
func run(_ command: [String]) throws -> CommandEnd { try CommandEnd(of: command) }

/// A directory in the temporary directory, on a real disk. It is removed with this value.
final class DiskDirectory {
    let url = FileManager.default.temporaryDirectory.appending(
        path: "foldback-crash-\(UUID().uuidString)", directoryHint: .isDirectory)

    init() { try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: url) }

    var log: URL { url.appending(path: "log", directoryHint: .isDirectory) }
}
