import Foundation

/// The lines that a run shows while it runs, on standard error. A passing test hides its report.
enum Screen {
    /// Takes the lines instead of standard error, for tests.
    @TaskLocal static var replacement: (@Sendable (String) -> Void)?

    static func show(_ line: String) {
        if let replacement { return replacement(line) }
        // A closed standard error has no reader.
        try? FileHandle.standardError.write(contentsOf: Data("\(line)\n".utf8))
    }
}
