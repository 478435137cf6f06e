import ArgumentParser
import Foldback
import Foundation

struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "foldback-demo", abstract: "Runs Foldback on real input.",
        subcommands: [Session.self, Story.self, Record.self])
}

@main
struct Main {
    static func main() async {
        do {
            var command = try Demo.parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            guard Demo.exitCode(for: error) != .success else {
                print(Demo.fullMessage(for: error))
                return
            }
            try? FileHandle.standardError.write(
                contentsOf: Data("foldback-demo: \(Demo.message(for: error))\n".utf8))
            exit(error is DemoFailure ? 1 : 2)
        }
    }
}

/// The demo found a difference from the result that it announces.
struct DemoFailure: Error, CustomStringConvertible {
    let description: String
}

/// Returns the path for a new log: creates its directory, and removes the log of an earlier run.
///
/// - Throws: `ValidationError` if the directory is a log, or if the new log's place has something
///   that is not a log.
func freshLog(_ name: String, in directory: String) throws -> URL {
    let folder = URL(filePath: directory, directoryHint: .isDirectory)
    func isLog(_ folder: URL) -> Bool {
        FileManager.default.fileExists(atPath: folder.appending(path: "data.mdb").path)
    }
    guard !isLog(folder) else {
        throw ValidationError("\(directory) is a log; give a path outside it")
    }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let log = folder.appending(path: name, directoryHint: .isDirectory)
    if FileManager.default.fileExists(atPath: log.path) {
        let names = try? FileManager.default.contentsOfDirectory(atPath: log.path)
        guard isLog(log) || names?.isEmpty ?? false else {
            throw ValidationError("\(log.path) is not a log; move it, or give another directory")
        }
        try FileManager.default.removeItem(at: log)
    }
    return log
}
