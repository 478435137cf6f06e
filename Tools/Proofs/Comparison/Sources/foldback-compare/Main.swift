import Foundation

/// Compares Foldback with other libraries on the same disk, in turn: an outbox with GRDB on SQLite,
/// and an editing session with Loro.
@main
enum Main {
    static func main() async throws {
        do {
            try await run(try Options(CommandLine.arguments.dropFirst()))
        } catch let error as WrongUse {
            writeError("\(error)")
            exit(2)
        }
    }

    private static func run(_ options: Options) async throws {
        let name = "foldback-compare-\(ProcessInfo.processInfo.processIdentifier)"
        let directory = URL(filePath: options.directory, directoryHint: .isDirectory)
            .appending(path: name, directoryHint: .isDirectory)
        let files = FileManager.default
        try files.createDirectory(at: directory, withIntermediateDirectories: true)
        let result: Result<[Figure], any Error>
        do { result = .success(try await figures(options, in: directory)) } catch {
            result = .failure(error)
        }
        try files.removeItem(at: directory)
        let figures = try result.get()
        print(options.isJSON ? try figures.json() : figures.table)
    }

    private static func figures(
        _ options: Options, in directory: URL
    ) async throws -> [Figure] {
        var figures: [Figure] = []
        if options.wants("outbox") {
            figures += try await OutboxComparison(in: directory).figures()
        }
        if options.wants("session"), let session = try EditingSession(options, in: directory) {
            figures += try await session.figures()
        }
        return figures
    }
}

/// Writes a line to standard error. Standard output has only the figures.
func writeError(_ line: String) {
    FileHandle.standardError.write(Data("\(line)\n".utf8))
}
