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
func freshLog(_ name: String, in directory: String) throws -> URL {
    let folder = URL(filePath: directory, directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let log = folder.appending(path: name, directoryHint: .isDirectory)
    if FileManager.default.fileExists(atPath: log.path) {
        try FileManager.default.removeItem(at: log)
    }
    return log
}
