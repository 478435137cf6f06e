import Foldback
import FoldbackLMDB
import Foundation

/// A process that does nothing but open a log: neither its caches nor its memory know the log before.
enum OpeningProcess {
    /// The subcommand; for this executable's own use.
    static let command = "open"

    struct Report: Codable, Sendable {
        let milliseconds: Double
        /// Behind the checkpoint.
        let entriesFolded: Int
        /// After opening; nil where the system does not say.
        let anonymousBytes: Int?
    }

    // MARK: In that process

    static func run(_ arguments: some Collection<String>) async throws {
        guard arguments.count == 1, let path = arguments.first else {
            throw WrongUse(reason: "\(command) needs a directory")
        }
        let url = URL(filePath: path, directoryHint: .isDirectory)
        let clock = ContinuousClock()
        let start = clock.now
        let store = try await Foldback.open(
            at: url, Documents.self, confirmedBy: .acknowledgement, durability: .durable)
        let elapsed = clock.now - start
        let report = Report(
            milliseconds: elapsed / .milliseconds(1), entriesFolded: store.start.entriesFolded,
            anonymousBytes: Machine.anonymousResidentBytes)
        print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
        await store.close()
    }

    // MARK: Before it

    /// What opening the log in a fresh process took.
    static func report(opening log: URL) async throws -> Report {
        try await Platform.onThread { () throws(any Error) in
            let process = Process()
            process.executableURL = Bundle.main.executableURL
            process.arguments = [command, log.path]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            let data = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            guard process.terminationStatus == 0 else {
                throw OpeningFailure(status: process.terminationStatus)
            }
            return try JSONDecoder().decode(Report.self, from: data)
        }
    }
}

struct OpeningFailure: Error, CustomStringConvertible {
    let status: Int32
    var description: String { "the process that should open a log ended with status \(status)" }
}
