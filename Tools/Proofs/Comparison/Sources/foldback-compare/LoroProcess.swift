import FoldbackExamples
import Foundation

/// Types a session into Loro, in a process of Python.
struct LoroProcess {
    private let python: URL
    private let arguments: [String]

    /// Writes the session into files for the script.
    ///
    /// - Returns: nil if Loro is left out.
    init?(_ options: Options, _ edits: [Edit], end: String, in directory: URL) throws {
        guard let python = options.python, let script = options.loro else { return nil }
        let editsFile = directory.appending(path: "session.edits")
        let endFile = directory.appending(path: "session.end")
        try Data(edits.map { $0.json.encoded + [0x0A] }.joined()).write(to: editsFile)
        try Data(end.utf8).write(to: endFile)
        self.python = URL(filePath: python)
        arguments = [script, editsFile.path, endFile.path]
    }

    /// Returns the seconds of typing, as the script measured them.
    func seconds() throws -> Double {
        let process = Process()
        process.executableURL = python
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let text = String(decoding: data, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        guard process.terminationStatus == 0, let seconds = Double(text) else {
            throw LoroFailure(status: process.terminationStatus, output: text)
        }
        return seconds
    }
}

struct LoroFailure: Error, CustomStringConvertible {
    let status: Int32
    let output: String
    var description: String {
        "the process with Loro ended with exit code \(status) and printed \"\(output)\""
    }
}
