#if ReplayTool
    import Foldback
    import Foundation

    /// Commands that users give, run by `sh`.
    enum Subprocess {
        /// - Returns: the exit status; 128 and the signal's number where one ended it.
        static func run(
            _ command: String, input: [UInt8], environment: [String: String] = [:]
        ) throws -> Int32 {
            let process = Process()
            process.environment = ProcessInfo.processInfo.environment
                .merging(environment) { $1 }
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = ["-c", command]
            let pipe = Pipe()
            process.standardInput = pipe
            // What it prints is for people, and standard output has the answer.
            process.standardOutput = FileHandle.standardError
            try process.run()
            // A command that does not read its input is none of our business.
            signal(SIGPIPE, SIG_IGN)
            try? pipe.fileHandleForWriting.write(contentsOf: Data(input))
            try? pipe.fileHandleForWriting.close()
            process.waitUntilExit()
            return process.terminationReason == .exit
                ? process.terminationStatus : 128 + process.terminationStatus
        }
    }
#endif
