import Foldback
import Foundation
import Synchronization

/// The end of a command, with everything that it wrote.
package struct CommandEnd: Sendable {
    package let status: Int32
    package let output: String
    package let errors: String

    /// The lines of output, each as JSON.
    package var lines: [JSON] {
        get throws { try output.split(separator: "\n").map { try JSON(parsing: String($0)) } }
    }

    /// Runs a command without input to its end. Blocks.
    ///
    /// - Parameter command: a program, by path or by name, and its arguments.
    package init(of command: [String], in directory: URL? = nil) throws {
        let process = Process()
        let (output, errors) = (Pipe(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        process.currentDirectoryURL = directory
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        try process.run()
        // Both pipes are read at once: a process that fills one of them waits until it is read.
        let words = Mutex(Data())
        let isRead = DispatchSemaphore(value: 0)
        let errorStream = errors.fileHandleForReading
        Thread.detachNewThread {
            let data = errorStream.readDataToEndOfFile()
            words.withLock { $0 = data }
            isRead.signal()
        }
        let text = output.fileHandleForReading.readDataToEndOfFile()
        isRead.wait()
        process.waitUntilExit()
        status = process.terminationStatus
        self.output = String(decoding: text, as: UTF8.self)
        self.errors = String(decoding: words.withLock { $0 }, as: UTF8.self)
    }
}
