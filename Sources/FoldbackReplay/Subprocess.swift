#if ReplayTool
    import ArgumentParser
    import Foldback
    import FoldbackHistory
    import Foundation

    /// Runs commands of the user with `sh`.
    enum Subprocess {
        /// Runs a command and returns the verdict of its exit code, as for git bisect: 0 good, 125
        /// inconclusive, 1 to 124 bad.
        ///
        /// - Throws: if `sh` cannot run the command (126 and 127), or if a signal ended it.
        static func verdict(
            _ command: String, input: [UInt8] = [], environment: [String: String] = [:]
        ) throws -> StateCheck {
            switch try run(command, input: input, environment: environment) {
            case 0: return .good
            case 125: return .inconclusive
            case 1...124: return .bad
            case 126, 127:
                throw ValidationError("the command, or a command in it, cannot be run: \(command)")
            case let status:
                throw StreamFailure("the command ended with status \(status): \(command)")
            }
        }

        /// - Returns: the exit status; 128 plus the signal's number if a signal ended the command.
        private static func run(
            _ command: String, input: [UInt8], environment: [String: String]
        ) throws -> Int32 {
            let process = Process()
            process.environment = ProcessInfo.processInfo.environment
                .merging(environment) { $1 }
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = ["-c", command]
            process.standardInput = try Self.input(input)
            // The command's output is for people. Standard output has only the answer.
            process.standardOutput = FileHandle.standardError
            try process.run()
            process.waitUntilExit()
            return process.terminationReason == .exit
                ? process.terminationStatus : 128 + process.terminationStatus
        }

        /// Returns a file without a name that has these bytes.
        ///
        /// A pipe would break if the command does not read all of it. The tool would then have to
        /// ignore a signal, and its commands would inherit that.
        private static func input(_ bytes: [UInt8]) throws -> FileHandle {
            guard !bytes.isEmpty else { return .nullDevice }
            let file = try VanishingFile()
            defer { file.remove() }
            try file.write(bytes)
            guard let handle = FileHandle(forReadingAtPath: file.path) else {
                throw StreamFailure.unreadable(file.path)
            }
            return handle
        }
    }
#endif
